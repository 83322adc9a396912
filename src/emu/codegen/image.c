/*
 * From operations to uops: up to four programs over one frame. The speculative, the conservative
 * and the checked one use scalars where classify.c allows; in the reference program every register
 * has 32 values. All count in the same segments.
 *
 * What a launch makes constant (parameters, dimensions, %tid of a 32-wide block) was folded before;
 * an operation whose result is known emits nothing but in the reference program. That one runs the
 * traced warp, and is where a warp is deoptimised to when a widening could wrap (vm/deopt.c).
 */
#include "emu/codegen/emit.h"

#include "base/mem.h"
#include "emu/codegen/loads_together.h"
#include "emu/codegen/slots.h"

#include <stdlib.h>

/* --- one operation --- */

static bool writes_nothing(const struct xop *x)
{
	if (x->kind > X_CLOCK || x->guard >= 0)
		return false;
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] >= 0)
			return false;
	return true;
}

static void emit_clock(struct emit *e, const struct xop *x)
{
	emit_scalar_source(e, &e->h->uniform->clock, x);
}

static void emit_active(struct emit *e, const struct xop *x)
{
	emit_scalar_source(e, x->op ? &e->h->meet->here : &e->h->warp->active, x);
}

static void emit_trap(struct emit *e, const struct xop *x)
{
	(void)x;
	emit_uop(e, &e->h->control->trap);
}

static void emit_warp_sync(struct emit *e, const struct xop *x)
{
	const bool all = x->n_s && x->s[0].kind != S_REG && (uint32_t)x->s[0].value == ~0u;
	const bool parts = x->n_s && (!all || e->p->kind >= PROGRAM_CHECKED);
	const uint32_t lanes = parts ? emit_lanes(e, &x->s[0], 4, 0) : 0;
	emit_uop(e, parts ? &e->h->warp->sync_parts : &e->h->warp->sync)->a = lanes;
}

/* Only the checks look at copies ... */
static void emit_copies(struct emit *e, const struct xop *x)
{
	if (e->p->kind < PROGRAM_CHECKED)
		return;
	struct uop *u = emit_uop(e, &e->h->warp->copies);
	u->a = x->op;
	u->b = (uint32_t)x->offset;
}

/* ... and at fences. */
static void emit_fence(struct emit *e, const struct xop *x)
{
	if (e->p->kind >= PROGRAM_CHECKED)
		emit_uop(e, &e->h->warp->fence)->y = x->scope;
}

static void emit_nop(struct emit *e, const struct xop *x)
{
	if (x->op != NOP_RESTS)
		return;
	const uint32_t ns = x->n_s ? emit_lanes(e, &x->s[0], 4, 0) : 0;
	struct uop *u = emit_uop(e, &e->h->warp->rest);
	u->a = ns;
	u->b = x->n_s;
}

typedef void (*emitter)(struct emit *e, const struct xop *x);
static const emitter emitters[] = {
	[X_OP] = emit_op,           [X_CMP] = emit_cmp,
	[X_PRED] = emit_pred,       [X_SEL] = emit_select,
	[X_SPECIAL] = emit_special, [X_CLOCK] = emit_clock,
	[X_LD] = emit_memory,       [X_ST] = emit_memory,
	[X_ATOM] = emit_memory,     [X_RED] = emit_memory,
	[X_ASYNC] = emit_memory,    [X_BRA] = emit_bra,
	[X_SYSTEM] = emit_system,   [X_BRX] = emit_brx,
	[X_CALL] = emit_call,       [X_RET] = emit_ret,
	[X_EXIT] = emit_exit,       [X_TRAP] = emit_trap,
	[X_BAR] = emit_barrier,     [X_ARRIVE] = emit_barrier,
	[X_BARRED] = emit_barred,   [X_SHFL] = emit_shfl,
	[X_VOTE] = emit_vote,       [X_MATCH] = emit_match,
	[X_REDUX] = emit_redux,     [X_ACTIVE] = emit_active,
	[X_ELECT] = emit_elect,     [X_WARPSYNC] = emit_warp_sync,
	[X_MEET_BEGIN] = emit_meet, [X_MEET_WAIT] = emit_meet,
	[X_MEET_BREAK] = emit_meet, [X_MEET_GET] = emit_meet,
	[X_MEET_SET] = emit_meet,   [X_MEET_WARP] = emit_meet_warp,
	[X_LEAVE] = emit_leave,     [X_NOP] = emit_nop,
	[X_TENSOR] = emit_tensor,   [X_TEXTURE] = emit_texture,
	[X_FENCE] = emit_fence,     [X_COPIES] = emit_copies,
};

