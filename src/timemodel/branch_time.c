/* See branch_time.h. */
#include "timemodel/branch_time.h"

#include "timemodel/constants.h"

#include <math.h>

/* Machine code: what a branch that is taken costs beyond its stall count. */
static double jump_cycles(const struct timing_block *x, const struct timing_inst *branch,
                          uint32_t b)
{
	const double ahead = timing.forward_jump_cycles - branch->control.stall;
	return x->successor[0] > (int32_t)b ? fmax(timing.jump_cycles, ahead) : timing.jump_cycles;
}

double branch_cycles(const struct hyperblocks *h, uint32_t b)
{
	const struct timing_block *x = &h->program->block[b];
	const struct timing_inst *branch = last_inst(h->program, b);
	if (!branch || (branch->class != INST_BRANCH && branch->class != INST_BRANCH_TABLE))
		return 0;
	const double all = branch->guard < 0 ? 0 : x->warp_passes;
	const double on = x->successor[1] >= 0 ? edge_passes(h, b, (uint32_t)x->successor[1]) : 0;
	const double taken = all > 0 ? 1 - fmin(1, on / all) : 1;
	if (h->program->machine_code)
		return taken * jump_cycles(x, branch, b);
	if (branch->guard < 0)
		return x->successor[0] == (int32_t)b + 1 ? 0 : timing.branch_cycles - timing.alu_cycles;
	return taken * timing.branch_cycles + (1 - taken) * timing.fall_through_cycles;
}

double barrier_cycles(const struct timing_program *p, const struct timing_inst *x, bool accessed)
{
	const bool idle = p->machine_code && !accessed && !x->votes;
	return (idle ? 0 : timing.barrier_cycles) +
	       timing.barrier_warp_cycles * p->warps / p->thread_blocks;
}
