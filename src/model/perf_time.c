/*
 * The time model; see perf.h. Knows counts and data sheets; no kernel, back end or screen.
 *
 * An SM works through its blocks in turns of as many as are resident together. A turn lasts as long
 * as the resource that all of them need most, or as one block by itself: stretch by stretch (a
 * barrier ends a stretch) the chain of a warp that waits for its operands, or what all its warps
 * ask of a resource. L2, DRAM and the start of blocks are shared by the chip. Parts that overlap do
 * so imperfectly: they add up as a norm, not as a maximum.
 *
 * References: Hong and Kim 2009 (waits that resident warps hide); Volkov 2016, "Understanding
 * Latency Hiding on GPUs" (why the bounds are not met where they cross); Lazowska et al. 1984,
 * "Quantitative System Performance", ch. 5 (balanced closed networks). The constants of an SM were
 * measured or fitted on an H200 and are taken to hold for its relatives. Not modelled: instruction
 * cache, clocks that fall under load, conflicts inside L2 and of L1's tags, rows of DRAM.
 */
#include "model/perf.h"

#include <math.h>
#include <string.h>

/* A float4 copy reaches 83 to 89 %, a read 97 % of the printed bandwidth of an H200. */
#define DRAM_EFFICIENCY 0.90
/* A kernel of FFMA only reaches 97 % of the peak of an H200. */
#define PIPE_EFFICIENCY 0.97
/* Cycles of an SM per line of a store: scattered stores of one SM, and of all 132 of an H200, leave
 * at 3.5 to 3.9 cycles each (words 4 KB apart; vec_add/chunks, transpose/div_mod). */
#define STORE_LINE_CYCLES 3.5
/* Additions to one address go one after another, cycles of an SM each: on an H200 1.77 ns for a
 * float; 0.75 ns for integers, of which a warp's lanes are added up before. */
#define SERIAL_FLOAT_CYCLES 3.5
#define SERIAL_INT_CYCLES 1.5
/* Empty blocks start every 0.60 ns on an H200, whatever their size; and from the end of a block to
 * the next one in its place pass 460 cycles with 32 warps, 170 with 8. */
#define BLOCK_START_CYCLES 1.19
#define NEXT_BLOCK_CYCLES 70.0
#define NEXT_BLOCK_WARP_CYCLES 12.0
/* How parts add up, as the exponent of a norm: 1 = one after the other, infinity = the longest
 * alone. */
#define OVERLAP 3.0
#define WARP 32.0
#define SECTOR 32.0
#define LINE 128.0

static double norm(double p, double a, double b)
{
	const double most = fmax(a, b);
	return most > 0 ? most * pow(pow(a / most, p) + pow(b / most, p), 1 / p) : 0;
}

static double together(double a, double b)
{
	return norm(OVERLAP, a, b);
}

/*
 * Two things that @customers need equally, one after the other, take (N + 1) / N of the time of
 * one: the throughput of a balanced closed network. As an exponent.
 */
static double balanced(double customers)
{
	return log(2) / log1p(1 / fmax(1, customers));
}

static double grid_blocks(const struct launch_plan *p)
{
	return (double)p->grid.x * p->grid.y * p->grid.z;
}

static double block_warps(const struct launch_plan *p)
{
	return ceil((double)p->block.x * p->block.y * p->block.z / WARP);
}

/* On 8.6, 8.9 and 12.x half or all of the FP32 lanes are the integer lanes as well. */
static bool shared_int_lanes(const struct gpu_spec *g)
{
	return (g->cc_major == 8 && (g->cc_minor == 6 || g->cc_minor == 9)) || g->cc_major == 12;
}

/* --- what is asked of one SM, in its cycles --- */

struct demand {
	double issue, fp32, fp64, int32, sfu, load, store, shared;
};

static double pipe(double slots, unsigned lanes)
{
	return slots * WARP / lanes / PIPE_EFFICIENCY;
}

