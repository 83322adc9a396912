/*
 * Occupancy against printed and NVIDIA's own answers, and our arithmetic against NVIDIA's header
 * over random inputs. PMPP_OCC_N=1000000 makes the random test long (default 20000 per sheet).
 */
#include "../unit.h"
#include "base/text.h"
#include "model/gpu.h"
#include "model/occupancy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct occ_result occ(const char *gpu, unsigned block, unsigned regs, unsigned shared)
{
	const struct gpu_spec *g = gpu_find(gpu);
	assert_non_null(g);
	struct occ_input in = { .block_threads = block,
		                    .regs_per_thread = regs,
		                    .dynamic_shared_bytes = shared };
	struct occ_result r;
	assert_true(occ_compute(g, &in, &r, NULL));
	return r;
}

static unsigned bits(const struct occ_result *r)
{
	unsigned b = 0;
	for (unsigned i = 0; i < OCC_LIMIT_COUNT; i++)
		b |= (unsigned)r->limits[i].limits << i;
	return b;
}

/* One row of a printed table: @pct to the digits printed. */
static void row(const char *gpu, unsigned block, unsigned regs, unsigned shared, unsigned blocks,
                double pct, const char *limiters)
{
	struct occ_result r = occ(gpu, block, regs, shared);
	if (r.blocks_per_sm != blocks || fabs(r.pct - pct) > 0.05 ||
	    (limiters && strcmp(r.limiters, limiters) != 0))
		fail_msg("%s block %u regs %u shared %u: %u blocks, %.2f %%, %s", gpu, block, regs, shared,
		         r.blocks_per_sm, r.pct, r.limiters);
}

/* SEEDS 4.B: S-320 to S-326, S-211 to S-213. */
TEST(seeds_a100)
{
	static const unsigned sizes[] = { 1024, 512, 256, 128, 64 };
	for (unsigned i = 0; i < 5; i++) {
		row("a100", sizes[i], 0, 0, 2u << i, 100, NULL);
		row("a100", sizes[i], 32, 0, 2u << i, 100, NULL);            /* S-211 */
		row("a100", sizes[i], 64, 0, 1u << i, 50, "registers");      /* S-323 */
		row("a100", sizes[i], 32, sizes[i] * 8, 2u << i, 100, NULL); /* S-213, S-326 */
	}
	row("a100", 768, 32, 0, 2, 75, "warps, registers");
	row("a100", 768, 0, 0, 2, 75, "warps");       /* S-321 */
	row("a100", 32, 0, 0, 32, 50, "block slots"); /* S-322 */
	struct occ_result r = occ("a100", 768, 0, 0);
	assert_int_equal(r.threads_per_sm, 1536);
	row("a100", 512, 31, 0, 4, 100, "warps, registers"); /* S-324 */
	row("a100", 512, 33, 0, 3, 75, "registers");         /* S-325: the cliff */
	/* the register sweep of S-325: <= 32, 33-40, 41-64, 65-128 */
	for (unsigned regs = 1; regs <= 128; regs++)
		row("a100", 512, regs, 0,
		    regs <= 32   ? 4
		    : regs <= 40 ? 3
		    : regs <= 64 ? 2
		                 : 1,
		    regs <= 32   ? 100
		    : regs <= 40 ? 75
		    : regs <= 64 ? 50
		                 : 25,
		    NULL);
	/* S-212: 82 bytes per thread, before the reserve */
	assert_int_equal(gpu_find("a100")->smem_per_sm_bytes / 2048, 82);
}

/* S-327 and S-380: 32 KB for 256 threads. The book divides, the hardware reserves 1 KB per block.
 */
TEST(seeds_shared_memory)
{
	row("a100", 256, 0, 32768, 4, 50, "shared memory");
	row("a100", 256, 0, 31 * 1024, 5, 62.5, "shared memory");
	row("h200", 256, 0, 32768, 6, 75, "shared memory");
	struct occ_result r = occ("a100", 256, 0, 32768);
	assert_int_equal(r.book_blocks, 5);
	assert_true(r.book_pct == 62.5);
	assert_non_null(strstr(r.book_note, "1024 bytes"));
	assert_string_equal(r.limits[OCC_SHARED].arithmetic,
	                    "roundup(32768 + 1024 reserved, 128) = 33792 bytes; 167936 / 33792 = 4");
	assert_true(r.limits[OCC_SHARED].needs == 33792 && r.limits[OCC_SHARED].has == 167936);
	/* a page that says 19 blocks for 12 KB of 228: the reserve makes it 17 */
	row("h200", 32, 16, 12 * 1024, 17, 26.56, "shared memory");
}

