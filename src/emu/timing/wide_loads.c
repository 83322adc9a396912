/* Finds them; see wide_loads.h. */
#include "emu/timing/wide_loads.h"

#include "base/mem.h"

#include <stdlib.h>

enum { NO_MORE = -1, UNKNOWN = -2 }; /* definitions */
#define DEPTH 12                     /* definitions followed back for an alignment */

struct alignment_study {
	const struct ir *ir;
	struct wide_load *load;
	int32_t *last_def;     /* per register: its last definition, or NO_MORE, UNKNOWN */
	int32_t *def_before;   /* per operation: the one before it of its result */
	bool *visiting;        /* per register */
	unsigned shared_align; /* that the assembler knows of shared arrays, bytes */
};

/* --- alignment --- */

static unsigned zeros_of_value(uint64_t v)
{
	return v ? (unsigned)__builtin_ctzll(v) : 64;
}

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned low_zeros(struct alignment_study *s, const struct xsrc *src, unsigned depth);

static unsigned zeros_of_result(struct alignment_study *s, const struct xop *x, unsigned depth)
{
	if (x->kind != X_OP || s->ir->func->insts[x->pc].op == OP_LD) /* a parameter: known here only */
		return 0;
	const unsigned a = low_zeros(s, &x->s[0], depth);
	const unsigned b = x->n_s > 1 ? low_zeros(s, &x->s[1], depth) : 0;
	switch (x->op) {
	case E_mov_b32:
	case E_mov_b64:
	case E_zext64:
	case E_sext64:
	case E_trunc32: return a;
	case E_add_b32:
	case E_sub_b32:
	case E_add_b64:
	case E_sub_b64:
	case E_or_b32: return smaller(a, b);
	case E_and_b32: return a > b ? a : b;
	case E_mul_lo_b32:
	case E_mul_lo_b64:
	case E_mul_wide_s32:
	case E_mul_wide_u32: return smaller(a + b, 64);
	case E_mad_lo_b32: return smaller(a + b, low_zeros(s, &x->s[2], depth));
	case E_shl_b32:
	case E_shl_b64: return x->s[1].kind == S_CONST ? smaller(a + (unsigned)x->s[1].value, 64) : a;
	default: return 0;
	}
}

/* Low bits of @src that are zero whatever the launch: of all that may have been put there. A
 * register that a loop moves on is looked at once; what it begins with and its steps decide. */
static unsigned low_zeros(struct alignment_study *s, const struct xsrc *src, unsigned depth)
{
	if (src->kind == S_CONST)
		return zeros_of_value(src->value);
	if (src->kind != S_REG || depth == 0)
		return 0;
	if (s->visiting[src->reg])
		return 64;
	s->visiting[src->reg] = true;
	int32_t o = s->last_def[src->reg];
	unsigned all = 64;
	for (; o >= 0 && all; o = s->def_before[o])
		all = smaller(all, zeros_of_result(s, &s->ir->ops[o], depth - 1));
	s->visiting[src->reg] = false;
	return o == NO_MORE ? all : 0;
}

static void find_definitions(struct alignment_study *s)
{
	for (unsigned r = 0; r < s->ir->n_regs; r++)
		s->last_def[r] = NO_MORE;
	for (uint32_t o = 0; o < s->ir->n_ops; o++) {
		const struct xop *x = &s->ir->ops[o];
		s->def_before[o] = NO_MORE;
		for (unsigned i = 0; i < x->n_d; i++) {
			if (x->d[i] < 0)
				continue;
			if (x->n_d == 1)
				s->def_before[o] = s->last_def[x->d[i]];
			s->last_def[x->d[i]] = x->n_d == 1 ? (int32_t)o : UNKNOWN;
		}
	}
}

/* Arrays inside the kernel are placed by the assembler, on 16 bytes at least; extern ones of this
 * kernel may begin anywhere that their declared alignment allows. */
