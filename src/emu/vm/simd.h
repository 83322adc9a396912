/*
 * Handlers that work on 32 lanes, one set per instruction-set level of the host (simd/).
 * The set is chosen when a launch is built: the best the processor has, or PMPP_EMU_ISA.
 */
#ifndef PMPP_EMU_SIMD_H
#define PMPP_EMU_SIMD_H

#include "emu/vm/emu_vm.h"

/* Which source of an operation is a scalar. */
enum scalar_source { SCALAR_NONE, SCALAR_A, SCALAR_B, SCALAR_C, SCALAR_SOURCES };

struct alu_handlers {
	struct handler op[E_COUNT][SCALAR_SOURCES]; /* comparisons included; .full NULL = not there */
	struct handler select32, select64;
	struct handler spread32, spread64; /* d[lane] = scalar a + pattern x */
	struct handler shuffle;            /* shfl by constants; other masks by vm_shfl */
};

/* Where an access goes and how wide the register with its address is. */
enum mem_place { AT_GLOBAL, AT_SHARED32, AT_SHARED64, MEM_PLACES };

/* Types of one element; stores use the unsigned ones. */
enum mem_type { MEM_U8, MEM_U16, MEM_B32, MEM_B64, MEM_S8, MEM_S16, MEM_TYPES };

/* Regular global and shared accesses; what does not fit at run time falls back to memory.c. */
struct mem_handlers {
	struct handler ld_uniform[MEM_PLACES][4]; /* [log2 bytes]: scalar from a scalar address */
	struct handler ld_uniform_signed[MEM_PLACES][2];
	struct handler ld_unit[MEM_PLACES];    /* 4 bytes per lane, pattern 0 4 8 ... 124 */
	struct handler ld_window[MEM_PLACES];  /* pattern within 128 bytes */
	struct handler ld_halves[MEM_PLACES];  /* each half warp within 64 bytes */
	struct handler ld_pattern[MEM_PLACES]; /* any pattern */
	struct handler st_unit[MEM_PLACES], st_pattern[MEM_PLACES];
	/* The rest: any width of element, one or several per lane. */
	struct handler ld_uniform_vec[MEM_PLACES][MEM_TYPES];
	struct handler ld_wide[MEM_PLACES][MEM_TYPES], st_wide[MEM_PLACES][MEM_TYPES];
};

/* Load, load, FMA in one; runs of FMAs; NULL = not at this level. */
struct fused_handlers {
	uop_fn dot_global, dot_global_halves, dot_shared, fma_run;
};

struct handler_set {
	const char *name, *title;
	const struct alu_handlers *alu;
	const struct mem_handlers *mem;
	const struct fused_handlers *fused;
};
/* The set for this processor; @wanted (may be NULL or "") limits it: "sse", "avx2", "avx512". */
const struct handler_set *handler_set_choose(const char *wanted);

#endif