/* S-328 to S-330 as ncu printed them on the RTX 4060 Ti, and the same launches on an H200. */
TEST(seeds_ncu_rows)
{
	static const struct {
		unsigned block, regs, shared;
		double ti, h200;
	} rows[] = {
		{ 256, 40, 0, 100, 75 },
		{ 1024, 37, 8192, 66.67, 50 },
		{ 256, 94, 8192, 33.33, 25 },
		{ 256, 56, 4096, 66.67, 50 },
	};
	for (unsigned i = 0; i < 4; i++) {
		struct occ_result t = occ("rtx4060ti", rows[i].block, rows[i].regs, rows[i].shared);
		struct occ_result h = occ("h200", rows[i].block, rows[i].regs, rows[i].shared);
		assert_true(fabs(t.pct - rows[i].ti) < 0.005);
		assert_true(fabs(h.pct - rows[i].h200) < 0.005);
	}
	row("rtx4060ti", 256, 40, 0, 6, 100, "warps, registers");
	row("rtx4060ti", 1024, 37, 8192, 1, 66.67, "warps, registers");
	row("rtx4060ti", 256, 94, 8192, 2, 33.33, "registers");
	row("rtx4060ti", 256, 56, 4096, 4, 66.67, "registers");
}

/* cuda_occupancy.h of CUDA 13.0, run apart from this program: blocks and percent by sheet. */
TEST(header_vectors)
{
	static const char *const gpus[] = { "t4", "a100", "rtx3090", "rtx4060ti", "h200", "rtx5090" };
	static const struct {
		unsigned block, regs, shared;
		struct {
			unsigned blocks;
			double pct;
		} want[6];
	} rows[] = {
		{ 256, 32, 0, { { 4, 100 }, { 8, 100 }, { 6, 100 }, { 6, 100 }, { 8, 100 }, { 6, 100 } } },
		{ 256, 33, 0, { { 4, 100 }, { 6, 75 }, { 6, 100 }, { 6, 100 }, { 6, 75 }, { 6, 100 } } },
		{ 1024,
		  64,
		  0,
		  { { 1, 100 }, { 1, 50 }, { 1, 66.67 }, { 1, 66.67 }, { 1, 50 }, { 1, 66.67 } } },
		{ 1024, 65, 0, { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } } },
		{ 256,
		  40,
		  49152,
		  { { 1, 25 }, { 3, 37.5 }, { 2, 33.33 }, { 2, 33.33 }, { 4, 50 }, { 2, 33.33 } } },
		{ 32,
		  16,
		  0,
		  { { 16, 50 }, { 32, 50 }, { 16, 33.33 }, { 24, 50 }, { 32, 50 }, { 24, 50 } } },
	};
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		for (unsigned k = 0; k < 6; k++)
			row(gpus[k], rows[i].block, rows[i].regs, rows[i].shared, rows[i].want[k].blocks,
			    rows[i].want[k].pct, NULL);
}

/* PMPP 4th ed., ch. 4, exercise 8 on compute capability 9.0: the book divides, hardware rounds. */
TEST(book_exercise)
{
	row("h200", 128, 30, 0, 16, 100, NULL);
	row("h200", 32, 29, 0, 32, 50, "block slots");
	row("h200", 256, 34, 0, 6, 75, "registers");
	struct occ_result r = occ("h200", 256, 34, 0);
	assert_int_equal(r.book_blocks, 7);
	assert_true(r.book_pct == 87.5);
	assert_non_null(strstr(r.book_note, "34 become 40 per thread"));
	assert_string_equal(
		r.limits[OCC_REGISTERS].arithmetic,
		"8 x roundup(34 x 32, 256) = 10240; 4 x (16384 / 1280) = 48 warps; 48 / 8 = 6");
	r = occ("h200", 128, 30, 0);
	assert_string_equal(r.book_note, "");
	r = occ("a100", 100, 0, 0); /* 100 threads are 4 warps: 16 blocks, not 20 */
	assert_int_equal(r.book_blocks, 20);
	assert_int_equal(r.blocks_per_sm, 16);
	assert_non_null(strstr(r.book_note, "100 threads take 4"));
}

