/*
 * Constant expressions (PTX ISA 4.5.4, 4.5.6): operators, order and associativity of C, on 64-bit
 * integers and on doubles. Where the ISA's table leaves the type open, as ptxas 13.0 has it: what
 * comes out of "~" and "%" is unsigned, and "?:" keeps the type of the operand that it chooses.
 */
#include "ptx/parser.h"

#include "base/text.h"

#include <string.h>

#define MOST_NESTED 100 /* operators and parentheses within one another: no text of a compiler */

enum operation {
	CONSTANT_NONE,
	CONSTANT_LOGICAL_OR,
	CONSTANT_LOGICAL_AND,
	CONSTANT_OR,
	CONSTANT_XOR,
	CONSTANT_AND,
	CONSTANT_EQ,
	CONSTANT_NE,
	CONSTANT_LE,
	CONSTANT_GE,
	CONSTANT_LT,
	CONSTANT_GT,
	CONSTANT_SHL,
	CONSTANT_SHR,
	CONSTANT_ADD,
	CONSTANT_SUB,
	CONSTANT_MUL,
	CONSTANT_DIV,
	CONSTANT_REM
};

/* What binds closer has the higher level. Longer words stand before those that they begin with. */
static const struct binary {
	const char *word;
	enum operation operation;
	unsigned level;
} binaries[] = {
	{ "||", CONSTANT_LOGICAL_OR, 1 }, { "&&", CONSTANT_LOGICAL_AND, 2 }, { "|", CONSTANT_OR, 3 },
	{ "^", CONSTANT_XOR, 4 },         { "&", CONSTANT_AND, 5 },          { "==", CONSTANT_EQ, 6 },
	{ "!=", CONSTANT_NE, 6 },         { "<<", CONSTANT_SHL, 8 },         { ">>", CONSTANT_SHR, 8 },
	{ "<=", CONSTANT_LE, 7 },         { ">=", CONSTANT_GE, 7 },          { "<", CONSTANT_LT, 7 },
	{ ">", CONSTANT_GT, 7 },          { "+", CONSTANT_ADD, 9 },          { "-", CONSTANT_SUB, 9 },
	{ "*", CONSTANT_MUL, 10 },        { "/", CONSTANT_DIV, 10 },         { "%", CONSTANT_REM, 10 },
};

static bool parse_level(struct parser *p, unsigned level, unsigned nested, const char *what,
                        struct constant *c);

bool at_constant(const struct parser *p)
{
	const struct token *t = &p->tok;
	return t->kind == TOK_INT || t->kind == TOK_FLOAT || tok_is(t, TOK_NAME, "WARP_SZ") ||
	       (t->kind == TOK_PUNCT && strchr("+-~!(", t->punct));
}

static bool want_integer(struct parser *p, const struct token *at, const struct constant *c)
{
	return !c->is_float ||
	       fail_at(p, at->s, at->line, ERR_PARSE, "this operator takes integers only");
}

/* "(.s64)" or "(.u64)", whose parenthesis was consumed. */
static bool parse_cast(struct parser *p, unsigned nested, const char *what, struct constant *c)
{
	const bool is_unsigned = at_dot(p, "u64");
	const struct token type = p->tok;
	if (!is_unsigned && !at_dot(p, "s64"))
		return fail(p, "a constant is cast to .s64 or .u64, to no other type");
	if (!advance(p) || !expect(p, ')', "after the type") || !parse_level(p, 11, nested, what, c) ||
	    !want_integer(p, &type, c))
		return false;
	c->is_unsigned = is_unsigned;
	return true;
}

