/*
 * Variables and parameters: .shared .local .global .const .param, with array dimensions.
 * PTX ISA 5.1 (spaces), 5.4 (variables). Registers are parse_reg.c's, initial values
 * parse_init.c's. Offsets of .shared .global .const are given later, in shared_layout.c.
 */
#include "ptx/parser.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_VAR ((uint64_t)1 << 40)

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

/* --- variables and parameters --- */
/* .unified(a, b): a name for the whole system, of two numbers. */
static bool skip_unified(struct parser *p)
{
	if (!advance(p) || !expect(p, '(', "after .unified"))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		if (i && !expect(p, ',', "between the numbers of .unified"))
			return false;
		if (p->tok.kind != TOK_INT)
			return fail(p, "expected a number of .unified");
		if (!advance(p))
			return false;
	}
	return expect(p, ')', "after the numbers of .unified");
}

bool skip_attribute(struct parser *p)
{
	bool more = true;
	if (!advance(p) || !expect(p, '(', "after .attribute"))
		return false;
	while (more) {
		const bool unified = at_dot(p, "unified");
		if (!unified && !at_dot(p, "managed"))
			return fail_at(p, p->tok.s, p->tok.line, ERR_UNSUPPORTED,
			               "this .attribute is not supported; only .managed and .unified are");
		if (unified ? !skip_unified(p) : !advance(p))
			return false;
		if (!accept_punct(p, ',', &more))
			return false;
	}
	return expect(p, ')', "after the attributes");
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
	uint64_t outer = 1; /* elements of one row of the first dimension */
	if (!accept_punct(p, '[', &found))
		return false;
	while (found) {
		bool first = !d->is_array;
		uint64_t dimension = 0;
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
			uint64_t *into = first ? &elements : &outer;
			if (n && *into > MAX_VAR / n)
				return fail_at(p, at.s, at.line, ERR_UNSUPPORTED, "array too large");
			*into *= n;
			dimension = n;
		}
		if (d->n_dims == MAX_DIMENSIONS)
			return fail_at(p, at.s, at.line, ERR_UNSUPPORTED, "more than %d dimensions",
			               MAX_DIMENSIONS);
		d->dims[d->n_dims++] = dimension;
		if (!expect(p, ']', "after the number of elements") || !accept_punct(p, '[', &found))
			return false;
	}
	if (d->is_open)
		elements = 0;
	if (outer && elements > MAX_VAR / outer)
		return fail_at(p, d->name.s, d->name.line, ERR_UNSUPPORTED, "array too large");
	elements *= outer;
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
		const bool in_register = at_dot(p, "reg");
		if (in_register && f->is_entry)
			return fail(p, "a kernel has no parameters in registers");
		if (!in_register && !at_dot(p, "param"))
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
			.in_register = in_register,
		};
		f->param_bytes = (uint32_t)(offset + d.size);
		if (!accept_punct(p, ',', &more))
			return false;
	}
	return expect(p, ')', "after the parameters");
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
