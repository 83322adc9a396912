/*
 * Text for terminals and files that people open: whatever a file, a compiler or a program put into
 * it, no byte of it moves the cursor, changes a title or turns the writing round.
 */
#ifndef PMPP_BASE_PLAIN_H
#define PMPP_BASE_PLAIN_H

#include <stddef.h>
#include <stdio.h>

/* '?' for every control character but newline and tab, for what turns the direction of text, and
 * for what is no UTF-8; in place. Returns the new length; @s stays NUL-terminated if it was. */
size_t plain_bytes(char *s, size_t n);
char *plain_text(char *s); /* the same of a string; returns it */
/* A stream whose text is made plain on its way to @fd, which stays open. @mode: _IOFBF, _IOLBF. */
FILE *plain_stream(int fd, int mode);

#endif
