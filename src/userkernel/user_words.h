/*
 * The notation in which a person says how to launch a kernel of their own:
 *
 *   n=1M                        a whole number, or an expression of earlier names
 *   a=2.5                       a float
 *   x=f32[n]:rand               a buffer: type, elements, first contents
 *   C=f32[M,N]                  rows and columns
 *
 * Types: f32 f64 f16 i32 u32 u8; it may be left out where the signature says it. Contents: rand
 * (floats in [-1, 1), whole numbers 0..255), rand(K) (below K), iota (0, 1, 2 ...), zero, a number,
 * or out (undefined: every element must be written). Without: rand for const pointers, zero for
 * others. Expressions: + - * / % ( ), k M G behind numbers; a division rounds up, as grids and
 * sizes want it.
 */
#ifndef PMPP_USERKERNEL_USER_WORDS_H
#define PMPP_USERKERNEL_USER_WORDS_H

#include "base/err.h"
#include "model/kernel.h"

/* Values of names; false = there is none of that name. */
struct user_names {
	bool (*find)(const void *ctx, const char *name, int64_t *value);
	const void *ctx;
	const char *list; /* "n, block": for messages */
};
/* Messages begin with "@what: ". */
bool user_evaluate(const char *text, const char *what, const struct user_names *names,
                   int64_t *value, struct err *err);

enum user_init { INIT_DEFAULT, INIT_RAND, INIT_IOTA, INIT_VALUE, INIT_OUT };
struct user_buffer {
	bool typed;
	enum elem_type type;
	char count[64], cols[64]; /* expressions; cols "" = a vector, else count is the rows */
	enum user_init init;
	char below[64]; /* INIT_RAND: expression, "" = default range */
	double value;   /* INIT_VALUE */
};
/* Is "f32[n]:rand" what stands behind the '='? */
bool user_is_buffer(const char *text);
bool user_read_buffer(const char *name, const char *text, struct user_buffer *out, struct err *err);
/* The first contents; @below from user_buffer.below, 0 = default range. */
void user_fill(const struct user_buffer *b, enum elem_type type, size_t count, int64_t below,
               uint64_t seed, void *data);

#endif