static bool parse_primary(struct parser *p, unsigned nested, const char *what, struct constant *c)
{
	const struct token t = p->tok;
	bool open;
	*c = (struct constant){ .u = t.u };
	if (t.kind == TOK_INT) {
		c->is_unsigned = t.u > INT64_MAX || t.s[t.len - 1] == 'U';
	} else if (t.kind == TOK_FLOAT) {
		c->is_float = true;
		c->f64 = t.f64;
		c->float_bytes = t.float_bytes == 4 ? 4 : 8;
	} else if (tok_is(&t, TOK_NAME, "WARP_SZ")) {
		c->u = 32;
	} else {
		if (!accept_punct(p, '(', &open))
			return false;
		if (!open)
			return unexpected(p, what);
		if (p->tok.kind == TOK_DOT)
			return parse_cast(p, nested, what, c);
		return parse_level(p, 0, nested, what, c) && expect(p, ')', "after a constant");
	}
	return advance(p);
}

static bool parse_unary(struct parser *p, unsigned nested, const char *what, struct constant *c)
{
	const struct token sign_at = p->tok;
	const char sign = sign_at.kind == TOK_PUNCT ? sign_at.punct : '\0';
	if (!sign || !strchr("+-~!", sign))
		return parse_primary(p, nested, what, c);
	if (!advance(p) || !parse_level(p, 11, nested, what, c))
		return false;
	if (sign == '-' && c->is_float) {
		c->f64 = -c->f64;
		c->u ^= (uint64_t)1 << (c->float_bytes == 4 ? 31 : 63);
	} else if (sign == '-') {
		c->u = 0 - c->u;
	} else if (sign != '+') {
		if (!want_integer(p, &sign_at, c))
			return false;
		c->u = sign == '!' ? !c->u : ~c->u;
		c->is_unsigned = sign == '~';
	}
	return true;
}

/* The operator at hand, one or two characters without a blank between them; NULL = none. */
static const struct binary *find_binary(const struct parser *p, bool *two)
{
	if (p->tok.kind != TOK_PUNCT)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(binaries); i++) {
		const char *word = binaries[i].word;
		*two = word[1] != '\0';
		if (p->tok.punct == word[0] && (!*two || p->tok.s[1] == word[1]))
			return &binaries[i];
	}
	return NULL;
}

static int64_t as_signed(uint64_t u)
{
	int64_t s;
	memcpy(&s, &u, sizeof s);
	return s;
}

/* Divides as signed numbers; the one quotient that has no room wraps. */
static uint64_t divided(uint64_t a, uint64_t b)
{
	if (b == UINT64_MAX)
		return 0 - a;
	return (uint64_t)(as_signed(a) / as_signed(b));
}

static bool compared(enum operation operation, bool less, bool equal)
{
	switch (operation) {
	case CONSTANT_EQ: return equal;
	case CONSTANT_NE: return !equal;
	case CONSTANT_LT: return less;
	case CONSTANT_LE: return less || equal;
	case CONSTANT_GT: return !less && !equal;
	default: return !less;
	}
}

static bool is_compare(enum operation operation)
{
	return operation >= CONSTANT_EQ && operation <= CONSTANT_GT;
}

static bool divides_by_zero(struct parser *p, const struct token *at)
{
	return fail_at(p, at->s, at->line, ERR_PARSE, "a constant is divided by zero");
}

static bool combine_floats(struct parser *p, const struct token *at, enum operation operation,
                           const struct constant *b, struct constant *a)
{
	if (!a->is_float || !b->is_float)
		return fail_at(p, at->s, at->line, ERR_PARSE,
		               "an integer and a floating-point constant do not combine");
	if (a->float_bytes == 4 || b->float_bytes == 4)
		return fail_at(p, at->s, at->line, ERR_PARSE,
		               "a constant 0f... is no part of an expression; write 0d...");
	if (is_compare(operation)) {
		const bool equal = !(a->f64 < b->f64) && !(a->f64 > b->f64);
		*a = (struct constant){ .u = compared(operation, a->f64 < b->f64, equal) };
		return true;
	}
	switch (operation) {
	case CONSTANT_ADD: a->f64 += b->f64; break;
	case CONSTANT_SUB: a->f64 -= b->f64; break;
	case CONSTANT_MUL: a->f64 *= b->f64; break;
	case CONSTANT_DIV:
		if (!(b->f64 < 0 || b->f64 > 0))
			return divides_by_zero(p, at);
		a->f64 /= b->f64;
		break;
	default: return want_integer(p, at, a);
	}
	a->float_bytes = 8;
	memcpy(&a->u, &a->f64, sizeof a->u);
	return true;
}

