/* Programs written down by hand, as any front end may fill them in, and what regions say of them.
 */
#ifndef PMPP_TEST_SAMPLE_PROGRAM_H
#define PMPP_TEST_SAMPLE_PROGRAM_H

#include "../unit.h"
#include "timemodel/regions.h"

#include <stdlib.h>

#define WARPS 8
#define BLOCKS 4

/* Instructions in a row and the blocks that end at given ones; every warp passes every block. */
struct sample {
	struct timing_inst inst[40];
	struct counts counts[41];
	struct timing_block block[8];
	struct timing_program p;
};

static inline struct timing_inst *add_inst(struct sample *s, enum inst_class c, int32_t to,
                                           int32_t from)
{
	struct timing_inst *x = &s->inst[s->p.n_insts];
	*x = (struct timing_inst){ .class = c, .issued = inst_issued(c, false), .guard = -1 };
	x->result[x->n_results] = to;
	x->n_results = to >= 0;
	x->source[x->n_sources] = from;
	x->n_sources = from >= 0;
	s->counts[s->p.n_insts++].warp_executed = WARPS;
	return x;
}

/* Machine code: @stall, scoreboards that are held (7 = none) and waited for. */
static inline struct timing_inst *add_machine(struct sample *s, enum inst_class c, uint8_t stall,
                                              uint8_t result_board, uint8_t waits_for)
{
	struct timing_inst *x = add_inst(s, c, -1, -1);
	x->control = (struct timing_control){
		.stall = stall, .waits_for = waits_for, .result_board = result_board, .operand_board = 7
	};
	s->p.machine_code = true;
	return x;
}

static inline void end_block(struct sample *s, int32_t to, int32_t next)
{
	const unsigned b = s->p.n_blocks++;
	s->block[b] = (struct timing_block){ .first = b ? s->block[b - 1].end : 0,
		                                 .end = s->p.n_insts,
		                                 .successor = { to, next },
		                                 .join = -1,
		                                 .copies = 1,
		                                 .warp_passes = WARPS };
	s->p.n_registers = 20;
	s->p.inst = s->inst;
	s->p.block = s->block;
	s->p.counts = s->counts;
	s->p.warps = s->p.counted_warps = WARPS;
	s->p.thread_blocks = BLOCKS;
}

static inline struct run_counts build(const struct sample *s, double factor)
{
	struct run_counts out = { .l2_sectors = -1, .dram_read_bytes = -1, .dram_write_bytes = -1 };
	regions_build(&s->p, gpu_find("h200"), factor, &out);
	return out;
}

static inline double cycles(const struct sample *s)
{
	struct run_counts c = build(s, 1);
	double sum = 0;
	for (unsigned i = 0; i < c.n_regions; i++)
		sum += c.regions[i].critical_path_cycles;
	run_counts_free(&c);
	return sum;
}

#endif
