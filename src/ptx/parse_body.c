/*
 * The body of a function: nested scopes, labels, guards, source lines. PTX ISA 4.3, 11.5 (.loc).
 */
#include "ptx/parser.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MAX_INLINE_DEPTH 64

/* --- .loc --- */
static int32_t *site_bucket(struct parser *p, uint32_t file, uint32_t line, uint32_t col)
{
	return &p->site_hash[(line * 31 + col * 7 + file) & (SITE_HASH - 1)];
}

static struct inline_site *find_site(struct parser *p, uint32_t file, uint32_t line, uint32_t col)
{
	for (int32_t i = *site_bucket(p, file, line, col); i >= 0; i = p->sites[i].next)
		if (p->sites[i].line == line && p->sites[i].col == col && p->sites[i].file == file)
			return &p->sites[i];
	return NULL;
}

/* The file of the function itself, from its first .loc. */
static uint32_t outermost_file(struct parser *p, const struct inline_site *site)
{
	uint32_t file = site->file;
	for (int depth = 0; site && site->at_line && depth < MAX_INLINE_DEPTH; depth++) {
		file = site->at_file;
		site = find_site(p, site->at_file, site->at_line, site->at_col);
	}
	return file;
}

/* A chain of inlined calls comes as one .loc per link: each says where it was inlined to, and the
 * last .loc about that place says where that one was. line becomes the outermost place in the
 * function's file, leaf_line the innermost one. */
static void note_place(struct parser *p, const struct inline_site *site)
{
	struct inline_site *s = find_site(p, site->file, site->line, site->col);
	if (s) {
		s->at_file = site->at_file;
		s->at_line = site->at_line;
		s->at_col = site->at_col;
	} else if (site->at_line) {
		int32_t *bucket = site_bucket(p, site->file, site->line, site->col);
		grow_array(&p->sites, p->n_sites, &p->sites_cap, sizeof *p->sites);
		p->sites[p->n_sites] = *site;
		p->sites[p->n_sites].next = *bucket;
		*bucket = (int32_t)p->n_sites++;
	}
	if (!p->file)
		p->file = outermost_file(p, site);
	func_at_hand(p)->file = p->file;
	uint32_t file = site->file, line = site->line;
	const struct inline_site *link = site;
	p->line = file == p->file ? line : 0;
	p->leaf_line = p->line;
	for (int depth = 0; link && link->at_line && depth < MAX_INLINE_DEPTH; depth++) {
		file = link->at_file;
		line = link->at_line;
		link = find_site(p, file, line, link->at_col);
		if (file != p->file)
			continue;
		p->line = line;
		if (!p->leaf_line)
			p->leaf_line = line;
	}
}

static bool parse_place(struct parser *p, uint32_t *file, uint32_t *line, uint32_t *col)
{
	uint64_t v[3];
	static const char *const what[] = { "a file number", "a line number", "a column" };
	for (int i = 0; i < 3; i++)
		if (!expect_uint(p, UINT32_MAX, &v[i], what[i]))
			return false;
	*file = (uint32_t)v[0];
	*line = (uint32_t)v[1];
	*col = (uint32_t)v[2];
	return true;
}

/* .loc file line col [, function_name label[+n], inlined_at file line col] */
bool parse_loc(struct parser *p)
{
	struct inline_site site = { 0 };
	bool more;
	if (!advance(p) || !parse_place(p, &site.file, &site.line, &site.col) ||
	    !accept_punct(p, ',', &more))
		return false;
	while (more) {
		struct token word, label;
		int64_t ignored;
		if (!expect_name(p, &word, "function_name or inlined_at"))
			return false;
		if (tok_is(&word, TOK_NAME, "function_name")) {
			if (!expect_name(p, &label, "a label") ||
			    (at_punct(p, '+') && (!advance(p) || !expect_int(p, &ignored, "an offset"))))
				return false;
		} else if (tok_is(&word, TOK_NAME, "inlined_at")) {
			if (!parse_place(p, &site.at_file, &site.at_line, &site.at_col))
				return false;
		} else {
			return fail_at(p, word.s, word.line, ERR_UNSUPPORTED,
			               ".loc attribute '%.*s' is not supported", (int)word.len, word.s);
		}
		if (!accept_punct(p, ',', &more))
			return false;
	}
	if (p->func >= 0) /* outside functions it is of nothing */
		note_place(p, &site);
	return true;
}

