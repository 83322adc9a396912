/*
 * The notation in which a person says how to launch a kernel of their own:
 *
 *   n=1M                        a whole number, or an expression of earlier names
 *   a=2.5                       a float
 *   p=1,2.5,3                   several numbers: a vector or structure passed by value
 *   x=f32[n]:rand               a buffer: type, elements, first contents
 *   C=f32[M,N]                  rows and columns
 *   y=x+n                       a pointer into another buffer, by elements
 *   x=@data.npy                 a buffer of a file's size and contents (model/array.h)
 *
 * Types: those of elem_name(); one may be left out where the signature says it. Contents: rand
 * (floats in [-1, 1), whole numbers 0..255 or what the type holds), rand(K) (below K), rand(A,B)
 * (from A, below B), iota (0, 1, 2 ...), zero, a number, @FILE, or out (undefined: every element
 * must be written). Without: rand for const pointers, zero for others. Expressions: + - * / % ( ),
 * k M G behind numbers; a division rounds up, as grids and sizes want it.
 */
#ifndef PMPP_USERKERNEL_USER_WORDS_H
#define PMPP_USERKERNEL_USER_WORDS_H

#include "base/err.h"
#include "model/array.h"
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

enum user_init { INIT_DEFAULT, INIT_RAND, INIT_IOTA, INIT_VALUE, INIT_OUT, INIT_FILE };
struct user_buffer {
	bool typed;
	enum elem_type type;
	char count[64], cols[64]; /* expressions; cols "" = a vector, else count is the rows; count ""
	                           * = as many as the file has */
	enum user_init init;
	char below[64]; /* INIT_RAND: expression, "" = default range */
	bool ranged;    /* INIT_RAND: from `low` to `high` */
	double low, high;
	double value;    /* INIT_VALUE */
	char file[1024]; /* INIT_FILE */
};
/* Is "f32[n]:rand" or "@file" what stands behind the '='? */
bool user_is_buffer(const char *text);
bool user_read_buffer(const char *name, const char *text, struct user_buffer *out, struct err *err);
/* "1,2.5,3": the elements of @out, of @type; free(out->data). False: they are no such list. */
bool user_read_numbers(const char *text, enum elem_type type, struct array *out);
/* The first contents; @below from user_buffer.below, 0 = default range. Not of INIT_FILE. */
void user_fill(const struct user_buffer *b, enum elem_type type, size_t count, int64_t below,
               uint64_t seed, void *data);

#endif
