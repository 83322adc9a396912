/* The row of operations that fuse_window.c looks at, of which fuse_chains.c makes chains of shared
 * memory, and fuse_dots.c a sum of products of global memory. */
#ifndef PMPP_EMU_FUSE_WINDOW_H
#define PMPP_EMU_FUSE_WINDOW_H

#include "emu/codegen/emit.h"

#define WINDOW_OPS 1024
#define LEAST_FMAS 4
#define WINDOW_BASES (DOT_STEPS + 2)

enum def_kind { DEF_BEFORE, DEF_LOAD, DEF_SUM, DEF_OTHER, DEF_LATER };

/* A factor: where its half warps lie. */
struct factor {
	uint8_t base;
	bool row; /* 32 words in a row; else one word of each half warp */
	int64_t half[2];
};
struct load {
	uint32_t op;
	const struct memop *m;
	bool kept; /* something else needs what it gives */
	struct factor at;
};
struct fma {
	uint32_t op, chain;
	struct factor factor[2];
};
struct sum {
	uint32_t acc, d, last, n; /* slots; operation of the last FMA; FMAs */
};
/* A slot of the frame that a chain reads, or that another operation writes. */
struct touch {
	uint32_t slot, op;
};
struct window {
	struct emit *e;
	uint32_t block, segment_end, first, end; /* operations */
	struct reg_def {
		uint32_t round;
		enum def_kind kind;
		uint32_t index; /* of the load or the sum */
		uint8_t element;
	} *def; /* by register: what the window did to it, valid in this round */
	uint32_t round;
	uint32_t *last_read;  /* by register: 1 + the last operation of the block that reads it */
	uint32_t *first_read; /* by slot / 8: the first operation whose FMA reads it, or sums to it */
	uint32_t n_slots;
	unsigned n_loads, n_fmas, n_sums, n_reads, n_others, n_bases;
	unsigned n_later;
	bool global; /* what its loads read; else shared memory */
	struct load load[WINDOW_OPS];
	struct fma fma[WINDOW_OPS];
	struct sum sum[WINDOW_OPS];
	struct touch read[4 * WINDOW_OPS]; /* by chains */
	uint32_t other[WINDOW_OPS];
	uint32_t later[WINDOW_OPS]; /* others that are done behind the chains, in their order */
	struct chain_base base[WINDOW_BASES];
	int32_t base_reg[WINDOW_BASES];
};

/* For a segment; all in @w is set. */
void window_open(struct window *w, struct emit *e, const struct segment *s);
void window_close(struct window *w);
/* Finds the longest window from operation @first on that holds: w->end. @global: with one sum only,
 * and loads of global memory. False: there is none, and none begins in front of w->end. */
bool window_find(struct window *w, uint32_t first, bool global);
/* The uop behind those of an operation. */
uint32_t window_uops_end(const struct window *w, uint32_t op);
/* A place for copies of uops of the window, whose first uop does @chains or @dots; its others are
 * in it. */
struct detour *window_detour(const struct window *w, struct chains *chains, struct dots *dots);
/* Adds the uops of @op to copies. */
void window_copy(const struct window *w, uint32_t op, struct copies *c);
/* fuse_dots.c: false = the window is none of that kind. */
bool put_dots(const struct window *w);

#endif
