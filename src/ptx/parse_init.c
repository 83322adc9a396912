/*
 * Initial values of .global and .const variables (PTX ISA 5.4.4): numbers in nested braces,
 * addresses of variables and functions, and single bytes of such addresses ("0xff00(name)").
 */
#include "ptx/parser.h"

#define MAX_INIT (64u << 20) /* bytes of initialised variables in a module */

struct init {
	struct ptx_var *var;
	size_t cap, relocs_cap;
	uint64_t at;    /* next byte */
	uint64_t reach; /* behind the rows that have braces of their own */
	bool open;      /* "x[] = ...": as large as its values */
};

/* Makes sure that the bytes before @end are there. */
static bool init_room(struct parser *p, struct init *in, uint64_t end)
{
	if (end <= in->cap)
		return true;
	if (!in->open)
		return fail(p, "more values than '%s' has elements", in->var->name);
	uint64_t cap = in->cap ? in->cap * 2 : 64;
	while (cap < end)
		cap *= 2;
	p->init_total += cap - in->cap;
	if (p->init_total > MAX_INIT)
		return fail(p, "more than %u MiB of initial values", MAX_INIT >> 20);
	in->var->init = mem_realloc(in->var->init, cap, 1);
	memset((char *)in->var->init + in->cap, 0, cap - in->cap);
	in->cap = cap;
	return true;
}

/* sym, sym+4, generic(sym)+4: @bytes of it, from bit @shift on */
static bool parse_init_symbol(struct parser *p, struct init *in, unsigned bytes, unsigned shift)
{
	struct token name = p->tok;
	bool generic = tok_is(&name, TOK_NAME, "generic"), more;
	int64_t addend = 0;
	uint32_t member;
	if (p->tok.kind != TOK_NAME)
		return unexpected(p, "the name of a variable");
	if (!advance(p))
		return false;
	if (generic &&
	    (!expect(p, '(', "after generic") || !expect_name(p, &name, "the name of a variable") ||
	     !expect(p, ')', "after the variable")))
		return false;
	const struct sym *s = names_find_token(&p->names, &name, &member);
	if (!s || (s->kind != SYM_VAR && s->kind != SYM_FUNC))
		return fail_at(p, name.s, name.line, ERR_PARSE, "'%.*s' is no variable or function",
		               (int)name.len, name.s);
	const int32_t symbol = s->index;
	const bool is_func = s->kind == SYM_FUNC;
	if (!accept_punct(p, '+', &more))
		return false;
	if (more ? !expect_int(p, &addend, "an offset")
	         : at_punct(p, '-') && !expect_int(p, &addend, "an offset"))
		return false;
	grow_array(&in->var->relocs, in->var->n_relocs, &in->relocs_cap, sizeof *in->var->relocs);
	in->var->relocs[in->var->n_relocs++] = (struct ptx_reloc){
		.offset = in->at,
		.symbol = symbol,
		.bytes = (uint8_t)bytes,
		.shift = (uint8_t)shift,
		.is_func = is_func,
		.generic = generic,
		.addend = addend,
	};
	return true;
}

/* Behind a mask, whose text began at @at: "(address)", of which it chooses one byte. */
static bool parse_init_byte(struct parser *p, struct init *in, const struct token *at,
                            uint64_t mask)
{
	unsigned shift = 0;
	while (shift < 64 && mask != (uint64_t)0xff << shift)
		shift += 8;
	if (shift == 64)
		return fail_at(p, at->s, at->line, ERR_PARSE,
		               "a mask of an address has the bits of one byte: 0xff, 0xff00, ...");
	if (ptx_type_bytes(in->var->type) != 1)
		return fail_at(p, at->s, at->line, ERR_PARSE, "'%s' of type .%s takes no masked address",
		               in->var->name, ptx_type_name(in->var->type));
	return advance(p) && parse_init_symbol(p, in, 1, shift) && expect(p, ')', "after the address");
}

/* The bits of a floating-point constant in @type; a 0f literal keeps its bits exactly. */
static uint64_t float_bits(const struct constant *c, enum ptx_type type)
{
	const bool as_written = type != PTX_F32 && type != PTX_F64;
	float single = (float)c->f64;
	uint64_t bits;
	uint32_t low;
	memcpy(&bits, &c->f64, sizeof bits);
	memcpy(&low, &single, sizeof low);
	if (c->float_bytes == 4)
		low = (uint32_t)c->u;
	if (as_written && c->float_bytes == 4)
		return low;
	return ptx_type_bytes(type) == 8 ? bits : low;
}

