/*
 * How long a warp that has an SM for itself needs for each stretch of the program: operands that
 * are not there yet, barriers, branches; instructions of one stretch in the order that waits least,
 * as the assembler arranges them, within what memory order and barriers allow.
 *
 * Static: looks at every stretch once, with average latencies. It refuses to know what other warps
 * do (model/perf_time.c) and where a load's data came from (the caller says how long one takes).
 */
#ifndef PMPP_EMU_CHAIN_H
#define PMPP_EMU_CHAIN_H

#include "emu/count/machine.h"
#include "model/gpu.h"

struct chain_input {
	const struct ir *ir;
	const struct machine *machine;
	const struct gpu_spec *gpu;
	double l1_miss,
		l2_miss;          /* shares of the lines that loads ask for: not in L1; not in L2 either */
	double dram_bytes;    /* read */
	const double *passes; /* per block of the IR: by warps */
	const float *replays; /* per operation: bank passes or lines beyond the first */
	double warps, blocks; /* of what ran */
};

struct stretch {
	uint32_t block; /* of the IR, where it begins */
	double passes, block_passes, cycles;
};
struct chain {
	unsigned n;
	struct stretch *stretch;
	uint32_t *of_op; /* operation -> stretch */
};

void chain_build(struct chain *c, const struct chain_input *in);
void chain_free(struct chain *c);

#endif
