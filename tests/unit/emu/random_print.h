/* A random program as CUDA C++; see random_program.h. */
#ifndef PMPP_TEST_RANDOM_PRINT_H
#define PMPP_TEST_RANDOM_PRINT_H

#include "random_program.h"

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

static inline void print_memory(const struct program_text *p, const struct stmt *s, struct text *t)
{
	static const char *const atomics[] = { "atomicAdd", "atomicXor", "atomicMax" };
	if (s->kind == S_PRIVATE) {
		text_add(t, "mine[");
		print_expr(p, s->e, t);
		text_add(t, " & %uu] = ", N_PRIVATE - 1);
		print_expr(p, s->e2, t);
		text_add(t, ";\n");
		return;
	}
	text_add(t, "%s(&bins[", atomics[s->m]);
	print_expr(p, s->e, t);
	/* one kind of operation per bin: their order does not matter */
	text_add(t, " & 3u | %uu], ", 4 * s->m);
	print_expr(p, s->e2, t);
	text_add(t, ");\n");
}

/* What all threads of the block do together. */
static inline void print_exchange(const struct program_text *p, const struct stmt *s,
                                  struct text *t)
{
	switch (s->kind) {
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
	default: break;
	}
}

static inline void print_list(const struct program_text *p, uint16_t at, unsigned indent,
                              struct text *t);
static inline void print_stmt(const struct program_text *p, const struct stmt *s, unsigned indent,
                              struct text *t)
{
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
		if (p->plain) /* copies of a loop are fused with one another: only machine code has them */
			text_add(t, "#pragma unroll 1\n%*s", (int)indent * 2, "");
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
	case S_ATOMIC: print_memory(p, s, t); break;
	default: print_exchange(p, s, t); break;
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
	/* The assembler takes -7 < |x| for true whatever x is, which the host does not do; a comparison
	 * that makes a number it leaves alone. */
	text_add(t, "#undef LESS\n#define LESS(a, b) %s\n",
	         p->plain ? "((a) < (b) ? 1u : 0u)"
	                  : "([](float x, float y) { unsigned r; asm(\"set.lt.u32.f32 %0, %1, %2;\" "
	                    ": \"=r\"(r) : \"f\"(x), \"f\"(y)); return r & 1u; }(a, b))");
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

#endif
