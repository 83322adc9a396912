/*
 * Random CUDA kernels with an evaluator of their own: the same tree is printed as CUDA C++ and
 * interpreted on the host, thread by thread.
 *
 * A program is a list of statements on a few unsigned and float variables per thread: assignments,
 * nested ifs, loops with bounds of their own, break and continue, a private array, atomics on a
 * shared table; between them, where all threads of the block pass, exchange through shared memory,
 * shuffles and votes. Everything follows from a seed. Knows no back end.
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
	R_COUNT
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
		op = (enum random_op)pick(p, R_COUNT);
	while (random_ops[op].types[0] != type);
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
	const uint32_t kind = pick(p, 20);
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

static inline void make_program(struct program_text *p, uint64_t seed)
{
	memset(p, 0, sizeof *p);
	static const unsigned blocks[] = { 32, 64, MAX_BLOCK, 40 };
	p->seed = seed;
	p->block = blocks[seed % ARRAY_LEN(blocks)];
	p->random = hash_bytes(HASH_SEED, &seed, sizeof seed);
	p->n_expr = p->n_stmt = 1; /* 0 means none */
	p->first = make_list(p, 10, false);
}

/* --- as CUDA text --- */
static inline void print_expr(const struct program_text *p, uint16_t at, struct text *t)
{
	const struct expr *e = &p->expr[at];
	if (e->is_leaf) {
		switch (e->leaf) {
		case LEAF_U: text_add(t, "u%u", e->n); break;
		case LEAF_F: text_add(t, "f%u", e->n); break;
		case LEAF_LOOP: text_add(t, "k%u", e->n); break;
		case LEAF_CONST_U: text_add(t, "0x%xu", e->value.u); break;
		case LEAF_CONST_F: text_add(t, "(%.9ef)", (double)e->value.f); break;
		case LEAF_TID: text_add(t, "tid"); break;
		case LEAF_BLOCK: text_add(t, "blockIdx.x"); break;
		case LEAF_PRIVATE:
			text_add(t, "mine[");
			print_expr(p, e->kid[0], t);
			text_add(t, " & %uu]", N_PRIVATE - 1);
			break;
		}
		return;
	}
	for (const char *s = random_ops[e->op].text; *s; s++)
		if (*s == '@')
			print_expr(p, e->kid[*++s - '0'], t);
		else
			text_put(t, s, 1);
}

static inline void print_list(const struct program_text *p, uint16_t at, unsigned indent,
                              struct text *t);
static inline void print_stmt(const struct program_text *p, const struct stmt *s, unsigned indent,
                              struct text *t)
{
	static const char *const atomics[] = { "atomicAdd", "atomicXor", "atomicMax" };
#define INDENT() text_add(t, "%*s", (int)indent * 2, "")
	if (s->kind != S_NOTHING)
		INDENT();
	switch (s->kind) {
	case S_NOTHING: break;
	case S_SET_U:
	case S_SET_F:
		text_add(t, "%c%u = ", s->kind == S_SET_U ? 'u' : 'f', s->n);
		print_expr(p, s->e, t);
		text_add(t, ";\n");
		break;
	case S_IF:
		text_add(t, "if (");
		print_expr(p, s->e, t);
		text_add(t, " & 1u) {\n");
		print_list(p, s->body, indent + 1, t);
		if (s->other) {
			INDENT();
			text_add(t, "} else {\n");
			print_list(p, s->other, indent + 1, t);
		}
		INDENT();
		text_add(t, "}\n");
		break;
	case S_LOOP:
		text_add(t, "for (unsigned k%u = 0, n%u = ", s->n, s->n);
		print_expr(p, s->e, t);
		text_add(t, " & %uu; k%u < n%u; k%u++) {\n", s->m, s->n, s->n, s->n);
		print_list(p, s->body, indent + 1, t);
		INDENT();
		text_add(t, "}\n");
		break;
	case S_BREAK_IF:
	case S_CONTINUE_IF:
		text_add(t, "if ((");
		print_expr(p, s->e, t);
		text_add(t, " & 7u) == %uu) %s;\n", s->n, s->kind == S_BREAK_IF ? "break" : "continue");
		break;
	case S_PRIVATE:
		text_add(t, "mine[");
		print_expr(p, s->e, t);
		text_add(t, " & %uu] = ", N_PRIVATE - 1);
		print_expr(p, s->e2, t);
		text_add(t, ";\n");
		break;
	case S_ATOMIC:
		text_add(t, "%s(&bins[", atomics[s->m]);
		print_expr(p, s->e, t);
		/* one kind of operation per bin: their order does not matter */
		text_add(t, " & 3u | %uu], ", 4 * s->m);
		print_expr(p, s->e2, t);
		text_add(t, ");\n");
		break;
	case S_EXCHANGE:
		text_add(t, "shared[tid] = ");
		print_expr(p, s->e, t);
		text_add(t, "; __syncthreads(); u%u = shared[(", s->n);
		print_expr(p, s->e2, t);
		text_add(t, ") %% blockDim.x]; __syncthreads();\n");
		break;
	case S_SHUFFLE:
		text_add(t, "u%u = __shfl_%s(~0u, ", s->n,
		         s->m == 0   ? "xor_sync"
		         : s->m == 1 ? "down_sync"
		                     : "sync");
		print_expr(p, s->e, t);
		text_add(t, s->m == 2 ? ", (int)(" : ", %uu);\n", 1 + s->n * 5);
		if (s->m == 2) {
			print_expr(p, s->e2, t);
			text_add(t, "));\n");
		}
		break;
	case S_BALLOT:
		text_add(t, "u%u ^= __ballot_sync(~0u, (", s->n);
		print_expr(p, s->e, t);
		text_add(t, ") & 1u);\n");
		break;
	}
#undef INDENT
}
static inline void print_list(const struct program_text *p, uint16_t at, unsigned indent,
                              struct text *t)
{
	for (; at; at = p->stmt[at].next)
		print_stmt(p, &p->stmt[at], indent, t);
}

