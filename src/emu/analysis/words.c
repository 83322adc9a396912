/*
 * Values of 64 bits that machine code keeps in two registers of 32: made one register again, so
 * that the form of an address is seen in every block, and addresses are not put together anew.
 *
 * Wherever one of the two words is written, the register of both is made as well; what put the
 * words together then reads it. Where the words themselves came from one value, as all sums of
 * addresses do, that value is taken, and the words are dead.
 */
#include "emu/analysis/analysis.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct couple {
	int32_t low, high, whole;
};

struct words {
	struct ir *ir;
	struct couple *couples;
	unsigned n, cap;
	int32_t *last; /* by register: operation of this block that wrote it last, -1 = none yet */
	bool changed;
};

static bool is_op(const struct xop *x, enum emu_op op)
{
	return x->kind == X_OP && x->op == op;
}

static bool joins_registers(const struct xop *x)
{
	return is_op(x, E_pack64) && x->s[0].kind == S_REG && x->s[1].kind == S_REG &&
	       x->s[0].reg != x->s[1].reg;
}

static void forget_writers(struct words *w)
{
	memset(w->last, 0xff, w->ir->n_regs * sizeof *w->last);
}

static void note_writes(struct words *w, uint32_t o)
{
	const struct xop *x = &w->ir->ops[o];
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] >= 0)
			w->last[x->d[i]] = (int32_t)o;
}

/* What wrote @reg last in this block; NULL = not known, or not in all lanes. */
static const struct xop *writer(const struct words *w, int32_t reg)
{
	const int32_t o = w->last[reg];
	return o >= 0 && w->ir->ops[o].guard < 0 ? &w->ir->ops[o] : NULL;
}

/* Has source @s of operation @o still the value that @o saw? */
static bool unchanged(const struct words *w, const struct xsrc *s, uint32_t o)
{
	return s->kind != S_REG || w->last[s->reg] < (int32_t)o;
}

static bool is_number(const struct xop *x, uint64_t *v)
{
	if (!x || !is_op(x, E_mov_b32) || x->s[0].kind != S_CONST)
		return false;
	*v = (uint32_t)x->s[0].value;
	return true;
}

static void become(struct words *w, struct xop *x, enum emu_op op, struct xsrc a)
{
	x->op = (uint16_t)op;
	x->s[0] = a;
	x->n_s = 1;
	w->changed = true;
}

/* Is the upper word the sign of the lower one? */
static bool is_sign_of(const struct words *w, const struct xop *high, const struct xop *x)
{
	return is_op(high, E_shr_s32) && high->s[0].kind == S_REG && high->s[0].reg == x->s[0].reg &&
	       high->s[1].kind == S_CONST && high->s[1].value == 31 &&
	       w->last[x->s[0].reg] < w->last[x->s[1].reg];
}

/* Both words by one operation each, @low_op and @high_op, on registers that did not change. */
static bool both_are(const struct words *w, const struct xop *x, enum emu_op low_op,
                     enum emu_op high_op)
{
	const uint32_t low_at = (uint32_t)w->last[x->s[0].reg];
	const uint32_t high_at = (uint32_t)w->last[x->s[1].reg];
	const struct xop *low = &w->ir->ops[low_at], *high = &w->ir->ops[high_at];
	return is_op(low, low_op) && is_op(high, high_op) && low->s[0].kind == S_REG &&
	       high->s[0].kind == S_REG && unchanged(w, &low->s[0], low_at) &&
	       unchanged(w, &high->s[0], high_at);
}

/* pack64 of words that have a known history. */
static void simplify(struct words *w, struct xop *x)
{
	const struct xop *low = writer(w, x->s[0].reg), *high = writer(w, x->s[1].reg);
	uint64_t a, b;
	if (!high)
		return;
	if (is_number(high, &b) && !b) {
		become(w, x, E_zext64, x->s[0]);
	} else if (is_sign_of(w, high, x)) {
		become(w, x, E_sext64, x->s[0]);
	} else if (!low) {
		return;
	} else if (is_number(low, &a) && is_number(high, &b)) {
		become(w, x, E_mov_b64, (struct xsrc){ .kind = S_CONST, .value = a | b << 32 });
	} else if (both_are(w, x, E_trunc32, E_hi32) && low->s[0].reg == high->s[0].reg) {
		become(w, x, E_mov_b64, low->s[0]);
	} else if (both_are(w, x, E_mov_b32, E_mov_b32)) {
		x->s[0] = low->s[0];
		x->s[1] = high->s[0];
		w->changed = true;
	}
}

static void simplify_all(struct words *w)
{
	for (unsigned b = 0; b < w->ir->n_blocks; b++) {
		forget_writers(w);
		for (uint32_t o = w->ir->blocks[b].first; o < w->ir->blocks[b].end; o++) {
			if (joins_registers(&w->ir->ops[o]))
				simplify(w, &w->ir->ops[o]);
			note_writes(w, o);
		}
	}
}

static int32_t new_register(struct ir *ir, unsigned bytes)
{
	MEM_ROOM(ir->regs, ir->n_regs, ir->cap_regs, 64);
	ir->regs[ir->n_regs] = (struct xreg){ .bytes = (uint8_t)bytes };
	return (int32_t)ir->n_regs++;
}

static int32_t whole_of(const struct words *w, const struct xop *x)
{
	for (unsigned n = 0; joins_registers(x) && n < w->n; n++)
		if (w->couples[n].low == x->s[0].reg && w->couples[n].high == x->s[1].reg)
			return w->couples[n].whole;
	return -1;
}