static unsigned shared_alignment(const struct ir *ir)
{
	unsigned align = 16;
	for (unsigned i = 0; i < ir->func->n_insts; i++) {
		const struct ptx_inst *in = &ir->func->insts[i];
		for (unsigned k = 0; k < in->n_opnds; k++) {
			const struct ptx_operand *o = &in->opnd[k];
			const bool named =
				o->kind == OPND_SYMBOL || (o->kind == OPND_ADDR && o->addr_base == ADDR_SYMBOL);
			if (!named || o->symbol < 0)
				continue;
			const struct ptx_var *v = &ir->module->vars[o->symbol];
			if (v->space == SPACE_SHARED && v->is_extern && v->align < align)
				align = v->align;
		}
	}
	return align ? align : 1;
}

/* --- loads that become one --- */

static bool plain_shared_word(const struct xop *x)
{
	return x->kind == X_LD && x->space == SPACE_SHARED && x->bytes == 4 && x->vec == 1 &&
	       x->guard < 0;
}

static bool same_base(const struct xop *a, const struct xop *b)
{
	const struct xsrc *s = &a->s[0], *t = &b->s[0];
	if (s->kind != t->kind)
		return false;
	return s->kind == S_REG ? s->reg == t->reg : s->kind == S_CONST;
}

static int64_t offset_of(const struct xop *x)
{
	return x->offset + (x->s[0].kind == S_CONST ? (int64_t)x->s[0].value : 0);
}

/* The load of the word at @offset from @lead's base, up to @end; -1 = none. What the base register
 * holds must not change, nothing may be stored in between. */
static int32_t find_word(const struct ir *ir, uint32_t lead, uint32_t end, int64_t offset)
{
	const struct xop *x = &ir->ops[lead];
	for (uint32_t o = lead; o < end; o++) {
		const struct xop *y = &ir->ops[o];
		if (y->kind == X_BAR || (y->kind == X_ST && y->space != SPACE_GLOBAL) || y->kind == X_ASYNC)
			return -1;
		if (plain_shared_word(y) && same_base(x, y) && offset_of(y) == offset)
			return (int32_t)o;
		for (unsigned i = 0; x->s[0].kind == S_REG && i < y->n_d; i++)
			if (y->d[i] == x->s[0].reg)
				return -1;
	}
	return -1;
}

static void merge_from(struct alignment_study *s, uint32_t lead, uint32_t end)
{
	const struct xop *x = &s->ir->ops[lead];
	const unsigned base = x->s[0].kind == S_CONST ? 64 : low_zeros(s, &x->s[0], DEPTH);
	for (unsigned words = 4; words >= 2; words /= 2) {
		const unsigned bytes = 4 * words;
		const int64_t first = offset_of(x) & ~(int64_t)(bytes - 1);
		int32_t with[4];
		bool all = bytes <= s->shared_align && (base >= 64 || (1u << smaller(base, 31)) >= bytes);
		for (unsigned w = 0; all && w < words; w++) {
			with[w] = find_word(s->ir, lead, end, first + 4 * w);
			all = with[w] >= 0 && !s->load[with[w]].merged;
		}
		if (!all)
			continue;
		for (unsigned w = 0; w < words; w++)
			s->load[with[w]].merged = with[w] != (int32_t)lead;
		s->load[lead].words = (uint8_t)words;
		return;
	}
}

static void merge_loads(struct alignment_study *s)
{
	for (unsigned b = 0; b < s->ir->n_blocks; b++)
		for (uint32_t o = s->ir->blocks[b].first; o < s->ir->blocks[b].end; o++)
			if (plain_shared_word(&s->ir->ops[o]) && !s->load[o].merged)
				merge_from(s, o, s->ir->blocks[b].end);
}

struct wide_load *wide_loads(const struct ir *ir)
{
	struct alignment_study s = { .ir = ir,
		                         .load = mem_calloc(ir->n_ops + 1, sizeof *s.load),
		                         .last_def = mem_calloc(ir->n_regs + 1, sizeof *s.last_def),
		                         .def_before = mem_calloc(ir->n_ops + 1, sizeof *s.def_before),
		                         .visiting = mem_zalloc(ir->n_regs + 1),
		                         .shared_align = shared_alignment(ir) };
	find_definitions(&s);
	merge_loads(&s);
	free(s.last_def);
	free(s.def_before);
	free(s.visiting);
	return s.load;
}
