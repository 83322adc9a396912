/*
 * The module level of PTX: .version, .target, functions and their headers, debug sections, and
 * the parser's tokens and errors. PTX ISA 5.4, 11. Executes nothing.
 */
#include "ptx/parser.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The message, then the line with a caret under @at, at most 100 columns of it. */
void report_at(struct parser *p, const char *at, uint32_t line, enum err_code code, const char *fmt,
               ...)
{
	const char *begin = at, *end = at;
	while (begin > p->text && begin[-1] != '\n')
		begin--;
	while (*end && *end != '\n' && *end != '\r')
		end++;
	size_t column = (size_t)(at - begin);
	char msg[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);

	char shown[101], caret[101];
	size_t n = 0, skip = column > 70 ? column - 70 : 0;
	for (const char *c = begin + skip; c < end && n < sizeof shown - 1; c++, n++) {
		shown[n] = *c == '\t' ? ' ' : (unsigned char)*c < 32 ? '?' : *c;
		caret[n] = ' ';
	}
	size_t under = column - skip;
	if (under >= sizeof caret - 1)
		under = sizeof caret - 2;
	shown[n] = '\0';
	memset(caret, ' ', sizeof caret);
	caret[under] = '^';
	caret[under + 1] = '\0';
	err_set(p->err, code, "%s:%u:%zu: %s\n  %s\n  %s", p->name, line, column + 1, msg, shown,
	        caret);
}

bool advance(struct parser *p)
{
	lex_next(&p->lx, &p->tok);
	if (p->tok.kind == TOK_BAD)
		return fail(p, "%s", p->tok.why);
	return true;
}

bool at_punct(const struct parser *p, char c)
{
	return p->tok.kind == TOK_PUNCT && p->tok.punct == c;
}

bool at_dot(const struct parser *p, const char *name)
{
	return tok_is(&p->tok, TOK_DOT, name);
}

bool take(struct parser *p, char c, bool *found)
{
	*found = at_punct(p, c);
	return !*found || advance(p);
}

static bool unexpected(struct parser *p, const char *wanted)
{
	if (p->tok.kind == TOK_END)
		return fail(p, "the text ends where %s should follow", wanted);
	int n = p->tok.len > 60 ? 60 : (int)p->tok.len;
	return fail(p, "expected %s, found '%s%.*s'", wanted, p->tok.kind == TOK_DOT ? "." : "", n,
	            p->tok.s);
}

bool expect(struct parser *p, char c, const char *after)
{
	char wanted[96];
	if (at_punct(p, c))
		return advance(p);
	snprintf(wanted, sizeof wanted, "'%c' %s", c, after);
	return unexpected(p, wanted);
}

bool expect_name(struct parser *p, struct token *name, const char *what)
{
	if (p->tok.kind != TOK_NAME)
		return unexpected(p, what);
	*name = p->tok;
	return advance(p);
}

bool expect_uint(struct parser *p, uint64_t max, uint64_t *value, const char *what)
{
	if (p->tok.kind != TOK_INT)
		return unexpected(p, what);
	if (p->tok.u > max)
		return fail(p, "%s is too large; at most %llu", what, (unsigned long long)max);
	*value = p->tok.u;
	return advance(p);
}

bool expect_int(struct parser *p, int64_t *value, const char *what)
{
	bool negative = false, inverted = false, found = true;
	while (found) {
		if (!take(p, '-', &found))
			return false;
		negative ^= found;
		if (!found && !inverted) {
			if (!take(p, '~', &found))
				return false;
			inverted = found;
			if (found && negative)
				return fail(p, "write the sign behind '~'");
		}
	}
	uint64_t u;
	if (!expect_uint(p, UINT64_MAX, &u, what))
		return false;
	if (negative)
		u = 0 - u;
	if (inverted)
		u = ~u;
	memcpy(value, &u, sizeof u);
	return true;
}

struct ptx_func *func_at_hand(struct parser *p)
{
	return &p->m->funcs[p->func];
}

