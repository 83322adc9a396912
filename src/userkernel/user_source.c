/*
 * Finds kernels and host code in CUDA text; see user_source.h.
 *
 * The text is copied with comments, literals and preprocessor lines blank; on that copy
 * declarations at file scope are taken one by one, up to their ';' or '}'.
 */
#include "userkernel/user_source.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- blanking --- */

static void blank(char *s, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (s[i] != '\n')
			s[i] = ' ';
}

/* End of the comment or literal that begins at @i, or @i if none does. */
static size_t skip_dead(const char *s, size_t i)
{
	if (s[i] == '/' && s[i + 1] == '/') {
		while (s[i] && s[i] != '\n')
			i += s[i] == '\\' && s[i + 1] == '\n' ? 2 : 1;
		return i;
	}
	if (s[i] == '/' && s[i + 1] == '*') {
		const char *end = strstr(s + i + 2, "*/");
		return end ? (size_t)(end - s) + 2 : strlen(s);
	}
	const bool digit_separator = s[i] == '\'' && i && isalnum((unsigned char)s[i - 1]);
	if (s[i] != '"' && (s[i] != '\'' || digit_separator))
		return i;
	const char quote = s[i++];
	while (s[i] && s[i] != quote && s[i] != '\n')
		i += s[i] == '\\' && s[i + 1] ? 2 : 1;
	return s[i] == quote ? i + 1 : i;
}

/* A preprocessor line with its continuations. */
static size_t skip_directive(const char *s, size_t i)
{
	while (s[i] && s[i] != '\n') {
		const size_t dead = s[i] == '/' && s[i + 1] == '*' ? skip_dead(s, i) : i;
		if (dead > i)
			i = dead;
		else
			i += s[i] == '\\' && s[i + 1] == '\n' ? 2 : 1;
	}
	return i;
}

static char *code_only(const char *text)
{
	char *s = mem_strdup(text);
	bool line_start = true;
	for (size_t i = 0; text[i];) {
		const size_t dead = skip_dead(text, i);
		if (dead > i) {
			const bool literal = text[i] == '"';
			blank(s, i, dead);
			if (literal) /* extern "C" stays recognisable */
				s[i] = s[dead - 1] = '"';
			i = dead;
		} else if (line_start && text[i] == '#') {
			const size_t end = skip_directive(text, i);
			blank(s, i, end);
			i = end;
		} else {
			line_start = text[i] == '\n' || (line_start && isspace((unsigned char)text[i]));
			i++;
		}
	}
	return s;
}

/* --- words --- */

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Where the whole word @w stands in s[from..to), or @to. */
static size_t find_word(const char *s, size_t from, size_t to, const char *w)
{
	const size_t n = strlen(w);
	for (size_t i = from; i + n <= to; i++)
		if (!strncmp(s + i, w, n) && (i == 0 || !word_char(s[i - 1])) && !word_char(s[i + n]))
			return i;
	return to;
}

static bool has_word(const char *s, size_t from, size_t to, const char *w)
{
	return find_word(s, from, to, w) < to;
}

