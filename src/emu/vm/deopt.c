/*
 * From one program to another in the middle of a warp's run: an assumption did not hold, or what
 * the careful program looks for can no longer happen.
 *
 * Registers change from scalar + pattern to 32 lanes where the new program keeps them so, and all
 * move to its part of the frame. Predicates and the stack of waiting lanes are common to all
 * programs, since both name blocks and lanes, not uops. Nothing is executed or counted twice.
 */
#include "emu/vm/handler.h"

#include "base/mem.h"

#include <stdlib.h>

static uint64_t lane_value(const struct warp *w, const struct program *from, unsigned reg,
                           unsigned bytes, unsigned lane)
{
	const struct affine *s = &from->forms.reg[reg];
	if (s->cls == AFFINE_LANES)
		return bytes == 4 ? ((const mem_u32 *)frame(w, from->reg_slot[reg]))[lane]
		                  : ((const mem_u64 *)frame(w, from->reg_slot[reg]))[lane];
	if (s->known)
		return affine_lane(&from->forms, s, lane);
	return SCALAR64(from->reg_slot[reg]) + (uint64_t)from->forms.patterns[s->pattern].lane[lane];
}

uint64_t vm_lane_value(const struct warp *w, unsigned reg, unsigned bytes, unsigned lane)
{
	return lane_value(w, w->program, reg, bytes, lane);
}

/* What all lanes have, but for its pattern, as the first of @lanes tells. */
static uint64_t scalar_of(const struct warp *w, const struct program *from,
                          const struct program *to, unsigned reg, unsigned bytes, uint32_t lanes)
{
	const unsigned first = (unsigned)__builtin_ctz(lanes);
	const uint64_t v = lane_value(w, from, reg, bytes, first) -
	                   (uint64_t)to->forms.patterns[to->forms.reg[reg].pattern].lane[first];
	return bytes == 4 && from->forms.reg[reg].cls == AFFINE_LANES ? (uint32_t)v : v;
}

/* Of @lanes alone: in the others the slot may belong to another register. */
static void move_register(struct warp *w, const struct program *from, const struct program *to,
                          unsigned reg, unsigned bytes, uint32_t lanes)
{
	const struct affine *have = &from->forms.reg[reg], *want = &to->forms.reg[reg];
	if (to->reg_slot[reg] == UINT32_MAX || (!have->known && from->reg_slot[reg] == UINT32_MAX))
		return; /* never used there */
	if (want->cls == AFFINE_SCALAR) {
		SCALAR64(to->reg_slot[reg]) = scalar_of(w, from, to, reg, bytes, lanes);
		return;
	}
	mem_u32 *d32 = frame(w, to->reg_slot[reg]);
	mem_u64 *d64 = frame(w, to->reg_slot[reg]);
	for (; lanes; lanes &= lanes - 1) {
		const unsigned i = (unsigned)__builtin_ctz(lanes);
		const uint64_t v = lane_value(w, from, reg, bytes, i);
		if (bytes == 4)
			d32[i] = (uint32_t)v;
		else
			d64[i] = v;
	}
}

/* Registers that the rest of the block, from operation @op on, or what follows may read. */
static bool *live_from(const struct image *im, uint32_t op)
{
	const struct ir *ir = &im->ir;
	bool *live = mem_calloc(ir->n_regs, sizeof *live);
	const uint32_t block = im->segments[im->op_segment[op]].block;
	const uint64_t *out = bits_row(&im->live.out, block);
	for (unsigned r = 0; r < ir->n_regs; r++)
		live[r] = bits_get(out, r) || ir->regs[r].fixed;
	for (uint32_t o = ir->blocks[block].end; o-- > op;) {
		const struct xop *x = &ir->ops[o];
		int32_t reads[X_MAX_VEC + 4];
		for (unsigned i = 0; i < x->n_d; i++)
			if (x->d[i] >= 0 && x->guard < 0 && !ir->regs[x->d[i]].fixed)
				live[x->d[i]] = false;
		const unsigned n = xop_reads(x, reads);
		for (unsigned i = 0; i < n; i++)
			live[reads[i]] = true;
	}
	return live;
}

static void need_from_block(const struct image *im, int32_t block, uint32_t lanes, uint32_t *need)
{
	if (block < 0 || !lanes)
		return;
	const uint64_t *in = bits_row(&im->live.in, (unsigned)block);
	for (unsigned r = 0; r < im->ir.n_regs; r++)
		if (bits_get(in, r))
			need[r] |= lanes;
}

/*
 * By register: the lanes that need its value. Those of @running from operation @op on, the others
 * from the block at which they wait: of the entries that hold a lane, the topmost says which; and
 * all who are in a function, from the block behind its call on.
 */
static uint32_t *lanes_that_need(const struct warp *w, uint32_t op, uint32_t running)
{
	const struct image *im = w->image;
	uint32_t *need = mem_calloc(im->ir.n_regs, sizeof *need), seen = running;
	for (uint32_t i = 0; i < w->n_waiting; i++) {
		need_from_block(im, w->waiting[i].block, w->waiting[i].here & ~seen, need);
		seen |= w->waiting[i].here;
	}
	for (uint32_t i = w->depth; i-- > 0;) {
		const struct simt_entry *e = &w->stack[i];
		need_from_block(im, e->block, e->call ? e->mask : e->mask & ~seen, need);
		seen |= e->mask;
	}
	bool *live = live_from(im, op);
	for (unsigned r = 0; r < im->ir.n_regs; r++)
		need[r] |= im->ir.regs[r].fixed ? UINT32_MAX : live[r] ? running : 0;
	free(live);
	return need;
}

