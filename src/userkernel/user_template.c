/* Template arguments by the names that people give parameters; see user_template.h. */
#include "userkernel/user_template.h"
#include "userkernel/user_text.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool has_part(const char *name, const char *part)
{
	const size_t n = strlen(part);
	for (; *name; name++) {
		size_t i = 0;
		while (i < n && tolower((unsigned char)name[i]) == part[i])
			i++;
		if (i == n)
			return true;
	}
	return false;
}

/* What a whole number of this name usually is. */
static unsigned likely_number(const struct user_kernel *k, const char *name)
{
	static const struct {
		const char *part;
		unsigned value;
	} usual[] = {
		{ "warp", 32 },  { "radius", 3 }, { "tile", 16 },  { "per_thread", 4 }, { "items", 4 },
		{ "unroll", 4 }, { "vec", 4 },    { "bins", 256 }, { "rows", 8 },
	};
	static const char *const of_block[] = { "B", "BS", "BLK", "NT" };
	const bool flat = k->shape.block_dims == 1;
	bool block = has_part(name, "block") || has_part(name, "thread");
	for (size_t i = 0; i < ARRAY_LEN(of_block); i++)
		block |= !strcmp(name, of_block[i]);
	if (block) {
		if (!has_part(name, "per"))
			return flat ? 256 : 16;
	}
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (has_part(name, usual[i].part))
			return usual[i].value;
	return 16;
}

static bool guess_one(const struct user_kernel *k, const char *s, size_t len, char *out, size_t n)
{
	char words[160];
	snprintf(words, sizeof words, "%.*s", (int)len, s);
	words[strcspn(words, "=")] = '\0';
	const size_t end = strlen(words);
	size_t name_end = end;
	while (name_end && !is_word_char(words[name_end - 1]))
		name_end--;
	size_t name = name_end;
	while (name && is_word_char(words[name - 1]))
		name--;
	const char *called = words + name;
	if (has_word(words, 0, end, "typename") || has_word(words, 0, end, "class")) {
		if (strstr(words, "...") || strstr(words, "<") || has_part(called, "op") ||
		    has_part(called, "func") || !strcmp(called, "F") || has_part(called, "layout") ||
		    has_part(called, "reduc") || has_part(called, "lambda"))
			return false;
		snprintf(out, n, "%s",
		         has_part(called, "index") || has_part(called, "idx") || has_part(called, "int")
		             ? "int"
		             : "float");
		return true;
	}
	if (has_word(words, 0, end, "bool"))
		snprintf(out, n, "true");
	else if (HAS_ANY(words, 0, end, "int", "unsigned", "size_t", "long", "uint32_t", "int32_t",
	                 "short", "auto", "uint", "int64_t", "uint64_t", "char"))
		snprintf(out, n, "%u", likely_number(k, called));
	else
		return false;
	return true;
}

bool user_template_guess(const struct user_kernel *k, char *out, size_t n)
{
	size_t at = (size_t)snprintf(out, n, "<");
	int depth = 0;
	const char *start = k->templates;
	for (const char *s = k->templates;; s++) {
		depth += *s == '<' || *s == '(' ? 1 : *s == '>' || *s == ')' ? -1 : 0;
		if (*s && (*s != ',' || depth))
			continue;
		char one[64];
		if (memchr(start, '=', (size_t)(s - start)))
			break; /* it and all behind it have defaults */
		if (!guess_one(k, start, (size_t)(s - start), one, sizeof one) || at + 66 > n)
			return false;
		at += (size_t)snprintf(out + at, n - at, "%s%s", at > 1 ? "," : "", one);
		if (!*s)
			break;
		start = s + 1;
	}
	snprintf(out + at, n - at, ">");
	return true;
}
