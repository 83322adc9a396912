/*
 * Finds kernels and host code in CUDA text; see user_source.h.
 *
 * The text is copied with comments, literals and preprocessor lines blank; on that copy
 * declarations at file scope are read one by one, up to their ';' or '}'.
 */
#include "userkernel/user_scan.h"
#include "userkernel/user_text.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scan {
	const char *code;
	char *device;   /* the file with host code blank */
	size_t *insert; /* where extern "C" goes, ascending */
	unsigned n_insert;
	struct {
		char name[48]; /* "" = extern "C" or an unnamed namespace */
		bool c_linkage;
	} open[16]; /* namespaces and extern "C" { around what is read */
	unsigned n_open;
	struct user_source *out;
};

/* The namespaces and extern "C" { that the kernel stands in. */
static void place_kernel(const struct scan *c, struct user_kernel *k)
{
	for (unsigned i = 0; i < c->n_open; i++) {
		const size_t n = strlen(k->scope);
		k->c_linkage |= c->open[i].c_linkage;
		k->internal |= !c->open[i].c_linkage && !c->open[i].name[0];
		if (c->open[i].name[0])
			snprintf(k->scope + n, sizeof k->scope - n, "%s::", c->open[i].name);
	}
}

/* "namespace a {" or 'extern "C" {' opens at s[from..brace). */
static void open_scope(struct scan *c, size_t from, size_t brace)
{
	if (c->n_open == ARRAY_LEN(c->open))
		return;
	const bool linkage = begins_with(c->code, from, "extern");
	c->open[c->n_open].c_linkage = linkage;
	c->open[c->n_open].name[0] = '\0';
	if (!linkage) {
		char words[80];
		const size_t at = skip_space(c->code, find_word(c->code, from, brace, "namespace") + 9);
		snprintf(words, sizeof words, "%.*s", brace > at ? (int)(brace - at) : 0, c->code + at);
		words[strcspn(words, " \t\n{")] = '\0';
		snprintf(c->open[c->n_open].name, sizeof c->open[0].name, "%.47s", words);
	}
	c->n_open++;
}

static void add_declaration(struct scan *c, size_t from, size_t body, size_t to, bool has_body)
{
	const char *s = c->code;
	const bool type = HAS_ANY(s, from, from + strcspn(s + from, " \t\n{;"), "struct", "class",
	                          "union", "enum", "typedef", "using");
	const bool function = has_body && !type && memchr(s + from, '(', body - from) &&
	                      !memchr(s + from, '=', body - from);
	if (has_word(s, from, body, "__global__")) {
		struct user_kernel *k = user_read_kernel(s, from, body, to, has_body, c->out);
		if (k)
			place_kernel(c, k);
		if (!HAS_ANY(s, from, body, "extern", "template", "static")) {
			c->insert = mem_realloc(c->insert, c->n_insert + 1u, sizeof *c->insert);
			c->insert[c->n_insert++] = from;
		}
	} else if (!type && !function && HAS_ANY(s, from, body, "__constant__", "__device__")) {
		const char *equals = memchr(s + from, '=', body - from);
		user_read_variable(s, from, equals ? (size_t)(equals - s) : body,
		                   equals || has_body ? to : body, c->out);
	} else if (user_host_only(s, from, to, body, function)) {
		blank_text(c->device, from, to);
	}
}

static void scan_file(struct scan *c)
{
	const char *s = c->code;
	size_t i = 0;
	while (s[i = skip_space(s, i)]) {
		const size_t from = i;
		if (s[i] == ';' || s[i] == '}') { /* '}': of a namespace or extern "C" */
			c->n_open -= s[i] == '}' && c->n_open;
			i++;
			continue;
		}
		while (s[i] && s[i] != ';' && s[i] != '{' && s[i] != '}')
			i = s[i] == '(' ? closing_bracket(s, i) : i + 1;
		if (s[i] != '{') {
			add_declaration(c, from, i, i + (s[i] == ';'), false);
			i += s[i] == ';';
			continue;
		}
		const bool linkage = begins_with(s, from, "extern") && !memchr(s + from, '(', i - from);
		const bool is_inline = begins_with(s, from, "inline");
		if (begins_with(s, is_inline ? skip_space(s, from + 6) : from, "namespace") || linkage) {
			open_scope(c, from, i);
			i++;
			continue;
		}
		const size_t body = i;
		i = closing_bracket(s, i);
		/* struct s { } x;   int a[] = { };   go on to the semicolon */
		const bool open = HAS_ANY(s, from, body, "struct", "class", "union", "enum", "typedef") ||
		                  memchr(s + from, '=', body - from);
		if (open && !memchr(s + from, '(', body - from)) {
			i += strcspn(s + i, ";");
			i += s[i] == ';';
		}
		add_declaration(c, from, body, i, true);
	}
}

