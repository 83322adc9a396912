#define _GNU_SOURCE /* fopencookie */
/* Plain text; see plain.h. */
#include "base/plain.h"

#include "base/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* C1 controls, marks and overrides of direction, line and paragraph separators, marks of order. */
static bool is_control(uint32_t ch)
{
	return (ch < 0x20 && ch != '\n' && ch != '\t') || (ch >= 0x7f && ch <= 0x9f) || ch == 0x61c ||
	       (ch >= 0x200e && ch <= 0x200f) || (ch >= 0x2028 && ch <= 0x202e) ||
	       (ch >= 0x2066 && ch <= 0x2069) || ch == 0xfeff;
}

/* Bytes of the character at @p, of @n that are there: 0 = it is cut off, 1 may also be no UTF-8. */
static size_t character(const unsigned char *p, size_t n, uint32_t *ch)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const size_t length = *p < 0x80   ? 1
	                      : *p < 0xc2 ? 0
	                      : *p < 0xe0 ? 2
	                      : *p < 0xf0 ? 3
	                      : *p < 0xf5 ? 4
	                                  : 0;
	*ch = *p;
	if (length == 1)
		return 1;
	*ch = length ? *p & (0x7fu >> length) : 0;
	for (size_t i = 1; i < length; i++) {
		if (i == n)
			return 0;
		if ((p[i] & 0xc0) != 0x80) {
			*ch = 0;
			return 1;
		}
		*ch = *ch << 6 | (p[i] & 0x3fu);
	}
	if (length && *ch >= least[length] && *ch <= 0x10ffff && (*ch < 0xd800 || *ch > 0xdfff))
		return length;
	*ch = 0;
	return 1;
}

/* The same, but the end of @s, a character that is cut off, stays: its bytes in @tail. */
static size_t plain(char *s, size_t n, size_t *tail)
{
	size_t to = 0;
	*tail = 0;
	for (size_t i = 0; i < n;) {
		uint32_t ch;
		const size_t k = character((const unsigned char *)s + i, n - i, &ch);
		if (!k) {
			*tail = n - i;
			memmove(s + to, s + i, n - i);
			return to;
		}
		if (is_control(ch))
			s[to++] = '?';
		for (size_t b = 0; b < k && !is_control(ch); b++)
			s[to++] = s[i + b];
		i += k;
	}
	return to;
}

size_t plain_bytes(char *s, size_t n)
{
	size_t tail;
	size_t to = plain(s, n, &tail);
	for (; tail; tail--)
		s[to++] = '?';
	return to;
}

char *plain_text(char *s)
{
	s[plain_bytes(s, strlen(s))] = '\0';
	return s;
}

/* --- a stream --- */

#define PIECE 4096

struct sink {
	int fd;
	size_t n; /* of a character whose end is still to come */
	char held[4];
};

static bool put(int fd, const char *s, size_t n)
{
	while (n) {
		const ssize_t done = write(fd, s, n);
		if (done < 0 && errno != EINTR)
			return false;
		s += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return true;
}

static ssize_t sink_write(void *cookie, const char *bytes, size_t n)
{
	struct sink *k = cookie;
	char piece[PIECE + sizeof k->held];
	for (size_t at = 0; at < n;) {
		const size_t more = n - at < PIECE ? n - at : PIECE;
		memcpy(piece, k->held, k->n);
		memcpy(piece + k->n, bytes + at, more);
		size_t tail;
		const size_t length = plain(piece, k->n + more, &tail);
		memcpy(k->held, piece + length, tail);
		k->n = tail;
		at += more;
		if (!put(k->fd, piece, length))
			return 0;
	}
	return (ssize_t)n;
}

static int sink_close(void *cookie)
{
	struct sink *k = cookie;
	const bool ok = put(k->fd, "???", k->n);
	free(k);
	return ok ? 0 : -1;
}

FILE *plain_stream(int fd, int mode)
{
	struct sink *k = mem_zalloc(sizeof *k);
	k->fd = fd;
	FILE *f =
		fopencookie(k, "w", (cookie_io_functions_t){ .write = sink_write, .close = sink_close });
	if (!f)
		free(k);
	else
		setvbuf(f, NULL, mode, BUFSIZ);
	return f;
}
