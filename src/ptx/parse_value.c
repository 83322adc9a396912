/*
 * Registers and constants as operands: of the right kind, and a register as wide as the instruction
 * needs. PTX ISA 6 (operands), 9.4 (types and widths).
 */
#include "ptx/parser.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

struct want want_of(const struct ptx_inst *inst, char width)
{
	struct want w = { .type = PTX_B32 };
	switch (width) {
	case 'T':
	case 't':
	case 'w':
		w.type = inst->type;
		w.bytes = ptx_type_bytes(inst->type) * (width == 'w' && (inst->flags & PF_WIDE) ? 2 : 1);
		w.wider = width == 'T';
		w.pred = inst->type == PTX_PRED;
		break;
	case 'U':
	case 'u':
		w.type = inst->type2;
		w.bytes = ptx_type_bytes(inst->type2);
		w.wider = width == 'U';
		break;
	case 'p':
		w.type = PTX_PRED;
		w.bytes = 1;
		w.pred = true;
		break;
	case 'f':
		w.type = PTX_F32;
		w.bytes = 4;
		break;
	case 'a':
		w.bytes = 4;
		w.wider = true;
		break;
	case '2':
	case '4':
	case '8': w.bytes = (unsigned)(width - '0'); break;
	default: break;
	}
	return w;
}

bool unknown_name(struct parser *p, const struct token *t)
{
	report_at(p, t->s, t->line, ERR_PARSE, "'%.*s' is not declared", t->len > 80 ? 80 : (int)t->len,
	          t->s);
	return t->s[0] != '%'
	           ? false
	           : err_remedy(p->err, "No register or supported special register has that name.");
}

bool check_reg(struct parser *p, const struct token *t, int32_t reg, const struct want *w,
               const struct ptx_inst *inst)
{
	enum ptx_type type = func_at_hand(p)->regs[reg].type;
	unsigned bytes = ptx_type_bytes(type);
	const char *is = ptx_type_name(type);
	const int len = (int)t->len;
	if (w->pred && type != PTX_PRED)
		return fail_at(p, t->s, t->line, ERR_PARSE, "'%.*s' is .%s; '%s' needs a predicate here",
		               len, t->s, is, inst->text);
	if (!w->pred && type == PTX_PRED)
		return fail_at(p, t->s, t->line, ERR_PARSE,
		               "'%.*s' is a predicate; '%s' needs a value "
		               "here",
		               len, t->s, inst->text);
	if (w->bytes && (bytes < w->bytes || (bytes > w->bytes && !w->wider)))
		return fail_at(p, t->s, t->line, ERR_PARSE, "'%.*s' is .%s; '%s' needs %u bits here", len,
		               t->s, is, inst->text, w->bytes * 8);
	return true;
}

/* Takes the selector off the name of a video instruction's register: %r1.b3, %r1.h0. */
static int64_t take_selector(const struct ptx_inst *inst, struct token *t)
{
	const bool video = inst->op >= OP_VABSDIFF && inst->op <= OP_VSET;
	if (!video || t->len < 4 || t->s[t->len - 3] != '.')
		return PART_ALL;
	const char unit = t->s[t->len - 2], digit = t->s[t->len - 1];
	const char past = unit == 'b' ? '4' : unit == 'h' ? '2' : '0';
	if (digit < '0' || digit >= past)
		return PART_ALL;
	tok_cut(t, t->len - 3);
	return (unit == 'b' ? PART_BYTE : PART_HALF) + (digit - '0');
}

/* The register that the token at hand names, consumed. "_" is -1 if @sink allows it. */
static bool parse_reg(struct parser *p, const struct want *w, const struct ptx_inst *inst,
                      bool sink, int32_t *reg, int64_t *part)
{
	uint32_t member;
	struct token t = p->tok;
	*part = take_selector(inst, &t);
	if (t.kind == TOK_NAME && t.len == 1 && t.s[0] == '_' && sink) {
		*reg = -1;
		return advance(p);
	}
	if (t.kind == TOK_PUNCT && t.punct == '{')
		return fail(p, "'%s' takes no vector here", inst->text);
	if (t.kind == TOK_INT || t.kind == TOK_FLOAT)
		return fail(p, "'%s' needs a register here, not a constant", inst->text);
	if (t.kind != TOK_NAME)
		return fail(p, "expected a register");
	const struct sym *s = names_find_token(&p->names, &t, &member);
	if (!s)
		return unknown_name(p, &t);
	if (s->kind != SYM_REG)
		return fail(p, "'%.*s' is no register", (int)t.len, t.s);
	*reg = s->index + (int32_t)member;
	return check_reg(p, &t, *reg, w, inst) && advance(p);
}

