#define _GNU_SOURCE /* memmem */
/*
 * Joins PTX texts; see join.h. Each text is cut into its statements at module level; those are put
 * together anew: headers of the first, prototypes of functions, variables, functions; what
 * debuggers want is left out.
 */
#include "ptx/join.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum linkage { OF_THIS_TEXT, EXTERN, WEAK, VISIBLE };

struct statement {
	enum { HEADER, FILE_NAME, PROTOTYPE, FUNCTION, VARIABLE, ALIAS, SECTION, OTHER } kind;
	enum linkage linkage, defined; /* of a prototype: how another statement defines the function */
	const char *s, *name;          /* name: NULL where there is none */
	size_t len, name_len;
	unsigned text;
	bool dropped, renamed;
};

struct nesting {
	unsigned braces, parens;
	bool body; /* of a function or a section: its end is that of the statement */
};

struct join {
	size_t n, cap;
	struct statement *all;
	unsigned first_file, max_file; /* of the text at hand; of all so far */
};

/* --- words --- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '%';
}

/* Behind white space and comments. */
static const char *skip_space(const char *s)
{
	for (;;) {
		while (*s && isspace((unsigned char)*s))
			s++;
		if (s[0] == '/' && s[1] == '/')
			s += strcspn(s, "\n");
		else if (s[0] == '/' && s[1] == '*') {
			const char *end = strstr(s + 2, "*/");
			s = end ? end + 2 : s + strlen(s);
		} else
			return s;
	}
}

static const char *skip_string(const char *s)
{
	for (s++; *s && *s != '"'; s++)
		if (*s == '\\' && s[1])
			s++;
	return *s ? s + 1 : s;
}

/* The word, string or sign at @s; its end is returned. */
static const char *skip_token(const char *s)
{
	if (*s == '"')
		return skip_string(s);
	if (!is_word(*s))
		return s + 1;
	while (is_word(*s))
		s++;
	return s;
}

static bool is(const char *s, const char *end, const char *word)
{
	return (size_t)(end - s) == strlen(word) && !strncmp(s, word, strlen(word));
}

static bool same_name(const struct statement *a, const struct statement *b)
{
	return a->name && b->name && a->name_len == b->name_len &&
	       !memcmp(a->name, b->name, a->name_len);
}

/* --- statements --- */

static bool ends_with_line(const char *s, const char *end)
{
	return is(s, end, ".version") || is(s, end, ".target") || is(s, end, ".address_size") ||
	       is(s, end, ".file") || is(s, end, ".loc");
}

/* What a word in front of the name says of the statement. */
static void take_word(struct statement *st, const char *s, const char *end)
{
	if (is(s, end, ".extern"))
		st->linkage = EXTERN;
	else if (is(s, end, ".weak") || is(s, end, ".common"))
		st->linkage = WEAK;
	else if (is(s, end, ".visible"))
		st->linkage = VISIBLE;
	else if (is(s, end, ".func") || is(s, end, ".entry"))
		st->kind = FUNCTION;
	else if (is(s, end, ".global") || is(s, end, ".const") || is(s, end, ".shared"))
		st->kind = VARIABLE;
	else if (is(s, end, ".alias"))
		st->kind = ALIAS;
}

/* Counts what the token @c opens or closes. True: it ends the statement. */
static bool ends_statement(const struct statement *st, char c, struct nesting *at)
{
	switch (c) {
	case '(': at->parens++; break;
	case ')': at->parens -= at->parens > 0; break;
	case '{':
		at->braces++;
		at->body |= !at->parens && (st->kind == FUNCTION || st->kind == SECTION);
		break;
	case '}': at->braces -= at->braces > 0; return !at->braces && at->body;
	case ';': return !at->braces;
	default: break;
	}
	return false;
}