static struct demand demand_of(const struct gpu_spec *g, const struct region *r)
{
	struct demand d = {
		.issue = r->slots / g->schedulers_per_sm,
		.fp32 = pipe(r->fp32_slots, g->fp32_lanes_per_sm),
		.fp64 = pipe(r->fp64_slots, g->fp64_lanes_per_sm),
		.int32 = pipe(r->int_slots, g->int32_lanes_per_sm),
		.sfu = pipe(r->sfu_slots, g->sfu_lanes_per_sm),
		.load = r->load_cycles * WARP / g->lsu_lanes_per_sm,
		.store = r->store_lines * STORE_LINE_CYCLES,
		.shared = r->shared_waves,
	};
	if (shared_int_lanes(g) && r->int_slots > 0)
		d.int32 = fmax(d.int32, d.fp32 + pipe(r->int_slots, g->fp32_lanes_per_sm));
	return d;
}

static struct demand add(struct demand a, struct demand b, double times)
{
	a.issue += times * b.issue;
	a.fp32 += times * b.fp32;
	a.fp64 += times * b.fp64;
	a.int32 += times * b.int32;
	a.sfu += times * b.sfu;
	a.load += times * b.load;
	a.store += times * b.store;
	a.shared += times * b.shared;
	return a;
}

/* Issue slots feed the two main pipes, so these hide in each other. L1 and shared memory are one
 * memory with one port. */
static double time_of(const struct demand *d, double warps_of_scheduler)
{
	const double p = balanced(warps_of_scheduler);
	const double main = fmax(d->issue, fmax(d->fp32, d->int32));
	return norm(p, norm(p, norm(p, main, d->fp64), d->sfu), norm(p, d->load + d->shared, d->store));
}

/* --- blocks --- */

/*
 * Without regions (counts that were measured): the whole kernel is one. A warp's chain is then its
 * loads two at a time, its shared loads four at a time, a gap of two cycles per instruction.
 */
static struct region whole(const struct gpu_spec *g, const struct launch_plan *plan,
                           const struct run_counts *c)
{
	const struct counts *t = &c->total;
	double l1_miss, l2_miss;
	counts_misses(t, c->l2_sectors, c->dram_read_bytes, &l1_miss, &l2_miss);
	const double load_ns = g->l1_latency_ns + l1_miss * (g->l2_latency_ns - g->l1_latency_ns) +
	                       l2_miss * (g->dram_latency_ns - g->l2_latency_ns);
	const double warps = fmax(1, grid_blocks(plan) * block_warps(plan));
	const double per_ns = g->clock_mhz * 1e-3;
	const double loads = (double)t->ld_requests + (double)t->local_requests;
	return (struct region){
		.passes = warps,
		.block_passes = grid_blocks(plan),
		.chain_cycles =
			(loads / 2 * load_ns * per_ns + (double)t->atom_requests * g->l2_latency_ns * per_ns +
		     (double)t->shared_ld_requests / 4 * g->smem_latency_ns * per_ns +
		     (double)t->barriers * 20 + (double)t->warp_executed * 2) /
			warps,
		.slots = (double)t->warp_executed,
		.int_slots = (double)t->int_inst,
		.fp32_slots = (double)t->fp32_inst,
		.fp64_slots = (double)t->fp64_inst,
		.sfu_slots = (double)t->sfu_inst,
		.load_cycles = fmax(LOAD_REQUEST_CYCLES * loads, (double)t->ld_lines),
		.store_lines = (double)t->st_lines + (double)t->atom_sectors,
		.shared_waves = (double)t->shared_ld_wavefronts + (double)t->shared_st_wavefronts +
		                (double)t->shared_atom_requests,
	};
}

struct work { /* of one block, cycles */
	const struct gpu_spec *gpu;
	const struct region *region;
	unsigned n_regions;
	double blocks, warps; /* of the grid; of a block, per scheduler */
	double chain;         /* waits of a block that is alone */
	struct demand all;
};

static struct demand demand_in_block(const struct work *w, unsigned i)
{
	const struct demand none = { 0 };
	return add(none, demand_of(w->gpu, &w->region[i]), 1 / w->blocks);
}

static double chain_in_block(const struct work *w, unsigned i)
{
	return w->region[i].block_passes / w->blocks * w->region[i].chain_cycles;
}

/* A block alone on an SM, stretch by stretch. Nobody waits for a store. */
static double one_block(const struct work *w)
{
	double sum = 0;
	for (unsigned i = 0; i < w->n_regions; i++) {
		struct demand d = demand_in_block(w, i);
		d.store = 0;
		sum += together(chain_in_block(w, i), time_of(&d, w->warps));
	}
	return sum;
}

