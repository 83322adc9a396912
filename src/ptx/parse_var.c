/*
 * Registers, variables and parameters: .reg .shared .local .global .const .param, with array
 * dimensions and initialisers. PTX ISA 5.1 (spaces), 5.4 (variables), 4.4 (register ranges).
 * Offsets of .shared .global .const are given later, in shared_layout.c.
 */
#include "ptx/parser.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_REGS (1u << 20)  /* in a module: ptxas gives up long before */
#define MAX_INIT (64u << 20) /* bytes of initialised variables in a module */
#define MAX_VAR ((uint64_t)1 << 40)

struct decl {
	enum ptx_type type;
	uint32_t lanes; /* .v2 .v4 */
	uint32_t align;
	struct token name;
	uint64_t size;          /* bytes */
	uint64_t outer;         /* elements of one row of the first dimension, for "x[] = {..}" */
	bool is_array, is_open; /* open: first dimension left out */
};

bool parse_type(struct parser *p, enum ptx_type *type)
{
	if (p->tok.kind == TOK_DOT)
		for (int t = PTX_NONE + 1; t < PTX_TYPE_COUNT; t++)
			if (tok_is(&p->tok, TOK_DOT, ptx_type_name((enum ptx_type)t))) {
				*type = (enum ptx_type)t;
				return advance(p);
			}
	if (at_dot(p, "texref") || at_dot(p, "samplerref") || at_dot(p, "surfref")) {
		*type = PTX_B64; /* a handle; what uses it is refused by itself */
		return advance(p);
	}
	if (p->tok.kind != TOK_DOT)
		return fail(p, "expected a type such as .b32");
	report_at(p, p->tok.s - 1, p->tok.line, ERR_UNSUPPORTED, "type '.%.*s' is not supported",
	          (int)p->tok.len, p->tok.s);
	return err_remedy(p->err, "Supported: .pred and .b .u .s of 8 to 64 bits, .b128, .f16 .bf16 "
	                          ".f32 .f64. Textures and surfaces are not.");
}

/* --- registers --- */
/* Appends @number in decimal to @name of @cap bytes that holds @len. */
static void append_number(char *name, size_t cap, size_t len, uint32_t number)
{
	char digits[10];
	size_t n = 0;
	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (n && len < cap - 1)
		name[len++] = digits[--n];
	name[len] = '\0';
}

static void add_reg(struct parser *p, const struct token *name, enum ptx_type type, bool numbered,
                    uint32_t number)
{
	struct ptx_func *f = func_at_hand(p);
	grow_array(&f->regs, f->n_regs, &p->regs_cap, sizeof *f->regs);
	struct ptx_reg *r = &f->regs[f->n_regs++];
	size_t len = name->len < sizeof r->name - 1 ? name->len : sizeof r->name - 1;
	memcpy(r->name, name->s, len);
	r->name[len] = '\0';
	r->type = type;
	if (numbered)
		append_number(r->name, sizeof r->name, len, number);
}

int32_t add_nameless_reg(struct parser *p, enum ptx_type type)
{
	const struct token constant = { .s = "(constant)", .len = 10 };
	add_reg(p, &constant, type, false, 0);
	return (int32_t)func_at_hand(p)->n_regs - 1;
}

/* One name of a .reg: "%p", or "%r<10>" for %r0 to %r9. */
static bool parse_reg_name(struct parser *p, enum ptx_type type)
{
	struct token name;
	uint64_t count = 1;
	bool range;
	if (!expect_name(p, &name, "the name of a register") || !accept_punct(p, '<', &range))
		return false;
	if (range && (!expect_uint(p, MAX_REGS, &count, "a number of registers") ||
	              !expect(p, '>', "after the number of registers")))
		return false;
	p->regs_total += count;
	if (p->regs_total > MAX_REGS)
		return fail_at(p, name.s, name.line, ERR_UNSUPPORTED, "more than %u registers", MAX_REGS);
	struct ptx_func *f = func_at_hand(p);
	if (range && name.prefix_len < name.len) /* "%r1<5>": %r10 .. %r14, which %r<n> might own */
		return fail_at(p, name.s, name.line, ERR_UNSUPPORTED,
		               "a range of registers whose name ends with a digit is not supported");
	if (!range || count)
		if (!declare_name(p, &name, SYM_REG, (int32_t)f->n_regs, range ? (uint32_t)count : 0))
			return false;
	for (uint32_t i = 0; i < count; i++)
		add_reg(p, &name, type, range, i);
	return true;
}