/* Reads the statement at @s; NULL: the text ends inside it. */
static const char *read_statement(const char *s, struct statement *st)
{
	const char *end = skip_token(s);
	struct nesting at = { 0 };
	*st = (struct statement){ .kind = is(s, end, ".section") ? SECTION : OTHER, .s = s };
	if (ends_with_line(s, end)) {
		st->kind = is(s, end, ".file") ? FILE_NAME : is(s, end, ".loc") ? OTHER : HEADER;
		s += strcspn(s, "\n");
		st->len = (size_t)(s - st->s);
		return s;
	}
	for (; *s; s = skip_space(end)) {
		end = skip_token(s);
		if (ends_statement(st, *s, &at))
			break;
		if (st->name || at.parens)
			continue;
		if (*s == '.')
			take_word(st, s, end);
		else if (isalpha((unsigned char)*s) || *s == '_' || *s == '$') {
			st->name = s;
			st->name_len = (size_t)(end - s);
		}
	}
	if (!*s)
		return NULL;
	if (st->kind == FUNCTION && !at.body)
		st->kind = PROTOTYPE;
	st->len = (size_t)(end - st->s);
	return end;
}

static bool read_text(struct join *j, unsigned text, const char *s, struct err *err)
{
	for (s = skip_space(s); *s; s = skip_space(s)) {
		struct statement st;
		const char *end = read_statement(s, &st);
		if (!end)
			return err_set(err, ERR_PARSE, "device code to be linked ends inside '%.40s'", s);
		st.text = text;
		MEM_ROOM(j->all, j->n, j->cap, 256);
		j->all[j->n++] = st;
		s = end;
	}
	return true;
}

/* --- names --- */

static bool is_definition(const struct statement *st)
{
	return st->kind == FUNCTION || (st->kind == VARIABLE && st->linkage != EXTERN);
}

/* Of two statements for one name: does the later one make the earlier one needless? */
static void settle_pair(struct statement *a, struct statement *b)
{
	if (a->linkage == OF_THIS_TEXT || b->linkage == OF_THIS_TEXT) {
		/* another thing of the same name, unless both are of one text */
		if (a->text != b->text)
			(a->linkage == OF_THIS_TEXT ? a : b)->renamed = true;
	} else if (is_definition(a) && is_definition(b)) {
		(a->linkage == WEAK && b->linkage != WEAK ? a : b)->dropped = true;
	} else if (a->kind == VARIABLE && b->kind == VARIABLE) {
		(is_definition(a) ? b : a)->dropped = true;
	} else if (is_definition(a) != is_definition(b)) {
		struct statement *const prototype = is_definition(a) ? b : a;
		const enum linkage linkage = (is_definition(a) ? a : b)->linkage;
		if (prototype->defined < linkage)
			prototype->defined = linkage;
	}
}

struct by_name {
	struct statement *st;
	size_t order;
};

static int compare_names(const void *a, const void *b)
{
	const struct by_name *x = a, *y = b;
	const size_t n = x->st->name_len < y->st->name_len ? x->st->name_len : y->st->name_len;
	const int c = memcmp(x->st->name, y->st->name, n);
	if (c || x->st->name_len != y->st->name_len)
		return c ? c : x->st->name_len < y->st->name_len ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void settle_names(struct join *j)
{
	struct by_name *named = mem_calloc(j->n + 1, sizeof *named);
	size_t n = 0;
	for (size_t i = 0; i < j->n; i++)
		if (j->all[i].name && j->all[i].kind < ALIAS)
			named[n++] = (struct by_name){ &j->all[i], i };
	qsort(named, n, sizeof *named, compare_names);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && same_name(named[i].st, named[k].st); k++)
			if (!named[i].st->dropped && !named[k].st->dropped)
				settle_pair(named[i].st, named[k].st);
	free(named);
}

/* --- what the device runtime has --- */

/* Does a text call a function of the grid that none defines? */
static bool grid_functions_lack(const struct join *j)
{
	static const char prefix[] = "cudaCG";
	for (size_t i = 0; i < j->n; i++) {
		const struct statement *p = &j->all[i];
		bool lacks = p->kind == PROTOTYPE && p->linkage == EXTERN && p->name_len > strlen(prefix) &&
		             !memcmp(p->name, prefix, strlen(prefix));
		for (size_t k = 0; lacks && k < j->n; k++)
			lacks = j->all[k].kind != FUNCTION || !same_name(p, &j->all[k]);
		if (lacks)
			return true;
	}
	return false;
}

/* --- the joined text --- */

/* Names of @text that are to be told apart, found by their letters. */
static bool renamed_here(const struct join *j, unsigned text, const char *s, size_t len)
{
	for (size_t i = 0; i < j->n; i++) {
		const struct statement *st = &j->all[i];
		if (st->text == text && st->renamed && st->name_len == len && !memcmp(st->name, s, len))
			return true;
	}
	return false;
}

