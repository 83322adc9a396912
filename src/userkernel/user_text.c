/* Comments, words and brackets of CUDA text; see user_text.h. */
#include "userkernel/user_text.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>

/* --- blanking --- */

void blank_text(char *s, size_t from, size_t to)
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

size_t skip_directive(const char *s, size_t i)
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

char *code_only(const char *text)
{
	char *s = mem_strdup(text);
	bool line_start = true;
	for (size_t i = 0; text[i];) {
		const size_t dead = skip_dead(text, i);
		if (dead > i) {
			const bool literal = text[i] == '"';
			blank_text(s, i, dead);
			if (literal) /* extern "C" stays recognisable */
				s[i] = s[dead - 1] = '"';
			i = dead;
		} else if (line_start && text[i] == '#') {
			const size_t end = skip_directive(text, i);
			blank_text(s, i, end);
			i = end;
		} else {
			line_start = text[i] == '\n' || (line_start && isspace((unsigned char)text[i]));
			i++;
		}
	}
	return s;
}

/* --- words --- */

bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

size_t find_word(const char *s, size_t from, size_t to, const char *w)
{
	const size_t n = strlen(w);
	for (size_t i = from; i + n <= to; i++)
		if (!strncmp(s + i, w, n) && (i == 0 || !is_word_char(s[i - 1])) && !is_word_char(s[i + n]))
			return i;
	return to;
}

bool has_word(const char *s, size_t from, size_t to, const char *w)
{
	return find_word(s, from, to, w) < to;
}

bool has_any_word(const char *s, size_t from, size_t to, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (has_word(s, from, to, words[i]))
			return true;
	return false;
}
size_t skip_space(const char *s, size_t i)
{
	while (isspace((unsigned char)s[i]))
		i++;
	return i;
}

bool begins_with(const char *s, size_t i, const char *w)
{
	return find_word(s, i, i + strlen(w), w) == i;
}

size_t closing_bracket(const char *s, size_t i)
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
