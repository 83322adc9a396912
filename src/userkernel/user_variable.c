/* __constant__ and __device__ variables of a file, which a launch may set; see user_scan.h. */
#include "userkernel/user_scan.h"
#include "userkernel/user_text.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What may stand in front of a type and is no part of it. */
static const char *const qualifiers[] = {
	"__constant__", "__device__", "__managed__", "static",
	"extern",       "volatile",   "const",       "constexpr"
};

/* s[from..to) without qualifiers and alignment. */
static void bare_type(const char *s, size_t from, size_t to, struct text *out)
{
	size_t i = from;
	while (i < to) {
		size_t skip = 0;
		for (size_t k = 0; k < ARRAY_LEN(qualifiers); k++)
			if (begins_with(s, i, qualifiers[k]))
				skip = strlen(qualifiers[k]);
		if (begins_with(s, i, "__align__") || begins_with(s, i, "alignas"))
			skip = closing_bracket(s, i + strcspn(s + i, "(")) - i;
		if (skip) {
			i += skip;
			continue;
		}
		size_t word = 1;
		while (is_word_char(s[i]) && i + word < to && is_word_char(s[i + word]))
			word++;
		text_put(out, s + i, word);
		i += word;
	}
}

/* s[from..to) says "typedef float real" or "using real = float" for the word at s[at..end): what it
 * stands for joins @out. */
static bool says_meaning(const char *s, size_t from, size_t at, size_t end, size_t to,
                         struct text *out)
{
	const size_t next = skip_space(s, end);
	if (begins_with(s, from, "typedef") && next == to)
		text_put(out, s + from + strlen("typedef"), at - from - strlen("typedef"));
	else if (begins_with(s, from, "using") && s[next] == '=')
		text_put(out, s + next + 1, to - next - 1);
	return out->len > 0;
}

/* @type is one word that the file has given a meaning in front of s[before]: that one. */
static bool resolve(const char *s, size_t before, struct text *type)
{
	const size_t word = skip_space(type->s, 0);
	size_t n = 0;
	while (is_word_char(type->s[word + n]))
		n++;
	if (!n || type->s[skip_space(type->s, word + n)])
		return false;
	for (size_t from = 0, to; from < before; from = to + 1) {
		from = skip_space(s, from);
		to = from + strcspn(s + from, ";{}");
		for (size_t at = from; at + n <= to; at++) {
			struct text meaning = { 0 };
			if (strncmp(s + at, type->s + word, n) != 0 || is_word_char(s[at + n]) ||
			    (at > from && is_word_char(s[at - 1])) ||
			    !says_meaning(s, from, at, at + n, to, &meaning))
				continue;
			text_free(type);
			*type = meaning;
			return true;
		}
	}
	return false;
}

/* "[3][W]" in s[from..to) as the product "(3)*(W)"; "1" where there is none. */
static void size_of(const char *s, size_t from, size_t to, char *out, size_t n)
{
	size_t at = 0;
	for (size_t i = from; i < to && at + 3 < n; i++) {
		if (s[i] == '[' && at)
			out[at++] = '*';
		if (!isspace((unsigned char)s[i]))
			out[at++] = s[i] == '[' ? '(' : s[i] == ']' ? ')' : s[i];
	}
	out[at] = '\0';
	if (!at)
		snprintf(out, n, "1");
}

/* One of "float a[4], b": its type is s[from..type), itself s[type..to). */
static void add_variable(const char *type, const char *s, size_t from, size_t to,
                         struct user_variable *v)
{
	struct user_kernel *one = mem_zalloc(sizeof *one);
	struct text list = { 0 };
	const char *bracket = memchr(s + from, '[', to - from);
	const size_t end = bracket ? (size_t)(bracket - s) : to;
	text_add(&list, "%s %.*s", type, (int)(end - from), s + from);
	user_read_params(list.s, true, one);
	v->as = one->params[0];
	v->as.pointer = true;
	v->as.is_const = v->constant;
	size_of(s, bracket ? end : to, to, v->size, sizeof v->size);
	text_free(&list);
	free(one);
}

void user_read_variable(const char *s, size_t from, size_t value, size_t to,
                        struct user_source *out)
{
	const bool constant = has_word(s, from, value, "__constant__");
	if ((!constant && !HAS_ANY(s, from, value, "__device__", "__managed__")) ||
	    memchr(s + from, '(', value - from) ||
	    HAS_ANY(s, from, value, "__shared__", "struct", "class", "union", "enum", "template"))
		return;
	/* the name: the last word in front of the first bracket, comma or end */
	size_t end = from;
	while (end < value && !strchr("[,", s[end]))
		end++;
	size_t name = end;
	while (name > from && !is_word_char(s[name - 1]))
		name--;
	while (name > from && is_word_char(s[name - 1]))
		name--;
	struct text type = { 0 };
	bare_type(s, from, name, &type);
	for (int depth = 0; type.len && depth < 8 && resolve(s, from, &type); depth++)
		;
	for (size_t at = name; type.len && at < value;) {
		size_t stop = at;
		while (stop < value && s[stop] != ',')
			stop++;
		out->variables = mem_realloc(out->variables, out->n_variables + 1u, sizeof *out->variables);
		struct user_variable *v = &out->variables[out->n_variables++];
		*v = (struct user_variable){ .constant = constant, .has_value = value < to };
		add_variable(type.s, s, at, stop, v);
		at = stop + 1;
	}
	text_free(&type);
}