bool parse_reg_decl(struct parser *p)
{
	enum ptx_type type;
	bool more = true;
	if (!advance(p))
		return false;
	if (at_dot(p, "v2") || at_dot(p, "v4"))
		return fail_at(p, p->tok.s - 1, p->tok.line, ERR_UNSUPPORTED,
		               "vector registers (.reg .%.*s) are not supported", (int)p->tok.len,
		               p->tok.s);
	if (!parse_type(p, &type))
		return false;
	while (more)
		if (!parse_reg_name(p, type) || !accept_punct(p, ',', &more))
			return false;
	return expect(p, ';', "after a register");
}

/* --- variables and parameters --- */
/* .attribute(.managed): memory of a variable, which makes no difference here. */
static bool skip_attribute(struct parser *p)
{
	if (!advance(p) || !expect(p, '(', "after .attribute"))
		return false;
	if (!at_dot(p, "managed"))
		return fail_at(p, p->tok.s, p->tok.line, ERR_UNSUPPORTED,
		               "this .attribute is not supported; only .managed is");
	return advance(p) && expect(p, ')', "after .managed");
}

static bool parse_align(struct parser *p, uint32_t *align)
{
	uint64_t v;
	const char *at;
	if (!advance(p))
		return false;
	at = p->tok.s;
	if (!expect_uint(p, 1 << 16, &v, "an alignment"))
		return false;
	if (!v || (v & (v - 1)))
		return fail_at(p, at, p->tok.line, ERR_PARSE, "an alignment is a power of two");
	*align = (uint32_t)v;
	return true;
}

/* .ptr .global .align 16: what a pointer parameter points to; only a hint. */
static bool skip_ptr(struct parser *p)
{
	uint32_t ignored;
	if (!advance(p))
		return false;
	if (at_dot(p, "global") || at_dot(p, "shared") || at_dot(p, "local") || at_dot(p, "const"))
		if (!advance(p))
			return false;
	return !at_dot(p, "align") || parse_align(p, &ignored);
}

static bool parse_dimensions(struct parser *p, struct decl *d)
{
	uint64_t elements = 1;
	bool found;
	d->outer = 1;
	if (!accept_punct(p, '[', &found))
		return false;
	while (found) {
		bool first = !d->is_array;
		const struct token at = p->tok;
		d->is_array = true;
		if (first && at_punct(p, ']')) {
			d->is_open = true;
		} else {
			uint64_t n = 32;
			if (tok_is(&at, TOK_NAME, "WARP_SZ")
			        ? !advance(p)
			        : !expect_uint(p, MAX_VAR, &n, "a number of elements"))
				return false;
			uint64_t *into = first ? &elements : &d->outer;
			if (n && *into > MAX_VAR / n)
				return fail_at(p, at.s, at.line, ERR_UNSUPPORTED, "array too large");
			*into *= n;
		}
		if (!expect(p, ']', "after the number of elements") || !accept_punct(p, '[', &found))
			return false;
	}
	if (d->is_open)
		elements = 0;
	if (d->outer && elements > MAX_VAR / d->outer)
		return fail_at(p, d->name.s, d->name.line, ERR_UNSUPPORTED, "array too large");
	elements *= d->outer;
	uint64_t bytes = (uint64_t)ptx_type_bytes(d->type) * d->lanes;
	if (elements > MAX_VAR / bytes)
		return fail_at(p, d->name.s, d->name.line, ERR_UNSUPPORTED, "array too large");
	d->size = elements * bytes;
	return true;
}

