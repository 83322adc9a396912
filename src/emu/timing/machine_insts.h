/*
 * What the assembler (ptxas) makes of PTX, as far as the time model needs it: the class of each
 * instruction, how many machine instructions it becomes, and which loops are unrolled.
 *
 * Rules, not an assembler: each is stated in machine_insts.c and was read off machine code of CUDA
 * 13.0 for cc 9.0. No count of PTX instructions that a person sees comes from here.
 */
#ifndef PMPP_EMU_MACHINE_INSTS_H
#define PMPP_EMU_MACHINE_INSTS_H

#include "emu/timing/wide_loads.h"
#include "timemodel/timing_program.h"

struct machine_inst {
	enum inst_class class;
	float issued; /* 0 = folded into another one, or not the first of its PTX instruction */
};

/* Of operations that ask the system, copy in bulk, wait for a cluster or fence it; INST_OTHER =
 * none of them. */
enum inst_class class_beyond_machine(const struct xop *x);

/* @loads: wide_loads(). Fills @inst per operation and @copies per basic block: of a loop of one
 * block that are unrolled into one; else 1. */
void machine_insts(const struct ir *ir, const struct wide_load *loads, struct machine_inst *inst,
                   uint8_t *copies);

#endif
