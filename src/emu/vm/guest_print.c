/*
 * Formats of printf in device code. Arguments lie in a buffer as the caller promoted them: 4 bytes
 * for int and smaller, 8 for long, long long, pointers and double, each at a multiple of its size.
 * Every conversion of C is there but %n; an unknown one is printed as it stands.
 */
#include "emu/vm/guest_print.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_WIDTH 4096

struct printer {
	const struct warp *w;
	unsigned lane;
	const uint8_t *arg; /* the buffer */
	uint64_t at, n, address, count, bad;
	struct printed_text *out;
};

static void put_text(struct printer *p, const char *s, size_t n)
{
	struct printed_text *t = p->out;
	if (t->n + n > PRINTED_LIMIT) {
		t->lost += n;
		return;
	}
	if (t->n + n > t->cap) {
		t->cap = 2 * t->cap > t->n + n ? 2 * t->cap : t->n + n + 256;
		t->text = mem_realloc(t->text, t->cap, 1);
	}
	if (n)
		memcpy(t->text + t->n, s, n);
	t->n += n;
}

static bool take_argument(struct printer *p, unsigned bytes, uint64_t *value)
{
	p->at = (p->at + bytes - 1) / bytes * bytes;
	*value = 0;
	p->bad = p->address + p->at;
	if (!p->arg || p->at + bytes > p->n)
		return false;
	memcpy(value, p->arg + p->at, bytes);
	p->at += bytes;
	p->count++;
	return true;
}

/* One conversion specification: "%-*.3lld". */
struct conversion {
	char flags[8];
	int width, precision; /* -1 = not given */
	unsigned longs;       /* l, ll, j, z, t: 8 bytes */
	unsigned shorts;      /* h, hh */
	char kind;
};

static bool read_number(struct printer *p, const char **s, const char *end, int *value)
{
	uint64_t v = 0;
	if (*s < end && **s == '*') {
		++*s;
		if (!take_argument(p, 4, &v))
			return false;
		*value = (int32_t)(uint32_t)v;
	} else if (*s < end && **s >= '0' && **s <= '9') {
		int n = 0;
		for (; *s < end && **s >= '0' && **s <= '9'; ++*s)
			n = n < MAX_WIDTH ? 10 * n + (**s - '0') : n;
		*value = n;
	}
	*value = *value > MAX_WIDTH ? MAX_WIDTH : *value < -MAX_WIDTH ? -MAX_WIDTH : *value;
	return true;
}

/* Behind the '%'; false: an argument is missing. c->kind 0 = the format ends. */
static bool read_conversion(struct printer *p, const char **s, const char *end,
                            struct conversion *c)
{
	*c = (struct conversion){ .width = -1, .precision = -1 };
	for (size_t n = 0; *s < end && **s && strchr("-+ #0", **s); ++*s)
		if (n < 5 && !strchr(c->flags, **s))
			c->flags[n++] = **s;
	if (!read_number(p, s, end, &c->width))
		return false;
	if (c->width < -1) { /* a negative width from an argument: to the left */
		c->width = -c->width;
		c->flags[strlen(c->flags)] = '-';
	}
	if (*s < end && **s == '.') {
		++*s;
		c->precision = 0;
		if (!read_number(p, s, end, &c->precision))
			return false;
	}
	for (; *s < end && **s && strchr("hlLjzt", **s); ++*s) {
		c->longs += **s != 'h';
		c->shorts += **s == 'h';
	}
	if (*s < end)
		c->kind = *(*s)++;
	return true;
}