/* @n blocks together on an SM: one fills the waits of the other, the better the more there are. */
static double turn(const struct work *w, double n)
{
	const struct demand none = { 0 }, d = add(none, w->all, n);
	if (n < 1)
		return 0;
	if (n < 2)
		return together(one_block(w), d.store);
	return norm(fmin(OVERLAP, balanced(n)), one_block(w), time_of(&d, n * w->warps));
}

/* Cycles of the SM that gets the most blocks. */
static double all_turns(const struct work *w, double blocks, double resident)
{
	const double full = floor(blocks / resident), rest = blocks - full * resident;
	const double next =
		NEXT_BLOCK_CYCLES + NEXT_BLOCK_WARP_CYCLES * w->warps * w->gpu->schedulers_per_sm;
	return full * turn(w, resident) + turn(w, rest) + (full + (rest > 0) - 1) * next;
}

/* --- the whole launch --- */

static void own_resources(const struct demand *d, double scale, double *ns)
{
	ns[PERF_ISSUE] = d->issue * scale;
	ns[PERF_FP32] = d->fp32 * scale;
	ns[PERF_FP64] = d->fp64 * scale;
	ns[PERF_INT] = d->int32 * scale;
	ns[PERF_SFU] = d->sfu * scale;
	ns[PERF_LSU] = fmax(d->load, d->store) * scale;
	ns[PERF_SHARED] = d->shared * scale;
}

void perf_time(const struct gpu_spec *g, const struct launch_plan *plan,
               const struct occ_result *occ, const struct run_counts *counts,
               struct perf_result *out)
{
	const double grid = grid_blocks(plan), resident = occ->blocks_per_sm;
	const double ns = 1e3 / g->clock_mhz;

	memset(out, 0, sizeof *out);
	if (resident <= 0 || g->sm_count == 0 || grid <= 0)
		return;
	out->waves = grid / (resident * g->sm_count);
	/* Blocks go to whichever SM is free, so the busiest one gets at most one more than the
	 * average; a grid smaller than the GPU leaves SMs idle. */
	const double busiest = ceil(grid / g->sm_count);
	out->tail_factor = fmax(1, busiest * g->sm_count / grid);

	const struct region one = whole(g, plan, counts);
	struct work w = { .gpu = g,
		              .region = counts->n_regions ? counts->regions : &one,
		              .n_regions = counts->n_regions ? counts->n_regions : 1,
		              .blocks = grid,
		              .warps = block_warps(plan) / g->schedulers_per_sm };
	for (unsigned i = 0; i < w.n_regions; i++) {
		w.all = add(w.all, demand_in_block(&w, i), 1);
		w.chain += chain_in_block(&w, i);
	}
	/* lines that come from L2 are put into L1 */
	const double stored = (double)counts->total.st_sectors + (double)counts->total.atom_sectors;
	if (counts->l2_sectors > stored)
		w.all.load += (counts->l2_sectors - stored) * SECTOR / LINE / grid;
	own_resources(&w.all, busiest * ns, out->resource_ns);
	out->resource_ns[PERF_LATENCY] = ceil(busiest / resident) * w.chain * ns;
	const double sm = together(all_turns(&w, busiest, resident), grid * BLOCK_START_CYCLES) * ns;

	/* Chip-wide: bytes over 1e9 bytes/s is ns. */
	if (counts->l2_sectors >= 0)
		out->resource_ns[PERF_L2] = counts->l2_sectors * SECTOR / g->l2_gbs;
	out->resource_ns[PERF_L2] = fmax(
		out->resource_ns[PERF_L2],
		(counts->serial_float * SERIAL_FLOAT_CYCLES + counts->serial_int * SERIAL_INT_CYCLES) * ns);
	if (counts->dram_read_bytes >= 0 && counts->dram_write_bytes >= 0)
		out->resource_ns[PERF_DRAM] =
			(counts->dram_read_bytes + counts->dram_write_bytes) / (g->dram_gbs * DRAM_EFFICIENCY);

	for (unsigned r = 0; r < PERF_RESOURCE_COUNT; r++)
		if (out->resource_ns[r] > out->resource_ns[out->bottleneck])
			out->bottleneck = (enum perf_resource)r;
	out->kernel_ns = g->launch_overhead_ns +
	                 together(sm, together(out->resource_ns[PERF_L2], out->resource_ns[PERF_DRAM]));
}