/* --- scopes and labels --- */
static void open_scope(struct parser *p)
{
	grow_array(&p->scopes, p->n_scopes, &p->scopes_cap, sizeof *p->scopes);
	p->scopes[p->n_scopes] = (struct scope){ .parent = p->scope, .mark = p->scope_mark };
	p->scope = (uint32_t)p->n_scopes++;
	p->scope_mark = names_open(&p->names);
}

/* Names go; the scope itself stays, for its labels. */
static void close_scope(struct parser *p)
{
	names_close(&p->names, p->scope_mark);
	p->scope_mark = p->scopes[p->scope].mark;
	p->scope = p->scopes[p->scope].parent;
}

static struct label_def *find_label(const struct parser *p, const struct token *t, uint32_t scope,
                                    const int32_t *buckets, size_t n_buckets)
{
	for (int32_t i = buckets[t->hash & (n_buckets - 1)]; i >= 0; i = p->labels[i].next) {
		struct label_def *l = &p->labels[i];
		if (l->scope == scope && l->hash == t->hash && l->len == t->len &&
		    memcmp(l->name, t->s, t->len) == 0)
			return l;
	}
	return NULL;
}

static int32_t *label_place(struct ptx_func *f, const struct label_ref *r)
{
	return r->inst < 0 ? &f->lists[r->entry] : &f->insts[r->inst].opnd[0].label;
}

/* Labels may be used before they stand, and an inner scope may have its own of the same name.
 * *@to_end is set where one is used behind which nothing follows. */
static bool resolve_labels(struct parser *p, bool *to_end)
{
	struct ptx_func *f = func_at_hand(p);
	size_t n_buckets = 16;
	while (n_buckets < p->n_labels)
		n_buckets *= 2;
	int32_t *buckets = mem_alloc(n_buckets * sizeof *buckets);
	memset(buckets, 0xff, n_buckets * sizeof *buckets);
	bool ok = true;
	for (size_t i = 0; i < p->n_labels && ok; i++) {
		struct label_def *l = &p->labels[i];
		const struct token t = { .s = l->name, .len = l->len, .hash = l->hash };
		if (find_label(p, &t, l->scope, buckets, n_buckets))
			ok = fail_at(p, l->name, l->line, ERR_PARSE, "label '%.*s' stands twice", (int)l->len,
			             l->name);
		l->next = buckets[l->hash & (n_buckets - 1)];
		buckets[l->hash & (n_buckets - 1)] = (int32_t)i;
	}
	for (size_t i = 0; i < p->n_refs && ok; i++) {
		const struct label_ref *r = &p->refs[i];
		uint32_t scope = r->scope;
		const struct label_def *l = find_label(p, &r->tok, scope, buckets, n_buckets);
		while (!l && scope) {
			scope = p->scopes[scope].parent;
			l = find_label(p, &r->tok, scope, buckets, n_buckets);
		}
		if (!l)
			ok = fail_at(p, r->tok.s, r->tok.line, ERR_PARSE, "no label '%.*s' in '%s'",
			             (int)r->tok.len, r->tok.s, f->name);
		else
			*label_place(f, r) = (int32_t)(l - p->labels);
		*to_end |= l && l->inst == f->n_insts;
	}
	free(buckets);
	return ok;
}

static bool skip_to_semicolon(struct parser *p)
{
	while (!at_punct(p, ';')) {
		if (p->tok.kind == TOK_END)
			return fail(p, "the text ends inside a directive");
		if (!advance(p))
			return false;
	}
	return advance(p);
}