static inline void print_program(const struct program_text *p, struct text *t)
{
	text_add(t,
	         "extern \"C\" __global__ void random_%" PRIu64 "(const unsigned *in, "
	         "const float *fin, unsigned *out, float *fout, unsigned *all)\n{\n"
	         "  __shared__ unsigned shared[%u];\n  __shared__ unsigned bins[%u];\n"
	         "  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;\n"
	         "  unsigned mine[%u];\n",
	         p->seed, MAX_BLOCK, N_BINS, N_PRIVATE);
	for (unsigned v = 0; v < N_U; v++)
		text_add(t, "  unsigned u%u = in[i * %u + %u];\n", v, N_U, v);
	for (unsigned v = 0; v < N_F; v++)
		text_add(t, "  float f%u = fin[i * %u + %u];\n", v, N_F, v);
	text_add(t,
	         "  for (unsigned k = 0; k < %u; k++) mine[k] = u0 + k * u1;\n"
	         "  if (tid < %u) bins[tid] = 0;\n  __syncthreads();\n",
	         N_PRIVATE, N_BINS);
	print_list(p, p->first, 1, t);
	for (unsigned v = 0; v < N_U; v++)
		text_add(t, "  out[i * %u + %u] = u%u;\n", N_U, v, v);
	for (unsigned v = 0; v < N_F; v++)
		text_add(t, "  fout[i * %u + %u] = f%u;\n", N_F, v, v);
	text_add(t,
	         "  __syncthreads();\n"
	         "  if (tid < %u) atomicAdd(&all[tid], bins[tid]);\n}\n",
	         N_BINS);
}

/* --- on the host --- */
struct thread {
	uint32_t tid, block;
	uint32_t u[N_U], k[N_LOOPS], mine[N_PRIVATE];
	float f[N_F];
};

static inline union value eval(const struct program_text *p, uint16_t at, const struct thread *t)
{
	const struct expr *e = &p->expr[at];
	union value v = e->value, kid[3] = { 0 };
	if (!e->is_leaf) {
		for (unsigned i = 0; random_ops[e->op].types[1 + i]; i++)
			kid[i] = eval(p, e->kid[i], t);
		return random_apply(e->op, kid[0], kid[1], kid[2]);
	}
	switch (e->leaf) {
	case LEAF_U: v.u = t->u[e->n]; break;
	case LEAF_F: v.f = t->f[e->n]; break;
	case LEAF_LOOP: v.u = t->k[e->n]; break;
	case LEAF_TID: v.u = t->tid; break;
	case LEAF_BLOCK: v.u = t->block; break;
	case LEAF_PRIVATE: v.u = t->mine[eval(p, e->kid[0], t).u & (N_PRIVATE - 1)]; break;
	default: break;
	}
	return v;
}