/* Of two integers; what is divided by is not zero. */
static uint64_t calculated(enum operation operation, bool is_unsigned, uint64_t a, uint64_t b)
{
	switch (operation) {
	case CONSTANT_OR: return a | b;
	case CONSTANT_XOR: return a ^ b;
	case CONSTANT_AND: return a & b;
	case CONSTANT_ADD: return a + b;
	case CONSTANT_SUB: return a - b;
	case CONSTANT_MUL: return a * b;
	case CONSTANT_DIV: return is_unsigned ? a / b : divided(a, b);
	default: return a % b;
	}
}

static bool combine(struct parser *p, const struct token *at, enum operation operation,
                    const struct constant *b, struct constant *a)
{
	if (a->is_float || b->is_float)
		return combine_floats(p, at, operation, b, a);
	const bool is_unsigned = a->is_unsigned || b->is_unsigned;
	const unsigned by = (unsigned)(b->u & 63); /* as ptxas has it */
	if ((operation == CONSTANT_DIV || operation == CONSTANT_REM) && !b->u)
		return divides_by_zero(p, at);
	if (is_compare(operation)) {
		const bool less = is_unsigned ? a->u < b->u : as_signed(a->u) < as_signed(b->u);
		*a = (struct constant){ .u = compared(operation, less, a->u == b->u) };
		return true;
	}
	switch (operation) {
	case CONSTANT_LOGICAL_OR: *a = (struct constant){ .u = a->u || b->u }; break;
	case CONSTANT_LOGICAL_AND: *a = (struct constant){ .u = a->u && b->u }; break;
	case CONSTANT_SHL: a->u <<= by; break;
	case CONSTANT_SHR: a->u = a->is_unsigned || !(a->u >> 63) ? a->u >> by : ~(~a->u >> by); break;
	default:
		a->u = calculated(operation, is_unsigned, a->u, b->u);
		a->is_unsigned = is_unsigned || operation == CONSTANT_REM;
		break;
	}
	return true;
}

/* "condition ? a : b", of which the condition was read into *c. */
static bool parse_choice(struct parser *p, unsigned nested, const char *what, struct constant *c)
{
	const struct token at = p->tok;
	struct constant yes, no;
	if (!want_integer(p, &at, c) || !advance(p) || !parse_level(p, 0, nested, what, &yes) ||
	    !want_integer(p, &at, &yes) || !expect(p, ':', "between the results of a condition") ||
	    !parse_level(p, 0, nested, what, &no) || !want_integer(p, &at, &no))
		return false;
	*c = c->u ? yes : no;
	return true;
}

/* Operators of @level and above; 0: a condition, too; 11: only signs, casts and parentheses. */
static bool parse_level(struct parser *p, unsigned level, unsigned nested, const char *what,
                        struct constant *c)
{
	const struct binary *binary;
	bool two;
	if (++nested > MOST_NESTED)
		return fail(p, "operators are nested too deeply");
	if (!parse_unary(p, nested, what, c))
		return false;
	while ((binary = find_binary(p, &two)) && binary->level >= level) {
		const struct token at = p->tok;
		struct constant right;
		if ((two && !advance(p)) || !advance(p) ||
		    !parse_level(p, binary->level + 1, nested, what, &right) ||
		    !combine(p, &at, binary->operation, &right, c))
			return false;
	}
	return level || !at_punct(p, '?') || parse_choice(p, nested, what, c);
}

bool parse_constant(struct parser *p, struct constant *c, const char *what)
{
	return parse_level(p, 0, 0, what, c);
}

bool expect_int(struct parser *p, int64_t *value, const char *what)
{
	const struct token at = p->tok;
	struct constant c;
	if (!parse_constant(p, &c, what))
		return false;
	if (c.is_float)
		return fail_at(p, at.s, at.line, ERR_PARSE, "expected %s, found a floating-point constant",
		               what);
	*value = as_signed(c.u);
	return true;
}
