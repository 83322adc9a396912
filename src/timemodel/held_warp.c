/* See held_warp.h. */
#include "timemodel/held_warp.h"

#include "timemodel/constants.h"
#include "timemodel/sm_demand.h"

#include <math.h>

double swap_rounds(const struct timing_inst *x, const struct counts *c)
{
	const double requests = (double)c->shared_atom_requests;
	return requests > 0 ? fmax(1, x->shared_passes / requests) : 1;
}

/* Calls of the system: by the first lane, and by each further one; of a warp alone, and what of it
 * the chip does one after the other. By a warp whose calls all come to nothing. */
struct call_cost {
	double first_ns, lane_ns, serial_ns, serial_lane_ns, vain_ns;
};

static bool is_call(enum inst_class c, struct call_cost *cost)
{
	switch (c) {
	case INST_PRINT:
		*cost = (struct call_cost){ timing.print_ns, timing.print_lane_ns, timing.print_serial_ns,
			                        timing.print_serial_lane_ns, timing.print_vain_ns };
		return true;
	case INST_MALLOC:
		*cost =
			(struct call_cost){ timing.malloc_ns, timing.malloc_lane_ns, timing.malloc_serial_ns,
			                    timing.malloc_serial_lane_ns, timing.malloc_vain_ns };
		return true;
	case INST_FREE:
		*cost = (struct call_cost){ timing.free_ns, timing.free_lane_ns, timing.free_serial_ns,
			                        timing.free_serial_lane_ns, 0 };
		return true;
	default: return false;
	}
}

/* Share of the lanes' calls. */
static double in_vain(const struct timing_inst *x, const struct counts *c)
{
	return c->thread_executed ? fmin(1, x->vain / (double)c->thread_executed) : 0;
}

/* In machine code the fence that is part of it is an instruction of its own. */
static double cluster_wait_cycles(const struct timing_program *p)
{
	const double fence = p->machine_code ? timing.fence_cycles : 0;
	return timing.cluster_wait_cycles - fence +
	       timing.cluster_wait_warp_cycles * p->warps / p->thread_blocks;
}

static bool is_fence(enum inst_class c)
{
	return c == INST_FENCE || c == INST_MEMBAR;
}

/* What the first fence of a warp takes longer, of each of its executions. */
static double first_fence_cycles(const struct timing_program *p, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (is_fence(p->inst[k].class) && p->counts[k].warp_executed > 0)
			return 0;
	const double times = (double)p->counts[i].warp_executed / p->warps;
	return timing.first_fence_cycles / fmax(1, times);
}

/* A fence waits for the stores before it. */
static double fence_cycles(double alone, double since_store)
{
	const double behind = timing.fence_store_cycles - timing.fence_cycles + alone;
	return fmax(alone, behind - since_store);
}

/* The stores before it are there long before. */
static double host_fence_cycles(const struct timing_program *p, double since_store)
{
	const double beside = p->machine_code ? timing.errbar_cycles : 0;
	return fmax(timing.host_fence_cycles - beside, timing.fence_store_cycles - since_store);
}

uint32_t sleep_period_ns(uint32_t ns)
{
	uint32_t period = 1;
	while (period < ns && period < 1u << 20)
		period *= 2;
	return ns ? period : 0;
}

/*
 * A sleep ends when the timer next passes a multiple of a power of two of nanoseconds, the first
 * that is as long as what is asked for (tests/programs/sleeping.cu on an H200: two sleeps of 200 us
 * end 262 us apart, launches one after the other have 238 us left, sleeps of 2 us take 0.1 to 1.8).
 * A warp's first one begins anywhere between two, each further one at the end of the one before.
 */
static double sleep_ns(const struct timing_program *p, uint32_t i)
{
	double sleeps = 0;
	for (uint32_t k = 0; k < p->n_insts; k++)
		if (p->inst[k].class == INST_SLEEP)
			sleeps += (double)p->counts[k].warp_executed;
	return p->inst[i].sleep_periods_ns / fmax(1, (double)p->counts[i].warp_executed) *
	       (1 - 0.5 / fmax(1, sleeps / p->counted_warps));
}

double held_warp_cycles(const struct timing_program *p, uint32_t i, const struct gpu_spec *g,
                        double since_store)
{
	struct call_cost call;
	const struct timing_inst *x = &p->inst[i];
	const struct counts *c = &p->counts[i];
	const double warps = (double)c->warp_executed, lanes = (double)c->thread_executed;
	if (is_call(x->class, &call) && warps > 0) {
		const double vain = in_vain(x, c), some = fmax(0, (1 - vain) * lanes / warps - 1);
		return ((1 - vain) * call.first_ns + some * call.lane_ns + vain * call.vain_ns) *
		       g->clock_mhz * 1e-3;
	}
	switch (x->class) {
	case INST_SHARED_SWAP: return swap_rounds(x, c) * timing.swap_round_cycles;
	case INST_CLUSTER_WAIT: return cluster_wait_cycles(p);
	case INST_FENCE:
		return fence_cycles(timing.fence_cycles, since_store) + first_fence_cycles(p, i);
	case INST_MEMBAR:
		return fence_cycles(timing.fence_cycles - timing.errbar_cycles, since_store) +
		       first_fence_cycles(p, i);
	case INST_HOST_FENCE: return host_fence_cycles(p, since_store);
	case INST_ERRBAR: return timing.errbar_cycles;
	case INST_BLOCK_FENCE: return timing.block_fence_cycles;
	case INST_CONDITION: return timing.condition_cycles;
	case INST_SLEEP: return sleep_ns(p, i) * g->clock_mhz * 1e-3;
	case INST_MEETING: return timing.meeting_cycles;
	default: return 0;
	}
}

double serial_call_ns(const struct timing_inst *x, const struct counts *c)
{
	struct call_cost call;
	if (!is_call(x->class, &call))
		return 0;
	return (1 - in_vain(x, c)) * ((double)c->warp_executed * call.serial_ns +
	                              (double)c->thread_executed * call.serial_lane_ns);
}

/* What the first product of a warp group takes longer, of each of its executions. */
static double first_product_cycles(const struct timing_program *p, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (p->inst[k].by_group && p->counts[k].warp_executed > 0)
			return 0;
	return timing.first_product_cycles / fmax(1, (double)p->counts[i].warp_executed / p->warps);
}

double group_product_done(const struct timing_program *p, uint32_t i, const struct gpu_spec *g,
                          double t, double before)
{
	const struct timing_inst *x = &p->inst[i];
	const double rate = products_per_cycle(g);
	const double start = fmax(t + timing.group_product_cycles + first_product_cycles(p, i), before);
	return rate > 0 ? start + (double)x->products * g->schedulers_per_sm / rate : start;
}

double further_values_cycles(const struct timing_inst *x, const struct counts *c)
{
	const double values = x->values / fmax(1, (double)c->warp_executed);
	return fmax(0, values - 1) * timing.value_cycles;
}

double poll_cycles(const struct timing_inst *x, const struct gpu_spec *g)
{
	return x->polls && x->class == INST_LOAD ? timing.poll_ns * g->clock_mhz * 1e-3 : 0;
}
