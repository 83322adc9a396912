/* Shared by the emit_*.c files and fuse.c: building a program of uops. */
#ifndef PMPP_EMU_EMIT_H
#define PMPP_EMU_EMIT_H

#include "emu/codegen/codegen.h"

#define N_TEMPS 10

struct emit {
	struct image *im;
	struct program *p;
	const struct launch_plan *plan;
	uint32_t shared_bytes;
	const struct handler_set *h;
	const uint32_t *pred_slot; /* by register */
	uint32_t pred_zeros, pred_ones;
	uint32_t vec_temp[N_TEMPS], scalar_temp[N_TEMPS];
	const bool *speculative; /* per block: its branch is assumed not to split a warp */
	uint32_t block, xop;     /* that are being emitted */
	struct affine raw;       /* what the operation gives, before its registers are looked at */
	bool guarded;
	int64_t position; /* in the segment, counted from its end */
	struct fixup {
		uint32_t uop, block;
	} *fixups;
	unsigned n_fixups, cap_fixups;
	struct detour {
		uint32_t first, end;   /* uops of the window */
		struct chains *chains; /* what its first uop does, or: */
		struct dots *dots;
		struct copies {
			uint32_t *uop;
			unsigned n;
		} others, careful, later; /* see fuse_chains.c and fuse_dots.c */
	} *detours;
	unsigned n_detours, cap_detours;
};

struct uop *emit_uop(struct emit *e, const struct handler *h);
uint32_t emit_const(struct emit *e, unsigned bytes, unsigned lanes, const uint64_t *value);
/* Slot of a source as 32 lanes (temporary @t may be used) or as a scalar. */
uint32_t emit_lanes(struct emit *e, const struct xsrc *s, unsigned bytes, unsigned t);
uint32_t emit_scalar(struct emit *e, const struct xsrc *s, unsigned bytes);
struct affine emit_form(const struct emit *e, const struct xsrc *s);
uint32_t emit_known_lanes(struct emit *e, const struct affine *s, unsigned bytes);
/* A predicate as a source; the mask that inverts it. */
uint32_t emit_pred_src(const struct emit *e, const struct xsrc *s);
uint32_t emit_inverted(const struct xsrc *s);
bool emit_needs_lanes(const struct emit *e, int32_t reg);
/* 32 lanes of register @reg = scalar in slot @from + @pattern. */
void emit_spread(struct emit *e, uint32_t to, uint32_t from, int32_t pattern, unsigned bytes);
void *image_pool(struct image *im, size_t bytes); /* zeroed, freed with the image */

/* emit_alu.c, emit_flow.c, emit_meet.c, emit_mem.c: one operation each. */
void emit_op(struct emit *e, const struct xop *original);
void emit_cmp(struct emit *e, const struct xop *x);
void emit_pred(struct emit *e, const struct xop *x);
void emit_select(struct emit *e, const struct xop *x);
void emit_special(struct emit *e, const struct xop *x);
void emit_shfl(struct emit *e, const struct xop *x);
void emit_vote(struct emit *e, const struct xop *x);
void emit_match(struct emit *e, const struct xop *x);
void emit_redux(struct emit *e, const struct xop *x);
void emit_texture(struct emit *e, const struct xop *x);
void emit_elect(struct emit *e, const struct xop *x);
void emit_scalar_source(struct emit *e, const struct handler *h, const struct xop *x);
void emit_bra(struct emit *e, const struct xop *x);
void emit_brx(struct emit *e, const struct xop *x);
void emit_barrier(struct emit *e, const struct xop *x);
void emit_barred(struct emit *e, const struct xop *x);
void emit_exit(struct emit *e, const struct xop *x);
void emit_call(struct emit *e, const struct xop *x);
void emit_system(struct emit *e, const struct xop *x);
void emit_tensor(struct emit *e, const struct xop *x);
void emit_ret(struct emit *e, const struct xop *x);
/* @u->x.to becomes the first uop of @block when the program is whole. */
void emit_target(struct emit *e, const struct uop *u, int32_t block);
void emit_memory(struct emit *e, const struct xop *x);
void emit_meet(struct emit *e, const struct xop *x);
void emit_meet_warp(struct emit *e, const struct xop *x);
void emit_leave(struct emit *e, const struct xop *x);
/* Patterns have stopped moving: makes pointers of their numbers. */
void memory_finish(struct emit *e, struct memop *m);

/* fuse.c: lets single uops of [first, end), all of segment @s, do more. */
void fuse_segment(struct emit *e, const struct segment *s, uint32_t first, uint32_t end);
/* fuse_adds.c: a row of additions of 64-bit scalars from uop @first on; returns how many, 0 = none.
 */
uint32_t fuse_adds(struct emit *e, uint32_t first, uint32_t end);
/* forward.c: lets uops of [first, end) hand their results on. */
void forward_results(struct emit *e, uint32_t block, uint32_t first, uint32_t end);
/* Is @u a spread, whatever becomes of its result? */
bool forward_spreads(const struct emit *e, const struct uop *u);
/* fuse_chains.c: the same for sums of products; and at the end of the program. */
void fuse_chains(struct emit *e, const struct segment *s);
void fuse_chains_finish(struct emit *e);

#endif