TEST(a_block_that_cannot_launch_says_why)
{
	struct occ_result r = occ("a100", 1024, 65, 0);
	assert_false(r.launchable);
	assert_int_equal(r.blocks_per_sm, 0);
	assert_string_equal(r.limiters, "registers");
	assert_string_equal(
		r.why_not, "1024 threads x 65 registers take 73 728 registers; a block has at most 65 536");
	r = occ("a100", 4096, 32, 0);
	assert_string_equal(r.why_not, "more than 1024 threads in a block");
	assert_string_equal(r.limiters, "warps");
	r = occ("a100", 32, 256, 0);
	assert_string_equal(r.why_not, "more than 255 registers per thread");
	r = occ("rtx4060ti", 32, 32, 101377);
	assert_string_equal(r.why_not,
	                    "101 377 bytes of shared memory; a block on this GPU has at most 101 376");
	assert_true(occ("rtx4060ti", 32, 32, 101376).launchable);
	assert_true(occ("h200", 32, 32, 232448).launchable);
	assert_false(occ("h200", 32, 32, 232449).launchable);
	assert_false(occ("t4", 32, 32, 65537).launchable);
	assert_true(occ("t4", 32, 32, 65536).launchable);
	r = occ("a100", 0xffffffffu, 0xffffffffu, 0xffffffffu);
	assert_false(r.launchable);

	struct err e;
	struct occ_input none = { .regs_per_thread = 32 };
	unsigned blocks, limiters;
	assert_false(occ_compute(gpu_find("a100"), &none, &r, &e));
	assert_int_equal(e.code, ERR_USAGE);
	assert_false(occ_reference(gpu_find("a100"), &none, &blocks, &limiters, &e));
}

TEST(barriers_count_from_hopper_on)
{
	struct occ_input in = { .block_threads = 64, .regs_per_thread = 16, .barriers = 4 };
	struct occ_result r;
	assert_true(occ_compute(gpu_find("h200"), &in, &r, NULL));
	assert_int_equal(r.limits[OCC_BARRIERS].blocks, 16); /* 64 / 4 */
	assert_string_equal(r.limiters, "barriers");
	assert_true(occ_compute(gpu_find("rtx5090"), &in, &r, NULL));
	assert_int_equal(r.blocks_per_sm, 6); /* 24 / 4 */
	assert_true(occ_compute(gpu_find("a100"), &in, &r, NULL));
	assert_int_equal(r.limits[OCC_BARRIERS].blocks, OCC_UNLIMITED);
	assert_int_equal(r.blocks_per_sm, 32);
	in.barriers = 0; /* taken as 1 */
	assert_true(occ_compute(gpu_find("h200"), &in, &r, NULL));
	assert_int_equal(r.limits[OCC_BARRIERS].blocks, 64);
}

/* A value near a place where the arithmetic changes, or anywhere. */
static unsigned pick(uint64_t *seed, const unsigned *edges, size_t n, unsigned most)
{
	uint64_t r = rand_next(seed);
	if (r % 4 == 0) {
		unsigned edge = edges[(r >> 8) % n];
		unsigned off = (unsigned)(r >> 32) % 5;
		return edge + off < 2 ? 0 : edge + off - 2;
	}
	return (unsigned)((r >> 8) % (most + 1));
}

TEST(ours_equals_nvidias)
{
	static const unsigned threads[] = { 2, 32, 64, 96, 128, 256, 512, 768, 1024, 1536 };
	static const unsigned regs[] = { 2, 8, 16, 24, 32, 40, 48, 64, 80, 96, 128, 168, 255, 256 };
	static const unsigned shared[] = { 2,     128,   1024,   8192,   16384,  32768,  48128, 49152,
		                               50176, 65536, 101376, 102400, 166912, 232448, 233472 };
	const char *env = getenv("PMPP_OCC_N");
	const long n = env && atol(env) > 0 ? atol(env) : 20000;
	/* One more: a GPU whose block may not have all registers of an SM, which no sheet has. */
	struct gpu_spec half = *gpu_find("a100");
	half.regs_per_block /= 2;
	for (size_t s = 0; s <= gpu_count(); s++) {
		const struct gpu_spec *g = s < gpu_count() ? gpu_at(s) : &half;
		uint64_t seed = hash_bytes(HASH_SEED, g->id, strlen(g->id));
		long launchable = 0, zero = 0;
		for (long i = 0; i < n; i++) {
			struct occ_input in = {
				.block_threads = pick(&seed, threads, ARRAY_LEN(threads), 1100),
				.regs_per_thread = pick(&seed, regs, ARRAY_LEN(regs), 260),
				.dynamic_shared_bytes = i % 3 ? pick(&seed, shared, ARRAY_LEN(shared), 70000) : 0,
				.static_shared_bytes = i % 2 ? pick(&seed, shared, 8, 49152) : 0,
				.barriers = (unsigned)(rand_next(&seed) % 17),
				.carveout_preferred = i % 5 == 0,
				.carveout_pct = (unsigned)(rand_next(&seed) % 101),
			};
			if (!in.block_threads)
				in.block_threads = 1;
			struct occ_result r;
			struct err e = { .code = ERR_NONE };
			unsigned blocks, limiters;
			if (!occ_reference(g, &in, &blocks, &limiters, &e))
				fail_msg("%s", e.msg);
			assert_true(occ_compute(g, &in, &r, &e));
			if (r.blocks_per_sm != blocks || bits(&r) != limiters)
				fail_msg(
					"%s: block %u regs %u static %u dynamic %u barriers %u: %u (%#x), header %u "
					"(%#x)",
					g->id, in.block_threads, in.regs_per_thread, in.static_shared_bytes,
					in.dynamic_shared_bytes, in.barriers, r.blocks_per_sm, bits(&r), blocks,
					limiters);
			assert_int_equal(r.launchable, blocks > 0);
			assert_true(r.launchable == (r.why_not[0] == '\0'));
			assert_true(r.pct >= 0 && r.pct <= 100 && isfinite(r.book_pct));
			assert_true((r.book_blocks == blocks && fabs(r.book_pct - r.pct) < 1e-6) ==
			            (r.book_note[0] == '\0'));
			launchable += r.launchable;
			zero += !r.launchable;
		}
		/* the inputs reach both sides */
		assert_true(launchable > n / 20 && zero > n / 20);
		if (env)
			print_message("%s: %ld inputs, 0 differences (%ld launch, %ld do not)\n", g->id, n,
			              launchable, zero);
	}
}

