/*
 * UTF-8 and the columns of a terminal that its characters take, by a table of our own: the locale
 * may be missing, and a text must be laid out the same on every machine.
 */
#ifndef PMPP_BASE_UTF8_H
#define PMPP_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT 0xfffdu

/* Next character of @s, which it advances; 0 at the end. A byte that is no UTF-8 is one
 * UTF8_REPLACEMENT; so is a character that has no column of its own (a control, a combining mark),
 * so that nothing is there and not seen. */
uint32_t utf8_next(const char **s);
/* Writes @ch as 1 to 4 bytes, without a NUL; returns how many. */
size_t utf8_put(char out[4], uint32_t ch);
/* 2 for East Asian wide and fullwidth characters and emoji, else 1. */
int char_columns(uint32_t ch);
/* Columns of a text as it stands, not of its translation. */
int text_columns(const char *utf8);
/* Between wide characters a line may break, but none begins with closing punctuation such as
 * "，。）" and none ends with an opening bracket: may it break between @before and @after? Blanks
 * are the caller's. */
bool utf8_breaks(uint32_t before, uint32_t after);
/* The bytes of @s that fit on a line of @cols columns, broken at a blank, a newline or where
 * utf8_breaks(); at least one character. Returns where the next line begins. */
const char *utf8_line(const char *s, int cols, size_t *len);

#endif
