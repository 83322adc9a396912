/* See held_warp.h. */
#include "timemodel/held_warp.h"

#include "timemodel/constants.h"

#include <math.h>

double swap_rounds(const struct timing_inst *x, const struct counts *c)
{
	const double requests = (double)c->shared_atom_requests;
	return requests > 0 ? fmax(1, x->shared_passes / requests) : 1;
}

/* Calls of the system: by the first lane, and by each further one; of a warp alone, and what of it
 * the chip does one after the other. */
struct call_cost {
	double first_ns, lane_ns, serial_ns, serial_lane_ns;
};

static bool is_call(enum inst_class c, struct call_cost *cost)
{
	switch (c) {
	case INST_PRINT:
		*cost = (struct call_cost){ timing.print_ns, timing.print_lane_ns, timing.print_serial_ns,
			                        timing.print_serial_lane_ns };
		return true;
	case INST_MALLOC:
		*cost = (struct call_cost){ timing.malloc_ns, timing.malloc_lane_ns,
			                        timing.malloc_serial_ns, timing.malloc_serial_lane_ns };
		return true;
	case INST_FREE:
		*cost = (struct call_cost){ timing.free_ns, timing.free_lane_ns, timing.free_serial_ns,
			                        timing.free_serial_lane_ns };
		return true;
	default: return false;
	}
}

double held_warp_cycles(const struct timing_inst *x, const struct counts *c,
                        const struct gpu_spec *g, double block_warps)
{
	struct call_cost call;
	const double warps = (double)c->warp_executed, lanes = (double)c->thread_executed;
	if (is_call(x->class, &call) && warps > 0)
		return (call.first_ns + fmax(0, lanes / warps - 1) * call.lane_ns) * g->clock_mhz * 1e-3;
	switch (x->class) {
	case INST_SHARED_SWAP: return swap_rounds(x, c) * timing.swap_round_cycles;
	case INST_CLUSTER_WAIT:
		return timing.cluster_wait_cycles + timing.cluster_wait_warp_cycles * block_warps;
	case INST_FENCE: return timing.fence_cycles;
	default: return 0;
	}
}

double serial_call_ns(const struct timing_inst *x, const struct counts *c)
{
	struct call_cost call;
	if (!is_call(x->class, &call))
		return 0;
	return (double)c->warp_executed * call.serial_ns +
	       (double)c->thread_executed * call.serial_lane_ns;
}