/* A special register: its number, or the zero that the fourth element of each is (PTX ISA 10). */
static bool find_special(const struct token *t, struct ptx_operand *o)
{
	static const char *const of_four[] = {
		"%tid.w",       "%ntid.w",       "%ctaid.w",         "%nctaid.w",
		"%clusterid.w", "%nclusterid.w", "%cluster_ctaid.w", "%cluster_nctaid.w",
	};
	if (t->s[0] != '%')
		return false;
	for (int s = 0; s < SR_COUNT; s++)
		if (tok_is(t, TOK_NAME, ptx_special_name((enum ptx_special)s))) {
			o->kind = OPND_SPECIAL;
			o->special = (enum ptx_special)s;
			return true;
		}
	for (size_t i = 0; i < ARRAY_LEN(of_four); i++)
		if (tok_is(t, TOK_NAME, of_four[i])) {
			o->kind = OPND_INT;
			return true;
		}
	return false;
}

/* Special registers that PTX has (ISA 10) and this parser refuses by name. */
static bool refuse_special(struct parser *p, const struct token *t)
{
	static const char *const families[] = {
		"%envreg", "%pm", "%tid", "%ntid", "%ctaid", "%nctaid"
	};
	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		size_t n = strlen(families[i]);
		if (t->len < n || memcmp(t->s, families[i], n) != 0)
			continue;
		report_at(p, t->s, t->line, ERR_UNSUPPORTED,
		          "special register '%.*s' is not supported; PTX ISA 10", (int)t->len, t->s);
		return err_remedy(p->err, "Supported: %%tid %%ntid %%ctaid %%nctaid (.x .y .z), lane, warp "
		                          "and SM numbers, lane masks, clocks, shared-memory sizes.");
	}
	return unknown_name(p, t);
}

/* How many elements the vector has that the token at hand opens. */
static unsigned vector_length(const struct parser *p)
{
	struct lexer ahead = p->lx;
	struct token t = p->tok;
	unsigned n = 1;
	while (t.kind != TOK_END && t.kind != TOK_BAD && !(t.kind == TOK_PUNCT && t.punct == '}')) {
		lex_next(&ahead, &t);
		n += t.kind == TOK_PUNCT && t.punct == ',';
	}
	return n;
}

static bool parse_literal(struct parser *p, const struct want *w, const struct ptx_inst *inst,
                          struct ptx_operand *o);

bool parse_element_constant(struct parser *p, const struct want *w, const struct ptx_inst *inst,
                            int32_t *reg)
{
	static const enum ptx_type of_bytes[] = {
		[1] = PTX_B16, [2] = PTX_B16, [4] = PTX_B32, [8] = PTX_B64
	};
	struct ptx_inst *move = &p->constants[p->n_constants];
	const bool floats = w->type == PTX_F32 || w->type == PTX_F64;
	if (!w->bytes || w->bytes > 8 || !of_bytes[w->bytes] ||
	    p->n_constants == ARRAY_LEN(p->constants))
		return fail(p, "'%s' takes no constant here", inst->text);
	*move = (struct ptx_inst){ .op = OP_MOV, .vec = 1, .guard = -1, .n_opnds = 2, .made = true };
	move->type = floats ? w->type : of_bytes[w->bytes];
	if (!parse_literal(p, w, inst, &move->opnd[1]))
		return false;
	*reg = add_nameless_reg(p, move->type);
	move->opnd[0] = (struct ptx_operand){ .kind = OPND_REG, .reg = *reg };
	p->n_constants++;
	return true;
}