/* A number, or a byte of an address. */
static bool parse_init_number(struct parser *p, struct init *in, unsigned bytes)
{
	const enum ptx_type type = in->var->type;
	const bool is_float = type == PTX_F32 || type == PTX_F64;
	const bool either = type == PTX_B32 || type == PTX_B64;
	const struct token at = p->tok;
	struct constant c;
	if (!parse_constant(p, &c, "an initial value"))
		return false;
	if (at_punct(p, '(') && !c.is_float)
		return parse_init_byte(p, in, &at, c.u);
	if (c.is_float != is_float && !(either && c.is_float))
		return fail_at(p, at.s, at.line, ERR_PARSE, "'%s' of type .%s needs %s values",
		               in->var->name, ptx_type_name(type), is_float ? "floating-point" : "integer");
	const uint64_t bits = c.is_float ? float_bits(&c, type) : c.u;
	for (unsigned i = 0; i < bytes && i < sizeof bits; i++)
		((uint8_t *)in->var->init)[in->at + i] = (uint8_t)(bits >> (8 * i));
	return true;
}

static bool parse_init_value(struct parser *p, struct init *in)
{
	const unsigned bytes = ptx_type_bytes(in->var->type);
	if (!init_room(p, in, in->at + bytes))
		return false;
	if (p->tok.kind != TOK_NAME || at_constant(p)) {
		if (!parse_init_number(p, in, bytes))
			return false;
	} else if (bytes < 4) {
		return fail_at(p, p->tok.s, p->tok.line, ERR_PARSE,
		               "'%s' of type .%s has no room for an address", in->var->name,
		               ptx_type_name(in->var->type));
	} else if (!parse_init_symbol(p, in, bytes, 0)) {
		return false;
	}
	in->at += bytes;
	return true;
}

/* "{1, 2}", and "{{1, 2}, {3, 4}}" where an inner brace has at most the values of one element of
 * the dimension, which has @bytes[0], its own elements @bytes[1], and so on for @depth dimensions.
 * As ptxas does it, values follow one another wherever braces end, and zeros follow them all. */
static bool parse_init_list(struct parser *p, struct init *in, const uint64_t *bytes,
                            unsigned depth)
{
	const uint64_t first = in->at;
	uint64_t rows = 0;
	bool more = true;
	if (!expect(p, '{', "before initial values"))
		return false;
	while (more && !at_punct(p, '}')) {
		if (at_punct(p, '{')) {
			const uint64_t row = in->at;
			if (depth < 2)
				return fail(p, "more braces than '%s' has dimensions", in->var->name);
			if (!parse_init_list(p, in, bytes + 1, depth - 1))
				return false;
			if (in->at > row + bytes[0])
				return fail(p, "more values than a row of '%s' has", in->var->name);
			if (!init_room(p, in, first + ++rows * bytes[0]))
				return false;
		} else if (!parse_init_value(p, in)) {
			return false;
		}
		if (!accept_punct(p, ',', &more))
			return false;
	}
	in->reach = first + rows * bytes[0];
	return expect(p, '}', "after the initial values");
}

bool parse_init(struct parser *p, struct ptx_var *var, const struct decl *d)
{
	struct init in = { .var = var, .open = d->is_open };
	uint64_t bytes[MAX_DIMENSIONS + 1];
	unsigned depth = d->n_dims;
	bytes[depth] = ptx_type_bytes(d->type);
	uint64_t each = bytes[depth] * d->lanes;
	for (unsigned i = depth; i-- > 0; each *= d->dims[i])
		bytes[i] = each;
	depth += d->lanes > 1;
	if (var->space != SPACE_GLOBAL && var->space != SPACE_CONST)
		return fail(p, "only .global and .const variables have initial values");
	if (!d->is_open) {
		p->init_total += var->size;
		if (p->init_total > MAX_INIT)
			return fail_at(p, d->name.s, d->name.line, ERR_UNSUPPORTED,
			               "more than %u MiB of initial values", MAX_INIT >> 20);
		var->init = mem_zalloc(var->size ? var->size : 1);
		in.cap = var->size;
	}
	if (!d->is_array && d->lanes == 1)
		return parse_init_value(p, &in);
	if (!parse_init_list(p, &in, bytes, depth))
		return false;
	if (d->is_open) {
		var->size = bytes[0] ? (in.at + bytes[0] - 1) / bytes[0] * bytes[0] : 0;
		var->size = in.reach > var->size ? in.reach : var->size;
		return init_room(p, &in, var->size);
	}
	return true;
}
