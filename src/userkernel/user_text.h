/*
 * Looking through CUDA text: what is code, whole words, matching brackets. Private to
 * src/userkernel/.
 */
#ifndef PMPP_USERKERNEL_USER_TEXT_H
#define PMPP_USERKERNEL_USER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A copy with comments, literals and preprocessor lines blank; every byte keeps its place. */
char *code_only(const char *text);
/* Blanks s[from..to) but for line ends. */
void blank_text(char *s, size_t from, size_t to);

bool is_word_char(char c);
/* Where the whole word @w stands in s[from..to), or @to. */
size_t find_word(const char *s, size_t from, size_t to, const char *w);
bool has_word(const char *s, size_t from, size_t to, const char *w);
bool has_any_word(const char *s, size_t from, size_t to, const char *const *words, size_t n);
#define HAS_ANY(s, from, to, ...)                                   \
	has_any_word(s, from, to, (const char *const[]){ __VA_ARGS__ }, \
	             sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))
/* Does the whole word @w stand at @i? */
bool begins_with(const char *s, size_t i, const char *w);
size_t skip_space(const char *s, size_t i);
/* Behind the preprocessor line that @i lies in, with its continuations. */
size_t skip_directive(const char *s, size_t i);
/* Behind the bracket that closes the one at @i; the end of the text if none does. */
size_t closing_bracket(const char *s, size_t i);

#endif
