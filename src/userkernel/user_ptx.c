/* Heads of PTX entries; see user_ptx.h. Reference: PTX ISA, "Kernel and Function Directives". */
#include "userkernel/user_ptx.h"
#include "userkernel/user_text.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- symbols --- */

typedef char *demangle_fn(const char *, char *, size_t *, int *);
static struct {
	pthread_once_t once;
	union {
		void *symbol;
		demangle_fn *call;
	} f;
} cxa = { .once = PTHREAD_ONCE_INIT };

/* The C++ runtime is there wherever nvcc has a host compiler. */
static void open_cxa(void)
{
	void *so = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	cxa.f.symbol = so ? dlsym(so, "__cxa_demangle") : NULL;
}

static char *meaning_of(const char *symbol)
{
	int status = -1;
	pthread_once(&cxa.once, open_cxa);
	/* names without _Z it takes for those of types */
	char *s =
		cxa.f.symbol && !strncmp(symbol, "_Z", 2) ? cxa.f.call(symbol, NULL, NULL, &status) : NULL;
	return s && !status ? s : mem_strdup(symbol);
}

/* --- heads --- */

static bool is_symbol_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static unsigned type_bytes(const char *type)
{
	const unsigned bits = (unsigned)strtoul(type + strcspn(type, "0123456789"), NULL, 10);
	return bits / 8;
}

/* ".param .u64 .ptr .align 1 k_param_0" or ".param .align 8 .b8 k_param_1[24]". */
static void read_param(const char *s, const char *end, struct user_entry *e)
{
	if (e->n_params == KERNEL_MAX_ARGS)
		return;
	const unsigned n = e->n_params++;
	for (const char *p = s; p < end; p++) {
		if (*p != '.' || !strchr("usbf", p[1]) || !isdigit((unsigned char)p[2]))
			continue;
		size_t len = strspn(p + 1, "usbf0123456789");
		snprintf(e->param[n].type, sizeof e->param[n].type, "%.*s", (int)len, p + 1);
		break;
	}
	e->param[n].bytes = type_bytes(e->param[n].type);
	const char *bracket = memchr(s, '[', (size_t)(end - s));
	if (bracket) {
		e->param[n].bytes *= (unsigned)strtoul(bracket + 1, NULL, 10);
		e->param[n].aggregate = true;
	}
}

static void read_params(const char *s, const char *end, struct user_entry *e)
{
	while (s < end) {
		const char *comma = s;
		while (comma < end && *comma != ',')
			comma++;
		for (const char *p = s; p + 6 < comma; p++)
			if (!strncmp(p, ".param", 6)) {
				read_param(p + 6, comma, e);
				break;
			}
		s = comma + 1;
	}
}

/* ".maxntid 16, 16, 1" in s[..end) */
static unsigned read_bound(const char *s, const char *end)
{
	unsigned bound = 0;
	for (; s + 8 < end; s++) {
		if (strncmp(s, ".maxntid", 8) != 0 && strncmp(s, ".reqntid", 8) != 0)
			continue;
		bound = 1;
		for (s += 8;
		     s < end && (isspace((unsigned char)*s) || isdigit((unsigned char)*s) || *s == ',');) {
			char *after;
			const unsigned long v = strtoul(s, &after, 10);
			if (after == s)
				s++;
			else
				bound *= (unsigned)v;
			s = after > s ? after : s;
		}
	}
	return bound;
}

/* Whether s[..end) names an extern .shared array of the module. */
static bool names_dynamic(const char *ptx, const char *s, const char *end)
{
	static const char what[] = ".extern .shared";
	for (const char *p = ptx; (p = strstr(p, what)); p += sizeof what) {
		const char *bracket = strchr(p, '[');
		const char *name = bracket;
		while (name && name > p && is_symbol_char(name[-1]))
			name--;
		for (const char *q = s; name && q + (bracket - name) < end; q++)
			if (!strncmp(q, name, (size_t)(bracket - name)) && !is_symbol_char(q[bracket - name]) &&
			    !is_symbol_char(q[-1]))
				return true;
	}
	return false;
}