static bool has_any(const char *s, size_t from, size_t to, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (has_word(s, from, to, words[i]))
			return true;
	return false;
}
#define HAS_ANY(s, from, to, ...)                              \
	has_any(s, from, to, (const char *const[]){ __VA_ARGS__ }, \
	        sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static size_t skip_space(const char *s, size_t i)
{
	while (isspace((unsigned char)s[i]))
		i++;
	return i;
}

static bool begins(const char *s, size_t i, const char *w)
{
	return find_word(s, i, i + strlen(w), w) == i;
}

/* Behind the bracket that closes the one at @i; the end of the text if none does. */
static size_t closing(const char *s, size_t i)
{
	const char open = s[i], close = open == '(' ? ')' : open == '[' ? ']' : '}';
	unsigned depth = 0;
	for (; s[i]; i++) {
		depth += s[i] == open;
		if (s[i] == close && --depth == 0)
			return i + 1;
	}
	return i;
}

/* --- signatures --- */

static const struct {
	const char *name;
	enum elem_type elem;
	unsigned lanes;
	int scalar; /* enum arg_kind, -1 = not passed by value here */
} types[] = {
	{ "float", ELEM_F32, 1, ARG_F32 },
	{ "int", ELEM_I32, 1, ARG_I32 },
	{ "signed", ELEM_I32, 1, ARG_I32 },
	{ "signed int", ELEM_I32, 1, ARG_I32 },
	{ "int32_t", ELEM_I32, 1, ARG_I32 },
	{ "unsigned", ELEM_U32, 1, ARG_U32 },
	{ "unsigned int", ELEM_U32, 1, ARG_U32 },
	{ "uint32_t", ELEM_U32, 1, ARG_U32 },
	{ "uint", ELEM_U32, 1, ARG_U32 },
	{ "double", ELEM_F64, 1, -1 },
	{ "half", ELEM_F16, 1, -1 },
	{ "__half", ELEM_F16, 1, -1 },
	{ "half2", ELEM_F16, 2, -1 },
	{ "__half2", ELEM_F16, 2, -1 },
	{ "char", ELEM_U8, 1, -1 },
	{ "unsigned char", ELEM_U8, 1, -1 },
	{ "uint8_t", ELEM_U8, 1, -1 },
	{ "uchar4", ELEM_U8, 4, -1 },
	{ "float2", ELEM_F32, 2, -1 },
	{ "float3", ELEM_F32, 3, -1 },
	{ "float4", ELEM_F32, 4, -1 },
	{ "int2", ELEM_I32, 2, -1 },
	{ "int4", ELEM_I32, 4, -1 },
	{ "uint2", ELEM_U32, 2, -1 },
	{ "uint4", ELEM_U32, 4, -1 },
	{ "double2", ELEM_F64, 2, -1 },
};
static const char *const wide[] = {
	"long",    "long int",  "long long",     "long long int",      "int64_t",
	"size_t",  "ptrdiff_t", "unsigned long", "unsigned long long", "unsigned long long int",
	"uint64_t"
};

/* The type without its qualifiers, words one blank apart: "unsigned int". */
static void bare_type(const char *type, char *out, size_t n)
{
	static const char *const noise[] = { "const",    "volatile", "__restrict__",      "__restrict",
		                                 "restrict", "struct",   "__grid_constant__", "std" };
	size_t at = 0;
	out[0] = '\0';
	for (const char *p = type; *p;) {
		if (!word_char(*p)) {
			p++;
			continue;
		}
		size_t len = 0;
		while (word_char(p[len]))
			len++;
		bool drop = false;
		for (size_t i = 0; i < ARRAY_LEN(noise); i++)
			drop |= strlen(noise[i]) == len && !strncmp(p, noise[i], len);
		if (!drop && at + len + 2 < n)
			at += (size_t)snprintf(out + at, n - at, "%s%.*s", at ? " " : "", (int)len, p);
		p += len;
	}
}

static void know_type(struct user_param *p)
{
	char bare[64];
	bare_type(p->type, bare, sizeof bare);
	p->lanes = 1;
	if (strchr(p->type, '&') || (p->pointer && strchr(strchr(p->type, '*') + 1, '*')))
		return;
	p->kind = ARG_BUFFER;
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (strcmp(bare, types[i].name) != 0)
			continue;
		p->elem = types[i].elem;
		p->lanes = types[i].lanes;
		p->known = p->pointer || types[i].scalar >= 0;
		if (!p->pointer)
			p->kind = (enum arg_kind)types[i].scalar;
	}
	for (size_t i = 0; i < ARRAY_LEN(wide) && !p->pointer; i++)
		if (!strcmp(bare, wide[i])) {
			p->known = true;
			p->kind = ARG_I64;
		}
}

/* One parameter from its text s[from..to). */
static void read_param(const char *s, size_t from, size_t to, struct user_param *p)
{
	*p = (struct user_param){ 0 };
	const char *equals = memchr(s + from, '=', to - from);
	if (equals)
		to = (size_t)(equals - s);
	size_t end = to, at = 0;
	bool array = false;
	for (size_t i = from; i < to; i++)
		if (s[i] == '[') {
			end = i;
			array = true;
			break;
		}
	while (end > from && !word_char(s[end - 1]))
		end--;
	size_t name = end;
	while (name > from && word_char(s[name - 1]))
		name--;
	snprintf(p->name, sizeof p->name, "%.*s", (int)(end - name), s + name);
	bool space = false;
	for (size_t i = from; i < name && at + 2 < sizeof p->type; i++) {
		if (isspace((unsigned char)s[i])) {
			space = at > 0;
			continue;
		}
		if (space)
			p->type[at++] = ' ';
		space = false;
		p->type[at++] = s[i];
	}
	p->type[at] = '\0';
	if (array && at + 3 < sizeof p->type)
		strcat(p->type, " *");
	p->pointer = strchr(p->type, '*') != NULL;
	const char *star = strchr(p->type, '*');
	p->is_const = has_word(p->type, 0, star ? (size_t)(star - p->type) : 0, "const");
	know_type(p);
}

