/* Places in texts; see text_place.h. */
#include "model/text_place.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a long line that are shown on either side of the place. */
#define SHOWN_BEFORE 70
#define SHOWN_AFTER 30

static size_t bom(const char *text, size_t len)
{
	return len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

static bool continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Are the eight bytes from @at on a character each, and nothing of another? */
static bool eight_characters(const struct source_text *t, size_t at)
{
	uint64_t bytes;
	if (t->len - at <= sizeof bytes || continuation(t->bytes[at + sizeof bytes]))
		return false;
	memcpy(&bytes, t->bytes + at, sizeof bytes);
	return !(bytes & 0x8080808080808080);
}

size_t place_of_character(const struct source_text *t, size_t n)
{
	size_t at = 0;
	for (; n >= 8 && eight_characters(t, at); n -= 8)
		at += 8;
	while (at < t->len && n--) {
		at++;
		while (at < t->len && continuation(t->bytes[at]))
			at++;
	}
	return at;
}

/* Length of the UTF-8 character that starts with @c; 0 = none does. */
static unsigned utf8_length(unsigned char c)
{
	return c < 0x80                ? 1
	       : c >= 0xc2 && c < 0xe0 ? 2
	       : (c & 0xf0) == 0xe0    ? 3
	       : c >= 0xf0 && c < 0xf5 ? 4
	                               : 0;
}

/* Makes text from a hostile file fit to print: tabs become spaces, control characters and bytes
 * that are not UTF-8 become '?', and a character cut off at the end goes. */
static void clean(char *s)
{
	for (size_t i = 0; s[i];) {
		unsigned char c = (unsigned char)s[i];
		unsigned need = utf8_length(c), have = 1;
		while (have < need && continuation(s[i + have]))
			have++;
		if (need > have && !s[i + have]) {
			s[i] = '\0';
		} else if (need > 1 && have == need) {
			if (c == 0xc2 && (unsigned char)s[i + 1] < 0xa0)
				s[i] = s[i + 1] = '?';
			i += need;
		} else {
			s[i++] = c == '\t' ? ' ' : need != 1 || c < 0x20 || c == 0x7f ? '?' : (char)c;
		}
	}
}

bool place_error_v(const struct source_text *t, size_t at, struct err *err, const char *fmt,
                   va_list ap)
{
	char message[1024];
	vsnprintf(message, sizeof message, fmt, ap);
	clean(message);

	if (at > t->len)
		at = t->len;
	unsigned line = 1;
	size_t start = bom(t->bytes, t->len);
	if (at < start)
		at = start;
	for (size_t i = start; i < at; i++)
		if (t->bytes[i] == '\n') {
			line++;
			start = i + 1;
		}
	unsigned column = 1;
	for (size_t i = start; i < at; i++)
		column += !continuation(t->bytes[i]);

	size_t from = at - start > SHOWN_BEFORE ? at - SHOWN_BEFORE : start;
	for (unsigned k = 0; k < 3 && from > start && continuation(t->bytes[from]); k++)
		from--;
	char shown[SHOWN_BEFORE + SHOWN_AFTER + 8];
	size_t n = 0;
	int caret = 0;
	for (size_t i = from; i < t->len && i < at + SHOWN_AFTER; i++) {
		if (t->bytes[i] == '\n' || t->bytes[i] == '\r')
			break;
		caret += i < at && !continuation(t->bytes[i]);
		shown[n++] = t->bytes[i] ? t->bytes[i] : '?';
	}
	shown[n] = '\0';
	clean(shown);
	return err_set(err, ERR_PARSE, "%s:%u:%u: %s\n    %s\n    %*s^", t->origin, line, column,
	               message, shown, caret, "");
}

bool place_error(const struct source_text *t, size_t at, struct err *err, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	place_error_v(t, at, err, fmt, ap);
	va_end(ap);
	return false;
}

bool place_check_utf8(const struct source_text *t, struct err *err)
{
	const unsigned char *s = (const unsigned char *)t->bytes;
	for (size_t i = 0; i < t->len;) {
		unsigned char c = s[i];
		unsigned n = utf8_length(c);
		bool good = n != 0 && i + n <= t->len;
		for (unsigned k = 1; good && k < n; k++)
			good = (s[i + k] & 0xc0) == 0x80;
		if (good && n == 3)
			good = !(c == 0xe0 && s[i + 1] < 0xa0) && !(c == 0xed && s[i + 1] > 0x9f);
		if (good && n == 4)
			good = !(c == 0xf0 && s[i + 1] < 0x90) && !(c == 0xf4 && s[i + 1] > 0x8f);
		if (!good)
			return place_error(t, i, err, "byte 0x%02x is not UTF-8 text", c);
		if (c == 0)
			return place_error(t, i, err, "a zero byte; this is not a text file");
		i += n;
	}
	return true;
}
