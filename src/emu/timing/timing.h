/*
 * Room timing. Sees: lane, ir.
 *
 * Hands what ran to the time model: the program in neutral form, with what was counted.
 */
#ifndef PMPP_EMU_TIMING_H
#define PMPP_EMU_TIMING_H

#include "emu/ir/ir.h"
#include "timemodel/timing_program.h"
#include "model/counts.h"
#include "model/gpu.h"
#include "sass/sass.h"

/* What an operation asks of memory beyond its counts. */
struct op_memory {
	double shared_passes;    /* atomics on shared memory: one lane of a bank after the other */
	double load_passes;      /* global loads: words of one bank of L1 come one after the other */
	double local_lines;      /* local memory: lines of 32 words, one per lane */
	double remote_sectors;   /* shared memory of other blocks: 32 bytes each ... */
	bool remote;             /* ... where most requests go */
	double values;           /* constants at chosen places, matches: different places, or values */
	double vain;             /* calls of the system: those that came to nothing */
	double sleep_periods_ns; /* what sleeps ask for, rounded up to powers of two */
	struct load_origin origin;
};

/* Of a basic block. */
struct block_passes {
	uint64_t longest; /* its executions by the thread block that lasted longest */
	double entering;  /* thread blocks that came there */
};

/* The thread blocks that ran. */
struct timing_run {
	double thread_blocks, block_warps;             /* how many, of so many warps each */
	double factor;                                 /* the grid has so many times as many */
	const struct block_passes *passes;             /* per basic block */
	double slowest_warp_insts, longest_warp_insts; /* see struct timing_program */
	struct timing_turns turns;                     /* likewise; operations for basic blocks */
};

/* Lines of constants that a kernel waits for; each launch finds none of them near an SM. */
struct constant_lines {
	unsigned of_launch; /* parameters, the sizes of its block and grid */
	unsigned of_memory; /* what is __constant__, and large numbers of the code */
};

/* Of machine code @code, where the place of a constant does not depend on what runs; NULL: of PTX,
 * which does not say where they lie, an estimate. */
struct constant_lines constant_lines(const struct ir *ir, const struct sass_func *code);
/* Waits of a thread, one after the other, for what says what a texture or a surface is, and where
 * it lies: for several at once where none needs what another one fetched. */
unsigned headers_waited_for(const struct ir *ir);

/*
 * @code: what @ir was made of, if that is machine code; NULL = PTX. @of_op: counts of the
 * instruction that begins at an operation, of what ran; @memory per operation. @out has their total
 * and the traffic beyond L1 of the whole grid; it gets their regions.
 */
void timing_input(const struct ir *ir, const struct sass_func *code, const struct gpu_spec *g,
                  const struct counts *of_op, const struct op_memory *memory,
                  const struct timing_run *run, struct run_counts *out);

#endif