static void read_params(const char *s, size_t from, size_t to, struct user_kernel *k)
{
	size_t start = from;
	int depth = 0;
	if (skip_space(s, from) >= to || (begins(s, skip_space(s, from), "void") && to - from < 10))
		return;
	for (size_t i = from; i <= to; i++) {
		depth += i < to && strchr("(<[", s[i]) ? 1 : i < to && strchr(")>]", s[i]) ? -1 : 0;
		if (i < to && (s[i] != ',' || depth))
			continue;
		if (k->n_params == KERNEL_MAX_ARGS) {
			snprintf(k->why_not, sizeof k->why_not, "more than %d parameters", KERNEL_MAX_ARGS);
			return;
		}
		read_param(s, start, i, &k->params[k->n_params++]);
		start = i + 1;
	}
}

static unsigned line_at(const char *s, size_t i)
{
	unsigned line = 1;
	while (i-- > 0)
		line += s[i] == '\n';
	return line;
}

/* A declaration or definition with __global__ in s[from..to). */
static void read_kernel(const char *s, size_t from, size_t to, bool body, struct user_source *out)
{
	size_t i = find_word(s, from, to, "__global__");
	if (!body || out->n_kernels == USER_MAX_KERNELS)
		return;
	/* the name stands before the first '(' that is not an attribute's */
	for (;;) {
		while (i < to && s[i] != '(')
			i++;
		size_t end = i;
		while (end > from && isspace((unsigned char)s[end - 1]))
			end--;
		size_t name = end;
		while (name > from && word_char(s[name - 1]))
			name--;
		if (i >= to || name == end)
			return;
		if (begins(s, name, "__launch_bounds__") || begins(s, name, "__attribute__") ||
		    begins(s, name, "__cluster_dims__") || begins(s, name, "__maxnreg__") ||
		    begins(s, name, "__block_size__")) {
			i = closing(s, i);
			continue;
		}
		struct user_kernel *k = &out->kernels[out->n_kernels++];
		*k = (struct user_kernel){ .line = line_at(s, name) };
		snprintf(k->name, sizeof k->name, "%.*s", (int)(end - name), s + name);
		read_params(s, i + 1, closing(s, i) - 1, k);
		if (has_word(s, from, name, "template"))
			snprintf(k->why_not, sizeof k->why_not,
			         "a template: write a kernel that calls it with the types you want");
		else if (has_word(s, from, name, "static"))
			snprintf(k->why_not, sizeof k->why_not, "static: take that word away");
		return;
	}
}

/* --- device code --- */

/* Standard headers are not there for NVRTC; what kernels use of them is put in their place. */
static const struct {
	const char *header, *instead;
} headers[] = {
	{ "stdint.h", "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; "
	              "typedef long long int64_t; typedef unsigned char uint8_t; "
	              "typedef unsigned short uint16_t; typedef unsigned uint32_t; "
	              "typedef unsigned long long uint64_t;" },
	{ "float.h", "static constexpr float FLT_MAX = 3.402823466e38f, FLT_MIN = 1.175494351e-38f, "
	             "FLT_EPSILON = 1.192092896e-7f; static constexpr double DBL_MAX = "
	             "1.7976931348623157e308, DBL_EPSILON = 2.2204460492503131e-16;" },
	{ "limits.h", "static constexpr int INT_MAX = 2147483647, INT_MIN = -2147483647 - 1; "
	              "static constexpr unsigned UINT_MAX = 4294967295u;" },
	{ "assert.h", "#define assert(x) ((x) ? (void)0 : __trap())" },
	{ "stdio.h", "" },
	{ "stdlib.h", "" },
	{ "string.h", "" },
	{ "math.h", "" },
	{ "time.h", "" },
	{ "stdbool.h", "" },
	{ "stddef.h", "" },
	{ "unistd.h", "" },
	{ "sys/time.h", "" },
	{ "cuda.h", "" },
	{ "cuda_runtime.h", "" },
	{ "cuda_runtime_api.h", "" },
	{ "device_launch_parameters.h", "" },
	{ "helper_cuda.h", "" },
	{ "helper_functions.h", "" },
};

static const char *instead_of(const char *name)
{
	char plain[64];
	/* C++ names: <cstdint> is stdint.h; other names without a dot are C++'s own */
	if (!strchr(name, '.') && !strchr(name, '/')) {
		for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
			snprintf(plain, sizeof plain, "%.60s.h", name + (name[0] == 'c'));
			if (!strcmp(plain, headers[i].header))
				return headers[i].instead;
		}
		return "";
	}
	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		if (!strcmp(name, headers[i].header))
			return headers[i].instead;
	return NULL;
}

