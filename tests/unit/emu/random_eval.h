/* A random program evaluated on the host, thread by thread; see random_program.h. */
#ifndef PMPP_TEST_RANDOM_EVAL_H
#define PMPP_TEST_RANDOM_EVAL_H

#include "random_program.h"

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