/* [.attribute(..)] [.align N] [.v2] type [.ptr ..]: all that stands before the name. */
static bool parse_decl_type(struct parser *p, struct decl *d)
{
	*d = (struct decl){ .lanes = 1 };
	for (;;) {
		if (at_dot(p, "attribute")) {
			if (!skip_attribute(p))
				return false;
		} else if (at_dot(p, "align")) {
			if (!parse_align(p, &d->align))
				return false;
		} else if (at_dot(p, "v2") || at_dot(p, "v4")) {
			d->lanes = at_dot(p, "v2") ? 2 : 4;
			if (!advance(p))
				return false;
		} else {
			break;
		}
	}
	const struct token at = p->tok;
	if (!parse_type(p, &d->type))
		return false;
	if (d->type == PTX_PRED)
		return fail_at(p, at.s - 1, at.line, ERR_PARSE, "predicates live in registers only");
	if (at_dot(p, "ptr") && !skip_ptr(p))
		return false;
	if (!d->align)
		d->align = ptx_type_bytes(d->type) * d->lanes;
	return true;
}

bool parse_params(struct parser *p, struct ptx_func *f, bool returns)
{
	size_t cap = 0;
	bool more;
	if (!expect(p, '(', "before the parameters"))
		return false;
	more = !at_punct(p, ')');
	while (more) {
		struct decl d;
		if (at_dot(p, "reg"))
			return fail_at(p, p->tok.s - 1, p->tok.line, ERR_UNSUPPORTED,
			               "parameters in registers are not supported");
		if (!at_dot(p, "param"))
			return fail(p, "expected a .param");
		if (!advance(p) || !parse_decl_type(p, &d) ||
		    !expect_name(p, &d.name, "the name of a parameter") || !parse_dimensions(p, &d))
			return false;
		uint64_t offset = align_up(f->param_bytes, d.align);
		if (offset + d.size > 1u << 24)
			return fail_at(p, d.name.s, d.name.line, ERR_UNSUPPORTED,
			               "more than 16 MiB of parameters");
		grow_array(&f->params, f->n_params, &cap, sizeof *f->params);
		f->params[f->n_params++] = (struct ptx_param){
			.name = mem_strndup(d.name.s, d.name.len),
			.type = d.type,
			.size = (uint32_t)d.size,
			.align = d.align,
			.offset = (uint32_t)offset,
			.is_return = returns,
		};
		f->param_bytes = (uint32_t)(offset + d.size);
		if (!accept_punct(p, ',', &more))
			return false;
	}
	return expect(p, ')', "after the parameters");
}

