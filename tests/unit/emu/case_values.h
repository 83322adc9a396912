/*
 * Values of PTX case files (tests/ptx/README.md): types, numbers as written, sequences of them,
 * and comparison to the bit, to a tolerance, or "any NaN". Knows no buffers and no back end.
 */
#ifndef PMPP_TEST_CASE_VALUES_H
#define PMPP_TEST_CASE_VALUES_H

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* X(ID, "name", bytes, kind): kind i signed, u unsigned, f floating, p predicate (0 or 1) */
#define CASE_TYPES(X)       \
	X(U8, "u8", 1, 'u')     \
	X(S8, "s8", 1, 'i')     \
	X(B8, "b8", 1, 'u')     \
	X(U16, "u16", 2, 'u')   \
	X(S16, "s16", 2, 'i')   \
	X(B16, "b16", 2, 'u')   \
	X(F16, "f16", 2, 'f')   \
	X(BF16, "bf16", 2, 'f') \
	X(U32, "u32", 4, 'u')   \
	X(S32, "s32", 4, 'i')   \
	X(B32, "b32", 4, 'u')   \
	X(F32, "f32", 4, 'f')   \
	X(U64, "u64", 8, 'u')   \
	X(S64, "s64", 8, 'i')   \
	X(B64, "b64", 8, 'u')   \
	X(F64, "f64", 8, 'f')   \
	X(PRED, "pred", 4, 'p')
enum case_type {
#define X(id, name, bytes, kind) CT_##id,
	CASE_TYPES(X)
#undef X
		CT_COUNT
};
struct case_type_info {
	const char *name;
	unsigned bytes;
	char kind;
};
static const struct case_type_info case_types[CT_COUNT] = {
#define X(id, name, bytes, kind) { name, bytes, kind },
	CASE_TYPES(X)
#undef X
};

static inline enum case_type case_type_find(const char *name, size_t len)
{
	for (unsigned t = 0; t < CT_COUNT; t++)
		if (strlen(case_types[t].name) == len && !memcmp(case_types[t].name, name, len))
			return (enum case_type)t;
	return CT_COUNT;
}

static inline double case_half_value(enum case_type t, uint16_t h)
{
	const double sign = h & 0x8000 ? -1.0 : 1.0;
	const int mant = t == CT_F16 ? 10 : 7, bias = t == CT_F16 ? 15 : 127;
	const int e = (h & 0x7fff) >> mant, m = h & ((1 << mant) - 1);
	if (e == 2 * bias + 1)
		return m ? (double)NAN : sign * (double)INFINITY;
	if (e == 0)
		return sign * ldexp(m, 1 - bias - mant);
	return sign * ldexp(m + (1 << mant), e - bias - mant);
}

/* The bits of @t as a number; for messages and tolerances. */
static inline double case_number(enum case_type t, uint64_t bits)
{
	const uint32_t b32 = (uint32_t)bits;
	float f;
	double d;
	switch (t) {
	case CT_F16:
	case CT_BF16: return case_half_value(t, (uint16_t)bits);
	case CT_F32: memcpy(&f, &b32, 4); return (double)f;
	case CT_F64: memcpy(&d, &bits, 8); return d;
	case CT_S8: return (int8_t)bits;
	case CT_S16: return (int16_t)bits;
	case CT_S32: return (int32_t)b32;
	case CT_S64: return (double)(int64_t)bits;
	default: return (double)bits;
	}
}

static inline void case_show(enum case_type t, uint64_t bits, char *out, size_t n)
{
	const struct case_type_info *i = &case_types[t];
	if (i->kind == 'f')
		snprintf(out, n, "%.9g (0x%0*" PRIx64 ")", case_number(t, bits), (int)i->bytes * 2, bits);
	else if (i->kind == 'i')
		snprintf(out, n, "%" PRId64 " (0x%" PRIx64 ")",
		         t == CT_S64 ? (int64_t)bits : (int64_t)case_number(t, bits), bits);
	else
		snprintf(out, n, "%" PRIu64 " (0x%" PRIx64 ")", bits, bits);
}

struct case_value {
	uint64_t bits;
	bool any;     /* "_": whatever it is */
	bool any_nan; /* "nan" as an expectation */
};

static inline uint64_t case_nan_bits(enum case_type t)
{
	return t == CT_F64   ? 0x7ff8000000000000u
	       : t == CT_F32 ? 0x7fc00000u
	       : t == CT_F16 ? 0x7e00
	                     : 0x7fc0;
}

/* A float in decimal or C hex; what a 16-bit float cannot hold exactly is refused. */
static inline bool case_parse_float(enum case_type t, const char *word, uint64_t *bits)
{
	char *end;
	const double d = strtod(word, &end);
	if (*end || end == word)
		return false;
	*bits = 0;
	if (t == CT_F64) {
		memcpy(bits, &d, 8);
		return true;
	}
	if (t == CT_F32) {
		const float f = strtof(word, &end);
		uint32_t u;
		memcpy(&u, &f, 4);
		*bits = u;
		return true;
	}
	for (unsigned h = 0; h < 0x10000; h++) {
		const double x = case_half_value(t, (uint16_t)h);
		if (x == d && signbit(x) == signbit(d)) {
			*bits = h;
			return true;
		}
	}
	return false;
}

