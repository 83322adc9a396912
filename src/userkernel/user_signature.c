/* Kernels' signatures: from text to parameters and back; see user_source.h. */
#include "userkernel/user_scan.h"
#include "userkernel/user_text.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of types without qualifiers. Vectors are a name of `vectors` and a digit. */
static const struct {
	const char *name;
	enum elem_type elem;
	unsigned lanes;
} types[] = {
	{ "float", ELEM_F32, 1 },
	{ "double", ELEM_F64, 1 },
	{ "int", ELEM_I32, 1 },
	{ "signed", ELEM_I32, 1 },
	{ "signed int", ELEM_I32, 1 },
	{ "int32_t", ELEM_I32, 1 },
	{ "unsigned", ELEM_U32, 1 },
	{ "unsigned int", ELEM_U32, 1 },
	{ "uint32_t", ELEM_U32, 1 },
	{ "uint", ELEM_U32, 1 },
	{ "half", ELEM_F16, 1 },
	{ "__half", ELEM_F16, 1 },
	{ "half2", ELEM_F16, 2 },
	{ "__half2", ELEM_F16, 2 },
	{ "nv_bfloat16", ELEM_BF16, 1 },
	{ "__nv_bfloat16", ELEM_BF16, 1 },
	{ "nv_bfloat162", ELEM_BF16, 2 },
	{ "__nv_bfloat162", ELEM_BF16, 2 },
	{ "bool", ELEM_U8, 1 },
	{ "char", ELEM_I8, 1 },
	{ "signed char", ELEM_I8, 1 },
	{ "int8_t", ELEM_I8, 1 },
	{ "unsigned char", ELEM_U8, 1 },
	{ "uint8_t", ELEM_U8, 1 },
	{ "short", ELEM_I16, 1 },
	{ "short int", ELEM_I16, 1 },
	{ "int16_t", ELEM_I16, 1 },
	{ "unsigned short", ELEM_U16, 1 },
	{ "unsigned short int", ELEM_U16, 1 },
	{ "uint16_t", ELEM_U16, 1 },
	{ "ushort", ELEM_U16, 1 },
	{ "long", ELEM_I64, 1 },
	{ "long int", ELEM_I64, 1 },
	{ "long long", ELEM_I64, 1 },
	{ "long long int", ELEM_I64, 1 },
	{ "int64_t", ELEM_I64, 1 },
	{ "ptrdiff_t", ELEM_I64, 1 },
	{ "clock_t", ELEM_I64, 1 },
	{ "size_t", ELEM_U64, 1 },
	{ "unsigned long", ELEM_U64, 1 },
	{ "unsigned long int", ELEM_U64, 1 },
	{ "unsigned long long", ELEM_U64, 1 },
	{ "unsigned long long int", ELEM_U64, 1 },
	{ "uint64_t", ELEM_U64, 1 },
	{ "uintptr_t", ELEM_U64, 1 },
	{ "dim3", ELEM_U32, 3 },
	{ "cuComplex", ELEM_F32, 2 },
	{ "cuFloatComplex", ELEM_F32, 2 },
	{ "cuDoubleComplex", ELEM_F64, 2 },
};
static const struct {
	const char *name;
	enum elem_type elem;
} vectors[] = {
	{ "float", ELEM_F32 }, { "double", ELEM_F64 },   { "int", ELEM_I32 },
	{ "uint", ELEM_U32 },  { "char", ELEM_I8 },      { "uchar", ELEM_U8 },
	{ "short", ELEM_I16 }, { "ushort", ELEM_U16 },   { "long", ELEM_I64 },
	{ "ulong", ELEM_U64 }, { "longlong", ELEM_I64 }, { "ulonglong", ELEM_U64 },
};

