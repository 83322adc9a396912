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
enum memory_space timing_space(const struct xop *x);

#endif