/* "%-8.3" + @length + kind, for the host's printf. */
static void host_format(const struct conversion *c, const char *length, char *out, size_t n)
{
	int k = snprintf(out, n, "%%%s", c->flags);
	if (c->width >= 0)
		k += snprintf(out + k, n - (size_t)k, "%d", c->width);
	if (c->precision >= 0)
		k += snprintf(out + k, n - (size_t)k, ".%d", c->precision);
	snprintf(out + k, n - (size_t)k, "%s%c", length, c->kind);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static bool print_number(struct printer *p, const struct conversion *c)
{
	char format[40], text[2 * MAX_WIDTH + 512];
	uint64_t v;
	int n;
	const bool floating = strchr("fFeEgGaA", c->kind) != NULL;
	if (!take_argument(p, floating || c->longs || c->kind == 'p' ? 8 : 4, &v))
		return false;
	if (floating) {
		double d;
		memcpy(&d, &v, sizeof d);
		host_format(c, "", format, sizeof format);
		n = snprintf(text, sizeof text, format, d);
	} else if (c->kind == 'p') {
		host_format(c, "", format, sizeof format);
		n = snprintf(text, sizeof text, format, (void *)(uintptr_t)v);
	} else if (c->kind == 'c') {
		host_format(c, "", format, sizeof format);
		n = snprintf(text, sizeof text, format, (int)(unsigned char)v);
	} else if (c->kind == 'd' || c->kind == 'i') {
		const int64_t s = c->longs        ? (int64_t)v
		                  : c->shorts > 1 ? (int8_t)(uint8_t)v
		                  : c->shorts     ? (int16_t)(uint16_t)v
		                                  : (int32_t)(uint32_t)v;
		host_format(c, "ll", format, sizeof format);
		n = snprintf(text, sizeof text, format, (long long)s);
	} else {
		v = c->shorts > 1 ? (uint8_t)v : c->shorts ? (uint16_t)v : v;
		host_format(c, "ll", format, sizeof format);
		n = snprintf(text, sizeof text, format, (unsigned long long)v);
	}
	put_text(p, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
	return true;
}
#pragma GCC diagnostic pop

static bool print_string(struct printer *p, const struct conversion *c)
{
	uint64_t v;
	struct guest_string s = { "(null)", 6 };
	if (!take_argument(p, 8, &v))
		return false;
	p->bad = v;
	if (v && !vm_guest_string(p->w, p->lane, v, &s))
		return false;
	const size_t n = c->precision >= 0 && (size_t)c->precision < s.n ? (size_t)c->precision : s.n;
	const size_t width = c->width > 0 ? (size_t)c->width : 0;
	const bool left = strchr(c->flags, '-') != NULL;
	for (size_t k = n; !left && k < width; k++)
		put_text(p, " ", 1);
	put_text(p, s.text, n);
	for (size_t k = n; left && k < width; k++)
		put_text(p, " ", 1);
	return true;
}

static bool print_conversion(struct printer *p, const char **s, const char *end)
{
	const char *begin = *s - 1;
	struct conversion c;
	if (!read_conversion(p, s, end, &c))
		return false;
	if (c.kind == '%')
		put_text(p, "%", 1);
	else if (c.kind == 's')
		return print_string(p, &c);
	else if (c.kind && strchr("diouxXcpfFeEgGaA", c.kind))
		return print_number(p, &c);
	else
		put_text(p, begin, (size_t)(*s - begin));
	return true;
}

bool guest_print(const struct warp *w, unsigned lane, const struct guest_string *format,
                 uint64_t arguments, struct printed_text *out, uint64_t *result, uint64_t *bad)
{
	struct printer p = { .w = w, .lane = lane, .address = arguments, .out = out };
	p.arg = arguments ? vm_guest_bytes(w, lane, arguments, &p.n) : NULL;
	const size_t first = out->n;
	bool ok = true;
	for (const char *s = format->text, *end = s + format->n; s < end && ok;) {
		const char *plain = s;
		while (s < end && *s != '%')
			s++;
		put_text(&p, plain, (size_t)(s - plain));
		if (s++ < end)
			ok = print_conversion(&p, &s, end);
	}
	if (out->n_pieces == 0 || out->piece[out->n_pieces - 1].block != w->worker->block) {
		out->piece = mem_realloc(out->piece, out->n_pieces + 1, sizeof *out->piece);
		out->piece[out->n_pieces++] = (struct printed_piece){ w->worker->block, first, first };
	}
	out->piece[out->n_pieces - 1].end = out->n;
	*result = p.count;
	*bad = p.bad;
	return ok;
}