/* @text with extern "C" in front of every kernel. */
static char *with_linkage(const struct scan *c, const char *text)
{
	struct text t = { 0 };
	size_t at = 0;
	for (unsigned i = 0; i < c->n_insert; i++) {
		text_put(&t, text + at, c->insert[i] - at);
		text_add(&t, "extern \"C\" ");
		at = c->insert[i];
	}
	text_add(&t, "%s", text + at);
	return t.s ? t.s : mem_strdup("");
}

/* Overloads share a name; NVRTC gets every kernel as extern "C". */
static void name_kernels(struct user_source *s)
{
	s->plain = !s->quotes;
	for (unsigned i = 0; i < s->n_kernels; i++) {
		struct user_kernel *k = &s->kernels[i];
		for (unsigned j = 0; j < s->n_kernels; j++)
			k->overloaded |= j != i && !strcmp(k->base, s->kernels[j].base);
		s->plain &= !k->overloaded && !k->templates[0] && !k->internal;
		for (unsigned p = 0; p < k->n_params; p++)
			s->plain &= k->params[p].known;
	}
}

void user_source_scan(const char *text, struct user_source *out)
{
	*out = (struct user_source){ .shown = mem_strdup(text), .quotes = user_includes_own(text) };
	char *code = code_only(text);
	struct scan c = { .code = code, .device = mem_strdup(text), .out = out };
	scan_file(&c);
	out->linked = with_linkage(&c, text);
	char *linked = with_linkage(&c, c.device);
	struct text device = { 0 };
	user_put_device(linked, &device);
	out->device = device.s ? device.s : mem_strdup("");
	free(linked);
	name_kernels(out);
	free(c.insert);
	free(c.device);
	free(code);
}

void user_source_free(struct user_source *s)
{
	free(s->shown);
	free(s->device);
	free(s->linked);
	free(s->extra);
	for (unsigned i = 0; i < s->n_kernels; i++)
		free(s->kernels[i].entry);
	free(s->kernels);
	free(s->variables);
	*s = (struct user_source){ 0 };
}

/* Names are equal but for blanks. */
static bool same_name(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, " ");
		b += strspn(b, " ");
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

const struct user_kernel *user_source_find(const struct user_source *s, const char *name)
{
	const struct user_kernel *found = NULL;
	unsigned n = 0;
	for (unsigned i = 0; i < s->n_kernels; i++) {
		const struct user_kernel *k = &s->kernels[i];
		if (same_name(k->name, name) || (k->entry && !strcmp(k->entry, name)))
			return k;
		if (strcmp(k->base, name) != 0)
			continue;
		/* a plain name means the one that can be launched; of a template, its first instance */
		if (!found || found->why_not[0]) {
			found = k;
			n = 0;
		}
		n += !k->why_not[0] && (found == k || found->line != k->line);
	}
	return n > 1 ? NULL : found;
}

/* Macros of the text that hold the head of main(), a blank between their names. */
static void main_macros(const char *text, struct text *names)
{
	static const char define[] = "define";
	for (const char *at = text; (at = strstr(at, define)); at += strlen(define)) {
		const char *line = at;
		while (line > text && (line[-1] == ' ' || line[-1] == '\t'))
			line--;
		const size_t name = skip_space(at, strlen(define)), end = skip_directive(at, 0);
		const size_t head = find_word(at, name, end, "main");
		size_t behind = name;
		while (is_word_char(at[behind]))
			behind++;
		if (line > text && line[-1] == '#' && head > name && head < end &&
		    at[skip_space(at, head + strlen("main"))] == '(')
			text_add(names, "%.*s ", (int)(behind - name), at + name);
	}
}

/* Is the word code[i..end) the name of a main() with a body, or a macro that makes one? */
static bool begins_main(const struct text *macros, const char *code, size_t i, size_t end)
{
	for (size_t m = 0; m < macros->len; m += strcspn(macros->s + m, " ") + 1)
		if (!strncmp(macros->s + m, code + i, end - i) && macros->s[m + end - i] == ' ')
			return true;
	if (!begins_with(code, i, "main"))
		return false;
	const size_t open = skip_space(code, end);
	return code[open] == '(' && code[skip_space(code, closing_bracket(code, open))] == '{';
}

bool user_source_has_main(const char *text)
{
	char *code = code_only(text);
	const size_t end = strlen(code);
	struct text macros = { 0 };
	bool found = false;
	main_macros(text, &macros);
	for (size_t i = 0; i < end && !found;) {
		size_t behind = i;
		while (is_word_char(code[behind]))
			behind++;
		if (code[i] == '{') {
			i = closing_bracket(code, i);
		} else if (behind > i) {
			found = begins_main(&macros, code, i, behind);
			i = behind;
		} else {
			i++;
		}
	}
	text_free(&macros);
	free(code);
	return found;
}
