/* Latency of global loads; see load_latency.h. */
#include "timemodel/load_latency.h"

#include "timemodel/constants.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define SECTOR_BYTES 32.0
#define LINE_BYTES 128.0

struct load_misses load_misses_of(const struct counts *c, double l2_sectors, double written_sectors,
                                  double dram_read_bytes)
{
	const double sectors = fmax((double)c->ld_sectors, 1);
	const double stored = fmax(written_sectors, (double)c->st_sectors + (double)c->atom_sectors);
	struct load_misses m = { .dram_bytes = dram_read_bytes, .own = 1 };
	m.l1 = l2_sectors >= 0 ? fmin(1, fmax(l2_sectors - stored, 0) / sectors) : 1;
	m.l2 = dram_read_bytes >= 0 ? fmin(m.l1, dram_read_bytes / SECTOR_BYTES / sectors) : 0;
	return m;
}

double own_of_dram(const struct timing_program *p, double dram_read_bytes)
{
	double waited = 0;
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->inst[i].origin.known)
			waited += (double)p->counts[i].ld_sectors * fmin(1, p->inst[i].origin.dram_lines);
	return dram_read_bytes >= 0 && waited > 0 ? fmin(1, dram_read_bytes / SECTOR_BYTES / waited)
	                                          : 1;
}

float replays_of(const struct counts *c)
{
	const double shared = (double)c->shared_ld_requests, global = (double)c->ld_requests;
	if (shared > 0)
		return (float)((double)c->shared_ld_wavefronts / shared - 1);
	return global > 0 ? (float)((double)c->ld_lines / global - 1) : 0;
}

bool mostly_loads(const struct timing_inst *x, const struct counts *c)
{
	const double requests =
		(double)c->ld_requests + (double)c->shared_ld_requests + (double)c->local_requests;
	const bool fetches = x->space == MEMORY_TEXTURE || x->space == MEMORY_TEXELS;
	return x->class != INST_LOAD || fetches || x->space == MEMORY_CONST ||
	       x->space == MEMORY_NONE || x->space == MEMORY_REMOTE ||
	       requests >= 0.5 * (double)c->warp_executed;
}

/* A line leaves by sectors; one that is stored in part takes as long as two whole ones. */
double stored_cycles(const struct counts *c)
{
	const double lines = (double)c->st_lines, sectors = (double)c->st_sectors;
	const double empty = fmax(0, sectors - (double)c->st_bytes / SECTOR_BYTES);
	const double in_part = fmin(lines, 2 * empty); /* half of it, where nothing else is known */
	return fmax(lines * timing.store_line_cycles, sectors * timing.store_sector_cycles) +
	       in_part * timing.store_part_cycles +
	       (double)c->atom_sectors * timing.atomic_sector_cycles;
}

double leaving_cycles(const struct timing_inst *x, const struct counts *c)
{
	const double late = x->behind_groups ? (double)c->st_sectors * timing.sum_sector_cycles : 0;
	return stored_cycles(c) + late;
}

double local_store_cycles(const struct timing_inst *x)
{
	return x->class == INST_STORE ? x->local_lines * timing.local_store_cycles : 0;
}

/* How often a warp meets the others of its block: the last time is the end. */
static double meetings_of(const struct hyperblocks *h, const double *passes)
{
	const struct timing_program *p = h->program;
	double meetings = 1;
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->inst[i].class == INST_BARRIER)
			meetings += passes[h->region_of[i]] / p->warps;
	return meetings;
}

/* A load of global memory, whose lines an SM waits for. */
static bool takes_lines(const struct timing_inst *x)
{
	return x->class == INST_LOAD && x->space != MEMORY_SHARED && x->space != MEMORY_CONST &&
	       x->space != MEMORY_LOCAL && x->space != MEMORY_REMOTE;
}

/*
 * Warps that go their own ways wait for their own loads; at a barrier, and at the end of the thread
 * block, which keeps its place until its last warp is done, for those of all. Of many turns from
 * one barrier to the next each is late at other times: the last warp's sum is late by the root of
 * them.
 */
