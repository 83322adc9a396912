/*
 * The shared-memory carve-out: the sizes of each compute capability, what an H200's driver sets
 * (tests/gpu/h200-2026-11-27/carveout.csv, as CUPTI reports it), and the block limits by shared
 * memory that Nsight Compute prints of four kernels on an RTX 4060 Ti (S-328 to S-330, S-350).
 */
#include "../unit.h"
#include "model/carveout.h"
#include "model/gpu.h"
#include "model/occupancy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDED "tests/gpu/h200-2026-11-27/carveout.csv"
#define KIB 1024u

static struct occ_result occ(const char *gpu, unsigned block, unsigned regs, unsigned shared,
                             int preferred)
{
	const struct occ_input in = { .block_threads = block,
		                          .regs_per_thread = regs,
		                          .dynamic_shared_bytes = shared,
		                          .carveout_preferred = preferred >= 0,
		                          .carveout_pct = preferred >= 0 ? (unsigned)preferred : 0 };
	struct occ_result r;
	assert_true(occ_compute(gpu_find(gpu), &in, &r, NULL));
	return r;
}

/* CUDA C++ Programming Guide, "Shared Memory" of compute capabilities 7.5, 8.0, 8.6 and 8.9, 9.0,
 * 12.0: what a GPU can be set to, KiB. */
TEST(sizes_of_each_gpu)
{
	static const struct {
		const char *gpu;
		unsigned kib[10], n;
	} rows[] = {
		{ "t4", { 32, 64 }, 2 },
		{ "a100", { 0, 8, 16, 32, 64, 100, 132, 164 }, 8 },
		{ "rtx3090", { 0, 8, 16, 32, 64, 100 }, 6 },
		{ "rtx4060ti", { 0, 8, 16, 32, 64, 100 }, 6 },
		{ "h200", { 0, 8, 16, 32, 64, 100, 132, 164, 196, 228 }, 10 },
		{ "rtx5090", { 0, 8, 16, 32, 64, 100 }, 6 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct gpu_spec *g = gpu_find(rows[i].gpu);
		for (unsigned k = 0; k < rows[i].n; k++) {
			const unsigned size = rows[i].kib[k] * KIB;
			const unsigned next = rows[i].kib[k + 1 < rows[i].n ? k + 1 : k] * KIB;
			assert_int_equal(carveout_size(g, size), size);
			assert_int_equal(carveout_size(g, size + 1), next);
		}
		assert_int_equal(carveout_size(g, 1e9), g->smem_per_sm_bytes);
		assert_int_equal(rows[i].kib[rows[i].n - 1] * KIB, g->smem_per_sm_bytes);
	}
}

/* S-350: the row "block limit, shared memory" of the table: 16, 1, 7, 12. It is the carve-out that
 * is divided, not all that an SM could have (which would be 100, 11, 11 and 20). */
TEST(s_350_block_limit_by_shared_memory)
{
	static const struct {
		unsigned block, regs, shared, blocks, kib;
	} rows[] = {
		{ 256, 40, 0, 16, 16 },
		{ 1024, 37, 8192, 1, 16 },
		{ 256, 94, 8192, 7, 64 },
		{ 256, 56, 4096, 12, 64 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct occ_result r =
			occ("rtx4060ti", rows[i].block, rows[i].regs, rows[i].shared, -1);
		assert_int_equal(r.carveout_blocks, rows[i].blocks);
		assert_int_equal(r.carveout_bytes, rows[i].kib * KIB);
		assert_true(r.limits[OCC_SHARED].blocks > r.carveout_blocks);
		assert_true(r.carveout_blocks >= r.blocks_per_sm);
	}
	/* S-329: with it, shared memory stands beside warps and registers as a limit of 1 block */
	const struct occ_result r = occ("rtx4060ti", 1024, 37, 8192, -1);
	assert_int_equal(r.limits[OCC_WARPS].blocks, 1);
	assert_int_equal(r.limits[OCC_REGISTERS].blocks, 1);
	assert_int_equal(r.carveout_blocks, 1);
}

/* Every launch recorded on an H200: the blocks that its calculator gives, always; the size set, but
 * for two in a hundred. */
TEST(as_an_h200_does)
{
	const char *root = getenv("TEST_ROOT");
	char path[1024], line[128];
	unsigned n = 0, same = 0;

	snprintf(path, sizeof path, "%s/%s", root ? root : ".", RECORDED);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		int preferred;
		unsigned regs, threads, shared, grid, blocks, set;
		assert_int_equal(sscanf(line, "%d,%u,%u,%u,%u,%u,%u", &preferred, &regs, &threads, &shared,
		                        &grid, &blocks, &set),
		                 7);
		const struct occ_result r = occ("h200", threads, regs, shared, preferred);
		assert_int_equal(r.blocks_per_sm, blocks);
		if (!blocks) { /* it did not launch: the record is of the launch before */
			assert_int_equal(r.carveout_bytes, 0);
			continue;
		}
		n++;
		same += r.carveout_bytes == set;
		assert_true(r.carveout_blocks >= blocks);
	}
	fclose(f);
	assert_int_equal(n, 435);
	if (same * 100 < n * 98)
		fail_msg("%u of %u sizes are those that the driver set", same, n);
}

/* A preference limits the blocks, but never below one, and never where the driver is free. */
TEST(preference)
{
	assert_int_equal(occ("h200", 256, 32, 8192, -1).blocks_per_sm, 8);
	assert_int_equal(occ("h200", 256, 32, 8192, 25).blocks_per_sm, 7);
	const struct occ_result least = occ("h200", 256, 32, 8192, 0),
							most = occ("h200", 256, 32, 0, 100);
	assert_int_equal(least.blocks_per_sm, 1);
	assert_string_equal(least.limiters, "shared memory");
	assert_int_equal(least.carveout_bytes, 16 * KIB);
	assert_int_equal(most.carveout_bytes, 228 * KIB);
	assert_int_equal(most.blocks_per_sm, 8);
	/* 64 bytes each: a share in which hundreds of blocks would fit, but for their reserves */
	assert_int_equal(occ("h200", 256, 32, 1024, 50).carveout_bytes, 228 * KIB);
}

/* A block that cannot launch has no carve-out; one without shared memory and reserve no limit. */
TEST(where_there_is_none)
{
	struct metric_set m;
	struct occ_result r = occ("a100", 1024, 65, 0, -1);
	assert_int_equal(r.carveout_bytes, 0);
	metrics_clear(&m, "not run");
	occ_metrics(&m, gpu_find("a100"), &r, 0);
	assert_false(metric_known(&m, M_OCC_CARVEOUT));
	assert_false(metric_known(&m, M_OCC_CARVEOUT_BLOCKS));
	r = occ("t4", 256, 32, 0, -1); /* no reserve before compute capability 8.0 */
	assert_int_equal(r.carveout_bytes, 32 * KIB);
	assert_true(r.carveout_blocks == OCC_UNLIMITED);
	occ_metrics(&m, gpu_find("t4"), &r, 0);
	assert_true(metric_get(&m, M_OCC_CARVEOUT) == 32 * KIB);
	assert_false(metric_known(&m, M_OCC_CARVEOUT_BLOCKS));
	r = occ("t4", 256, 32, 20 * KIB, -1);
	assert_int_equal(r.carveout_blocks, 3);
}
