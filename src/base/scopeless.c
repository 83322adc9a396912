/* Names of C++ that are too long for their place; see scopeless.h. */
#include "base/scopeless.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* How deep templates' arguments lie in each other; 0 = none, or '<' and '>' mean other things. */
static unsigned deepest(const char *s)
{
	unsigned depth = 0, most = 0;
	if (strstr(s, "operator<") || strstr(s, "operator>") || strstr(s, "->"))
		return 0;
	for (; *s; s++) {
		if (*s == '<' && ++depth > most)
			most = depth;
		if (*s == '>' && !depth--)
			return 0;
	}
	return depth ? 0 : most;
}

/* What stands between '<' and '>' at @level becomes "..". */
static void empty_level(char *s, unsigned level)
{
	unsigned depth = 0;
	char *to = s;
	for (; *s; s++) {
		if (*s == '<' && ++depth == level && s[1] && s[2] && s[1] != '>' && s[2] != '>') {
			while (depth >= level) { /* to the '>' of this one */
				s++;
				depth += *s == '<' ? 1u : *s == '>' ? -1u : 0u;
			}
			memcpy(to, "<..>", 4); /* behind what was read: it is no longer */
			to += 4;
			continue;
		}
		if (*s == '>')
			depth--;
		*to++ = *s;
	}
	*to = '\0';
}

/* @from without scopes into @out, which is as large. */
static void drop_scopes(const char *from, char *out)
{
	size_t at = 0, word = 0; /* where the last word in @out begins */
	for (const char *s = from; *s; s++) {
		if (s[0] == ':' && s[1] == ':' && at > word) {
			at = word; /* a scope; that of a template's instance or of a function stays */
			s++;
			continue;
		}
		out[at++] = *s;
		if (!is_word(*s))
			word = at;
	}
	out[at] = '\0';
}

const char *scopeless(const char *name, int columns, char *out, size_t n)
{
	if (text_columns(name) <= columns)
		return name;
	char *short_name = mem_strdup(name);
	drop_scopes(name, short_name);
	for (unsigned level = deepest(short_name); level > 1; level--)
		if (text_columns(short_name) > columns)
			empty_level(short_name, level);
	snprintf(out, n, "%s", short_name);
	free(short_name);
	return out;
}