void grow(void *items, size_t n, size_t *cap, size_t bytes)
{
	if (n < *cap)
		return;
	void *old;
	memcpy(&old, items, sizeof old);
	*cap = *cap ? *cap * 2 : 16;
	old = mem_realloc(old, *cap, bytes);
	memcpy(items, &old, sizeof old);
}

bool declare(struct parser *p, const struct token *name, enum sym_kind kind, int32_t index,
             uint32_t count)
{
	struct sym s = { .name = name->s,
		             .len = name->len,
		             .hash = name->hash,
		             .kind = kind,
		             .index = index,
		             .count = count };
	const struct sym *old = names_find(&p->names, name->s, name->len, name->hash);
	if (old && !count && (size_t)(old - p->names.syms) >= p->scope_mark)
		return fail_at(p, name->s, name->line, ERR_PARSE, "'%.*s' is declared twice",
		               (int)name->len, name->s);
	names_add(&p->names, &s);
	return true;
}

/* ".version 9.0" is one floating-point token; "9.1" and "9.10" differ, so its text is read. */
static bool parse_version(struct parser *p)
{
	if (!advance(p))
		return false;
	int major = 0, minor = 0, used = 0;
	char text[16] = "";
	if (p->tok.kind == TOK_FLOAT && p->tok.len < sizeof text)
		memcpy(text, p->tok.s, p->tok.len);
	if (sscanf(text, "%2d.%2d%n", &major, &minor, &used) != 2 || (size_t)used != p->tok.len)
		return fail(p, "expected a version such as 9.0 after .version");
	p->m->version_major = major;
	p->m->version_minor = minor;
	return advance(p);
}

static bool parse_target(struct parser *p)
{
	bool more = true;
	if (!advance(p))
		return false;
	for (bool first = true; more; first = false) {
		struct token t;
		if (!expect_name(p, &t, "a target such as sm_90"))
			return false;
		if (first) {
			size_t n = t.len < sizeof p->m->target ? t.len : sizeof p->m->target - 1;
			memcpy(p->m->target, t.s, n);
			p->m->target[n] = '\0';
		} else if (!tok_is(&t, TOK_NAME, "debug")) {
			report_at(p, t.s, t.line, ERR_UNSUPPORTED, "target option '%.*s' is not supported",
			          (int)t.len, t.s);
			return err_remedy(p->err, "Supported: an architecture, and 'debug'.");
		}
		if (!take(p, ',', &more))
			return false;
	}
	return true;
}

static bool parse_address_size(struct parser *p)
{
	uint64_t bits;
	if (!advance(p))
		return false;
	if (p->tok.kind == TOK_INT && p->tok.u != 64) {
		report_at(p, p->tok.s, p->tok.line, ERR_UNSUPPORTED, "only 64-bit addresses are supported");
		return err_remedy(p->err, "Compile for a 64-bit machine.");
	}
	return expect_uint(p, 64, &bits, "64 after .address_size");
}

/* .file 1 "name", time, size; comes after the functions that refer to it. */
static bool parse_file(struct parser *p)
{
	uint64_t index, ignored;
	bool more;
	if (!advance(p) || !expect_uint(p, 1 << 16, &index, "a file number"))
		return false;
	if (p->tok.kind != TOK_STRING)
		return unexpected(p, "a file name in quotes");
	if (index > 0) {
		struct ptx_module *m = p->m;
		if (index > m->n_files) {
			m->files = mem_realloc(m->files, index, sizeof *m->files);
			while (m->n_files < index)
				m->files[m->n_files++] = NULL;
		}
		free(m->files[index - 1]);
		m->files[index - 1] = mem_strndup(p->tok.s, p->tok.len);
	}
	if (!advance(p) || !take(p, ',', &more))
		return false;
	if (more) {
		if (!expect_uint(p, UINT64_MAX, &ignored, "a time stamp") || !take(p, ',', &more))
			return false;
		if (more && !expect_uint(p, UINT64_MAX, &ignored, "a file size"))
			return false;
	}
	return true;
}

