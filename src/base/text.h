/*
 * Strings and units: numbers as people read them, and a growing text buffer.
 * Independent of the locale; knows nothing of terminals.
 */
#ifndef PMPP_BASE_TEXT_H
#define PMPP_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof *(a))

/* A growing, always NUL-terminated string. Start with `{0}`; end with text_free(). */
struct text {
	char *s;
	size_t len, cap;
};
void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_add_v(struct text *t, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void text_put(struct text *t, const char *bytes, size_t n);
void text_free(struct text *t);

/* "1 048 576": digits in groups of three, thin enough to read. Returns @out. */
char *fmt_count(char *out, size_t n, double value);
/* "1.05 M", "389", "6.22 k": three significant digits and an SI suffix (k M G T P). */
char *fmt_si(char *out, size_t n, double value);
/* "512 B", "8.00 KiB", "164 KiB": binary units. */
char *fmt_bytes(char *out, size_t n, double bytes);
/* "24 GB", "141 GB": decimal, as memory is sold. */
char *fmt_gb(char *out, size_t n, double bytes);
/* "850 ns", "3.55 us", "12.3 ms", "1.20 s". */
char *fmt_ns(char *out, size_t n, double ns);
/* Shortest text that reads back as the same number of @digits significant digits, no exponent
 * for 1e-4 <= |v| < 1e15: "0.25", "66.67", "389". */
char *fmt_num(char *out, size_t n, double value, int digits);

/* Whole string @s as a decimal integer with optional sign and k/M/G (2^10, 2^20, 2^30) suffix. */
bool parse_int(const char *s, int64_t *value);
/* ASCII case-insensitive equality, locale-free. */
bool str_ieq(const char *a, const char *b);
/* Levenshtein distance, for "did you mean"; @a and @b at most 63 characters are compared. */
unsigned str_distance(const char *a, const char *b);
/* The entry of @names (n of them) nearest to @s, or NULL if none is near enough to suggest. */
const char *str_nearest(const char *s, const char *const *names, size_t n);

/* 64-bit hash (FNV-1a) of bytes, chained through @seed; and a splitmix64 random stream. */
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t n);
#define HASH_SEED 0xcbf29ce484222325u
uint64_t rand_next(uint64_t *state);
/* The state after so many numbers. */
uint64_t rand_skip(uint64_t state, uint64_t numbers);

#endif