static const struct uop *deoptimise(struct warp *w, const struct uop *u, enum program_kind kind,
                                    bool in_guard)
{
	const struct image *im = w->image;
	const struct program *from = w->program, *to = &im->program[kind];
	const struct ir *ir = &im->ir;
	const struct segment *s = &im->segments[im->op_segment[u->xop]];
	/* what the segment has counted for handlers that will not run here */
	if ((in_guard ? w->guard_saved : w->mask) == 0xffffffffu)
		for (uint32_t i = u->xop; i < s->end; i++) {
			const struct xop *x = &ir->ops[i];
			if (x->mem >= 0 && from->mem[x->mem].full_probe)
				w->mem[x->mem].slow[from->kind]++;
		}
	/* Registers share slots by the liveness of one thread: what a lane does not need must not be
	 * written over what it needs. Of a warp that is not full, the other lanes do not matter. */
	const uint32_t mask = in_guard ? w->guard_saved : w->mask;
	const bool alone = w->depth == 0 && w->n_waiting == 0;
	uint32_t *need = lanes_that_need(w, u->xop, alone ? UINT32_MAX : mask);
	for (unsigned r = 0; r < ir->n_regs; r++)
		if (ir->regs[r].bytes && need[r])
			move_register(w, from, to, r, ir->regs[r].bytes, need[r]);
	free(need);
	if (in_guard) { /* the guard is evaluated again there */
		if (ir->ops[u->xop].counts)
			w->guards[u->xop] -= lane_popc32(w->mask);
		w->mask = w->guard_saved;
	}
	w->program = to;
	if (kind != PROGRAM_REFERENCE)
		w->win = w->worker->win[kind];
	return &to->uops[to->op_uop[u->xop]];
}

const struct uop *deoptimise_to_conservative(struct warp *w, const struct uop *u, uint32_t mask)
{
	w->worker->warps_deoptimised++;
	CONTINUE(deoptimise(w, u, PROGRAM_CONSERVATIVE, false));
}

const struct uop *deoptimise_here(struct warp *w, const struct uop *u)
{
	return deoptimise(w, u, PROGRAM_REFERENCE, false);
}

const struct uop *deoptimise_to_reference(struct warp *w, const struct uop *u, uint32_t mask)
{
	CONTINUE(deoptimise(w, u, PROGRAM_REFERENCE, u->b));
}

/* --- back --- */

/* Has @reg the values that it would have in program @to, in every one of @lanes? */
static bool has_form(const struct warp *w, const struct program *to, unsigned reg, unsigned bytes,
                     uint32_t lanes)
{
	const struct affine *want = &to->forms.reg[reg];
	if (want->cls != AFFINE_SCALAR || (!want->known && to->reg_slot[reg] == UINT32_MAX))
		return true;
	if (w->program->reg_slot[reg] == UINT32_MAX && !w->program->forms.reg[reg].known)
		return true; /* never used */
	const int64_t *const lane = to->forms.patterns[want->pattern].lane;
	const uint64_t scalar = want->known ? 0 : scalar_of(w, w->program, to, reg, bytes, lanes);
	const uint64_t all = UINT64_MAX >> (64 - 8 * bytes);
	for (; lanes; lanes &= lanes - 1) {
		const unsigned i = (unsigned)__builtin_ctz(lanes);
		const uint64_t v =
			want->known ? affine_lane(&to->forms, want, i) : scalar + (uint64_t)lane[i];
		if ((lane_value(w, w->program, reg, bytes, i) ^ v) & all)
			return false;
	}
	return true;
}

/* A warp that is back in the careful program again and again is better off there. */
#define MOST_RETURNS 16

const struct uop *reoptimise(struct warp *w, const struct uop *u)
{
	const struct image *im = w->image;
	const struct program *from = w->program, *to = &im->program[PROGRAM_CONSERVATIVE];
	const struct ir *ir = &im->ir;
	uint32_t *need = lanes_that_need(w, ir->blocks[u->a].first, w->mask);
	bool may = w->returns < MOST_RETURNS;
	for (unsigned r = 0; r < ir->n_regs && may; r++) {
		need[r] &= ir->regs[r].bytes ? w->live : 0; /* the others are gone */
		may = !need[r] || has_form(w, to, r, ir->regs[r].bytes, need[r]);
	}
	for (unsigned r = 0; r < ir->n_regs && may; r++)
		if (need[r])
			move_register(w, from, to, r, ir->regs[r].bytes, need[r]);
	free(need);
	if (!may) {
		w->stays_careful = true;
		return NULL;
	}
	w->returns++;
	w->takes_turns = false;
	w->program = to;
	w->win = w->worker->win[PROGRAM_CONSERVATIVE];
	return &to->uops[to->block_uop[u->a]];
}