/* .section .debug_info { ... }: DWARF, not needed here. */
static bool skip_section(struct parser *p)
{
	if (!advance(p))
		return false;
	if (p->tok.kind != TOK_DOT)
		return unexpected(p, "a section name");
	if (!advance(p) || !expect(p, '{', "after the section name"))
		return false;
	while (!at_punct(p, '}')) {
		if (p->tok.kind == TOK_END)
			return fail(p, "the text ends inside a .section");
		if (!advance(p))
			return false;
	}
	return advance(p);
}

static bool skip_pragma(struct parser *p)
{
	if (!advance(p))
		return false;
	for (bool more = true; more;) {
		if (p->tok.kind != TOK_STRING)
			return unexpected(p, "a string after .pragma");
		if (!advance(p) || !take(p, ',', &more))
			return false;
	}
	return expect(p, ';', "after .pragma");
}

/* .maxntid 256, 1, 1 and the like. */
static bool parse_ntid(struct parser *p, uint32_t ntid[3])
{
	bool more = true;
	ntid[0] = ntid[1] = ntid[2] = 1;
	for (int i = 0; i < 3 && more; i++) {
		uint64_t v = 0;
		if (!expect_uint(p, 1 << 20, &v, "a number of threads") || !take(p, ',', &more))
			return false;
		ntid[i] = (uint32_t)v;
	}
	return true;
}

static bool unknown_directive(struct parser *p, const char *where, const char *known)
{
	report_at(p, p->tok.s - 1, p->tok.line, ERR_UNSUPPORTED,
	          "directive '.%.*s' is not supported %s", (int)p->tok.len, p->tok.s, where);
	return err_remedy(p->err, "Supported there: %s.", known);
}

