/*
 * What the assembler (ptxas) makes of PTX, as far as the time model needs it: how many machine
 * instructions each PTX instruction becomes and on which pipe, which shared loads become one wider
 * load, and which values differ between lanes or blocks.
 *
 * Rules, not an assembler: each is stated in machine.c and was read off machine code of CUDA 13.0
 * for cc 9.0. No count of PTX instructions that a person sees comes from here.
 */
#ifndef PMPP_EMU_MACHINE_H
#define PMPP_EMU_MACHINE_H

#include "emu/ir/emu_ir.h"

enum machine_pipe { MP_NONE, MP_INT, MP_FP32, MP_FP64, MP_SFU, MP_LDST, MP_SHUFFLE, MP_FLOW };

struct machine_op {   /* of an operation that is the first of its PTX instruction */
	float slots;      /* machine instructions; 0 = folded into another one */
	float int_slots;  /* of those, on the integer pipe; */
	float fp32_slots; /* on the FP32 pipe */
	uint8_t pipe;     /* enum machine_pipe */
	bool merged;      /* a shared load that another one brings along */
	uint8_t words;    /* of a shared load that brings others along: 2 or 4; else 0 */
	bool divides;     /* integers */
	bool uniform;     /* the same value in all lanes */
	bool one_address; /* memory: the same address in all lanes of the grid */
	bool lane_choice; /* a branch that lanes of one block may decide differently */
};
struct machine {
	struct machine_op *op; /* per operation */
	uint8_t *turns; /* per block: of a loop of one block that are unrolled into one; else 1 */
};

void machine_build(struct machine *m, const struct ir *ir);
void machine_free(struct machine *m);

#endif
