/*
 * The bits of NaN. A card's float32 sums, products, divisions and roots give one NaN, 0x7fffffff
 * (PTX ISA, 9.7.3); this host keeps those of an operand, or makes 0xffc00000. Nothing tells them
 * apart but what looks at bits: a value is made that NaN where it is stored, or taken for a whole
 * number, and arithmetic runs as the host does it. A register that holds other things as well,
 * whose bits are to stay, is made so where arithmetic writes it.
 *
 * Float64 keeps an operand's bits, on a card as here: which one's, the operation says (ops.def).
 */
#include "emu/analysis/analysis.h"

#include "base/mem.h"
#include "emu/lane/lane.h"

#include <stdlib.h>

/* Which sources of an operation are float32 (bits 0 to 3), and whether its result is. */
enum { RESULT = 1 << 4 };
#define IS_u16 0
#define IS_s16 0
#define IS_u32 0
#define IS_s32 0
#define IS_u64 0
#define IS_s64 0
#define IS_f32 1
#define IS_f64 0
static const uint8_t floats[E_COUNT] = {
#define OP1(id, D, A, expr) [E_##id] = IS_##D * RESULT | IS_##A,
#define OP2(id, D, A, B, expr) [E_##id] = IS_##D * RESULT | IS_##A | IS_##B << 1,
#define OP3(id, D, A, B, C, expr) [E_##id] = IS_##D * RESULT | IS_##A | IS_##B << 1 | IS_##C << 2,
#define OP4(id, D, A, B, C, E, expr) \
	[E_##id] = IS_##D * RESULT | IS_##A | IS_##B << 1 | IS_##C << 2 | IS_##E << 3,
#define CMP(id, T, expr) [E_##id] = IS_##T * 3,
#include "emu/lane/ops.def"
};

/* Arithmetic of float32: copysign works on bits. */
static bool makes_float(const struct xop *x)
{
	return x->kind == X_OP && floats[x->op] & RESULT && floats[x->op] & 1 &&
	       x->op != E_copysign_f32;
}

/* What only hands a value on. */
static bool hands_on(const struct xop *x)
{
	return (x->kind == X_OP && (x->op == E_mov_b32 || x->op == E_neg_f32 || x->op == E_abs_f32)) ||
	       (x->kind == X_SEL && x->bytes == 4) || x->kind == X_SHFL;
}

struct settled {
	struct ir *ir;
	bool *made; /* by register: it may hold a NaN of this host */
	bool *pure; /* ... and nothing but float32 */
	struct xop *ops;
	unsigned n, cap;
};

static bool is_pure(const struct settled *w, const struct xsrc *s)
{
	return s->kind == S_REG && w->made[s->reg] && w->pure[s->reg];
}

static unsigned n_handed(const struct xop *x)
{
	return x->kind == X_SEL ? 2 : 1;
}

/* False: there is none. */
static bool find_made(const struct settled *w)
{
	const struct ir *ir = w->ir;
	bool any = false;
	for (bool more = true; more;) {
		more = false;
		for (uint32_t o = 0; o < ir->n_ops; o++) {
			const struct xop *x = &ir->ops[o];
			if (!x->n_d || x->d[0] < 0 || w->made[x->d[0]])
				continue;
			bool is = makes_float(x);
			for (unsigned i = 0; hands_on(x) && i < n_handed(x); i++)
				is |= x->s[i].kind == S_REG && w->made[x->s[i].reg];
			if (is)
				w->made[x->d[0]] = any = more = true;
		}
	}
	return any;
}

/* Does result @k of @x leave a register pure? What is loaded is a number where arithmetic takes it
 * for one; not in registers of machine code, which have no type. */
static bool keeps_pure(const struct settled *w, const struct xop *x, unsigned k, const bool *taken)
{
	if (makes_float(x))
		return true;
	if (x->kind == X_LD)
		return x->bytes == 4 && taken[x->d[k]] && !ir_of_machine_code(w->ir);
	bool all = hands_on(x) && !k;
	for (unsigned i = 0; all && i < n_handed(x); i++) {
		const struct xsrc *s = &x->s[i];
		all = s->kind == S_CONST ? (s->value & 0x7fffffff) <= 0x7f800000 : w->pure[s->reg];
	}
	return all;
}

static void find_pure(const struct settled *w)
{
	const struct ir *ir = w->ir;
	bool *taken = mem_calloc(ir->n_regs + 1, sizeof *taken);
	for (unsigned r = 0; r < ir->n_regs; r++)
		w->pure[r] = w->made[r];
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		for (unsigned i = 0; makes_float(x) && i < x->n_s; i++)
			if (x->s[i].kind == S_REG)
				taken[x->s[i].reg] = true;
	}
	for (bool more = true; more;) {
		more = false;
		for (uint32_t o = 0; o < ir->n_ops; o++) {
			const struct xop *x = &ir->ops[o];
			for (unsigned k = 0; k < x->n_d; k++) {
				if (x->d[k] < 0 || !w->pure[x->d[k]] || keeps_pure(w, x, k, taken))
					continue;
				w->pure[x->d[k]] = false;
				more = true;
			}
		}
	}
	free(taken);
}