enum flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE };
static inline enum flow run_list(const struct program_text *p, uint16_t at, struct thread *t,
                                 uint32_t *bins)
{
	for (; at; at = p->stmt[at].next) {
		const struct stmt *s = &p->stmt[at];
		enum flow flow = FLOW_ON;
		switch (s->kind) {
		case S_NOTHING: break;
		case S_SET_U: t->u[s->n] = eval(p, s->e, t).u; break;
		case S_SET_F: t->f[s->n] = eval(p, s->e, t).f; break;
		case S_IF: flow = run_list(p, eval(p, s->e, t).u & 1 ? s->body : s->other, t, bins); break;
		case S_LOOP: {
			const uint32_t trips = eval(p, s->e, t).u & s->m;
			for (t->k[s->n] = 0; t->k[s->n] < trips; t->k[s->n]++)
				if (run_list(p, s->body, t, bins) == FLOW_BREAK)
					break;
			break;
		}
		case S_BREAK_IF:
		case S_CONTINUE_IF:
			if ((eval(p, s->e, t).u & 7) == s->n)
				return s->kind == S_BREAK_IF ? FLOW_BREAK : FLOW_CONTINUE;
			break;
		case S_PRIVATE: {
			const uint32_t i = eval(p, s->e, t).u & (N_PRIVATE - 1);
			t->mine[i] = eval(p, s->e2, t).u;
			break;
		}
		case S_ATOMIC: {
			uint32_t *b = &bins[(eval(p, s->e, t).u & 3) | 4 * s->m];
			const uint32_t v = eval(p, s->e2, t).u;
			*b = s->m == 0 ? *b + v : s->m == 1 ? *b ^ v : *b > v ? *b : v;
			break;
		}
		default: assert(false); /* the others need the whole block: run_together() */
		}
		if (flow != FLOW_ON)
			return flow;
	}
	return FLOW_ON;
}

/* One statement of the outermost list by all threads of a block. */
static inline void run_together(const struct program_text *p, const struct stmt *s,
                                struct thread *t, unsigned n)
{
	uint32_t given[MAX_BLOCK], from[MAX_BLOCK];
	for (unsigned i = 0; i < n; i++) {
		given[i] = eval(p, s->e, &t[i]).u;
		from[i] = eval(p, s->e2, &t[i]).u;
	}
	for (unsigned i = 0; i < n; i++) {
		const unsigned warp = i & ~31u, lane = i & 31, by = 1 + s->n * 5;
		if (s->kind == S_EXCHANGE) {
			t[i].u[s->n] = given[from[i] % n];
		} else if (s->kind == S_SHUFFLE) {
			const unsigned source = s->m == 0   ? lane ^ by
			                        : s->m == 1 ? (lane + by < 32 ? lane + by : lane)
			                                    : from[i] & 31;
			t[i].u[s->n] = given[warp + source];
		} else {
			uint32_t ballot = 0;
			for (unsigned k = 0; k < 32; k++)
				ballot |= (given[warp + k] & 1) << k;
			t[i].u[s->n] ^= ballot;
		}
	}
}

/* The whole block: results into @out, @fout, @all as the kernel stores them. */
static inline void run_program(struct program_text *p, uint32_t block, const uint32_t *in,
                               const float *fin, uint32_t *out, float *fout, uint32_t *all)
{
	const unsigned threads = p->block;
	static struct thread t[MAX_BLOCK];
	uint32_t bins[N_BINS] = { 0 };
	for (unsigned i = 0; i < threads; i++) {
		const size_t g = (size_t)block * threads + i;
		t[i] = (struct thread){ .tid = i, .block = block };
		memcpy(t[i].u, in + g * N_U, sizeof t[i].u);
		memcpy(t[i].f, fin + g * N_F, sizeof t[i].f);
		for (unsigned k = 0; k < N_PRIVATE; k++)
			t[i].mine[k] = t[i].u[0] + k * t[i].u[1];
	}
	for (uint16_t at = p->first; at; at = p->stmt[at].next) {
		const uint16_t next = p->stmt[at].next;
		if (p->stmt[at].kind >= S_EXCHANGE) {
			run_together(p, &p->stmt[at], t, threads);
			continue;
		}
		p->stmt[at].next = 0; /* this statement alone */
		for (unsigned i = 0; i < threads; i++)
			run_list(p, at, &t[i], bins);
		p->stmt[at].next = next;
	}
	for (unsigned i = 0; i < threads; i++) {
		const size_t g = (size_t)block * threads + i;
		memcpy(out + g * N_U, t[i].u, sizeof t[i].u);
		memcpy(fout + g * N_F, t[i].f, sizeof t[i].f);
	}
	for (unsigned b = 0; b < N_BINS; b++)
		all[b] += bins[b];
}

#endif