/* "name: .branchtargets A, B, ...;": into func->lists, the number of entries before them. */
static bool parse_branch_targets(struct parser *p, const struct token *name)
{
	struct ptx_func *f = func_at_hand(p);
	const uint32_t at = f->n_lists;
	bool more = true;
	if (!declare_name(p, name, SYM_TARGETS, (int32_t)at, 0) || !advance(p))
		return false;
	grow_array(&f->lists, f->n_lists, &p->lists_cap, sizeof *f->lists);
	f->lists[f->n_lists++] = 0;
	while (more) {
		struct token label;
		if (!expect_name(p, &label, "a label") || !accept_punct(p, ',', &more))
			return false;
		grow_array(&p->refs, p->n_refs, &p->refs_cap, sizeof *p->refs);
		p->refs[p->n_refs++] =
			(struct label_ref){ .tok = label, .scope = p->scope, .inst = -1, .entry = f->n_lists };
		grow_array(&f->lists, f->n_lists, &p->lists_cap, sizeof *f->lists);
		f->lists[f->n_lists++] = -1;
		f->lists[at]++;
	}
	return expect(p, ';', "after the branch targets");
}

/* Behind "name:": nothing, or a prototype for indirect calls, or a table of branch targets. */
static bool parse_label_def(struct parser *p, const struct token *name)
{
	if (at_dot(p, "callprototype") || at_dot(p, "calltargets")) {
		return declare_name(p, name, SYM_PROTO, 0, 0) && skip_to_semicolon(p);
	}
	if (at_dot(p, "branchtargets"))
		return parse_branch_targets(p, name);
	grow_array(&p->labels, p->n_labels, &p->labels_cap, sizeof *p->labels);
	p->labels[p->n_labels++] = (struct label_def){
		.name = name->s,
		.len = name->len,
		.hash = name->hash,
		.line = name->line,
		.scope = p->scope,
		.inst = func_at_hand(p)->n_insts,
	};
	return true;
}

static bool parse_pragma(struct parser *p)
{
	if (!advance(p))
		return false;
	if (tok_is(&p->tok, TOK_STRING, "nounroll"))
		p->nounroll = true;
	return skip_to_semicolon(p);
}

/* --- statements --- */
static bool parse_directive(struct parser *p)
{
	static const struct {
		const char *name;
		enum ptx_space space;
	} spaces[] = {
		{ "local", SPACE_LOCAL },   { "shared", SPACE_SHARED }, { "param", SPACE_PARAM },
		{ "global", SPACE_GLOBAL }, { "const", SPACE_CONST },
	};
	if (at_dot(p, "loc"))
		return parse_loc(p);
	if (at_dot(p, "reg"))
		return parse_reg_decl(p);
	if (at_dot(p, "pragma"))
		return parse_pragma(p);
	bool is_extern = at_dot(p, "extern");
	if (is_extern && !advance(p))
		return false;
	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
		if (at_dot(p, spaces[i].name))
			return advance(p) && parse_var_decl(p, spaces[i].space, is_extern);
	report_at(p, p->tok.s - 1, p->tok.line, ERR_UNSUPPORTED,
	          "directive '.%.*s' is not supported in a function", (int)p->tok.len, p->tok.s);
	return err_remedy(p->err, "Supported there: .reg .local .shared .param .global .const .loc "
	                          ".pragma .callprototype .branchtargets.");
}

/* An instruction; its mnemonic is the token at hand. */
static bool parse_unguarded(struct parser *p, int32_t guard, bool negated)
{
	const struct token word = p->tok;
	return advance(p) && parse_inst(p, &word, guard, negated);
}