/* Is source @i looked at bit by bit, or handed to where bits are to stay? */
static bool is_seen(const struct settled *w, const struct xop *x, unsigned i)
{
	if (hands_on(x))
		return i < n_handed(x) && x->d[0] >= 0 && !w->pure[x->d[0]];
	switch (x->kind) {
	case X_ST:
	case X_ATOM:
	case X_RED: return i > 0;
	case X_OP:
	case X_CMP: return x->op == E_copysign_f32 || !(floats[x->op] >> i & 1);
	case X_MATCH:
	case X_REDUX:
	case X_SYSTEM: return true;
	default: return false;
	}
}

static void put(struct settled *w, struct xop x)
{
	MEM_ROOM(w->ops, w->n, w->cap, 256);
	w->ops[w->n++] = x;
}

/* @d gets @s, in the lanes of @x. */
static void put_nan(struct settled *w, const struct xop *x, int32_t d, struct xsrc s, bool first)
{
	put(w, (struct xop){ .kind = X_OP,
	                     .op = E_nan_f32,
	                     .first = first && x->first,
	                     .counts = first && x->counts,
	                     .n_d = 1,
	                     .n_s = 1,
	                     .d = { d },
	                     .s = { s },
	                     .guard = x->guard,
	                     .guard_neg = x->guard_neg,
	                     .pc = x->pc,
	                     .mem = -1,
	                     .vec = 1 });
}

static int32_t new_register(struct ir *ir, int32_t like)
{
	MEM_ROOM(ir->regs, ir->n_regs, ir->cap_regs, 64);
	ir->regs[ir->n_regs] = (struct xreg){ .bytes = 4, .fixed = ir->regs[like].fixed };
	return (int32_t)ir->n_regs++;
}

/* The operation that settles its own NaN; E_COUNT = there is none. */
static enum emu_op settled_by_itself(enum emu_op op)
{
	switch (op) {
	case E_add_f32: return E_add_settled_f32;
	case E_mul_f32: return E_mul_settled_f32;
	case E_fma_f32: return E_fma_settled_f32;
	default: return E_COUNT;
	}
}

static void settle_op(struct settled *w, const struct xop *old)
{
	struct xop x = *old;
	bool none = true;
	for (unsigned i = 0; i < x.n_s; i++) {
		if (!is_pure(w, &x.s[i]) || !is_seen(w, old, i))
			continue;
		const int32_t d = new_register(w->ir, x.s[i].reg);
		put_nan(w, old, d, x.s[i], none);
		x.s[i] = (struct xsrc){ .kind = S_REG, .reg = d };
		none = false;
	}
	x.first = x.first && none;
	x.counts = x.counts && none;
	const bool bits = makes_float(&x) && x.d[0] >= 0 && !w->pure[x.d[0]];
	const enum emu_op settled = bits ? settled_by_itself((enum emu_op)x.op) : E_COUNT;
	if (settled != E_COUNT)
		x.op = (uint16_t)settled;
	put(w, x);
	if (bits && settled == E_COUNT)
		put_nan(w, &x, x.d[0], (struct xsrc){ .kind = S_REG, .reg = x.d[0] }, false);
}

void nan_bits_settle(struct ir *ir)
{
	struct settled w = { .ir = ir,
		                 .made = mem_calloc(ir->n_regs + 1, sizeof *w.made),
		                 .pure = mem_calloc(ir->n_regs + 1, sizeof *w.pure) };
	if (find_made(&w)) {
		find_pure(&w);
		for (unsigned b = 0; b < ir->n_blocks; b++) {
			const uint32_t first = w.n;
			for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++)
				settle_op(&w, &ir->ops[o]);
			ir->blocks[b].first = first;
			ir->blocks[b].end = w.n;
		}
		free(ir->ops);
		ir->ops = w.ops;
		ir->n_ops = w.n;
		ir->cap_ops = w.cap;
		ir_find_only_defs(ir);
	}
	free(w.made);
	free(w.pure);
}