static void put_file_number(struct text *out, const struct join *j, const char **s)
{
	char *end;
	const char *at = skip_space(*s);
	const unsigned long number = strtoul(at, &end, 10);
	if (end == at)
		return;
	text_add(out, " %lu", number + j->first_file);
	*s = end;
}

static void put_statement(struct text *out, const struct join *j, const struct statement *st,
                          bool any_renamed)
{
	const char *s = st->s, *stop = st->s + st->len;
	while (s < stop) {
		const char *end = isspace((unsigned char)*s) ? s + 1 : skip_token(s);
		if (st->defined && is(s, end, ".extern")) /* no longer */
			text_add(out, st->defined == WEAK ? ".weak" : ".visible");
		else
			text_put(out, s, (size_t)(end - s));
		if (any_renamed && is_word(*s) && renamed_here(j, st->text, s, (size_t)(end - s)))
			text_add(out, "$of%u", st->text);
		if (is(s, end, ".file") || is(s, end, ".loc") || is(s, end, "inlined_at")) {
			s = end;
			put_file_number(out, j, &s);
		} else
			s = end;
	}
	text_put(out, "\n", 1);
}

/* A line at the top of the first text. What debuggers read is left out (sections), and so is the
 * word of .target that promises it. */
static void put_header(struct text *out, const struct statement *st)
{
	static const char word[] = "debug";
	const char *at = memmem(st->s, st->len, word, strlen(word)), *end = st->s + st->len;
	const char *cut = at ? at : st->s;
	while (cut > st->s && (cut[-1] == ' ' || cut[-1] == '\t'))
		cut--;
	const bool promises =
		is(st->s, st->s + strlen(".target"), ".target") && cut > st->s && cut[-1] == ',';
	text_put(out, st->s, promises ? (size_t)(cut - 1 - st->s) : st->len);
	if (promises)
		text_put(out, at + strlen(word), (size_t)(end - at) - strlen(word));
	text_put(out, "\n", 1);
}

static void put_kind(struct text *out, struct join *j, unsigned n_texts, int kind,
                     const unsigned *first_file)
{
	for (unsigned t = 0; t < n_texts; t++) {
		bool any_renamed = false;
		j->first_file = first_file[t];
		for (size_t i = 0; i < j->n; i++)
			any_renamed |= j->all[i].text == t && j->all[i].renamed;
		for (size_t i = 0; i < j->n; i++) {
			const struct statement *st = &j->all[i];
			if (st->text != t || (int)st->kind != kind || st->dropped)
				continue;
			if (kind != HEADER)
				put_statement(out, j, st, any_renamed);
			else if (!t)
				put_header(out, st);
		}
	}
}

char *ptx_join(unsigned n, const char *const *texts, struct err *err)
{
	static const int order[] = { HEADER, FILE_NAME, PROTOTYPE, VARIABLE, FUNCTION, ALIAS };
	struct join j = { 0 };
	struct text out = { 0 };
	unsigned *first_file = mem_calloc(n + 2u, sizeof *first_file);
	bool ok = n > 0 || err_set(err, ERR_PARSE, "there is no device code to link");
	for (unsigned t = 0; ok && t < n; t++) {
		const size_t before = j.n;
		first_file[t] = j.max_file;
		ok = read_text(&j, t, texts[t], err);
		for (size_t i = before; i < j.n; i++)
			if (j.all[i].kind == FILE_NAME) {
				const unsigned number =
					first_file[t] + (unsigned)strtoul(j.all[i].s + strlen(".file"), NULL, 10);
				j.max_file = number > j.max_file ? number : j.max_file;
			}
	}
	if (ok && grid_functions_lack(&j)) {
		first_file[n] = j.max_file;
		ok = read_text(&j, n++, ptx_grid_functions, err);
	}
	if (ok) {
		settle_names(&j);
		for (size_t i = 0; i < ARRAY_LEN(order); i++)
			put_kind(&out, &j, n, order[i], first_file);
	}
	free(first_file);
	free(j.all);
	if (!ok)
		text_free(&out);
	return out.s;
}
