/* Kernels' signatures: from text to parameters and back; see user_source.h. */
#include "userkernel/user_scan.h"
#include "userkernel/user_text.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
		if (!is_word_char(*p)) {
			p++;
			continue;
		}
		size_t len = 0;
		while (is_word_char(p[len]))
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
	while (end > from && !is_word_char(s[end - 1]))
		end--;
	size_t name = end;
	while (name > from && is_word_char(s[name - 1]))
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
		memcpy(p->type + at, " *", 3);
	p->pointer = strchr(p->type, '*') != NULL;
	const char *star = strchr(p->type, '*');
	p->is_const = has_word(p->type, 0, star ? (size_t)(star - p->type) : 0, "const");
	know_type(p);
}

static void read_params(const char *s, size_t from, size_t to, struct user_kernel *k)
{
	size_t start = from;
	int depth = 0;
	if (skip_space(s, from) >= to ||
	    (begins_with(s, skip_space(s, from), "void") && to - from < 10))
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
void user_read_kernel(const char *s, size_t from, size_t to, bool body, struct user_source *out)
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
		while (name > from && is_word_char(s[name - 1]))
			name--;
		if (i >= to || name == end)
			return;
		if (begins_with(s, name, "__launch_bounds__") || begins_with(s, name, "__attribute__") ||
		    begins_with(s, name, "__cluster_dims__") || begins_with(s, name, "__maxnreg__") ||
		    begins_with(s, name, "__block_size__")) {
			i = closing_bracket(s, i);
			continue;
		}
		struct user_kernel *k = &out->kernels[out->n_kernels++];
		*k = (struct user_kernel){ .line = line_at(s, name) };
		snprintf(k->name, sizeof k->name, "%.*s", (int)(end - name), s + name);
		read_params(s, i + 1, closing_bracket(s, i) - 1, k);
		if (has_word(s, from, name, "template"))
			snprintf(k->why_not, sizeof k->why_not,
			         "a template: write a kernel that calls it with the types you want");
		else if (has_word(s, from, name, "static"))
			snprintf(k->why_not, sizeof k->why_not, "static: take that word away");
		return;
	}
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