/* Is the element at hand a zero and nothing else? */
static bool at_lone_zero(const struct parser *p)
{
	struct lexer ahead = p->lx;
	struct token t;
	if (p->tok.kind != TOK_INT || p->tok.u)
		return false;
	lex_next(&ahead, &t);
	return t.kind == TOK_PUNCT && (t.punct == ',' || t.punct == '}');
}

/* Has the vector at @at as many elements, or for a move bits, as the instruction takes? */
static bool check_length(struct parser *p, const struct want *w, const struct ptx_inst *inst,
                         bool sink, const struct ptx_operand *o, unsigned bytes,
                         const struct token *at)
{
	if (inst->op == OP_MOV && inst->vec == 1) {
		bool sinks = false;
		for (int i = 0; i < o->n_vec; i++)
			sinks |= o->vec[i] < 0;
		if (sinks ? bytes >= w->bytes : bytes != w->bytes)
			return fail_at(p, at->s, at->line, ERR_PARSE,
			               "the elements have %u bits, '%s' "
			               "needs %u",
			               bytes * 8, inst->text, w->bytes * 8);
	} else if ((ptx_op_class(inst->op) == CLASS_MEM || inst->op == OP_MOV) &&
	           o->n_vec != inst->vec &&
	           (sink || inst->op != OP_TEX)) { /* gradients have a length of their own */
		return fail_at(p, at->s, at->line, ERR_PARSE, "'%s' needs %u elements, not %u", inst->text,
		               inst->vec, o->n_vec);
	}
	return true;
}

/* {r0, r1, ...}: the elements of a vector load or store, the halves of a move, a fragment. */
static bool parse_vector(struct parser *p, const struct want *w, const struct ptx_inst *inst,
                         bool sink, struct ptx_operand *o)
{
	struct want element = *w;
	unsigned bytes = 0;
	bool more = true;
	const struct token open = p->tok;
	int64_t part;
	const unsigned length = vector_length(p);
	struct want constant = *w;
	o->kind = OPND_VEC;
	if (inst->op == OP_MOV && inst->vec == 1) {
		element = (struct want){ 0 }; /* checked in sum */
		constant = (struct want){ .bytes = w->bytes / length, .type = PTX_B32 };
	}
	if (!advance(p))
		return false;
	while (more) {
		if (o->n_vec == ARRAY_LEN(o->vec))
			return fail(p, "more than %zu elements in a vector", ARRAY_LEN(o->vec));
		int32_t *reg = &o->vec[o->n_vec++];
		if (at_lone_zero(p) && !sink) { /* as good as no register */
			*reg = -1;
			if (!advance(p) || !accept_punct(p, ',', &more))
				return false;
			continue;
		}
		if (at_constant(p) && !sink ? !parse_element_constant(p, &constant, inst, reg)
		                            : !parse_reg(p, &element, inst, sink, reg, &part))
			return false;
		if (!accept_punct(p, ',', &more))
			return false;
		if (*reg >= 0)
			bytes += ptx_type_bytes(func_at_hand(p)->regs[*reg].type);
	}
	return check_length(p, w, inst, sink, o, bytes, &open) && expect(p, '}', "after the elements");
}

/* The vector register that the token at hand names; NULL = it names none. */
static const struct sym *at_vector(const struct parser *p, uint32_t *member)
{
	const struct sym *s =
		p->tok.kind == TOK_NAME ? names_find_token(&p->names, &p->tok, member) : NULL;
	return s && s->kind == SYM_VECTOR ? s : NULL;
}

bool take_vector_reg(struct parser *p, struct ptx_operand *o)
{
	uint32_t member;
	const struct sym *s = at_vector(p, &member);
	if (!s)
		return true;
	o->kind = OPND_VEC;
	if (o->n_vec + s->lanes > ARRAY_LEN(o->vec))
		return fail(p, "more than %zu elements in a vector", ARRAY_LEN(o->vec));
	for (unsigned i = 0; i < s->lanes; i++)
		o->vec[o->n_vec++] = s->index + (int32_t)(member + i);
	return advance(p);
}