/* What may stand between the parameters of a function and its body (ISA 11.4). */
static bool parse_tuning(struct parser *p)
{
	struct ptx_func *f = func_at_hand(p);
	while (p->tok.kind == TOK_DOT) {
		uint64_t v;
		if (at_dot(p, "maxntid") || at_dot(p, "reqntid")) {
			if (!advance(p) || !parse_ntid(p, f->maxntid))
				return false;
		} else if (at_dot(p, "minnctapersm") || at_dot(p, "maxnctapersm")) {
			if (!advance(p) || !expect_uint(p, 1 << 16, &v, "a number of blocks"))
				return false;
			f->minnctapersm = (uint32_t)v;
		} else if (at_dot(p, "maxnreg")) {
			if (!advance(p) || !expect_uint(p, 1 << 16, &v, "a number of registers"))
				return false;
			f->maxnreg = (uint32_t)v;
		} else if (at_dot(p, "noreturn")) {
			if (!advance(p))
				return false;
		} else if (at_dot(p, "pragma")) {
			if (!skip_pragma(p))
				return false;
		} else {
			return unknown_directive(p, "on a function",
			                         ".maxntid .reqntid .minnctapersm "
			                         ".maxnctapersm .maxnreg .noreturn .pragma");
		}
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
	grow(&p->m->funcs, p->m->n_funcs, &p->funcs_cap, sizeof *p->m->funcs);
	p->func = (int32_t)p->m->n_funcs;
	p->m->funcs[p->m->n_funcs++] = (struct ptx_func){
		.name = mem_strndup(name->s, name->len),
		.is_entry = is_entry,
	};
	return declare(p, name, SYM_FUNC, p->func, 0);
}

static void drop_params(struct ptx_func *f)
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
	bool again, ok = true;
	if (!is_entry && at_punct(p, '('))
		ok = parse_params(p, &rets, true);
	ok = ok && expect_name(p, name, "the name of a function") &&
	     find_or_add_func(p, name, is_entry, &again);
	if (!ok) {
		drop_params(&rets);
		return false;
	}
	struct ptx_func *f = func_at_hand(p);
	if (f->has_body) {
		drop_params(&rets);
		return fail_at(p, name->s, name->line, ERR_PARSE, "'%s' is defined twice", f->name);
	}
	drop_params(f);
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

static bool parse_func(struct parser *p, bool is_entry)
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

/* .visible .extern .weak .common, then a variable or a function. */
static bool parse_declaration(struct parser *p)
{
	static const struct {
		const char *name;
		enum ptx_space space;
	} spaces[] = {
		{ "global", SPACE_GLOBAL },
		{ "const", SPACE_CONST },
		{ "shared", SPACE_SHARED },
	};
	bool is_extern = false;
	for (;;) {
		if (at_dot(p, "extern"))
			is_extern = true;
		else if (!at_dot(p, "visible") && !at_dot(p, "weak") && !at_dot(p, "common"))
			break;
		if (!advance(p))
			return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(spaces); i++)
		if (at_dot(p, spaces[i].name))
			return advance(p) && parse_var_decl(p, spaces[i].space, is_extern);
	if (at_dot(p, "func") || at_dot(p, "entry"))
		return parse_func(p, at_dot(p, "entry"));
	if (p->tok.kind != TOK_DOT)
		return unexpected(p, "a directive");
	return unknown_directive(p, "at module level",
	                         ".version .target .address_size .entry .func .global .const .shared "
	                         ".extern .visible .weak .common .file .section .pragma");
}

static bool parse_all(struct parser *p)
{
	if (!advance(p))
		return false;
	if (!at_dot(p, "version"))
		return unexpected(p, "'.version', the first word of a PTX module");
	if (!parse_version(p))
		return false;
	while (p->tok.kind != TOK_END) {
		bool ok;
		if (at_dot(p, "target"))
			ok = parse_target(p);
		else if (at_dot(p, "address_size"))
			ok = parse_address_size(p);
		else if (at_dot(p, "file"))
			ok = parse_file(p);
		else if (at_dot(p, "loc"))
			ok = parse_loc(p);
		else if (at_dot(p, "section"))
			ok = skip_section(p);
		else if (at_dot(p, "pragma"))
			ok = skip_pragma(p);
		else if (at_punct(p, ';'))
			ok = advance(p);
		else
			ok = parse_declaration(p);
		if (!ok)
			return false;
	}
	if (!p->m->target[0])
		return fail(p, "the module has no .target");
	return true;
}

bool ptx_parse(const char *text, const char *name, struct ptx_module *out, struct err *err)
{
	struct parser *p = mem_zalloc(sizeof *p);
	*out = (struct ptx_module){ 0 };
	p->text = text;
	p->name = name;
	p->err = err;
	p->m = out;
	p->func = -1;
	memset(p->site_hash, 0xff, sizeof p->site_hash);
	lex_start(&p->lx, text);
	inst_tables(p);
	bool ok = parse_all(p);
	if (ok)
		layout_variables(out);
	else
		ptx_free(out);
	names_free(&p->names);
	free(p->scopes);
	free(p->labels);
	free(p->refs);
	free(p->sites);
	free(p->mnemonics);
	free(p);
	return ok;
}

void ptx_free(struct ptx_module *m)
{
	for (unsigned i = 0; i < m->n_funcs; i++) {
		struct ptx_func *f = &m->funcs[i];
		drop_params(f);
		free(f->name);
		free(f->regs);
		free(f->insts);
		free(f->blocks);
		free(f->lists);
	}
	for (unsigned i = 0; i < m->n_vars; i++) {
		free(m->vars[i].name);
		free(m->vars[i].init);
		free(m->vars[i].relocs);
	}
	for (unsigned i = 0; i < m->n_files; i++)
		free(m->files[i]);
	free(m->funcs);
	free(m->vars);
	free(m->files);
	*m = (struct ptx_module){ 0 };
}

const struct ptx_func *ptx_entry(const struct ptx_module *m, const char *name)
{
	for (unsigned i = 0; i < m->n_funcs; i++)
		if (m->funcs[i].is_entry && strcmp(m->funcs[i].name, name) == 0)
			return &m->funcs[i];
	return NULL;
}