static bool parse_guarded(struct parser *p)
{
	bool negated;
	uint32_t member;
	if (!advance(p) || !accept_punct(p, '!', &negated))
		return false;
	if (p->tok.kind != TOK_NAME)
		return fail(p, "expected a predicate behind '@'");
	const struct sym *s = names_find_token(&p->names, &p->tok, &member);
	if (!s || s->kind != SYM_REG || func_at_hand(p)->regs[s->index].type != PTX_PRED)
		return fail(p, "'%.*s' is no predicate", (int)p->tok.len, p->tok.s);
	int32_t guard = s->index + (int32_t)member;
	if (!advance(p))
		return false;
	if (p->tok.kind != TOK_NAME)
		return fail(p, "expected an instruction");
	return parse_unguarded(p, guard, negated);
}

static bool parse_statement(struct parser *p)
{
	if (p->tok.kind == TOK_DOT)
		return parse_directive(p);
	if (at_punct(p, '@'))
		return parse_guarded(p);
	if (at_punct(p, ';'))
		return advance(p);
	if (p->tok.kind == TOK_END)
		return fail(p, "the text ends inside the function '%s'", func_at_hand(p)->name);
	if (p->tok.kind != TOK_NAME)
		return fail(p, "expected an instruction");
	const struct token word = p->tok;
	if (!advance(p))
		return false;
	if (at_punct(p, ':'))
		return advance(p) && parse_label_def(p, &word);
	return parse_inst(p, &word, -1, false);
}

/* A statement; one that is unknown is noted (parse_refused.c). */
static bool parse_or_refuse(struct parser *p)
{
	const struct token first = p->tok;
	const size_t n_refs = p->n_refs;
	if (parse_statement(p))
		return true;
	return refuse_statement(p, p->mnemonic.s >= first.s ? &p->mnemonic : &first, n_refs);
}

/* Behind its last instruction a function returns (nvcc branches there in functions that never
 * return). */
static void add_return(struct parser *p, struct ptx_func *f)
{
	grow_array(&f->insts, f->n_insts, &p->insts_cap, sizeof *f->insts);
	f->insts[f->n_insts++] =
		(struct ptx_inst){ .op = OP_RET, .guard = -1, .vec = 1, .made = true, .line = p->line };
}

static bool finish_body(struct parser *p)
{
	struct ptx_func *f = func_at_hand(p);
	bool to_end = false;
	if (p->register_results && !(f->n_insts && f->insts[f->n_insts - 1].op == OP_RET) &&
	    !give_register_results(p, true))
		return false;
	if (!resolve_labels(p, &to_end))
		return false;
	if (to_end)
		add_return(p, f);
	struct ptx_label *labels = mem_calloc(p->n_labels + 1, sizeof *labels);
	for (size_t i = 0; i < p->n_labels; i++)
		labels[i].inst = p->labels[i].inst;
	bool ok = ptx_build_cfg(f, labels, (unsigned)p->n_labels, p->err);
	free(labels);
	if (f->n_insts)
		f->insts = mem_realloc(f->insts, f->n_insts, sizeof *f->insts);
	f->has_body = true;
	return ok;
}

bool parse_body(struct parser *p)
{
	p->regs_cap = p->insts_cap = p->lists_cap = 0;
	p->n_scopes = p->n_labels = p->n_refs = p->n_sites = 0;
	p->scope = 0;
	p->line = p->leaf_line = 0;
	p->file = func_at_hand(p)->is_entry ? 0 : 1;
	memset(p->site_hash, 0xff, sizeof p->site_hash);
	if (!at_punct(p, '{'))
		return fail(p, "expected '{' or ';' behind the head of '%s'", func_at_hand(p)->name);
	p->register_results = false;
	if (!open_parameter_registers(p))
		return false;
	size_t depth = 0;
	do {
		bool ok = true;
		if (at_punct(p, '{')) {
			open_scope(p);
			depth++;
			ok = advance(p);
		} else if (at_punct(p, '}')) {
			close_scope(p);
			ok = --depth == 0 || advance(p);
		} else {
			ok = parse_or_refuse(p);
		}
		if (!ok)
			return false;
	} while (depth);
	return finish_body(p) && advance(p);
}
