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

#include <stdlib.h>
#include <string.h>

struct scan {
	const char *code;
	char *device;                        /* the file with host code blank */
	size_t insert[2 * USER_MAX_KERNELS]; /* where extern "C" goes, ascending */
	unsigned n_insert;
	struct user_source *out;
};

static void add_declaration(struct scan *c, size_t from, size_t body, size_t to, bool has_body)
{
	const char *s = c->code;
	const bool type = HAS_ANY(s, from, from + strcspn(s + from, " \t\n{;"), "struct", "class",
	                          "union", "enum", "typedef", "using");
	const bool function = has_body && !type && memchr(s + from, '(', body - from) &&
	                      !memchr(s + from, '=', body - from);
	if (has_word(s, from, body, "__global__")) {
		const unsigned before = c->out->n_kernels;
		user_read_kernel(s, from, to, has_body, c->out);
		const bool launchable = c->out->n_kernels == before || !c->out->kernels[before].why_not[0];
		if (launchable && !HAS_ANY(s, from, body, "extern", "template", "static") &&
		    c->n_insert < ARRAY_LEN(c->insert))
			c->insert[c->n_insert++] = from;
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
		if (begins_with(s, from, "namespace") || linkage) {
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

void user_source_scan(const char *text, struct user_source *out)
{
	*out = (struct user_source){ .shown = mem_strdup(text) };
	char *code = code_only(text);
	struct scan c = { .code = code, .device = mem_strdup(text), .out = out };
	scan_file(&c);
	struct text t = { 0 };
	size_t at = 0;
	for (unsigned i = 0; i < c.n_insert; i++) {
		text_put(&t, c.device + at, c.insert[i] - at);
		text_add(&t, "extern \"C\" ");
		at = c.insert[i];
	}
	text_add(&t, "%s", c.device + at);
	struct text device = { 0 };
	user_put_device(t.s ? t.s : "", &device);
	out->device = device.s ? device.s : mem_strdup("");
	text_free(&t);
	free(c.device);
	free(code);
}

void user_source_free(struct user_source *s)
{
	free(s->shown);
	free(s->device);
	*s = (struct user_source){ 0 };
}

const struct user_kernel *user_source_find(const struct user_source *s, const char *name)
{
	for (unsigned i = 0; i < s->n_kernels; i++)
		if (!strcmp(s->kernels[i].name, name))
			return &s->kernels[i];
	return NULL;
}

bool user_source_has_main(const char *text)
{
	char *code = code_only(text);
	const size_t end = strlen(code);
	bool found = false;
	for (size_t i = 0; i < end && !found;) {
		if (code[i] == '{') {
			i = closing_bracket(code, i);
		} else if (begins_with(code, i, "main")) {
			const size_t open = skip_space(code, i + 4);
			const size_t behind =
				code[open] == '(' ? skip_space(code, closing_bracket(code, open)) : 0;
			found = behind && code[behind] == '{';
			i += 4;
		} else {
			i++;
			while (i < end && is_word_char(code[i - 1]) && is_word_char(code[i]))
				i++;
		}
	}
	free(code);
	return found;
}
