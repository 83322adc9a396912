/*
 * Random CUDA kernels, made from a seed: a tree that random_print.h prints as CUDA C++ and
 * random_eval.h evaluates on the host, thread by thread.
 *
 * A program is a list of statements on a few unsigned and float variables per thread: assignments,
 * nested ifs, loops with bounds of their own, break and continue, a private array, atomics on a
 * shared table; between them, where all threads of the block pass, exchange through shared memory,
 * shuffles and votes. Knows no back end.
 */
#ifndef PMPP_TEST_RANDOM_PROGRAM_H
#define PMPP_TEST_RANDOM_PROGRAM_H

#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { N_U = 4, N_F = 3, N_LOOPS = 3, N_PRIVATE = 8, N_BINS = 16, MAX_BLOCK = 128 };

union value {
	uint32_t u;
	float f;
};

/* --- operations --- */
static inline uint32_t reverse_bits(uint32_t v)
{
	uint32_t r = 0;
	for (unsigned i = 0; i < 32; i++)
		r |= (v >> i & 1) << (31 - i);
	return r;
}
static inline uint32_t pick_bytes(uint32_t a, uint32_t b, uint32_t selector)
{
	const uint64_t both = (uint64_t)b << 32 | a;
	uint32_t r = 0;
	for (unsigned i = 0; i < 4; i++)
		r |= (uint32_t)(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
	return r;
}
static inline int32_t clamp_s32(float x) /* of an integral x; NaN gives 0 */
{
	if (isnan(x))
		return 0;
	return x >= 2147483648.0f ? INT32_MAX : x < -2147483648.0f ? INT32_MIN : (int32_t)x;
}
static inline float min_number(float a, float b) /* the number of a number and a NaN; -0 < +0 */
{
	if (isnan(a))
		return b;
	if (isnan(b))
		return a;
	if (a == b)
		return signbit(a) ? a : b;
	return a < b ? a : b;
}

enum random_op {
#define OP(id, types, text, host) R_##id,
#include "random_ops.def"
#undef OP
	R_COUNT,
	R_PLAIN = R_PLAIN_MUL /* of plain programs from here */
};
static const struct {
	const char *types, *text;
} random_ops[R_COUNT] = {
#define OP(id, types, text, host) { types, text },
#include "random_ops.def"
#undef OP
};

static inline union value random_apply(enum random_op op, union value a, union value b,
                                       union value c)
{
	union value r = { 0 };
	switch (op) {
#define OP(id, types, text, host) \
	case R_##id: host; break;
#include "random_ops.def"
#undef OP
	default: break;
	}
	(void)b;
	(void)c;
	return r;
}

/* --- programs --- */
enum leaf {
	LEAF_U,
	LEAF_F,
	LEAF_LOOP,
	LEAF_CONST_U,
	LEAF_CONST_F,
	LEAF_TID,
	LEAF_BLOCK,
	LEAF_PRIVATE
};
struct expr {
	bool is_leaf;
	enum leaf leaf;
	enum random_op op;
	uint16_t kid[3]; /* PRIVATE: kid[0] is the index */
	unsigned n;      /* variable or loop number */
	union value value;
};

enum stmt_kind {
	S_NOTHING,
	S_SET_U,
	S_SET_F,
	S_IF,
	S_LOOP,
	S_BREAK_IF,
	S_CONTINUE_IF,
	S_PRIVATE,
	S_ATOMIC,
	S_EXCHANGE,
	S_SHUFFLE,
	S_BALLOT
};
struct stmt {
	enum stmt_kind kind;
	unsigned n, m;              /* variables; bounds; atomic: 0 add, 1 xor, 2 max */
	uint16_t e, e2;             /* expressions */
	uint16_t body, other, next; /* statements; 0 = none */
};

struct program_text {
	uint64_t seed;
	uint64_t random;
	struct expr expr[4096];
	struct stmt stmt[256];
	unsigned n_expr, n_stmt, depth, loops;
	unsigned block; /* threads; shuffles and votes only where it is whole warps */
	/* Sums and products that compilers may fuse, so that only they know the results. */
	bool plain;
	uint16_t first;
};

static inline uint32_t pick(struct program_text *p, uint32_t n)
{
	return (uint32_t)(rand_next(&p->random) >> 33) % n;
}

static inline uint16_t make_expr(struct program_text *p, char type, unsigned depth)
{
	const uint16_t at = (uint16_t)p->n_expr++;
	assert(p->n_expr < ARRAY_LEN(p->expr));
	struct expr *e = &p->expr[at];
	*e = (struct expr){ 0 };
	if (depth == 0 || pick(p, 5) == 0) {
		static const uint32_t odd[] = { 0, 1, 2, 31, 32, 255, 0x7fffffff, 0x80000000, 0xffffffff };
		static const float floats[] = { 0.0f, 1.0f, -2.5f, 0.1f, 1e10f, 3e-39f, -7.0f };
		e->is_leaf = true;
		if (type == 'f') {
			e->leaf = pick(p, 3) ? LEAF_F : LEAF_CONST_F;
			e->n = pick(p, N_F);
			e->value.f = floats[pick(p, ARRAY_LEN(floats))];
			return at;
		}
		switch (pick(p, 9)) {
		case 0:
			e->leaf = LEAF_CONST_U;
			e->value.u = pick(p, 2) ? odd[pick(p, ARRAY_LEN(odd))] : pick(p, 1000);
			break;
		case 1: e->leaf = LEAF_TID; break;
		case 2: e->leaf = LEAF_BLOCK; break;
		case 3:
			e->leaf = p->loops ? LEAF_LOOP : LEAF_TID;
			e->n = p->loops ? pick(p, p->loops) : 0;
			break;
		case 4:
			e->leaf = LEAF_PRIVATE;
			if (depth == 0) {
				e->leaf = LEAF_U;
				e->n = pick(p, N_U);
			} else {
				const uint16_t k = make_expr(p, 'u', 0);
				p->expr[at].kid[0] = k;
			}
			break;
		default:
			e->leaf = LEAF_U;
			e->n = pick(p, N_U);
			break;
		}
		return at;
	}
	enum random_op op;
	do
		op = (enum random_op)pick(p, R_PLAIN);
	while (random_ops[op].types[0] != type);
	if (p->plain && type == 'f' && pick(p, 4))
		op = (enum random_op)(R_PLAIN + pick(p, R_COUNT - R_PLAIN));
	e->op = op;
	for (unsigned i = 0; random_ops[op].types[1 + i]; i++) {
		const uint16_t k = make_expr(p, random_ops[op].types[1 + i], depth - 1);
		p->expr[at].kid[i] = k;
	}
	return at;
}

static inline uint16_t make_list(struct program_text *p, unsigned n, bool in_loop);
static inline uint16_t make_stmt(struct program_text *p, bool in_loop)
{
	const uint16_t at = (uint16_t)p->n_stmt++;
	assert(p->n_stmt < ARRAY_LEN(p->stmt));
	struct stmt *s = &p->stmt[at];
	*s = (struct stmt){ .n = pick(p, N_U), .m = pick(p, 3) };
	const bool top = p->depth == 0, deep = p->depth >= 3 || p->n_stmt > 60;
	const uint32_t kind = p->plain && pick(p, 3) == 0 ? 6 : pick(p, 20);
	if (kind < 6 || (deep && kind >= 13 && kind < 17)) {
		s->kind = S_SET_U;
		s->e = make_expr(p, 'u', 3);
	} else if (kind < 9) {
		s->kind = S_SET_F;
		s->n = pick(p, N_F);
		s->e = make_expr(p, 'f', 3);
	} else if (kind < 10) {
		s->kind = S_PRIVATE;
		s->e = make_expr(p, 'u', 1);
		s->e2 = make_expr(p, 'u', 2);
	} else if (kind < 11) {
		s->kind = S_ATOMIC;
		s->e = make_expr(p, 'u', 2);
		s->e2 = make_expr(p, 'u', 2);
	} else if (kind < 13 && in_loop) {
		s->kind = kind == 11 ? S_BREAK_IF : S_CONTINUE_IF;
		s->e = make_expr(p, 'u', 2);
		s->n = 1 + pick(p, 7);
	} else if (kind < 15) {
		s->kind = S_IF;
		s->e = make_expr(p, 'u', 2);
		p->depth++;
		const uint16_t body = make_list(p, 1 + pick(p, 3), in_loop);
		const uint16_t other = pick(p, 2) ? make_list(p, 1 + pick(p, 3), in_loop) : 0;
		p->depth--;
		p->stmt[at].body = body;
		p->stmt[at].other = other;
	} else if (kind < 17 && p->loops < N_LOOPS) {
		s->kind = S_LOOP;
		s->n = p->loops;
		s->m = pick(p, 3) ? 7 : 3; /* mask of the trip count */
		s->e = make_expr(p, 'u', 1);
		p->depth++;
		p->loops++;
		const uint16_t body = make_list(p, 1 + pick(p, 3), true);
		p->loops--;
		p->depth--;
		p->stmt[at].body = body;
	} else if (top) {
		const bool whole = p->block % 32 == 0;
		s->kind = kind == 17 && whole ? S_SHUFFLE : kind == 18 && whole ? S_BALLOT : S_EXCHANGE;
		s->e = make_expr(p, 'u', 2);
		s->e2 = make_expr(p, 'u', 1);
	} else {
		s->kind = S_SET_U;
		s->e = make_expr(p, 'u', 2);
	}
	return at;
}

static inline uint16_t make_list(struct program_text *p, unsigned n, bool in_loop)
{
	uint16_t first = 0, last = 0;
	for (unsigned i = 0; i < n; i++) {
		const uint16_t s = make_stmt(p, in_loop);
		if (last)
			p->stmt[last].next = s;
		else
			first = s;
		last = s;
	}
	return first;
}

static inline void make_program(struct program_text *p, uint64_t seed, bool plain)
{
	memset(p, 0, sizeof *p);
	p->plain = plain;
	static const unsigned blocks[] = { 32, 64, MAX_BLOCK, 40 };
	p->seed = seed;
	p->block = blocks[seed % ARRAY_LEN(blocks)];
	p->random = hash_bytes(HASH_SEED, &seed, sizeof seed);
	p->n_expr = p->n_stmt = 1; /* 0 means none */
	p->first = make_list(p, 10, false);
}

#endif
