/* Strings, units, hashes; see text.h. */
#include "base/text.h"
#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_put(struct text *t, const char *bytes, size_t n)
{
	if (t->len + n + 1 > t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 256;
		while (cap < t->len + n + 1)
			cap *= 2;
		t->s = mem_realloc(t->s, cap, 1);
		t->cap = cap;
	}
	memcpy(t->s + t->len, bytes, n);
	t->len += n;
	t->s[t->len] = '\0';
}

void text_add_v(struct text *t, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	char small[256];
	int n = vsnprintf(small, sizeof small, fmt, ap);
	if (n >= 0 && (size_t)n < sizeof small) {
		text_put(t, small, (size_t)n);
	} else if (n >= 0) {
		char *big = mem_alloc((size_t)n + 1);
		vsnprintf(big, (size_t)n + 1, fmt, again);
		text_put(t, big, (size_t)n);
		free(big);
	}
	va_end(again);
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	text_add_v(t, fmt, ap);
	va_end(ap);
}

void text_free(struct text *t)
{
	free(t->s);
	*t = (struct text){ 0 };
}

char *fmt_count(char *out, size_t n, double value)
{
	char digits[64];
	if (!(fabs(value) < 1e18)) {
		snprintf(out, n, "%.3g", value);
		return out;
	}
	int len = snprintf(digits, sizeof digits, "%.0f", fabs(value));
	struct {
		char s[96];
		size_t at;
	} b = { .at = 0 };
	if (value < 0 && strcmp(digits, "0") != 0)
		b.s[b.at++] = '-';
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			b.s[b.at++] = ' ';
		b.s[b.at++] = digits[i];
	}
	b.s[b.at] = '\0';
	snprintf(out, n, "%s", b.s);
	return out;
}

/* Three significant digits for 0.001 <= |v| < 9999, as a person would write them. */
static int three_digits(char *out, size_t n, double v)
{
	double a = fabs(v);
	int decimals = a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2;
	return snprintf(out, n, "%.*f", decimals, v);
}

static char *scaled(char *out, size_t n, double v, double base, const char *const *units,
                    size_t n_units, const char *gap)
{
	size_t u = 0;
	while (fabs(v) >= base * 0.9995 && u + 1 < n_units) {
		v /= base;
		u++;
	}
	char num[64];
	if ((u == 0 && v == floor(v)) || (fabs(v - round(v)) < 1e-9 && base > 1000))
		snprintf(num, sizeof num, "%.0f", v);
	else
		three_digits(num, sizeof num, v);
	snprintf(out, n, "%s%s%s", num, *units[u] ? gap : "", units[u]);
	return out;
}

char *fmt_si(char *out, size_t n, double value)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P", "E" };
	return scaled(out, n, value, 1000, units, ARRAY_LEN(units), " ");
}

char *fmt_bytes(char *out, size_t n, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	return scaled(out, n, bytes, 1024, units, ARRAY_LEN(units), " ");
}

char *fmt_gb(char *out, size_t n, double bytes)
{
	char num[64];
	snprintf(out, n, "%s GB", fmt_num(num, sizeof num, bytes / 1e9, 3));
	return out;
}

char *fmt_ns(char *out, size_t n, double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	return scaled(out, n, ns, 1000, units, ARRAY_LEN(units), " ");
}

char *fmt_num(char *out, size_t n, double value, int digits)
{
	double a = fabs(value);
	if (value != 0 && isfinite(value) && (a < 1e-4 || a >= 1e15)) {
		snprintf(out, n, "%.*g", digits, value);
		return out;
	}
	int before = a > 0 && isfinite(a) ? (int)floor(log10(a)) + 1 : 1; /* 0.012: -1 */
	int decimals = digits - before;
	if (decimals < 0)
		decimals = 0;
	char s[64];
	snprintf(s, sizeof s, "%.*f", decimals, value);
	if (strchr(s, '.')) {
		size_t end = strlen(s);
		while (s[end - 1] == '0')
			end--;
		if (s[end - 1] == '.')
			end--;
		s[end] = '\0';
	}
	snprintf(out, n, "%s", s);
	return out;
}

bool parse_int(const char *s, int64_t *value)
{
	const char *p = s;
	bool negative = *p == '-';
	if (*p == '-' || *p == '+')
		p++;
	if (*p < '0' || *p > '9')
		return false;
	int64_t v = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (v > (INT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (*p - '0');
	}
	int shift = 0;
	if (*p == 'k' || *p == 'K')
		shift = 10;
	else if (*p == 'm' || *p == 'M')
		shift = 20;
	else if (*p == 'g' || *p == 'G')
		shift = 30;
	if (shift)
		p++;
	if (*p || v > (INT64_MAX >> shift))
		return false;
	v *= (int64_t)1 << shift;
	*value = negative ? -v : v;
	return true;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_ieq(const char *a, const char *b)
{
	while (*a && lower(*a) == lower(*b)) {
		a++;
		b++;
	}
	return lower(*a) == lower(*b);
}

unsigned str_distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t la = strlen(a) < 63 ? strlen(a) : 63;
	size_t lb = strlen(b) < 63 ? strlen(b) : 63;
	for (size_t j = 0; j <= lb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned best = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[lb];
}

const char *str_nearest(const char *s, const char *const *names, size_t n)
{
	const char *best = NULL;
	unsigned best_distance = (unsigned)strlen(s) / 3 + 2;
	for (size_t i = 0; i < n; i++) {
		unsigned d = str_distance(s, names[i]);
		if (d < best_distance) {
			best_distance = d;
			best = names[i];
		}
	}
	return best;
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = seed;
	for (size_t i = 0; i < n; i++) {
		h ^= p[i];
		h *= 0x100000001b3u;
	}
	return h;
}

#define RAND_STEP 0x9e3779b97f4a7c15u

uint64_t rand_skip(uint64_t state, uint64_t numbers)
{
	return state + numbers * RAND_STEP;
}

uint64_t rand_next(uint64_t *state)
{
	uint64_t z = *state += RAND_STEP;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}