static inline bool case_parse_integer(enum case_type t, const char *word, uint64_t *value)
{
	const bool predicate = case_types[t].kind == 'p';
	const unsigned bits = 8 * case_types[t].bytes;
	const uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
	char *end;
	errno = 0;
	if (word[0] == '-') {
		const long long s = strtoll(word, &end, 0);
		const long long low = bits == 64 ? INT64_MIN : -(1LL << (bits - 1));
		*value = (uint64_t)s & mask;
		return !*end && end != word && !errno && s >= low && !predicate;
	}
	*value = strtoull(word, &end, 0);
	return !*end && end != word && !errno && *value <= (predicate ? 1 : mask);
}

/* One number as written: integers in any base, floats, or a float's bits 0x... */
static inline bool case_parse_value(enum case_type t, const char *word, struct case_value *v)
{
	const bool hex_bits = !strncmp(word, "0x", 2) && !strpbrk(word, "pP.");
	*v = (struct case_value){ 0 };
	if (!strcmp(word, "_")) {
		v->any = true;
		return true;
	}
	if (case_types[t].kind != 'f' || hex_bits)
		return case_parse_integer(t, word, &v->bits);
	if (!strcmp(word, "nan")) {
		v->any_nan = true;
		v->bits = case_nan_bits(t);
		return true;
	}
	return case_parse_float(t, word, &v->bits);
}

/* A growing list of values. */
struct case_seq {
	struct case_value *v;
	size_t n, cap;
	bool repeat; /* ended by "...": goes on from the start */
};

static inline void case_seq_add(struct case_seq *s, struct case_value v)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 64;
		s->v = mem_realloc(s->v, s->cap, sizeof *s->v);
	}
	s->v[s->n++] = v;
}

static inline bool case_range(enum case_type t, const char *word, struct case_seq *out)
{
	long long a = 0, b = 0, step = 1;
	int used = 0;
	if (sscanf(word, "%lld..%lld%n", &a, &b, &used) != 2)
		return false;
	if (word[used] == '/') {
		int more = 0;
		if (sscanf(word + used, "/%lld%n", &step, &more) != 1)
			return false;
		used += more;
	}
	if (word[used] || step == 0 || (b - a) / step < 0 || (b - a) / step > 1 << 20)
		return false;
	for (long long x = a; step > 0 ? x <= b : x >= b; x += step) {
		char number[32];
		struct case_value v;
		snprintf(number, sizeof number, "%lld", x);
		if (!case_parse_value(t, number, &v))
			return false;
		case_seq_add(out, v);
	}
	return true;
}

/*
 * "1 2*3 0..31 0..124/4 (7 8)*16 ...": values, repetitions, ranges with a step, groups, and at the
 * end "..." for "again from the start". Returns the number of characters read, or 0 with *@bad
 * at the word that is wrong.
 */
static inline size_t case_parse_seq(enum case_type t, const char *s, struct case_seq *out,
                                    const char **bad, bool group)
{
	const char *p = s;
	for (;;) {
		p += strspn(p, " \t");
		*bad = p;
		if (!*p || *p == ')')
			break;
		const size_t before = out->n;
		if (*p == '(') {
			const size_t inner = case_parse_seq(t, p + 1, out, bad, true);
			if (!inner || p[1 + inner] != ')')
				return 0;
			p += inner + 2;
		} else {
			char word[64];
			const size_t len = strcspn(p, " \t*()");
			if (len >= sizeof word || len == 0)
				return 0;
			memcpy(word, p, len);
			word[len] = '\0';
			p += len;
			if (!strcmp(word, "...")) {
				out->repeat = true;
				continue;
			}
			struct case_value v;
			if (strstr(word, "..")) {
				if (!case_range(t, word, out))
					return 0;
			} else if (case_parse_value(t, word, &v)) {
				case_seq_add(out, v);
			} else {
				return 0;
			}
		}
		if (*p == '*') {
			char *end;
			const unsigned long times = strtoul(p + 1, &end, 10);
			const size_t len = out->n - before;
			if (end == p + 1 || times == 0 || times > 1 << 20)
				return 0;
			p = end;
			for (unsigned long k = 1; k < times; k++)
				for (size_t i = 0; i < len; i++)
					case_seq_add(out, out->v[before + i]);
		}
	}
	if ((*p == ')') != group)
		return 0;
	return (size_t)(p - s);
}

struct case_tolerance {
	bool given;
	double rel, abs;
};

static inline bool case_same(enum case_type t, const struct case_value *want, uint64_t got,
                             const struct case_tolerance *tol)
{
	if (want->any || (!want->any_nan && want->bits == got))
		return true;
	if (case_types[t].kind != 'f')
		return false;
	const double g = case_number(t, got);
	if (want->any_nan)
		return isnan(g);
	const double w = case_number(t, want->bits);
	if (!tol->given || !isfinite(w) || !isfinite(g))
		return false;
	return fabs(g - w) <= fmax(tol->rel * fabs(w), tol->abs);
}

#endif