/* Looks at its guard itself. */
static bool takes_guard(const struct xop *x)
{
	return x->kind == X_BRA || x->kind == X_BRX || x->kind == X_EXIT || x->kind == X_CALL ||
	       x->kind == X_RET || x->kind == X_LEAVE || x->kind == X_MEET_WARP;
}

static void emit_guarded(struct emit *e, const struct xop *x)
{
	if (x->guard < 0 || takes_guard(x)) {
		emitters[x->kind](e, x);
		return;
	}
	struct uop *g = emit_uop(e, &e->h->control->guard);
	const size_t at = (size_t)(g - e->p->uops);
	g->a = e->pred_slot[x->guard];
	g->b = x->guard_neg ? 0xffffffffu : 0;
	g->c = x->counts;
	g->y = e->xop;
	e->guarded = true;
	emitters[x->kind](e, x);
	e->guarded = false;
	emit_uop(e, &e->h->control->guard_end);
	g = &e->p->uops[at];
	g->x.u = e->p->n_uops; /* made a pointer at the end */
	if (x->mem >= 0 && e->p->mem[x->mem].full_probe) {
		g->full = e->h->control->guard_access.full;
		g->d = (uint32_t)x->mem;
	}
}

/* --- programs --- */

static void make_segments(struct image *im)
{
	const struct ir *ir = &im->ir;
	im->segments = mem_calloc(ir->n_ops + ir->n_blocks + 1, sizeof *im->segments);
	im->op_segment = mem_calloc(ir->n_ops + 1, sizeof *im->op_segment);
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		const struct xblock *xb = &ir->blocks[b];
		uint32_t first = xb->first;
		do {
			struct segment *s = &im->segments[im->n_segments];
			*s = (struct segment){ .block = b, .first = first, .end = first };
			while (s->end < xb->end) {
				const struct xop *x = &ir->ops[s->end];
				s->length += x->first;
				im->op_segment[s->end++] = im->n_segments;
				const bool leaves = x->kind == X_EXIT || x->kind == X_RET || x->kind == X_LEAVE;
				if (leaves && x->guard >= 0)
					break; /* fewer lanes from here on */
			}
			first = s->end;
			im->n_segments++;
		} while (first < xb->end);
	}
}

/* Its pattern is a number until all are known. */
static bool compares_row(const struct emit *e, const struct uop *u)
{
	const struct ir *ir = &e->im->ir;
	if (u->xop >= ir->n_ops)
		return false;
	const struct xop *x = &ir->ops[u->xop];
	const struct handler *h = e->h->alu->row[x->op];
	return x->kind == X_CMP && (u->full == h[0].full || u->full == h[1].full);
}

