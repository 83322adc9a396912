/*
 * A place in a text file, for messages: "file:line:column: message", the line and a caret.
 *
 * Works on any bytes: what is shown is always printable UTF-8, whatever the file holds. Knows no
 * file format.
 */
#ifndef PMPP_MODEL_TEXT_PLACE_H
#define PMPP_MODEL_TEXT_PLACE_H

#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct source_text {
	const char *bytes; /* need not end in NUL */
	size_t len;
	const char *origin; /* names it in messages: its path */
};

/* ERR_PARSE at byte @at (the end if beyond). Returns false. Columns count characters from 1. */
bool place_error(const struct source_text *t, size_t at, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool place_error_v(const struct source_text *t, size_t at, struct err *err, const char *fmt,
                   va_list ap) __attribute__((format(printf, 4, 0)));
/* Valid UTF-8 (RFC 3629) without zero bytes, else an error at the first that is not. */
bool place_check_utf8(const struct source_text *t, struct err *err);
/* Byte offset of character number @n (from 0; a byte-order mark counts as one). */
size_t place_of_character(const struct source_text *t, size_t n);

#endif