/* Copies the text; includes of host headers give way to their stand-ins, on the same line. */
static void put_device(const char *s, struct text *out)
{
	while (*s) {
		const size_t len = strcspn(s, "\n");
		const char *p = s + strspn(s, " \t");
		char name[64];
		int used = 0;
		const char *stand_in = NULL;
		if (*p == '#' && sscanf(p, "# include < %63[^> ] >%n", name, &used) == 1 && used)
			stand_in = instead_of(name);
		if (stand_in)
			text_add(out, "%s", stand_in);
		else
			text_put(out, s, len);
		s += len;
		if (*s)
			text_put(out, s++, 1);
	}
}

/* Is the declaration code[from..to) for the host only? As nvcc has it: what says nothing is. */
static bool host_only(const char *code, size_t from, size_t to, size_t body, bool function)
{
	if (HAS_ANY(code, from, body, "__global__", "__device__", "__constant__", "__shared__",
	            "__managed__"))
		return false;
	if (HAS_ANY(code, from, to, "std", "FILE", "cudaEvent_t", "cudaStream_t", "cudaError_t",
	            "dim3") &&
	    !begins(code, from, "template"))
		return true;
	if (function)
		return !has_word(code, from, body, "constexpr");
	if (HAS_ANY(code, from, from + strcspn(code + from, " \t\n<{(;"), "typedef", "using", "struct",
	            "class", "union", "enum", "template", "static_assert", "constexpr", "const"))
		return false;
	return !HAS_ANY(code, from, body, "constexpr", "const");
}

struct scan {
	const char *code;
	char *device;                        /* the file with host code blank */
	size_t insert[2 * USER_MAX_KERNELS]; /* where extern "C" goes, ascending */
	unsigned n_insert;
	struct user_source *out;
};

static void take(struct scan *c, size_t from, size_t body, size_t to, bool has_body)
{
	const char *s = c->code;
	const bool type = HAS_ANY(s, from, from + strcspn(s + from, " \t\n{;"), "struct", "class",
	                          "union", "enum", "typedef", "using");
	const bool function = has_body && !type && memchr(s + from, '(', body - from) &&
	                      !memchr(s + from, '=', body - from);
	if (has_word(s, from, body, "__global__")) {
		const unsigned before = c->out->n_kernels;
		read_kernel(s, from, to, has_body, c->out);
		const bool launchable = c->out->n_kernels == before || !c->out->kernels[before].why_not[0];
		if (launchable && !HAS_ANY(s, from, body, "extern", "template", "static") &&
		    c->n_insert < ARRAY_LEN(c->insert))
			c->insert[c->n_insert++] = from;
	} else if (host_only(s, from, to, body, function)) {
		blank(c->device, from, to);
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
			i = s[i] == '(' ? closing(s, i) : i + 1;
		if (s[i] != '{') {
			take(c, from, i, i + (s[i] == ';'), false);
			i += s[i] == ';';
			continue;
		}
		const bool linkage = begins(s, from, "extern") && !memchr(s + from, '(', i - from);
		if (begins(s, from, "namespace") || linkage) {
			i++;
			continue;
		}
		const size_t body = i;
		i = closing(s, i);
		/* struct s { } x;   int a[] = { };   go on to the semicolon */
		const bool open = HAS_ANY(s, from, body, "struct", "class", "union", "enum", "typedef") ||
		                  memchr(s + from, '=', body - from);
		if (open && !memchr(s + from, '(', body - from)) {
			i += strcspn(s + i, ";");
			i += s[i] == ';';
		}
		take(c, from, body, i, true);
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
	put_device(t.s ? t.s : "", &device);
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

void user_signature(const struct user_kernel *k, char *out, size_t n)
{
	size_t at = (size_t)snprintf(out, n, "%s(", k->name);
	for (unsigned i = 0; i < k->n_params && at < n; i++) {
		const struct user_param *p = &k->params[i];
		const size_t len = strlen(p->type);
		const bool star =
			len > 1 && strchr("*&", p->type[len - 1]) && strchr(" *", p->type[len - 2]);
		at += (size_t)snprintf(out + at, n - at, "%s%s%s%s", i ? ", " : "", p->type,
		                       star ? "" : " ", p->name);
	}
	if (at < n)
		snprintf(out + at, n - at, ")");
}
