/*
 * The kernel's time; see kernel_time.h.
 *
 * An SM works through its blocks in waves of as many as are resident together. A wave lasts as long
 * as the resource that all of them need most, or as one block by itself: region by region the
 * critical path of a warp, or what all warps of the block ask of a resource. Parts of an SM that
 * overlap do so imperfectly: they add up as a norm, not as a maximum. L2 and DRAM are shared by the
 * chip: accesses wait the longer the busier they are (crowded.h). Blocks begin one after the other:
 * the last one, when all others have.
 *
 * References: Hong and Kim 2009 (waits that resident warps hide); Volkov 2016, "Understanding
 * Latency Hiding on GPUs" (why the bounds are not met where they cross); Lazowska et al. 1984,
 * "Quantitative System Performance", ch. 5 (balanced closed networks). Not modelled: instruction
 * cache, clocks that fall under load, conflicts inside L2 and of L1's tags, rows of DRAM.
 */
#include "timemodel/kernel_time.h"

#include "timemodel/constants.h"
#include "timemodel/crowded.h"
#include "timemodel/l2_time.h"
#include "timemodel/load_latency.h"
#include "timemodel/sm_demand.h"
#include "timemodel/stream_time.h"

#include <math.h>
#include <string.h>

#define WARP_LANES 32.0
#define SECTOR_BYTES 32.0
#define LINE_BYTES 128.0
#define CODE_BYTES 16.0 /* of an instruction of machine code */
#define PORT_WAITS 0.9  /* of its time: there is no sharp edge between the two */

static double overlapped(double a, double b)
{
	return norm(timing.overlap_norm, a, b);
}

static double grid_blocks(const struct launch_plan *p)
{
	return (double)p->grid.x * p->grid.y * p->grid.z;
}

static double plan_threads(const struct launch_plan *p)
{
	return (double)p->block.x * p->block.y * p->block.z;
}

static double block_warps(const struct launch_plan *p)
{
	return ceil(plan_threads(p) / WARP_LANES);
}

/* --- blocks --- */

/*
 * Without regions (counts that were measured): the whole kernel is one. The critical path of a warp
 * is then its loads, a few at a time, and a gap between its instructions.
 */
static struct region region_of_counts(const struct gpu_spec *g, const struct launch_plan *plan,
                                      const struct run_counts *c)
{
	const struct counts *t = &c->total;
	const struct load_misses m = load_misses_of(t, c->l2_sectors, 0, c->dram_read_bytes);
	const double load_ns = g->l1_latency_ns + m.l1 * (g->l2_latency_ns - g->l1_latency_ns) +
	                       m.l2 * (g->dram_latency_ns - g->l2_latency_ns);
	const double warps = fmax(1, grid_blocks(plan) * block_warps(plan));
	const double per_ns = g->clock_mhz * 1e-3;
	const double loads = (double)t->ld_requests + (double)t->local_requests;
	return (struct region){
		.warp_passes = warps,
		.block_passes = grid_blocks(plan),
		.critical_path_cycles = (loads / timing.parallel_loads * load_ns * per_ns +
		                         (double)t->atom_requests * g->l2_latency_ns * per_ns +
		                         (double)t->shared_ld_requests / timing.parallel_shared_loads *
		                             g->smem_latency_ns * per_ns +
		                         (double)t->barriers * timing.unknown_barrier_cycles +
		                         (double)t->warp_executed * timing.unknown_issue_cycles) /
		                        warps,
		.issue_slots = (double)t->warp_executed,
		.int_slots = (double)t->int_inst,
		.fp32_slots = (double)t->fp32_inst,
		.fp64_slots = (double)t->fp64_inst,
		.sfu_slots = (double)t->sfu_inst,
		.load_cycles = fmax(timing.unknown_request_cycles * loads, (double)t->ld_lines),
		.store_cycles = stored_cycles(t),
		.shared_wavefronts = (double)t->shared_ld_wavefronts + (double)t->shared_st_wavefronts +
		                     (double)t->shared_atom_requests,
	};
}