double *lines_waited_for(const struct hyperblocks *h, double *all_waits)
{
	const struct timing_program *p = h->program;
	const double warps = p->warps / p->thread_blocks;
	double *lines = mem_calloc(h->n_regions + 1, sizeof *lines);
	double *batches = mem_calloc(h->n_regions + 1, sizeof *batches);
	double *passes = mem_calloc(h->n_regions + 1, sizeof *passes);
	double *coming = mem_calloc(h->n_regions + 1, sizeof *coming); /* warps of a block */
	bool stored = false, multiplied = true;
	unsigned held = 0, fresh = 0;  /* scoreboards that loads hold; loads since the last wait */
	double waits = 0, loading = 0; /* of a warp; how often it comes to the last load */
	for (unsigned k = 0; k < h->n; k++)
		for (uint32_t r = h->hyperblock[k].first_region; r < h->hyperblock[k].end_region; r++) {
			const struct timing_block *b = &p->block[h->hyperblock[k].first];
			const double entering = b->entering_blocks > 0 ? b->entering_blocks : p->thread_blocks;
			passes[r] = b->warp_passes;
			coming[r] = fmin(warps, fmax(1, passes[r] / entering));
		}
	for (uint32_t i = 0; i < p->n_insts; i++) {
		const struct timing_inst *x = &p->inst[i];
		const uint32_t at = h->region_of[i];
		if (p->machine_code && x->issued > 0 && x->control.waits_for & held) {
			held &= ~(unsigned)x->control.waits_for;
			batches[at] += fresh > 0;
			waits += fresh > 0 ? loading : 0;
			fresh = 0;
		}
		multiplied = multiplied || x->class == INST_PRODUCT;
		if (x->space == MEMORY_GLOBAL && x->class != INST_LOAD)
			stored = true;
		if (!takes_lines(x))
			continue;
		if (p->machine_code) {
			held |= x->issued > 0 ? 1u << x->control.result_board : 0;
			fresh++;
			loading = passes[at] / p->warps;
		} else if (x->fragment ? multiplied : stored && !x->read_only) {
			batches[at]++; /* waits for what the store, or the product before, waited for */
			waits += passes[at] / p->warps;
		}
		multiplied = multiplied && !x->fragment;
		stored = false;
		lines[at] += 1 + replays_of(&p->counts[i]);
	}
	const double meetings = meetings_of(h, passes);
	for (unsigned r = 0; r < h->n_regions; r++) {
		const double turns = fmax(1, fmax(waits, passes[r] / p->warps) / meetings);
		lines[r] /= fmax(1, batches[r]);
		if (meetings > 1 || passes[r] <= p->warps)
			lines[r] *= pow(coming[r], 1 / sqrt(turns));
	}
	*all_waits = waits;
	free(batches);
	free(passes);
	free(coming);
	return lines;
}

static struct load_origin origin_of(const struct timing_inst *x, const struct load_misses *m)
{
	if (x->origin.known)
		return x->origin;
	return (struct load_origin){ .l2_lines = 1, .dram_lines = 1, .l2 = m->l1, .dram = m->l2 };
}

/*
 * Pages of L2 of a request of so many lines. Pieces of lines lie apart, as far as a few fit into a
 * page, whole lines side by side.
 */
static double l2_pages(double lines, double sectors)
{
	const double apart = 1 - fmin(1, sectors * SECTOR_BYTES / LINE_BYTES);
	return 1 + fmax(0, lines - 1) * apart / timing.l2_page_lines;
}

/*
 * Of a warp's waits for what was written last, the share that goes to the other half of L2: each
 * page that is at home there is far from half of the SMs, and the farthest line is waited for. The
 * launch lasts as long as its slowest block: of many that wait once one is far, of one that waits
 * often no more than so large a share of them.
 */
static double far_waits(const struct load_misses *m, double pages)
{
	const double share = 1 - pow(0.5, pages);
	if (m->waits <= 0 || m->blocks < 1)
		return share;
	const double spread = sqrt(share * (1 - share));
	return fmin(1, share + spread * sqrt(2 * log(m->blocks) / fmax(1, m->waits)));
}

/* The last of @lines of @c's kind from L2, which an SM takes one after the other, ns. What others
 * may write at any time is read where it is at home. */
static double from_l2_ns(const struct gpu_spec *g, const struct load_misses *m,
                         const struct timing_inst *x, const struct counts *c, double lines)
{
	const double far = x->strong && !x->polls ? 1 : m->far;
	const double sectors = c->ld_lines ? (double)c->ld_sectors / (double)c->ld_lines : 1;
	const double of_request = c->ld_requests ? (double)c->ld_lines / (double)c->ld_requests : 1;
	const double waits = far_waits(m, l2_pages(of_request, sectors));
	const double sector_ns = SECTOR_BYTES * g->sm_count / g->l2_gbs;
	return g->l2_latency_ns + far * waits * timing.written_far_ns +
	       fmax(0, lines - 1) * fmax(sectors, timing.l2_request_sectors) * sector_ns;
}

/* The slowest of @pages from memory, ns. Lines that several SMs want come as early as for the one
 * of them that is nearest. */
static double from_dram_ns(const struct gpu_spec *g, const struct load_misses *m, double pages)
{
	const double near = 1 - (1 - timing.dram_shared_share) * (1 - m->own);
	return near * g->dram_latency_ns * (1 + timing.dram_spread * log(fmax(1, pages)));
}

