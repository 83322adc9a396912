/*
 * The handlers that programs are made of, as tables: codegen picks from them, vm fills them in.
 *
 * Handlers that work on 32 lanes exist once per instruction-set level of the host; the others once.
 */
#ifndef PMPP_EMU_HANDLERS_H
#define PMPP_EMU_HANDLERS_H

#include "emu/codegen/program.h"

/* --- one per machine --- */

/* What a divisor is: a scalar or 32 lanes, of 32 or 64 bits. */
enum divisor_kind { DIVISOR_S32, DIVISOR_S64, DIVISOR_L32, DIVISOR_L64 };

/* Segments, exits, guards, checks of assumptions (vm/control.c). */
struct control_handlers {
	struct handler enter[PROGRAMS]; /* begin of a segment, counted by kind of program */
	struct handler exit, exit_if, trap, divisor;
	struct handler guard, guard_access, guard_end; /* guard_access: of one counted in the segment */
	struct handler check_s32, check_u32, check_positive;
	struct handler trace;
};
/* The ends of basic blocks (vm/branch.c). */
struct branch_handlers {
	struct handler jump, two_way, speculative, table;
};
/* Calls and returns (vm/call.c). */
struct call_handlers {
	struct handler direct, indirect, ret, ret_if;
};
/* The same of machine code, where lanes meet again at barriers of the warp (vm/meet.c). */
struct meet_handlers {
	struct handler two_way, table; /* branches */
	struct handler begin, wait, break_, get, set, here;
	struct handler wait_warp, wait_exclusive, wait_collective, wait_warp_if, yield;
	struct handler leave, leave_if; /* exits */
};
/* Barriers of a block (vm/barrier.c). */
struct barrier_handlers {
	struct handler sync, arrive, result, result_pred;
};
/* Instructions in which the lanes of a warp see one another (vm/warpwide.c). */
struct warp_handlers {
	struct handler shfl, vote, vote_lanes, match, redux, redux_lanes, active, elect, sync,
		sync_parts, named, fence, copies, rest, look;
};
/* Registers that are one scalar per warp, and predicates (vm/uniform.c). */
struct uniform_handlers {
	uop_fn
		adds; /* c add_b64 in a row; y of those behind the first: a is what the one before gave */
	struct handler op[E_COUNT];
	struct handler pred[4]; /* by enum ptx_boolop */
	struct handler select, clock;
};

/* --- one per instruction-set level (vm/simd) --- */

/* Which source of an operation is a scalar. */
enum scalar_source { SCALAR_NONE, SCALAR_A, SCALAR_B, SCALAR_C, SCALAR_SOURCES };

/* Which source of an operation the uop before hands on in vector registers. */
enum handed_source { HANDED_NONE, HANDED_A, HANDED_B, HANDED_C, HANDED_AB, HANDED_SOURCES };

/* Handlers that hand their results on, and write them into the frame or drop them; NULL = not
 * there. Comparisons hand nothing on: they have none that drop. */
struct forward_handlers {
	struct handler keep[HANDED_SOURCES][SCALAR_SOURCES], drop[HANDED_SOURCES][SCALAR_SOURCES];
};

/* By operation, and of others of alu_handlers; NULL = none. */
struct forward_tables {
	const struct forward_handlers *op[E_COUNT], *spread32, *select32;
};

struct alu_handlers {
	struct handler op[E_COUNT][SCALAR_SOURCES]; /* comparisons included; .full NULL = not there */
	/* Comparisons of scalar + pattern, their first or second source, with a scalar; the same. */
	struct handler row[E_COUNT][2];
	struct handler select32, select64;
	struct handler spread32, spread64; /* d[lane] = scalar a + pattern x */
	struct handler shuffle;            /* shfl by constants; other masks as warp_handlers.shfl */
};

/* Where an access goes and how wide the register with its address is. */
enum mem_place { AT_GLOBAL, AT_SHARED32, AT_SHARED64, MEM_PLACES };

/* Types of one element; stores use the unsigned ones. */
enum mem_type { MEM_U8, MEM_U16, MEM_B32, MEM_B64, MEM_S8, MEM_S16, MEM_TYPES };

/* Regular global and shared accesses; what does not fit at run time falls back to vm/access.c. */
struct mem_handlers {
	struct handler ld_uniform[MEM_PLACES][4]; /* [log2 bytes]: scalar from a scalar address */
	struct handler ld_uniform_signed[MEM_PLACES][2];
	struct handler ld_unit[MEM_PLACES];   /* 4 bytes per lane, pattern 0 4 8 ... 124 */
	struct handler ld_window[MEM_PLACES]; /* pattern within 128 bytes */
	struct handler ld_halves[HALF_LAYOUTS][MEM_PLACES]; /* each half warp within 64 bytes */
	struct handler ld_pattern[MEM_PLACES];              /* any pattern */
	struct handler st_unit[MEM_PLACES], st_pattern[MEM_PLACES];
};

/* The same for any width of element, one or several per lane. */
struct wide_handlers {
	struct handler ld_uniform[MEM_PLACES][MEM_TYPES]; /* scalars from a scalar address */
	struct handler ld[MEM_PLACES][MEM_TYPES], st[MEM_PLACES][MEM_TYPES];
};

/* Load, load, FMA in one; runs of FMAs; sums of products: at the first uop of their window, and
 * behind its others; the same of global memory, of whole warps or of half warps; on to x.to.
 * NULL = not at this level. */
struct fused_handlers {
	uop_fn dot_global, dot_global_halves, dot_shared, fma_run;
	uop_fn chains_first, chains, dots_first, dots, dots_halves, go_on;
};

/* --- all of them --- */

struct handler_set {
	const char *name, *title; /* of the level: "avx2", "AVX2" */
	const struct control_handlers *control;
	const struct branch_handlers *branch;
	const struct call_handlers *call;
	const struct meet_handlers *meet;
	const struct barrier_handlers *barrier;
	const struct warp_handlers *warp;
	const struct uniform_handlers *uniform;
	const struct handler *tensor; /* products of matrices */
	const struct handler *system; /* printf and the like (vm/system.c) */
	const struct handler *access; /* any memory access, lane by lane */
	const struct handler *watch;  /* by enum mem_place: in front of a regular one, to watch it */
	const struct handler *watch_chains; /* the same of all loads of chains */
	const struct handler *quick;        /* what that turns to where nothing is counted */
	const struct handler *texture;
	const struct alu_handlers *alu;
	const struct mem_handlers *mem;
	const struct wide_handlers *wide;
	const struct fused_handlers *fused;
	const struct forward_tables *forward;
	/* The header of a frame: its bytes, and where special registers (8 bytes each) and the lanes'
	 * %tid (3 x 32 words) lie in it. */
	uint32_t header_bytes, special_at, tid_at;
};

#endif
