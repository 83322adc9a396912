/*
 * Machine code as the time model sees it: what each instruction is, and what the encoding says to
 * the scheduler.
 */
#ifndef PMPP_EMU_MACHINE_TIMING_H
#define PMPP_EMU_MACHINE_TIMING_H

#include "emu/timing/timing.h"

/* Per operation of @ir, which was made of @f; those that begin no instruction issue nothing. Caller
 * frees. */
struct timing_inst *machine_timing_insts(const struct ir *ir, const struct sass_func *f,
                                         const struct op_memory *memory);
/* Where a memory operation goes; MEMORY_NONE: it is none. */
static inline enum memory_space timing_space(const struct xop *x)
{
	static const enum memory_space spaces[] = {
		[SPACE_GENERIC] = MEMORY_GENERIC, [SPACE_GLOBAL] = MEMORY_GLOBAL,
		[SPACE_SHARED] = MEMORY_SHARED,   [SPACE_LOCAL] = MEMORY_LOCAL,
		[SPACE_CONST] = MEMORY_CONST,     [SPACE_PARAM] = MEMORY_CONST,
	};
	return x->mem >= 0 ? spaces[x->space] : MEMORY_NONE;
}

/* Of a texture or surface: by coordinates, or by the number of a texel. */
static inline enum memory_space texture_space(const struct xop *x)
{
	const bool coordinates = x->op == OP_TEX || x->op == OP_TLD4;
	return coordinates && x->type2 != PTX_S32 ? MEMORY_TEXTURE : MEMORY_TEXELS;
}

#endif
