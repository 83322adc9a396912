/*
 * The module level of PTX: .version, .target, declarations, debug sections. PTX ISA 5.4, 11.
 * Executes nothing.
 */
#include "ptx/parser.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ".version 9.0" is one floating-point token; "9.1" and "9.10" differ, so its text is read. */
static bool parse_version(struct parser *p)
{
	if (!advance(p))
		return false;
	char text[16] = "", *dot, *end;
	if (p->tok.kind == TOK_FLOAT && p->tok.len < sizeof text)
		memcpy(text, p->tok.s, p->tok.len);
	const long major = strtol(text, &dot, 10), minor = *dot == '.' ? strtol(dot + 1, &end, 10) : -1;
	if (dot == text || minor < 0 || end == dot + 1 || *end || major < 0 || major > 99 || minor > 99)
		return fail(p, "expected a version such as 9.0 after .version");
	p->m->version_major = (int)major;
	p->m->version_minor = (int)minor;
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
		} else if (!tok_is(&t, TOK_NAME, "debug") && !tok_is(&t, TOK_NAME, "texmode_unified") &&
		           !tok_is(&t, TOK_NAME, "texmode_independent")) {
			report_at(p, t.s, t.line, ERR_UNSUPPORTED, "target option '%.*s' is not supported",
			          (int)t.len, t.s);
			return err_remedy(p->err, "Supported: an architecture, 'debug', 'texmode_unified' "
			                          "and 'texmode_independent'.");
		}
		p->m->debug |= !first && tok_is(&t, TOK_NAME, "debug");
		if (!accept_punct(p, ',', &more))
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
	if (!advance(p) || !accept_punct(p, ',', &more))
		return false;
	if (more) {
		if (!expect_uint(p, UINT64_MAX, &ignored, "a time stamp") || !accept_punct(p, ',', &more))
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

/* .alias name, function; both were declared before. */
static bool parse_alias(struct parser *p)
{
	int32_t func[2];
	if (!advance(p))
		return false;
	for (int i = 0; i < 2; i++) {
		struct token t;
		if (!expect_name(p, &t, "the name of a function"))
			return false;
		const struct sym *s = names_find(&p->names, t.s, t.len, t.hash);
		if (!s || s->kind != SYM_FUNC)
			return fail_at(p, t.s, t.line, ERR_PARSE, "'%.*s' is no function", (int)t.len, t.s);
		func[i] = s->index;
		if (i == 0 && !expect(p, ',', "after the alias"))
			return false;
	}
	p->m->funcs[func[0]].alias_of = (uint32_t)func[1] + 1;
	return expect(p, ';', "after .alias");
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
	if (at_dot(p, "alias"))
		return parse_alias(p);
	for (size_t i = 0; i < ARRAY_LEN(spaces); i++)
		if (at_dot(p, spaces[i].name))
			return advance(p) && parse_var_decl(p, spaces[i].space, is_extern);
	if (at_dot(p, "func") || at_dot(p, "entry"))
		return parse_func(p, at_dot(p, "entry"));
	if (p->tok.kind != TOK_DOT)
		return unexpected(p, "a directive");
	return unknown_directive(p, "at module level",
	                         ".version .target .address_size .entry .func .global .const .shared "
	                         ".extern .visible .weak .common .alias .file .section .pragma");
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
	struct err own = { 0 };
	p->err = &own;
	p->mnemonic.s = text;
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
	if (!ok && err)
		*err = own;
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
		params_free(f);
		free(f->name);
		free(f->regs);
		free(f->insts);
		free(f->blocks);
		free(f->lists);
		for (unsigned k = 0; k < f->n_refusals; k++) {
			free(f->refusals[k].what);
			free(f->refusals[k].why);
			free(f->refusals[k].remedy);
		}
		free(f->refusals);
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