/* The highest of x, y, z that is read of @what, "%tid." for one: 1..3. */
static unsigned dims_of(const char *s, const char *end, const char *what)
{
	unsigned dims = 1;
	const size_t n = strlen(what);
	while ((s = strstr(s, what)) && s < end) {
		const unsigned d = s[n] == 'z' ? 3 : s[n] == 'y' ? 2 : 1;
		dims = d > dims ? d : dims;
		s += n;
	}
	return dims;
}

unsigned user_entries(const char *ptx, struct user_entry **out)
{
	unsigned n = 0;
	*out = NULL;
	char *code = code_only(ptx);
	for (const char *s = code; (s = strstr(s, ".entry")); s++) {
		const char *name = s + 6 + strspn(s + 6, " \t\r\n");
		size_t len = 0;
		while (is_symbol_char(name[len]))
			len++;
		const char *body = strchr(name, '{'), *semi = strchr(name, ';');
		if (!len || name == s + 6 || !body || (semi && semi < body))
			continue;
		*out = mem_realloc(*out, n + 1u, sizeof **out);
		struct user_entry *e = &(*out)[n++];
		*e = (struct user_entry){ .symbol = mem_strndup(name, len), .line = 1 };
		e->meaning = meaning_of(e->symbol);
		for (const char *p = code; p < s; p++)
			e->line += *p == '\n';
		const char *open = name + len + strspn(name + len, " \t\r\n");
		const char *close =
			*open == '(' ? code + closing_bracket(code, (size_t)(open - code)) : open;
		read_params(open, close, e);
		e->max_threads = read_bound(close, body);
		const char *end = code + closing_bracket(code, (size_t)(body - code));
		const unsigned threads = dims_of(body, end, "%tid."), block = dims_of(body, end, "%ntid.");
		e->block_dims = threads > block ? threads : block;
		e->grid_dims = dims_of(body, end, "%ctaid.");
		e->dynamic_shared = names_dynamic(code, body, end);
	}
	free(code);
	return n;
}

void user_entries_free(struct user_entry *entries, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		free(entries[i].symbol);
		free(entries[i].meaning);
	}
	free(entries);
}

unsigned user_ptx_value(const char *ptx, const char *name)
{
	const char *at = strstr(ptx, name);
	const char *equals = at ? strchr(at, '=') : NULL;
	return equals ? (unsigned)strtoul(equals + 1, NULL, 10) : 0;
}

/* --- lines --- */

/* Does the line begin an instruction? */
static bool is_instruction(const char *line)
{
	const char *s = line + strspn(line, " \t");
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%");
	if (*s == '@')
		return true;
	/* a label ends in ':', an operand of a call in ',' or ';' */
	return islower((unsigned char)*s) && n &&
	       (s[n] == '.' || s[n] == ' ' || s[n] == ';' || s[n] == '\t');
}

static bool is_line_directive(const char *line)
{
	const char *s = line + strspn(line, " \t");
	return !strncmp(s, ".loc", 4) || !strncmp(s, ".file", 5);
}

char *user_ptx_with_lines(const char *ptx, const char *file)
{
	struct text t = { 0 };
	char *code = code_only(ptx);
	int depth = 0;
	bool begun = true, filed = false;
	unsigned line = 1;
	for (const char *s = code, *raw = ptx; *s; line++) {
		const size_t len = strcspn(s, "\n");
		if (depth > 0 && begun && is_instruction(s))
			text_add(&t, "\t.loc 1 %u 0\n", line);
		if (!is_line_directive(s))
			text_put(&t, raw, len);
		for (size_t i = 0; i < len; i++) {
			depth += s[i] == '{' ? 1 : s[i] == '}' ? -1 : 0;
			if (!isspace((unsigned char)s[i]))
				begun = strchr(";{}:", s[i]) != NULL;
		}
		if (is_line_directive(s))
			begun = true;
		text_add(&t, "\n");
		if (!filed && strstr(s, ".address_size") && strstr(s, ".address_size") < s + len) {
			text_add(&t, ".file 1 \"%s\"\n", file);
			filed = true;
		}
		s += len + (s[len] == '\n');
		raw += len + (raw[len] == '\n');
	}
	free(code);
	return t.s ? t.s : mem_strdup("");
}