/* The type without its qualifiers, words one blank apart: "unsigned int". */
static void bare_type(const char *type, char *out, size_t n)
{
	static const char *const noise[] = { "const",    "volatile", "__restrict__",      "__restrict",
		                                 "restrict", "struct",   "__grid_constant__", "std",
		                                 "enum",     "__const__" };
	size_t at = 0;
	out[0] = '\0';
	for (const char *p = type; *p && *p != '[';) {
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

static bool find_type(const char *bare, enum elem_type *elem, unsigned *lanes)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (!strcmp(bare, types[i].name)) {
			*elem = types[i].elem;
			*lanes = types[i].lanes;
			return true;
		}
	const size_t n = strlen(bare);
	for (size_t i = 0; n && i < ARRAY_LEN(vectors); i++)
		if (bare[n - 1] >= '1' && bare[n - 1] <= '4' && strlen(vectors[i].name) == n - 1 &&
		    !strncmp(bare, vectors[i].name, n - 1)) {
			*elem = vectors[i].elem;
			*lanes = (unsigned)(bare[n - 1] - '0');
			return true;
		}
	return false;
}

static enum arg_kind value_kind(enum elem_type elem, unsigned lanes)
{
	if (lanes > 1)
		return ARG_BYTES;
	switch (elem) {
	case ELEM_F32: return ARG_F32;
	case ELEM_F64: return ARG_F64;
	case ELEM_I32: return ARG_I32;
	case ELEM_U32: return ARG_U32;
	default: return ARG_I64;
	}
}

/* A structure of @bytes: read and shown as floats where it can be. */
static void know_structure(struct user_param *p, unsigned bytes)
{
	p->elem = bytes % 4 ? ELEM_U8 : ELEM_F32;
	p->lanes = bytes % 4 ? bytes : bytes / 4;
	p->known = p->structure = true;
	if (!p->pointer) {
		p->kind = ARG_BYTES;
		p->bytes = bytes;
	}
}

void user_know_type(struct user_param *p, unsigned bytes)
{
	char bare[120];
	const char *star = strchr(p->type, '*');
	bare_type(p->type, bare, sizeof bare);
	p->lanes = 1;
	p->structure = false;
	p->pointer = star != NULL;
	p->is_const = has_word(p->type, 0, star ? (size_t)(star - p->type) : 0, "const");
	p->kind = ARG_BUFFER;
	if (strchr(p->type, '&') || (star && strchr(star + 1, '*')))
		return;
	if (strchr(p->type, '<') || !find_type(bare, &p->elem, &p->lanes)) {
		if (p->pointer && !strcmp(bare, "void"))
			know_structure(p, 4);
		else if (bytes)
			know_structure(p, bytes);
		return;
	}
	p->known = true;
	if (!p->pointer) {
		p->kind = value_kind(p->elem, p->lanes);
		p->bytes = (unsigned)elem_size(p->elem) * p->lanes;
	}
}

/* Text without line ends and double blanks. */
static void squeeze(const char *s, size_t n, char *out, size_t size)
{
	size_t at = 0;
	bool space = false;
	for (size_t i = 0; i < n && at + 2 < size; i++) {
		if (isspace((unsigned char)s[i])) {
			space = at > 0;
			continue;
		}
		if (space)
			out[at++] = ' ';
		space = false;
		out[at++] = s[i];
	}
	out[at] = '\0';
}

/* One parameter from its text s[from..to). */
static void read_param(const char *s, size_t from, size_t to, bool named, struct user_param *p)
{
	*p = (struct user_param){ 0 };
	const char *equals = memchr(s + from, '=', to - from);
	if (equals)
		to = (size_t)(equals - s);
	if (!named) {
		squeeze(s + from, to - from, p->type, sizeof p->type);
		return;
	}
	size_t end = to;
	const char *bracket = memchr(s + from, '[', to - from);
	if (bracket)
		end = (size_t)(bracket - s);
	while (end > from && !is_word_char(s[end - 1]))
		end--;
	size_t name = end;
	while (name > from && is_word_char(s[name - 1]))
		name--;
	snprintf(p->name, sizeof p->name, "%.*s", (int)(end - name), s + name);
	squeeze(s + from, name - from, p->type, sizeof p->type);
	char *row = strstr(p->type, "(*"); /* float (*a)[64] */
	if (row)
		snprintf(row, 3, "*");
	const size_t at = strlen(p->type);
	if (bracket && !strchr(p->type, '*') && at + 3 < sizeof p->type)
		memcpy(p->type + at, " *", 3);
}

static void read_params(const char *s, size_t from, size_t to, bool named, struct user_kernel *k)
{
	size_t start = from;
	int depth = 0;
	k->n_params = 0;
	if (skip_space(s, from) >= to ||
	    (begins_with(s, skip_space(s, from), "void") && !memchr(s + from, '*', to - from) &&
	     !memchr(s + from, ',', to - from)))
		return;
	for (size_t i = from; i <= to; i++) {
		depth += i < to && strchr("(<[", s[i]) ? 1 : i < to && strchr(")>]", s[i]) ? -1 : 0;
		if (i < to && (s[i] != ',' || depth))
			continue;
		if (k->n_params == KERNEL_MAX_ARGS) {
			snprintf(k->why_not, sizeof k->why_not, "more than %d parameters", KERNEL_MAX_ARGS);
			return;
		}
		struct user_param *p = &k->params[k->n_params];
		read_param(s, start, i, named, p);
		if (!p->name[0])
			snprintf(p->name, sizeof p->name, "p%u", k->n_params);
		user_know_type(p, 0);
		k->n_params++;
		start = i + 1;
	}
}

void user_read_params(const char *list, bool named, struct user_kernel *k)
{
	read_params(list, 0, strlen(list), named, k);
}

static unsigned line_at(const char *s, size_t i)
{
	unsigned line = 1;
	while (i-- > 0)
		line += s[i] == '\n';
	return line;
}

/* The highest of x, y, z that is read of @what in the body: 1..3. */
static unsigned dims_of(const char *s, size_t from, size_t to, const char *what)
{
	unsigned dims = 1;
	const size_t n = strlen(what);
	for (size_t i = from; (i = find_word(s, i, to, what)) < to; i += n)
		if (s[i + n] == '.' && s[i + n + 1] >= 'y' && s[i + n + 1] <= 'z')
			dims = s[i + n + 1] == 'z' ? 3 : dims < 2 ? 2 : dims;
	return dims;
}

static void read_shape(const char *s, size_t from, size_t body, size_t to, struct user_shape *out)
{
	const unsigned of_block = dims_of(s, body, to, "blockDim");
	*out = (struct user_shape){ .block_dims = dims_of(s, body, to, "threadIdx"),
		                        .grid_dims = dims_of(s, body, to, "blockIdx") };
	if (of_block > out->block_dims)
		out->block_dims = of_block;
	for (size_t i = body; (i = find_word(s, i, to, "extern")) < to; i += 6)
		out->dynamic_shared |= has_word(s, i, i + strcspn(s + i, ";"), "__shared__");
	const size_t bounds = find_word(s, from, body, "__launch_bounds__");
	const size_t open = bounds < body ? bounds + strcspn(s + bounds, "(") : body;
	if (open < body)
		out->max_threads = (unsigned)strtoul(s + skip_space(s, open + 1), NULL, 10);
}

/* "template < ... >" in s[from..name). */
static void read_template(const char *s, size_t from, size_t name, struct user_kernel *k)
{
	const size_t at = find_word(s, from, name, "template");
	if (at == name)
		return;
	const size_t open = at + strcspn(s + at, "<");
	size_t i = open;
	int depth = 0;
	for (; i < name; i++) {
		depth += s[i] == '<' ? 1 : s[i] == '>' ? -1 : 0;
		if (!depth)
			break;
	}
	if (i < name)
		squeeze(s + open + 1, i - open - 1, k->templates, sizeof k->templates);
	if (!k->templates[0])
		snprintf(k->templates, sizeof k->templates, " ");
	snprintf(k->why_not, sizeof k->why_not, "a template: name its arguments, --kernel '%s<...>'",
	         k->base);
}

struct user_kernel *user_read_kernel(const char *s, size_t from, size_t body, size_t to,
                                     bool has_body, struct user_source *out)
{
	static const char *const attributes[] = { "__launch_bounds__", "__attribute__",
		                                      "__cluster_dims__",  "__maxnreg__",
		                                      "__block_size__",    "__align__" };
	size_t i = find_word(s, from, to, "__global__");
	if (!has_body)
		return NULL;
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
			return NULL;
		bool attribute = false;
		for (size_t a = 0; a < ARRAY_LEN(attributes); a++)
			attribute |= begins_with(s, name, attributes[a]);
		if (attribute) {
			i = closing_bracket(s, i);
			continue;
		}
		out->kernels = mem_realloc(out->kernels, out->n_kernels + 1u, sizeof *out->kernels);
		struct user_kernel *k = &out->kernels[out->n_kernels++];
		*k = (struct user_kernel){ .line = line_at(s, name) };
		snprintf(k->base, sizeof k->base, "%.*s", (int)(end - name), s + name);
		snprintf(k->name, sizeof k->name, "%s", k->base);
		read_params(s, i + 1, closing_bracket(s, i) - 1, true, k);
		read_template(s, from, name, k);
		k->internal = has_word(s, from, name, "static");
		k->c_linkage = has_word(s, from, name, "extern");
		read_shape(s, from, body, to, &k->shape);
		return k;
	}
}

void user_signature(const struct user_kernel *k, char *out, size_t n)
{
	/* an overload's name has its types already */
	size_t at = (size_t)snprintf(out, n, "%.*s(", (int)strcspn(k->name, "("), k->name);
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