struct load_wait load_wait_of(const struct hyperblocks *h, const struct gpu_spec *g,
                              const struct load_misses *misses, double lines, uint32_t i,
                              uint32_t b)
{
	const struct timing_program *p = h->program;
	const struct load_origin from = origin_of(&p->inst[i], misses);
	const double average = p->block[b].warp_passes * p->thread_blocks / p->warps;
	/* of one thread block that comes here once it is known that it waits */
	const bool once = p->thread_blocks <= 1 && h->block_passes[b] <= 1;
	const double part = h->block_passes[b] > 0 && !once ? fmin(1, average / h->block_passes[b]) : 1;
	const double together = fmin(lines, timing.spread_lines);
	const double more = fmax(0, lines - together) * from.l2_lines;
	const double pages =
		fmin(together * from.dram_lines, misses->dram_bytes / timing.dram_page_bytes);
	const double per_ns = g->clock_mhz * 1e-3;
	return (struct load_wait){
		.l2 = part * fmin(1, fmax(from.l2, from.dram)),
		.dram = part * fmin(1, from.dram),
		.l1_cycles = g->l1_latency_ns * per_ns,
		.l2_cycles =
			from_l2_ns(g, misses, &p->inst[i], &p->counts[i], together * from.l2_lines) * per_ns +
			more * timing.intake_line_cycles,
		.dram_cycles = from_dram_ns(g, misses, pages) * per_ns,
	};
}

double load_wait_cycles(const struct load_wait *w)
{
	return w->l1_cycles + w->l2 * (w->l2_cycles - w->l1_cycles) +
	       w->dram * (w->dram_cycles - w->l2_cycles);
}

double group_wait_cycles(struct load_group *g, const struct load_wait *w, double lines)
{
	struct load_wait together = *w;
	if (lines > timing.stepping_lines && fabs(lines - g->lines) < 1) {
		g->none_from_l2 = fmin(g->none_from_l2, 1 - w->l2);
		g->none_from_dram = fmin(g->none_from_dram, 1 - w->dram);
	} else {
		g->none_from_l2 *= 1 - w->l2;
		g->none_from_dram *= 1 - w->dram;
	}
	g->lines = lines;
	together.l2 = 1 - g->none_from_l2;
	together.dram = 1 - g->none_from_dram;
	return load_wait_cycles(&together);
}

double held_line_cycles(const struct timing_program *p, const struct gpu_spec *g,
                        const struct load_misses *misses, uint32_t i)
{
	const struct timing_inst *x = &p->inst[i];
	const struct counts *c = &p->counts[i];
	if (!takes_lines(x) || !c->ld_requests)
		return 0;
	const struct load_origin from = origin_of(x, misses);
	const double lines = (double)c->ld_lines / (double)c->ld_requests;
	const double l2 = from_l2_ns(g, misses, x, c, lines * from.l2_lines);
	const double pages = fmin(lines * from.dram_lines, misses->dram_bytes / timing.dram_page_bytes);
	const double dram = fmax(l2, from_dram_ns(g, misses, pages));
	const double by_dram = from.l2 > 0 ? fmin(1, from.dram / from.l2) : 0;
	return (double)c->ld_lines * from.l2_lines * (l2 + by_dram * (dram - l2)) * g->clock_mhz * 1e-3;
}

/* From where it lies to where the rest of it does, by the launch's average. */
static double far_ns(const struct gpu_spec *g, double dram)
{
	return g->l2_latency_ns + dram * (g->dram_latency_ns - g->l2_latency_ns);
}

/* A fetch of a texture. No cache is followed: a warp's first one of an instruction is taken to come
 * from L2, the half of it that is far where it was just written, or where a copy from the host has
 * left it; the others from L1. */
double fetch_cycles(const struct timing_program *p, const struct gpu_spec *g,
                    const struct load_misses *misses, uint32_t i)
{
	const double executed = (double)p->counts[i].warp_executed;
	const double far = executed > 0 ? fmin(1, p->warps / executed) : 1;
	const double dram = misses->copied ? timing.texture_far : 0;
	/* its lines lie in more than one page of L2, mostly */
	const double other_half = dram > 0 ? 0 : misses->far * far_waits(misses, 2);
	const double away = far_ns(g, dram) + other_half * timing.written_far_ns;
	const double ns = g->l1_latency_ns + far * (away - g->l1_latency_ns);
	return ns * g->clock_mhz * 1e-3 +
	       (p->inst[i].space == MEMORY_TEXTURE ? timing.texture_cycles : timing.texel_cycles);
}

/* A copy by the copy engine, until its barrier knows. */
double bulk_cycles(const struct timing_program *p, const struct gpu_spec *g,
                   const struct load_misses *misses, uint32_t i)
{
	const struct counts *c = &p->counts[i];
	const double dram = misses->l1 > 0 ? misses->l2 / misses->l1 : 0;
	const double bytes = c->warp_executed ? (double)c->ld_bytes / (double)c->warp_executed : 0;
	return (timing.bulk_ns + far_ns(g, dram)) * g->clock_mhz * 1e-3 +
	       bytes / timing.bulk_bytes_per_cycle;
}