/* A vector register as all of an operand. */
static bool parse_whole_vector(struct parser *p, const struct want *w, const struct ptx_inst *inst,
                               bool sink, struct ptx_operand *o)
{
	const struct token t = p->tok;
	if (!take_vector_reg(p, o))
		return false;
	const unsigned each = ptx_type_bytes(func_at_hand(p)->regs[o->vec[0]].type);
	return (inst->op == OP_MOV && inst->vec == 1) || check_reg(p, &t, o->vec[0], w, inst)
	           ? check_length(p, w, inst, sink, o, each * o->n_vec, &t)
	           : false;
}

/* %tid and the like as a whole: its elements, each moved to a register. */
static bool parse_special_vector(struct parser *p, struct ptx_operand *o)
{
	const struct token t = p->tok;
	char name[32];
	o->kind = OPND_VEC;
	for (int i = 0; i < 4; i++) {
		struct ptx_inst *move = &p->constants[p->n_constants++];
		snprintf(name, sizeof name, "%.*s.%c", (int)t.len, t.s, "xyzw"[i]);
		struct token element = { .kind = TOK_NAME, .s = name, .len = t.len + 2 };
		*move = (struct ptx_inst){ .op = OP_MOV, .type = PTX_B32, .vec = 1, .guard = -1 };
		move->n_opnds = 2;
		move->made = true;
		o->vec[o->n_vec++] = add_nameless_reg(p, PTX_B32);
		move->opnd[0] = (struct ptx_operand){ .kind = OPND_REG, .reg = o->vec[i] };
		if (!find_special(&element, &move->opnd[1]))
			return refuse_special(p, &t);
	}
	return advance(p);
}

bool parse_symbol_offset(struct parser *p, struct ptx_operand *o)
{
	bool plus;
	if (!accept_punct(p, '+', &plus))
		return false;
	return plus || at_punct(p, '-') ? expect_int(p, &o->i64, "an offset") : true;
}

/* Behind the name of a variable: the address of one of its elements, or of so many bytes on. */
static bool parse_place(struct parser *p, const struct sym *s, struct ptx_operand *o)
{
	if (s->kind != SYM_VAR || !at_punct(p, '['))
		return parse_symbol_offset(p, o);
	if (!advance(p) || !expect_int(p, &o->i64, "the number of an element"))
		return false;
	o->i64 *= ptx_type_bytes(p->m->vars[s->index].type);
	return expect(p, ']', "behind the number of an element");
}

static bool parse_named_source(struct parser *p, const struct want *w, const struct ptx_inst *inst,
                               struct ptx_operand *o)
{
	struct token t = p->tok;
	uint32_t member;
	const int64_t part = take_selector(inst, &t);
	const struct sym *s = names_find_token(&p->names, &t, &member);
	if (s && s->kind == SYM_REG) {
		o->kind = OPND_REG;
		o->reg = s->index + (int32_t)member;
		o->i64 = part;
		return check_reg(p, &t, o->reg, w, inst) && advance(p);
	}
	if (w->pred && !s && tok_is(&t, TOK_NAME, ptx_special_name(SR_IS_EXPLICIT_CLUSTER))) {
		o->kind = OPND_SPECIAL;
		o->special = SR_IS_EXPLICIT_CLUSTER;
		return advance(p);
	}
	if (w->pred)
		return s ? fail(p, "expected a predicate") : unknown_name(p, &t);
	if (s && (s->kind == SYM_VAR || s->kind == SYM_PARAM || s->kind == SYM_FUNC)) {
		o->kind = s->kind == SYM_FUNC ? OPND_FUNC : OPND_SYMBOL;
		o->symbol = s->kind == SYM_PARAM ? -1 - s->index : s->index;
		if (w->bytes && w->bytes < 4)
			return fail(p, "an address does not fit in %u bits", w->bytes * 8);
		return advance(p) && (s->kind == SYM_FUNC || parse_place(p, s, o));
	}
	if (s)
		return fail(p, "'%.*s' is no value", (int)t.len, t.s);
	if (find_special(&t, o)) {
		p->m->reserved_shared |= o->kind == OPND_SPECIAL && o->special >= SR_RESERVED_BEGIN &&
		                         o->special <= SR_RESERVED_1;
		return advance(p);
	}
	return refuse_special(p, &t);
}