/* Words that come from other blocks. */
static void find_couples(struct words *w)
{
	const struct ir *ir = w->ir;
	w->n = 0;
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		forget_writers(w);
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			const struct xop *x = &ir->ops[o];
			if (joins_registers(x) && w->last[x->s[0].reg] < 0 && w->last[x->s[1].reg] < 0 &&
			    !ir->regs[x->s[0].reg].fixed && !ir->regs[x->s[1].reg].fixed &&
			    whole_of(w, x) < 0) {
				MEM_ROOM(w->couples, w->n, w->cap, 16);
				w->couples[w->n++] = (struct couple){ x->s[0].reg, x->s[1].reg, -1 };
			}
			note_writes(w, o);
		}
	}
	for (unsigned n = 0; n < w->n; n++)
		w->couples[n].whole = new_register(w->ir, 8);
	w->last = mem_realloc(w->last, ir->n_regs + 1, sizeof *w->last);
}

static bool writes(const struct xop *x, int32_t reg)
{
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] == reg)
			return true;
	return false;
}

struct rewrite {
	struct xop *ops;
	unsigned n, cap;
	bool *due; /* by couple: a word was written, its whole was not yet made */
};

/* Operations of @x's instruction that the person did not write. */
static struct xop *insert(struct rewrite *r, const struct xop *x)
{
	MEM_ROOM(r->ops, r->n, r->cap, 256);
	struct xop *y = &r->ops[r->n++];
	*y = (struct xop){ .kind = X_OP, .pc = x->pc, .guard = -1, .mem = -1, .vec = 1, .n_d = 1 };
	return y;
}

static void make_whole(struct rewrite *r, const struct couple *c, const struct xop *x)
{
	struct xop *y = insert(r, x);
	y->op = E_pack64;
	y->d[0] = c->whole;
	y->n_s = 2;
	y->s[0] = (struct xsrc){ .kind = S_REG, .reg = c->low };
	y->s[1] = (struct xsrc){ .kind = S_REG, .reg = c->high };
}

/* Does what follows @o in its instruction, or the next operation, write the other word, too? Then
 * both are there a moment later. */
static bool other_follows(const struct words *w, const struct couple *c, uint32_t o, uint32_t end)
{
	for (uint32_t k = o + 1; k < end; k++) {
		const struct xop *x = &w->ir->ops[k];
		if (writes(x, c->low) || writes(x, c->high))
			return true;
		if (joins_registers(x) && x->s[0].reg == c->low && x->s[1].reg == c->high)
			return false;
	}
	return false;
}

static void rewrite_block(struct words *w, struct rewrite *r, struct xblock *xb)
{
	const uint32_t first = r->n;
	for (uint32_t o = xb->first; o < xb->end; o++) {
		const struct xop x = w->ir->ops[o];
		const int32_t whole = whole_of(w, &x);
		MEM_ROOM(r->ops, r->n, r->cap, 256);
		struct xop *y = &r->ops[r->n++];
		*y = x;
		if (whole >= 0)
			become(w, y, E_mov_b64, (struct xsrc){ .kind = S_REG, .reg = whole });
		for (unsigned n = 0; n < w->n; n++) {
			const struct couple *c = &w->couples[n];
			if ((writes(&x, c->low) || writes(&x, c->high)) && !other_follows(w, c, o, xb->end))
				make_whole(r, c, &x);
		}
	}
	xb->first = first;
	xb->end = r->n;
}

static void rewrite_all(struct words *w)
{
	struct ir *ir = w->ir;
	struct rewrite r = { .ops = NULL };
	for (unsigned b = 0; b < ir->n_blocks; b++)
		rewrite_block(w, &r, &ir->blocks[b]);
	free(ir->ops);
	ir->ops = r.ops;
	ir->n_ops = r.n;
	ir->cap_ops = r.cap;
}

/* Reads of a copy that is written once become reads of what it copies, in its block. */
static void pass_copies(struct words *w)
{
	const struct ir *ir = w->ir;
	ir_find_only_defs(w->ir);
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		forget_writers(w);
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			struct xop *x = &ir->ops[o];
			for (unsigned i = 0; i < x->n_s; i++) {
				const int32_t at = x->s[i].kind == S_REG ? ir->only_def[x->s[i].reg] : -1;
				const struct xop *from = at >= 0 ? &ir->ops[at] : NULL;
				if (!from || w->last[x->s[i].reg] != at || from->guard >= 0 ||
				    !(is_op(from, E_mov_b32) || is_op(from, E_mov_b64)) ||
				    from->s[0].kind != S_REG || ir->regs[from->s[0].reg].fixed ||
				    !unchanged(w, &from->s[0], (uint32_t)at))
					continue;
				x->s[i].reg = from->s[0].reg;
			}
			note_writes(w, o);
		}
	}
}

void words_join(struct ir *ir)
{
	struct words w = { .ir = ir };
	w.last = mem_calloc(ir->n_regs + 1, sizeof *w.last);
	for (unsigned round = 0; round < 4; round++) {
		w.changed = false;
		simplify_all(&w);
		find_couples(&w);
		if (w.n)
			rewrite_all(&w);
		pass_copies(&w);
		if (!w.changed)
			break;
	}
	simplify_all(&w);
	pass_copies(&w);
	dead_code_remove(ir);
	ir_find_only_defs(ir);
	free(w.couples);
	free(w.last);
}