struct work { /* of one block, cycles */
	const struct gpu_spec *gpu;
	const struct region *region;
	unsigned n_regions;
	double blocks, warps; /* of the grid; of a block, per scheduler */
	double critical_path; /* of a block that is alone */
	double swap_chain;    /* of a block: others change a word of shared memory, one by one */
	double l1_lines;
	bool stores_by_l2; /* they wait for L2, and the port waits with them */
	struct demand all;
};

/* L1 has no more loads under way than lines, and a warp no more than are kept for it (Little's
 * law). @n blocks. */
static double with_lines(const struct work *w, const struct demand *d, double n, double cycles)
{
	const double kept = timing.warp_lines * n * w->warps * w->gpu->schedulers_per_sm;
	return w->l1_lines > 0 ? overlapped(cycles, d->held / fmin(w->l1_lines, kept)) : cycles;
}

static struct demand demand_in_block(const struct work *w, unsigned i)
{
	const struct demand none = { 0 };
	struct demand d = demand_sum(none, demand_of(w->gpu, &w->region[i]), 1 / w->blocks);
	if (w->stores_by_l2)
		d.store = 0;
	if (w->warps * w->gpu->schedulers_per_sm <= 1) { /* nothing of it is hidden */
		d.load += d.barrier / timing.barrier_port_cycles * timing.lone_barrier_port_cycles;
		d.barrier = 0;
	}
	return d;
}

static double critical_path_in_block(const struct work *w, unsigned i)
{
	return w->region[i].block_passes / w->blocks * w->region[i].critical_path_cycles;
}

/* Of a region, nobody waiting for its stores. */
static double lone_region_cycles(const struct work *w, unsigned i)
{
	struct demand d = demand_in_block(w, i);
	d.store = 0;
	return crossed(&d, critical_path_in_block(w, i), busy_cycles(&d, w->warps));
}

/* A block alone on an SM, region by region. */
static double lone_block_cycles(const struct work *w)
{
	double sum = 0;
	for (unsigned i = 0; i < w->n_regions; i++)
		sum += lone_region_cycles(w, i);
	return overlapped(sum + w->swap_chain, w->all.group);
}

/* Of the loads of a region, the share that waits for the port while its stores leave. */
static double beside_stores(const struct region *r)
{
	return r->store_cycles > 0 ? 1 - r->local_store_cycles / r->store_cycles : 1;
}

/* Of a region, the share before its first store: of the first pass; stores of the others leave
 * while the next one waits. */
static double before_stores(const struct work *w, const struct region *r)
{
	const double passes = fmax(1, r->block_passes / w->blocks);
	return r->critical_path_cycles > 0 ? r->store_wait_cycles / r->critical_path_cycles / passes
	                                   : 0;
}

/* ... until its stores have left, too: those of the last regions have only these to leave in, from
 * the first of them on. */
static double lone_block_and_stores(const struct work *w)
{
	double behind = 0, stores = 0, loads = 0, most = 0;
	const double all = lone_block_cycles(w);
	for (unsigned i = w->n_regions; i--;) {
		const struct demand d = demand_in_block(w, i);
		const double cycles = lone_region_cycles(w, i) + (i ? 0 : w->swap_chain);
		behind += cycles;
		stores += d.store;
		loads += d.load * beside_stores(&w->region[i]);
		const double here = behind - cycles * before_stores(w, &w->region[i]);
		most = fmax(most, all + overlapped(here, stores + loads) - overlapped(here, loads));
	}
	return most;
}

/* Tensor cores go on by themselves with what groups of warps have given them. */
static double busy_with_groups(const struct demand *d, double warps)
{
	return overlapped(busy_cycles(d, warps), d->group);
}

/* At each of its barriers a block waits for the warps of the others, @n blocks in all, as well. */
static double others_at_barriers(const struct work *w, double n)
{
	const double of_a_block = w->all.barrier / timing.barrier_port_cycles;
	return fmax(0, n - 1) * of_a_block * timing.barrier_other_warp_cycles;
}

/* @n blocks together on an SM: one fills the waits of the other, the better the more there are. */
static double wave_cycles(const struct work *w, double n)
{
	const struct demand none = { 0 }, d = demand_sum(none, w->all, n);
	if (n < 1)
		return 0;
	if (n < 2)
		return with_lines(w, &d, n, lone_block_and_stores(w));
	const double alone = lone_block_cycles(w) + others_at_barriers(w, n);
	return with_lines(w, &d, n, crossed(&d, alone, busy_with_groups(&d, n * w->warps)));
}