TEST(every_text_fits)
{
	/* the longest numbers: no arithmetic, note or reason is cut */
	struct occ_input in = { .block_threads = 1023,
		                    .regs_per_thread = 33,
		                    .static_shared_bytes = 49152,
		                    .dynamic_shared_bytes = 100001,
		                    .barriers = 16 };
	for (size_t s = 0; s < gpu_count(); s++)
		for (unsigned k = 0; k < 300; k++) {
			struct occ_result r;
			in.block_threads = 724 + k;
			in.regs_per_thread = k % 70;
			in.dynamic_shared_bytes = 100001 + 331 * k;
			assert_true(occ_compute(gpu_at(s), &in, &r, NULL));
			for (unsigned i = 0; i < OCC_LIMIT_COUNT; i++) {
				assert_true(strlen(r.limits[i].arithmetic) + 1 < sizeof r.limits[i].arithmetic);
				assert_true(strlen(r.limits[i].arithmetic) > 0);
			}
			assert_true(strlen(r.book_note) + 1 < sizeof r.book_note);
			assert_true(strlen(r.why_not) + 1 < sizeof r.why_not);
			assert_true(strlen(r.limiters) > 0 && strlen(r.limiters) + 1 < sizeof r.limiters);
		}
}

TEST(metrics)
{
	struct metric_set m;
	metrics_clear(&m, "x");
	const struct gpu_spec *t = gpu_find("rtx4060ti");
	struct occ_result r = occ("rtx4060ti", 256, 94, 8192);
	/* S-331: 64 blocks, 2 per SM, 34 SMs: 0.94 waves */
	occ_metrics(&m, t, &r, 64);
	assert_true(metric_get(&m, M_OCC_BLOCKS) == 2);
	assert_true(metric_get(&m, M_OCC_WARPS) == 16);
	assert_true(fabs(metric_get(&m, M_OCC_PCT) - 100.0 / 3) < 1e-9);
	assert_string_equal(m.v[M_OCC_LIMITERS].text, "registers");
	assert_true(fabs(metric_get(&m, M_LAUNCH_WAVES) - 64.0 / 68) < 1e-9);
	assert_int_equal(m.v[M_LAUNCH_WAVES].origin, ORIGIN_MODELLED);
	occ_metrics(&m, t, &r, 0);
	assert_false(metric_known(&m, M_LAUNCH_WAVES));
	r = occ("rtx4060ti", 1024, 65, 0);
	occ_metrics(&m, t, &r, 64);
	assert_true(metric_get(&m, M_OCC_PCT) == 0);
	assert_false(metric_known(&m, M_LAUNCH_WAVES));
	/* S-332: 34 SMs x 4 blocks of 256 are 34 816 threads in a grid of 136 */
	assert_int_equal(t->sm_count * 4, 136);
	assert_int_equal(t->sm_count * 4 * 256, 34816);
}

/* Shared memory has the smallest size that the GPU can be set to which holds the blocks. */
TEST(l1_has_what_shared_memory_leaves)
{
	const struct gpu_spec *g = gpu_find("h200");
	const double kib = 1024;
	assert_true(occ_l1_bytes(g, 1 * kib, 32) == 256 * kib); /* the reserve alone */
	assert_true(occ_l1_bytes(g, 9 * kib, 2) == (256 - 32) * kib);
	assert_true(occ_l1_bytes(g, 33 * kib, 6) == (256 - 228) * kib);
	assert_true(occ_l1_bytes(g, 228 * kib, 1) == (256 - 228) * kib);
	assert_true(occ_l1_bytes(gpu_find("t4"), 20 * kib, 2) == (96 - 64) * kib);
}