static void emit_program(struct emit *e)
{
	struct image *im = e->im;
	const struct ir *ir = &im->ir;
	struct program *p = e->p;
	const struct control_handlers *c = e->h->control;
	p->block_uop = mem_calloc(ir->n_blocks + 1, sizeof *p->block_uop);
	p->op_uop = mem_calloc(ir->n_ops + 1, sizeof *p->op_uop);
	p->mem = mem_calloc(ir->n_mem + 1, sizeof *p->mem);
	for (unsigned i = 0; i < im->n_segments; i++) {
		const struct segment *s = &im->segments[i];
		const bool at_start = s->first == ir->blocks[s->block].first;
		if (at_start) {
			p->block_uop[s->block] = p->n_uops;
			affine_enter_block(&p->forms);
		}
		e->xop = s->first < ir->n_ops ? s->first : ir->n_ops - 1;
		struct uop *u = emit_uop(e, &c->enter[p->kind]);
		u->a = at_start ? s->block : UINT32_MAX;
		u->b = s->length;
		u->y = i;
		const uint32_t first_uop = p->n_uops;
		e->block = s->block;
		e->position = -(int64_t)s->length;
		for (uint32_t o = s->first; o < s->end; o++) {
			const struct xop *x = &ir->ops[o];
			e->xop = o;
			e->position += x->first;
			p->op_uop[o] = p->n_uops;
			if (p->kind == PROGRAM_REFERENCE && x->first)
				emit_uop(e, &c->trace);
			e->raw = affine_of_result(&p->forms, ir, x, e->plan);
			if (!writes_nothing(x))
				emit_guarded(e, x);
			affine_note(&p->forms, x, &e->raw);
		}
		if (p->kind != PROGRAM_REFERENCE)
			fuse_segment(e, s, first_uop, p->n_uops);
	}
	/* a function may end without ret */
	emit_uop(e, ir_of_machine_code(ir) ? &e->h->meet->leave : &c->exit);
	fuse_chains_finish(e);
	MEM_FIT(p->uops, p->n_uops, p->cap_uops);
	for (unsigned i = 0; i < e->n_fixups; i++)
		p->uops[e->fixups[i].uop].x.to = &p->uops[p->block_uop[e->fixups[i].block]];
	e->n_fixups = 0;
	for (unsigned i = 0; i < p->n_uops; i++) {
		struct uop *u = &p->uops[i];
		if (u->full == c->guard.full || u->full == c->guard_access.full) {
			u->x.to = &p->uops[u->x.u];
		} else if (forward_spreads(e, u) || u->full == c->check_s32.full ||
		           u->full == c->check_u32.full || u->full == c->check_positive.full ||
		           compares_row(e, u)) {
			u->x.pattern = &p->forms.patterns[u->x.u];
		}
	}
	for (unsigned i = 0; i < ir->n_mem; i++)
		memory_finish(e, &p->mem[i]);
}

static void make_frame(struct image *im, struct emit *e, uint32_t **pred_slot)
{
	const struct ir *ir = &im->ir;
	uint32_t at = e->h->header_bytes;
	*pred_slot = mem_calloc(ir->n_regs, sizeof **pred_slot);
	for (unsigned i = 0; i < ir->n_regs; i++)
		if (!ir->regs[i].bytes) {
			(*pred_slot)[i] = at;
			at += 4;
		}
	e->pred_slot = *pred_slot;
	at = (at + 7) / 8 * 8;
	for (unsigned i = 0; i < N_TEMPS; i++, at += 8)
		e->scalar_temp[i] = at;
	at = (at + 63) / 64 * 64;
	for (unsigned i = 0; i < N_TEMPS; i++, at += 256)
		e->vec_temp[i] = at;
	im->frame_bytes = at;
	e->pred_zeros = emit_const(e, 4, 1, (const uint64_t[]){ 0 });
	e->pred_ones = emit_const(e, 4, 1, (const uint64_t[]){ 0xffffffffu });
}

static void add_zero(struct image *im, uint32_t offset, uint32_t bytes)
{
	im->zeros = mem_realloc(im->zeros, im->n_zeros + 1, sizeof *im->zeros);
	im->zeros[im->n_zeros++] = (struct zero_slot){ offset, bytes };
}

/* What is alive where a kernel begins was written by nobody. */
static void list_zeros(struct image *im, const uint32_t *pred_slot)
{
	const uint64_t *entry = bits_row(&im->live.in, 0);
	for (unsigned r = 0; r < im->ir.n_regs; r++) {
		const uint32_t bytes = im->ir.regs[r].bytes;
		if (!bits_get(entry, r))
			continue;
		if (!bytes)
			add_zero(im, pred_slot[r], 4);
		for (unsigned k = 0; bytes && k < PROGRAMS; k++) {
			const struct program *p = &im->program[k];
			if (p->reg_slot && p->reg_slot[r] != UINT32_MAX)
				add_zero(im, p->reg_slot[r], p->forms.reg[r].cls == AFFINE_LANES ? 32 * bytes : 8);
		}
	}
}

