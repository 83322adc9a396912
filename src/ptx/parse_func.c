/* Functions and their headers: names, parameters, tuning directives. PTX ISA 5.4, 11.4. */
#include "ptx/parser.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

bool skip_pragma(struct parser *p)
{
	if (!advance(p))
		return false;
	for (bool more = true; more;) {
		if (p->tok.kind != TOK_STRING)
			return unexpected(p, "a string after .pragma");
		if (!advance(p) || !accept_punct(p, ',', &more))
			return false;
	}
	return expect(p, ';', "after .pragma");
}

bool unknown_directive(struct parser *p, const char *where, const char *known)
{
	report_at(p, p->tok.s - 1, p->tok.line, ERR_UNSUPPORTED,
	          "directive '.%.*s' is not supported %s", (int)p->tok.len, p->tok.s, where);
	return err_remedy(p->err, "Supported there: %s.", known);
}

/* .maxntid 256, 1, 1 and the like. */
static bool parse_ntid(struct parser *p, uint32_t ntid[3])
{
	bool more = true;
	ntid[0] = ntid[1] = ntid[2] = 1;
	for (int i = 0; i < 3 && more; i++) {
		uint64_t v = 0;
		if (!expect_uint(p, 1 << 20, &v, "a number of threads") || !accept_punct(p, ',', &more))
			return false;
		ntid[i] = (uint32_t)v;
	}
	return true;
}

/* .minnctapersm 4 and the like. */
static bool parse_count(struct parser *p, uint64_t max, const char *what, uint32_t *count)
{
	uint64_t v;
	if (!expect_uint(p, max, &v, what))
		return false;
	*count = (uint32_t)v;
	return true;
}

/* What may stand between the parameters of a function and its body (ISA 11.4). */
static bool parse_tuning(struct parser *p)
{
	struct ptx_func *f = func_at_hand(p);
	while (p->tok.kind == TOK_DOT) {
		const struct token what = p->tok;
		uint32_t ignored;
		bool ok;
		if (at_dot(p, "maxntid") || at_dot(p, "reqntid"))
			ok = advance(p) && parse_ntid(p, f->maxntid);
		else if (at_dot(p, "minnctapersm") || at_dot(p, "maxnctapersm"))
			ok = advance(p) && parse_count(p, 1 << 16, "a number of blocks", &f->minnctapersm);
		else if (at_dot(p, "maxnreg"))
			ok = advance(p) && parse_count(p, 1 << 16, "a number of registers", &f->maxnreg);
		else if (at_dot(p, "reqnctapercluster"))
			ok = advance(p) && parse_ntid(p, f->cluster);
		else if (at_dot(p, "maxclusterrank"))
			ok = advance(p) && parse_count(p, 1 << 16, "a number of blocks", &ignored);
		else if (at_dot(p, "explicitcluster")) {
			f->explicit_cluster = true;
			ok = advance(p);
		} else if (at_dot(p, "noreturn"))
			ok = advance(p);
		else if (at_dot(p, "pragma"))
			ok = skip_pragma(p);
		else
			ok = unknown_directive(p, "on a function",
			                       ".maxntid .reqntid .minnctapersm "
			                       ".maxnctapersm .maxnreg .reqnctapercluster .explicitcluster "
			                       ".maxclusterrank .noreturn .pragma");
		if (!ok && !refuse_head(p, &what))
			return false;
	}
	return true;
}

/* A function that was only declared before is filled in; *again says so. */
static bool find_or_add_func(struct parser *p, const struct token *name, bool is_entry, bool *again)
{
	const struct sym *s = names_find(&p->names, name->s, name->len, name->hash);
	*again = s != NULL;
	if (s && (s->kind != SYM_FUNC || p->m->funcs[s->index].is_entry != is_entry))
		return fail_at(p, name->s, name->line, ERR_PARSE, "'%.*s' is declared twice",
		               (int)name->len, name->s);
	if (s) {
		p->func = s->index;
		return true;
	}
	grow_array(&p->m->funcs, p->m->n_funcs, &p->funcs_cap, sizeof *p->m->funcs);
	p->func = (int32_t)p->m->n_funcs;
	p->m->funcs[p->m->n_funcs++] = (struct ptx_func){
		.name = mem_strndup(name->s, name->len),
		.is_entry = is_entry,
	};
	return declare_name(p, name, SYM_FUNC, p->func, 0);
}

void params_free(struct ptx_func *f)
{
	for (unsigned i = 0; i < f->n_params + f->n_rets; i++)
		free(f->params[i].name);
	free(f->params);
	f->params = NULL;
	f->n_params = f->n_rets = 0;
}

/* Return values come first in the text and last in params[]. */
static bool parse_signature(struct parser *p, bool is_entry, struct token *name)
{
	struct ptx_func rets = { 0 };
	bool again, ok = is_entry || !at_dot(p, "attribute") || skip_attribute(p);
	if (ok && !is_entry && at_punct(p, '('))
		ok = parse_params(p, &rets, true);
	ok = ok && expect_name(p, name, "the name of a function") &&
	     find_or_add_func(p, name, is_entry, &again);
	if (!ok) {
		params_free(&rets);
		return false;
	}
	struct ptx_func *f = func_at_hand(p);
	if (f->has_body) {
		params_free(&rets);
		return fail_at(p, name->s, name->line, ERR_PARSE, "'%s' is defined twice", f->name);
	}
	params_free(f);
	f->param_bytes = 0;
	if (at_punct(p, '('))
		ok = parse_params(p, f, false);
	f->params = mem_realloc(f->params, (size_t)f->n_params + rets.n_params + 1, sizeof *f->params);
	for (unsigned i = 0; i < rets.n_params; i++)
		f->params[f->n_params + i] = rets.params[i];
	f->n_rets = rets.n_params;
	free(rets.params);
	return ok;
}

bool parse_func(struct parser *p, bool is_entry)
{
	struct token name;
	if (!advance(p) || !parse_signature(p, is_entry, &name) || !parse_tuning(p))
		return false;
	if (at_punct(p, ';')) {
		p->func = -1;
		return advance(p);
	}
	const struct ptx_func *f = func_at_hand(p);
	size_t outer = p->scope_mark;
	p->scope_mark = names_open(&p->names);
	for (unsigned i = 0; i < f->n_params + f->n_rets; i++) {
		if (f->params[i].in_register)
			continue;
		size_t len = strlen(f->params[i].name);
		struct sym s = { .name = f->params[i].name,
			             .len = (uint32_t)len,
			             .hash = lex_hash(f->params[i].name, len),
			             .kind = SYM_PARAM,
			             .index = (int32_t)i };
		names_add(&p->names, &s);
	}
	bool ok = parse_body(p);
	names_close(&p->names, p->scope_mark);
	p->scope_mark = outer;
	p->func = -1;
	return ok;
}
