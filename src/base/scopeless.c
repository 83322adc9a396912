/* Names of C++ that are too long for their place; see scopeless.h. */
#include "base/scopeless.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

const char *scopeless(const char *name, int columns, char *out, size_t n)
{
	size_t at = 0, word = 0; /* where the last word in @out begins */
	if (text_columns(name) <= columns)
		return name;
	for (const char *s = name; *s && at + 1 < n; s++) {
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
	return out;
}