void image_build(struct image *im, const struct launch_plan *plan, uint32_t shared_bytes,
                 const struct handler_set *handlers, bool reference_only, bool checked)
{
	uint32_t *pred_slot = NULL;
	struct emit e = { .im = im, .plan = plan, .shared_bytes = shared_bytes, .h = handlers };
	if (ir_of_machine_code(&im->ir)) {
		dead_code_remove(&im->ir);
		guards_lift(&im->ir);
		webs_split(&im->ir);
		if (spills_keep(&im->ir))
			webs_split(&im->ir); /* places hold one value after another, like registers */
		words_join(&im->ir);
	} else {
		known_compares_decide(&im->ir);
		products_contract(&im->ir);
		products_scale(&im->ir);
		halves_widen(&im->ir);
	}
	nan_bits_settle(&im->ir);
	/* it is kept for launches to come, next to hundreds of others (launch/image_cache.c), and a
	 * copy of the program copies all of them */
	MEM_FIT(im->ir.ops, im->ir.n_ops, im->ir.cap_ops);
	flow_liveness(&im->ir, &im->live);
	struct splits splits;
	splits_open(&splits, &im->ir, &im->live);
	make_segments(im);
	im->begun = loads_together(&im->ir, im->segments, im->n_segments);
	make_frame(im, &e, &pred_slot);
	static const enum classify_mode modes[PROGRAMS] = { CLASSIFY_SPECULATIVE, CLASSIFY_CONSERVATIVE,
		                                                CLASSIFY_CONSERVATIVE, CLASSIFY_REFERENCE };
	bool *speculative = mem_calloc(im->ir.n_blocks + 1, sizeof *speculative);
	im->start = reference_only ? PROGRAM_REFERENCE : PROGRAM_CONSERVATIVE;
	for (unsigned k = reference_only ? PROGRAM_REFERENCE : PROGRAM_SPECULATIVE; k < PROGRAMS; k++) {
		if (k == PROGRAM_CHECKED && !checked)
			continue;
		e.p = &im->program[k];
		e.p->kind = (enum program_kind)k;
		const bool marked = classify(&splits, plan, modes[k], speculative, &e.p->forms);
		if (k == PROGRAM_SPECULATIVE && !marked) { /* nothing to speculate on */
			affine_free(&e.p->forms);
			continue;
		}
		if (k == PROGRAM_SPECULATIVE)
			im->start = PROGRAM_SPECULATIVE;
		e.speculative = k == PROGRAM_SPECULATIVE ? speculative : NULL;
		slots_assign(&im->ir, &im->live, e.p, k != PROGRAM_REFERENCE, &im->frame_bytes);
		emit_program(&e);
	}
	splits_close(&splits);
	free(speculative);
	list_zeros(im, pred_slot);
	im->frame_bytes = ((im->frame_bytes + 63) / 64 | 1) * 64;
	free(pred_slot);
	free(e.fixups);
	free(e.detours);
	MEM_FIT(im->consts, im->n_consts, im->cap_consts);
}

static void program_free(struct program *p)
{
	free(p->uops);
	free(p->block_uop);
	free(p->op_uop);
	free(p->mem);
	free(p->reg_slot);
	affine_free(&p->forms);
}

void image_free(struct image *im)
{
	for (unsigned k = 0; k < PROGRAMS; k++)
		program_free(&im->program[k]);
	liveness_free(&im->live);
	ir_free(&im->ir);
	free(im->segments);
	free(im->op_segment);
	free(im->begun);
	free(im->consts);
	free(im->zeros);
	for (unsigned i = 0; i < im->n_pool; i++)
		free(im->pool[i]);
	free(im->pool);
	*im = (struct image){ 0 };
}