#define MANY_WARPS 16 /* of a block, which swap more often */

/* Warps of a block that want one word of shared memory change it one after the other. */
static double swap_chain_cycles(const struct launch_plan *p, const struct run_counts *c)
{
	return c->shared_swap_chain * (block_warps(p) < MANY_WARPS ? timing.swap_change_cycles
	                                                           : timing.swap_change_many_cycles);
}

/* From the end of a block to the next one in its place. */
static double next_block_cycles(const struct work *w)
{
	return timing.next_block_cycles +
	       timing.next_block_warp_cycles * w->warps * w->gpu->schedulers_per_sm;
}

struct waves {           /* of an SM */
	double cycles;       /* from the first block to the end of the last */
	double block_cycles; /* of all blocks, summed: each as long as it is resident */
};

/* An SM that gets @blocks. */
static struct waves all_waves(const struct work *w, double blocks, double resident)
{
	const double full = floor(blocks / resident), rest = blocks - full * resident;
	const double next = next_block_cycles(w);
	const double wave = wave_cycles(w, resident), last = wave_cycles(w, rest);
	return (struct waves){ .cycles = full * wave + last + fmax(0, full + (rest > 0) - 1) * next,
		                   .block_cycles = full * resident * wave + rest * last };
}

/*
 * Warps that an SM with work holds on average. Some SMs get a block more than others, if any; the
 * first blocks come one after the other, to all SMs by turns. @stretch: how much longer blocks take
 * because of what the chip shares; >= 1.
 */
static double mean_resident_warps(const struct work *w, double resident, double stretch)
{
	const double sms = w->gpu->sm_count, least = floor(w->blocks / sms);
	const double with_more = w->blocks - least * sms;
	const struct waves few = all_waves(w, least, resident);
	const struct waves more = all_waves(w, least + 1, resident);
	const double starting = timing.block_start_cycles * sms / stretch;
	const double active = (sms - with_more) * (few.cycles + starting * fmin(least, resident)) +
	                      with_more * (more.cycles + starting * fmin(least + 1, resident));
	const double held = (sms - with_more) * few.block_cycles + with_more * more.block_cycles;
	return active > 0 ? held / active * w->warps * w->gpu->schedulers_per_sm : 0;
}

/* --- pages and the host --- */

/* Of code that is not at hand: where it goes on elsewhere, a warp waits; straight on, it comes
 * while warps work. */
static double new_code_ns(const struct run_counts *c, double work_ns)
{
	const double comes_ns = c->code_instructions * CODE_BYTES / timing.new_code_gbs;
	return fmax(fmax(timing.new_code_ns, c->code_blocks * timing.new_block_ns), comes_ns - work_ns);
}

/*
 * Until the first warp has what every kernel needs. Alone, with caches that were emptied, it is
 * what an almost empty kernel takes; as one launch of a program, what the launch before left is
 * there: all but constants, which each SM loads anew.
 */
static double start_ns(const struct gpu_spec *g, const struct run_counts *c, double work_ns)
{
	if (!c->of_program)
		return g->launch_overhead_ns + c->code_blocks * timing.cold_block_ns;
	const double lines = c->launch_lines;
	return g->launch_overhead_ns * timing.warm_start +
	       (lines > 0 ? timing.parameter_ns + (lines - 1) * timing.more_parameters_ns : 0) +
	       c->constant_lines * timing.constant_ns + (c->code_kept ? 0 : new_code_ns(c, work_ns)) +
	       (c->new_memory ? timing.new_memory_ns : 0) + (c->in_graph ? timing.graph_node_ns : 0);
}

/* Blocks that find room do not all begin at once, nor end: so much longer than it takes to hand out
 * as many, one after the other. */
