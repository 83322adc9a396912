/* Launches whose counts follow from their shape, timed by the model. */
#ifndef PMPP_TEST_TIME_FIXTURE_H
#define PMPP_TEST_TIME_FIXTURE_H

#include "../unit.h"
#include "timemodel/kernel_time.h"
#include "timemodel/stream_time.h"
#include "model/occupancy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool close_to(double got, double want, double rel)
{
	return fabs(got - want) <= rel * fabs(want);
}

struct run {
	struct launch_plan plan;
	struct occ_result occ;
	struct run_counts counts;
	struct metric_set m;
	struct perf_result p;
};

static inline void finish(struct run *r, const char *gpu, unsigned regs, unsigned shared)
{
	const struct gpu_spec *g = gpu_find(gpu);
	const struct dim3u b = r->plan.block;
	const struct occ_input in = { .block_threads = b.x * b.y * b.z,
		                          .regs_per_thread = regs,
		                          .static_shared_bytes = shared };
	r->plan.entry = "k";
	r->counts.origin = ORIGIN_COUNTED;
	counts_set_known(&r->counts.of_total);
	assert_true(occ_compute(g, &in, &r->occ, NULL));
	metrics_clear(&r->m, "not run");
	metrics_from_run(&r->m, &r->counts);
	kernel_time(g, &r->plan, &r->occ, &r->counts, &r->p);
	perf_metrics(&r->m, g, &r->counts, NULL, &r->p);
}

/*
 * Naive matrix multiplication of n x n by one thread per output, block bx x by; the warps' lines
 * and sectors follow from the shape. @swapped: lanes of a warp lie in different rows.
 */
static inline struct run naive(const char *gpu, unsigned n, unsigned bx, unsigned by, bool swapped)
{
	struct run r = { .plan = { .block = { bx, by, 1 }, .grid = { n / bx, n / by, 1 } } };
	const uint64_t warps = (uint64_t)n * n / 32, steps = warps * n;
	const uint64_t wide = bx < 32 ? bx : 32, rows = 32 / wide;
	/* the operand along the row of threads, and the one along their column */
	const uint64_t lines_row = swapped ? wide : 1, lines_col = rows;
	const uint64_t sectors_row = swapped ? wide : (wide + 7) / 8;
	struct counts *c = &r.counts.total;
	c->ld_requests = 2 * steps;
	c->ld_lines = (lines_row + lines_col) * steps;
	c->ld_sectors = (sectors_row + lines_col) * steps;
	c->st_requests = warps;
	c->st_lines = warps * rows;
	c->st_sectors = 4 * warps;
	c->fp32_inst = steps;
	c->flop32 = 64 * steps;
	c->int_inst = steps;
	c->warp_executed = 4 * steps + steps / 2;
	c->thread_executed = 32 * c->warp_executed;
	/* each block's rows and columns once through L2 */
	r.counts.l2_sectors = (double)n * n / bx / by * (bx + by) * n / 8 + (double)c->st_sectors;
	r.counts.dram_read_bytes = 8.0 * n * n;
	r.counts.dram_write_bytes = 4.0 * n * n;
	finish(&r, gpu, 32, 0);
	return r;
}

/* One vector addition of @n floats by @blocks of @threads, elements interleaved. */
static inline struct run vec_add(const char *gpu, double n, unsigned blocks, unsigned threads)
{
	struct run r = { .plan = { .block = { threads, 1, 1 }, .grid = { blocks, 1, 1 } } };
	const double lanes = threads < 32 ? threads : 32, requests = n / lanes;
	const double sectors = lanes == 1 ? 1 : 4;
	struct counts *c = &r.counts.total;
	c->ld_requests = (uint64_t)(2 * requests);
	c->ld_lines = c->ld_requests;
	c->ld_sectors = (uint64_t)(2 * requests * sectors);
	c->st_requests = (uint64_t)requests;
	c->st_lines = c->st_requests;
	c->st_sectors = (uint64_t)(requests * sectors);
	c->fp32_inst = (uint64_t)requests;
	c->flop32 = (uint64_t)n;
	c->warp_executed = (uint64_t)(9 * requests);
	c->thread_executed = (uint64_t)(9 * n);
	r.counts.l2_sectors = 2 * n / 8 + (double)c->st_sectors; /* L1 keeps a sector for 8 elements */
	r.counts.dram_read_bytes = 8 * n;
	r.counts.dram_write_bytes = 4 * n;
	finish(&r, gpu, 20, 0);
	return r;
}

#endif