/* --- initialisers --- */
struct init {
	struct ptx_var *var;
	size_t cap, relocs_cap;
	uint64_t at; /* next byte */
	bool open;   /* "x[] = ...": as large as its values */
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

/* sym, sym+4, generic(sym)+4 */
static bool parse_init_symbol(struct parser *p, struct init *in)
{
	struct token name = p->tok;
	bool generic = tok_is(&name, TOK_NAME, "generic"), more;
	int64_t addend = 0;
	uint32_t member;
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
	unsigned bytes = ptx_type_bytes(in->var->type);
	if (bytes < 4)
		return fail_at(p, name.s, name.line, ERR_UNSUPPORTED,
		               "an address in pieces is not supported in an initialiser");
	grow_array(&in->var->relocs, in->var->n_relocs, &in->relocs_cap, sizeof *in->var->relocs);
	in->var->relocs[in->var->n_relocs++] = (struct ptx_reloc){
		.offset = in->at,
		.symbol = symbol,
		.bytes = (uint8_t)bytes,
		.is_func = is_func,
		.generic = generic,
		.addend = addend,
	};
	return true;
}

/* The bits of a floating-point constant as @type; a 0f literal keeps its bits exactly. */
static uint64_t float_bits(const struct constant *c, enum ptx_type type)
{
	float single = (float)c->f64;
	uint64_t bits;
	uint32_t low;
	memcpy(&bits, &c->f64, sizeof bits);
	memcpy(&low, &single, sizeof low);
	if (c->float_bytes == 4)
		low = (uint32_t)c->u;
	return type == PTX_F64 ? bits : low;
}

static bool parse_init_value(struct parser *p, struct init *in)
{
	enum ptx_type type = in->var->type;
	const bool is_float = type == PTX_F32 || type == PTX_F64;
	unsigned bytes = ptx_type_bytes(type);
	uint64_t bits;
	if (!init_room(p, in, in->at + bytes))
		return false;
	if (p->tok.kind == TOK_NAME && !at_constant(p)) {
		if (!parse_init_symbol(p, in))
			return false;
	} else {
		const struct token at = p->tok;
		struct constant c;
		if (!parse_constant(p, &c, "an initial value"))
			return false;
		if (c.is_float != is_float)
			return fail_at(p, at.s, at.line, ERR_PARSE, "'%s' of type .%s needs %s values",
			               in->var->name, ptx_type_name(type),
			               is_float ? "floating-point" : "integer");
		bits = is_float ? float_bits(&c, type) : c.u;
		for (unsigned i = 0; i < bytes && i < sizeof bits; i++)
			((uint8_t *)in->var->init)[in->at + i] = (uint8_t)(bits >> (8 * i));
	}
	in->at += bytes;
	return true;
}

/* "{1, 2}", and "{{1, 2}, {3, 4}}" where an inner brace fills one row of @row bytes. */
static bool parse_init_list(struct parser *p, struct init *in, uint64_t row, bool inner)
{
	const uint64_t first = in->at;
	bool more = true;
	if (!expect(p, '{', "before initial values"))
		return false;
	for (uint64_t i = 0; more && !at_punct(p, '}'); i++) {
		if (at_punct(p, '{')) {
			if (inner)
				return fail_at(p, p->tok.s, p->tok.line, ERR_UNSUPPORTED,
				               "initial values of "
				               "more than two dimensions are not supported");
			in->at = first + i * row;
			if (!parse_init_list(p, in, row, true))
				return false;
			if (in->at > first + (i + 1) * row)
				return fail(p, "more values than a row of '%s' has", in->var->name);
			in->at = first + (i + 1) * row;
			if (!init_room(p, in, in->at))
				return false;
		} else if (!parse_init_value(p, in)) {
			return false;
		}
		if (!accept_punct(p, ',', &more))
			return false;
	}
	return expect(p, '}', "after the initial values");
}

static bool parse_init(struct parser *p, struct ptx_var *var, const struct decl *d)
{
	struct init in = { .var = var, .open = d->is_open };
	const uint64_t row = d->outer * ptx_type_bytes(d->type) * d->lanes;
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
	if (!parse_init_list(p, &in, row, false))
		return false;
	if (d->is_open) {
		var->size = row ? (in.at + row - 1) / row * row : 0;
		return init_room(p, &in, var->size);
	}
	return true;
}

/* Where a function's .local and call .param variables go at once; the rest in shared_layout.c. */
static bool place_in_function(struct parser *p, struct ptx_var *v, const struct token *name)
{
	struct ptx_func *f = func_at_hand(p);
	uint32_t *used = v->space == SPACE_LOCAL ? &f->local_bytes : &f->call_param_bytes;
	uint64_t offset = align_up(*used, v->align);
	if (offset + v->size > UINT32_MAX / 2)
		return fail_at(p, name->s, name->line, ERR_UNSUPPORTED, "more than 2 GiB of .%s variables",
		               v->space == SPACE_LOCAL ? "local" : "param");
	v->offset = offset;
	*used = (uint32_t)(offset + v->size);
	return true;
}

bool parse_var_decl(struct parser *p, enum ptx_space space, bool is_extern)
{
	struct decl d;
	bool more = true;
	if (!parse_decl_type(p, &d))
		return false;
	const struct decl type = d;
	while (more) {
		bool init;
		d = type;
		if (!expect_name(p, &d.name, "the name of a variable") || !parse_dimensions(p, &d))
			return false;
		grow_array(&p->m->vars, p->m->n_vars, &p->vars_cap, sizeof *p->m->vars);
		int32_t index = (int32_t)p->m->n_vars++;
		struct ptx_var *v = &p->m->vars[index];
		*v = (struct ptx_var){
			.name = mem_strndup(d.name.s, d.name.len),
			.space = space,
			.type = d.type,
			.align = d.align,
			.size = d.size,
			.is_extern = is_extern,
			.func = p->func,
		};
		if (!accept_punct(p, '=', &init) || (init && !parse_init(p, v, &d)))
			return false;
		if (d.is_open && !init && !is_extern)
			return fail_at(p, d.name.s, d.name.line, ERR_PARSE, "'%s' has no size", v->name);
		if (space == SPACE_LOCAL || space == SPACE_PARAM)
			if (!place_in_function(p, v, &d.name))
				return false;
		if (!declare_name(p, &d.name, SYM_VAR, index, 0) || !accept_punct(p, ',', &more))
			return false;
	}
	return expect(p, ';', "after a variable");
}