static double begin_ns(const struct gpu_spec *g, const struct run_counts *c, double blocks)
{
	const double handed_out = blocks * timing.block_start_cycles * 1e3 / g->clock_mhz;
	const double last = c->of_program ? timing.begin_warm_ns : timing.begin_cold_ns;
	const double all = timing.begin_share * last * (1 - exp(-blocks / timing.begin_blocks));
	return hypot(all, handed_out) - handed_out;
}

/* Warps wait for the first pages of a round together; the rest follow at the rate at which they can
 * come. */
static double pages_ns(const struct run_counts *c)
{
	if (!(c->pages_host + c->pages_fresh > 0))
		return 0;
	return (c->pages_first ? timing.first_fault_ns : 0) +
	       c->page_rounds_host * timing.page_fault_ns +
	       c->page_rounds_fresh * timing.page_fresh_ns + c->pages_host / timing.page_host_gbs +
	       c->pages_fresh / timing.page_fresh_gbs;
}

/* The host's memory: both directions at once, at the rates of copies of pinned memory. Accesses
 * that are scattered take longer, which is not known here. */
static double link_ns(const struct gpu_spec *g, const struct run_counts *c)
{
	const struct stream_rates rates = stream_rates_of(g);
	const double read = c->host_read_bytes, written = c->host_write_bytes;
	if (!(read + written > 0))
		return 0;
	const double both = fmin(read, written), alone = fmax(read, written) - both;
	return both / rates.duplex_gbs + alone / rates.pinned_gbs;
}

/* What device memory has to do; 0 where it is not known. */
static double dram_ns(const struct gpu_spec *g, const struct run_counts *c)
{
	if (!(c->dram_read_bytes >= 0 && c->dram_write_bytes >= 0))
		return 0;
	return fmax(c->dram_read_bytes + c->dram_write_bytes,
	            timing.dram_access_bytes * c->dram_accesses) /
	       (g->dram_gbs * timing.dram_efficiency);
}

/* Warps that wait @n times, one after the other, do not work meanwhile, the less the fewer times.
 */
static double by_turns(double n, double work, double waits)
{
	return waits > 0 ? norm(log(2) / log1p(1 / n), work, waits) : work;
}

/* Does L2 take all lines that are stored in no less time than the busiest SM sends its own?
 * @share: of the blocks, on that SM. */
static bool l2_takes_stores(const struct gpu_spec *g, const struct run_counts *c,
                            const struct work *w, double share)
{
	double cycles = 0;
	for (unsigned i = 0; i < w->n_regions; i++)
		cycles += w->region[i].store_cycles;
	const double port = cycles * share * 1e3 / g->clock_mhz;
	return stored_lines_ns(g, c) > PORT_WAITS * port && !stores_by_words(&c->total);
}

/* --- the whole launch --- */

static void sm_resources(const struct demand *d, double scale, double *ns)
{
	ns[PERF_ISSUE] = d->issue * scale;
	ns[PERF_FP32] = d->fp32 * scale;
	ns[PERF_FP64] = d->fp64 * scale;
	ns[PERF_INT] = d->int32 * scale;
	ns[PERF_SFU] = d->sfu * scale;
	ns[PERF_TENSOR] = (d->tensor + d->group) * scale;
	ns[PERF_ADU] = d->values * scale;
	ns[PERF_LSU] = fmax(d->load, d->store) * scale;
	ns[PERF_SHARED] = d->shared * scale;
}

void kernel_time(const struct gpu_spec *g, const struct launch_plan *plan,
                 const struct occ_result *occ, const struct run_counts *counts,
                 struct perf_result *out)
{
	const double grid = grid_blocks(plan), resident = occ->blocks_per_sm;
	const double ns = 1e3 / g->clock_mhz;

	memset(out, 0, sizeof *out);
	if (!counts || resident <= 0 || g->sm_count == 0 || grid <= 0)
		return;
	out->waves = grid / (resident * g->sm_count);
	/* Blocks go to whichever SM is free, so the busiest one gets at most one more than the
	 * average; a grid smaller than the GPU leaves SMs idle. */
	const double busiest = ceil(grid / g->sm_count);
	out->tail_factor = fmax(1, busiest * g->sm_count / grid);

