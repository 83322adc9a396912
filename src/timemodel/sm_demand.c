/* See sm_demand.h. */
#include "timemodel/sm_demand.h"

#include "timemodel/constants.h"

#include <math.h>

#define WARP_LANES 32.0

double norm(double p, double a, double b)
{
	const double most = fmax(a, b), least = fmin(a, b);
	return most > 0 && least > 0 ? most * pow(1 + pow(least / most, p), 1 / p) : fmax(0, most);
}

/*
 * Two things that @customers need equally, one after the other, take (N + 1) / N of the time of
 * one: the throughput of a balanced closed network. As an exponent.
 */
static double balanced(double customers)
{
	return log(2) / log1p(1 / fmax(1, timing.warp_customers * customers));
}

/* On 8.6, 8.9 and 12.x half or all of the FP32 lanes are the integer lanes as well. */
static bool shared_int_lanes(const struct gpu_spec *g)
{
	return (g->cc_major == 8 && (g->cc_minor == 6 || g->cc_minor == 9)) || g->cc_major == 12;
}

static double pipe_cycles(double slots, unsigned lanes)
{
	return slots * WARP_LANES / lanes / timing.pipe_efficiency;
}

double products_per_cycle(const struct gpu_spec *g)
{
	return g->fp16_tensor_gflops / 2 / (g->sm_count * g->clock_mhz * 1e-3) * timing.product_share;
}

/* Of the FP32 lanes, those that multiply and add integers, too: IMAD and VIADD
 * (smsp__inst_executed_pipe_fmaheavy of tests/gpu/micro/pipes.cu on an H200). */
static unsigned heavy_lanes(const struct gpu_spec *g)
{
	return g->fp32_lanes_per_sm > 64 ? g->fp32_lanes_per_sm / 2 : g->fp32_lanes_per_sm;
}

struct demand demand_of(const struct gpu_spec *g, const struct region *r)
{
	struct demand d = {
		.issue = r->issue_slots / g->schedulers_per_sm,
		.fp32 = fmax(pipe_cycles(r->fp32_slots, g->fp32_lanes_per_sm),
		             pipe_cycles(r->heavy_slots, heavy_lanes(g))),
		.fp64 = pipe_cycles(r->fp64_slots, g->fp64_lanes_per_sm),
		.int32 = pipe_cycles(r->int_slots, g->int32_lanes_per_sm),
		.sfu = pipe_cycles(r->sfu_slots, g->sfu_lanes_per_sm),
		.tensor = g->fp16_tensor_gflops > 0 ? r->products / products_per_cycle(g) : 0,
		.group = g->fp16_tensor_gflops > 0 ? r->group_products / products_per_cycle(g) : 0,
		.load = r->load_cycles * WARP_LANES / g->lsu_lanes_per_sm,
		.store = r->store_cycles,
		.shared = r->shared_wavefronts,
		.barrier = r->barriers * timing.barrier_port_cycles,
		.texture = r->texture_cycles,
		.values = r->value_cycles,
		.held = r->held_line_cycles,
		.turns = r->loop_turns / g->schedulers_per_sm,
	};
	if (shared_int_lanes(g) && r->int_slots > 0)
		d.int32 = fmax(d.int32, d.fp32 + pipe_cycles(r->int_slots, g->fp32_lanes_per_sm));
	return d;
}

struct demand demand_sum(struct demand a, struct demand b, double times)
{
	a.issue += times * b.issue;
	a.fp32 += times * b.fp32;
	a.fp64 += times * b.fp64;
	a.int32 += times * b.int32;
	a.sfu += times * b.sfu;
	a.tensor += times * b.tensor;
	a.group += times * b.group;
	a.load += times * b.load;
	a.store += times * b.store;
	a.shared += times * b.shared;
	a.barrier += times * b.barrier;
	a.texture += times * b.texture;
	a.values += times * b.values;
	a.held += times * b.held;
	a.turns += times * b.turns;
	return a;
}

/* Issue slots feed the two main pipes, so these hide in each other. L1 and shared memory are one
 * memory with one port, by which barriers leave as well. */
double busy_cycles(const struct demand *d, double warps_of_scheduler)
{
	const double p = balanced(warps_of_scheduler);
	const double main = norm(timing.pipes_norm, norm(timing.pipes_norm, d->issue, d->tensor),
	                         norm(timing.pipes_norm, d->fp32, d->int32));
	return norm(
		p, norm(p, norm(p, main, d->fp64), d->sfu),
		fmax(fmax(d->texture, d->values), norm(2, d->load + d->shared + d->store, d->barrier)));
}

double crossed(const struct demand *d, double alone, double busy)
{
	const double share = d->issue > 0 ? d->turns / d->issue : 0;
	const double by_loops = timing.straight_norm_inverse + timing.loop_norm_inverse * share;
	return norm(fmin(timing.overlap_norm, 1 / by_loops), alone, busy);
}