/* A floating-point constant is a FLOAT for a floating-point type and its bits for any other. */
static bool take_float(struct parser *p, const struct token *at, const struct constant *c,
                       const struct want *w, const struct ptx_inst *inst, struct ptx_operand *o)
{
	const bool is_float = w->type == PTX_F32 || w->type == PTX_F64;
	const unsigned bytes = is_float ? ptx_type_bytes(w->type) : c->float_bytes;
	float single = (float)c->f64;
	uint32_t low;
	uint64_t bits = c->u;
	if (!is_float && w->bytes < c->float_bytes)
		return fail_at(p, at->s, at->line, ERR_PARSE, "'%s' takes no floating-point constant here",
		               inst->text);
	if (c->float_bytes == 4)
		memcpy(&bits, &c->f64, sizeof bits);
	memcpy(&low, &single, sizeof low);
	if (c->float_bytes == 4)
		low = (uint32_t)c->u;
	if (bytes == 4)
		bits = low;
	o->kind = is_float ? OPND_FLOAT : OPND_INT;
	o->f64 = w->type == PTX_F32 ? (double)single : c->f64;
	memcpy(&o->i64, &bits, sizeof bits);
	return true;
}

static bool parse_literal(struct parser *p, const struct want *w, const struct ptx_inst *inst,
                          struct ptx_operand *o)
{
	const struct token at = p->tok;
	struct constant c;
	if (!parse_constant(p, &c, "a register or a constant"))
		return false;
	if (c.is_float)
		return take_float(p, &at, &c, w, inst, o);
	if (w->type == PTX_F32 || w->type == PTX_F64) {
		report_at(p, at.s, at.line, ERR_PARSE, "'%s' needs a floating-point constant here",
		          inst->text);
		return err_remedy(p->err, "Write 1.0 as 0f3F800000 (.f32) or 0d3FF0000000000000 (.f64).");
	}
	o->kind = OPND_INT;
	memcpy(&o->i64, &c.u, sizeof c.u);
	return true;
}

/* Does vmad take a register here with the other sign? */
static bool at_negation(const struct parser *p, const struct ptx_inst *inst)
{
	if (inst->op != OP_VMAD || !at_punct(p, '-'))
		return false;
	const char *next = p->tok.s + p->tok.len + strspn(p->tok.s + p->tok.len, " \t");
	return !(*next >= '0' && *next <= '9');
}

bool parse_source(struct parser *p, const struct want *w, const struct ptx_inst *inst, bool vector,
                  struct ptx_operand *o)
{
	uint32_t member;
	if (vector && at_vector(p, &member))
		return parse_whole_vector(p, w, inst, false, o);
	if (inst->op == OP_MOV && inst->vec == 4 && p->tok.kind == TOK_NAME && p->tok.s[0] == '%')
		return parse_special_vector(p, o);
	if (at_negation(p, inst)) {
		o->negated = true;
		return advance(p) && parse_named_source(p, w, inst, o);
	}
	if (p->tok.kind == TOK_NAME && !at_constant(p))
		return parse_named_source(p, w, inst, o);
	if (at_punct(p, '{')) {
		if (!vector)
			return fail(p, "'%s' takes no vector here", inst->text);
		return parse_vector(p, w, inst, false, o);
	}
	return parse_literal(p, w, inst, o);
}

bool parse_destination(struct parser *p, const struct want *w, const struct ptx_inst *inst,
                       bool vector, struct ptx_operand *o)
{
	uint32_t member;
	if (vector && at_punct(p, '{'))
		return parse_vector(p, w, inst, true, o);
	if (vector && at_vector(p, &member))
		return parse_whole_vector(p, w, inst, true, o);
	if (!parse_reg(p, w, inst, true, &o->reg, &o->i64))
		return false;
	o->kind = o->reg < 0 ? OPND_NONE : OPND_REG;
	return true;
}