	const struct region one = region_of_counts(g, plan, counts);
	struct work w = {
		.gpu = g,
		.region = counts->n_regions ? counts->regions : &one,
		.n_regions = counts->n_regions ? counts->n_regions : 1,
		.blocks = grid,
		.warps = block_warps(plan) / g->schedulers_per_sm,
		.l1_lines = occ_l1_bytes(g, occ->limits[OCC_SHARED].needs, occ->blocks_per_sm) / LINE_BYTES
	};
	w.stores_by_l2 = l2_takes_stores(g, counts, &w, busiest / grid);
	for (unsigned i = 0; i < w.n_regions; i++) {
		w.all = demand_sum(w.all, demand_in_block(&w, i), 1);
		w.critical_path += critical_path_in_block(&w, i);
	}
	w.swap_chain = swap_chain_cycles(plan, counts);
	double calls = 0;
	for (unsigned i = 0; i < w.n_regions; i++)
		calls += w.region[i].call_ns;
	/* lines that come from L2 are put into L1 */
	const double stored = (double)counts->total.st_sectors + (double)counts->total.atom_sectors;
	if (counts->l2_sectors > stored)
		w.all.load += (counts->l2_sectors - stored) * SECTOR_BYTES / LINE_BYTES / grid;
	sm_resources(&w.all, busiest * ns, out->resource_ns);
	/* how often lanes try to swap is another matter than how often they did here */
	const double longest = counts->atomics.swaps > 0 ? 0 : counts->longest_block_cycles;
	out->resource_ns[PERF_LATENCY] =
		fmax(fmax(ceil(busiest / resident) * w.critical_path, longest) * ns, calls);
	/* Blocks start one after the other; the last ones only then begin their way. */
	const double waves = ceil(grid / (resident * g->sm_count));
	const double ramp = (grid - (waves - 1) * resident * g->sm_count) * timing.block_start_cycles;
	const double last =
		ramp + (waves - 1) * next_block_cycles(&w) +
		waves * (lone_block_cycles(&w) + others_at_barriers(&w, fmin(busiest, resident)));
	const double sm = fmax(fmax(all_waves(&w, busiest, resident).cycles, last), longest) * ns;

	/* Chip-wide: bytes over 1e9 bytes/s is ns. */
	out->resource_ns[PERF_L2] = fmax(l2_ns(g, counts), atomics_ns(&counts->atomics));
	const double swaps = counts->atomics.contest_ns;
	out->resource_ns[PERF_DRAM] = dram_ns(g, counts);
	const double link = link_ns(g, counts), trip = link > 0 ? timing.host_trip_ns : 0;
	const double *const chip = out->resource_ns;
	const double even = crowded_ns(overlapped(sm, calls), chip[PERF_DRAM], chip[PERF_L2]);
	const double crowded =
		by_turns(fmax(1, counts->load_rounds) * waves, even, uneven_ns(g, counts));
	/* the last block cannot begin before all others have, and then lasts as long as any */
	const double lone = fmin(crowded, lone_block_cycles(&w) * ns);
	const double inside =
		lone + norm(timing.dispatch_norm, crowded - lone, grid * timing.block_start_cycles * ns);
	/* who waits for others to swap leaves the chip to the rest */
	const double busy = overlapped(inside, link), alone = fmin(busy, w.critical_path * ns);
	const double work_ns = alone + overlapped(busy - alone, swaps) + trip;
	out->resource_ns[PERF_HOST] = link + trip;
	out->resource_ns[PERF_L2] = fmax(out->resource_ns[PERF_L2], swaps);
	out->resource_ns[PERF_PAGES] = pages_ns(counts);
	for (unsigned r = 0; r < PERF_RESOURCE_COUNT; r++)
		if (out->resource_ns[r] > out->resource_ns[out->bottleneck])
			out->bottleneck = (enum perf_resource)r;
	const double begun = inside > 0 ? crowded / inside : 1; /* while blocks are slow to begin */
	const double stretch = sm > 0 ? fmax(1, work_ns / sm * begun) : 1;
	out->resident_warps = mean_resident_warps(&w, resident, stretch) * fmin(1, begun);
	out->kernel_ns = start_ns(g, counts, work_ns) + begin_ns(g, counts, grid) + work_ns +
	                 out->resource_ns[PERF_PAGES];
}
