/*
 * What the emulator counts for the book's worked examples, against figures worked out by hand.
 * Ids are those of the example list (S-...).
 */
#include "kernel_run.h"

#include <math.h>

static double metric(const struct run_record *r, const char *key)
{
	enum metric_id id = metric_find(key);

	if (id == METRIC_COUNT || !metric_known(&r->metrics, id))
		fail_msg("%s is not known", key);
	return metric_get(&r->metrics, id);
}

/* S-371, S-372, S-376, S-381: lanes and warp executions of the addition. */
static const struct {
	const char *variant;
	unsigned n, lanes, warps;
	unsigned lines; /* 128-byte lines of the step's loads and stores, S-373 */
} steps[] = {
	{ "simple", 256, 255, 27, 141 },     { "convergent", 256, 255, 12, 36 },
	{ "simple", 1024, 1023, 111, 573 },  { "convergent", 1024, 1023, 36, 108 },
	{ "simple", 2048, 2047, 223, 1149 }, { "convergent", 2048, 2047, 68, 204 },
};

TEST(reduction_steps)
{
	for (unsigned i = 0; i < ARRAY_LEN(steps); i++) {
		char words[64];
		snprintf(words, sizeof words, "N=%u block=%u", steps[i].n, steps[i].n / 2);
		struct run_record *r = run_words("reduction", steps[i].variant, words);
		const struct counts add = of_tag(r, "add");
		assert_int_equal(r->verify, VERIFY_OK);
		/* the addition itself: one floating-point instruction on that line */
		assert_int_equal(add.flop32, steps[i].lanes);
		assert_int_equal(add.fp32_inst, steps[i].warps);
		/* the line holds two loads, the addition and a store, and nothing else */
		assert_int_equal(add.thread_executed, 4 * steps[i].lanes);
		assert_int_equal(add.warp_executed, 4 * steps[i].warps);
		assert_int_equal(add.ld_requests, 2 * steps[i].warps);
		assert_int_equal(add.st_requests, steps[i].warps);
		assert_int_equal(add.ld_lines + add.st_lines, steps[i].lines);
		record_free(r);
	}
}

/* S-375: warps that split at the step's condition; the loop itself never splits a warp. */
TEST(reduction_divergence)
{
	static const struct {
		const char *variant;
		unsigned divergent;
	} want[] = {
		{ "simple", 4 + 4 + 4 + 4 + 4 + 2 + 1 },
		{ "convergent", 1 + 1 + 1 + 1 + 1 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		struct run_record *r = run_words("reduction", want[i].variant, "N=256 block=128");
		assert_int_equal(of_tag(r, "active").divergent_branches, want[i].divergent);
		/* and once more where thread 0 alone writes the result */
		assert_int_equal(r->run.counts.total.divergent_branches, want[i].divergent + 1);
		record_free(r);
	}
}

/* S-374: N / 32 + 1 = 9 requests of global memory. */
TEST(reduction_shared_requests)
{
	struct run_record *r = run_words("reduction", "shared", "N=256 block=128");
	assert_true(metric(r, "mem.ld_requests") == 8);
	assert_true(metric(r, "mem.st_requests") == 1);
	assert_true(metric(r, "mem.ld_lines") + metric(r, "mem.st_lines") == 9);
	assert_int_equal(of_tag(r, "add").flop32 + of_tag(r, "first-add").flop32, 255);
	record_free(r);
}

/* S-354: one warp's load, interleaved and in chunks; S-003's single lane. */
TEST(vector_addition_coalescing)
{
	static const struct {
		const char *variant;
		double load, store, efficiency;
	} want[] = {
		{ "one_thread", 1, 1, 12.5 }, { "chunks", 32, 32, 12.5 },   { "one_block", 4, 4, 100 },
		{ "per_element", 4, 4, 100 }, { "grid_stride", 4, 4, 100 }, { "coarsened", 4, 4, 100 },
		{ "unrolled", 4, 4, 100 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		struct run_record *r = run_words("vec_add", want[i].variant, "N=65536 block=256 blocks=16");
		assert_int_equal(r->verify, VERIFY_OK);
		assert_true(metric(r, "mem.ld_sectors_per_request") == want[i].load);
		assert_true(metric(r, "mem.st_sectors_per_request") == want[i].store);
		assert_true(metric(r, "mem.ld_efficiency_pct") == want[i].efficiency);
		assert_true(metric(r, "flop.fp32") == 65536);
		record_free(r);
	}
}

/* S-301, S-302, S-303: idle threads, and the one warp that splits. */
TEST(vector_addition_tail)
{
	static const struct {
		const char *words;
		unsigned divergent, threads;
	} want[] = {
		{ "N=4000 block=256", 0, 4096 },
		{ "N=100 block=32", 1, 128 },
		{ "N=1003 block=64", 1, 1024 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		struct run_record *r = run_words("vec_add", "per_element", want[i].words);
		assert_int_equal(r->plan.grid.x * r->plan.block.x, want[i].threads);
		assert_int_equal(r->run.counts.total.divergent_branches, want[i].divergent);
		record_free(r);
	}
}

/* S-304: a racing sum is a multiple of 3 between 3 and 768; the atomic one is 768. */
TEST(race_and_atomic)
{
	struct run_record *r = run_words("vec_add", "atomic", "N=10 block=256");
	assert_int_equal(r->verify, VERIFY_OK);
	assert_non_null(strstr(r->check.note, "256 x 3 = 768"));
	record_free(r);

	r = run_words("vec_add", "race", "N=10 block=256");
	assert_int_equal(r->verify, VERIFY_WRONG);
	assert_true(r->check.want == 768 && r->check.got >= 3 && r->check.got < 768);
	assert_true(fmod(r->check.got, 3) == 0);
	assert_non_null(strstr(r->check.note, "updates were lost"));
	record_free(r);
}

/* Sectors per request of a warp of 16 x 2 and 32 x 1: A is broadcast along a row, B is not. */
TEST(matrix_loads)
{
	static const struct {
		const char *variant, *words;
		double a, b;
	} want[] = {
		{ "naive", "M=64 N=64 K=64 block_x=16 block_y=16", 2, 2 },
		{ "naive", "M=64 N=64 K=64 block_x=32 block_y=8", 1, 4 },
		{ "naive_col", "M=64 N=64 K=64 block_x=16 block_y=16", 2, 16 },
		{ "naive_col", "M=64 N=64 K=64 block_x=32 block_y=8", 1, 32 },
		{ "tiled", "M=64 N=64 K=64 TILE=16", 4, 4 },
		{ "tiled", "M=64 N=64 K=64 TILE=32", 4, 4 },
		{ "tiled_col", "M=64 N=64 K=64 TILE=16", 4, 16 },
		{ "tiled_col", "M=64 N=64 K=64 TILE=32", 4, 32 },
		{ "corner", "M=64 N=64 K=64 TILE=16", 4, 4 },
		{ "corner", "M=64 N=64 K=64 TILE=32", 4, 4 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		struct run_record *r = run_words("sgemm", want[i].variant, want[i].words);
		const struct counts a = of_tag(r, "load-A"), b = of_tag(r, "load-B");
		const double got_a = (double)a.ld_sectors / (double)a.ld_requests;
		const double got_b = (double)b.ld_sectors / (double)b.ld_requests;
		if (got_a != want[i].a || got_b != want[i].b)
			fail_msg("sgemm/%s %s: A %g, B %g sectors per request", want[i].variant, want[i].words,
			         got_a, got_b);
		assert_true(metric(r, "flop.fp32") == 2 * 64 * 64 * 64);
		record_free(r);
	}
}

/* S-226, S-340: a tile of T divides the elements read by T. Lanes, not requests. */
TEST(tiles_divide_the_traffic)
{
	static const unsigned tiles[] = { 2, 4, 8, 16, 32 };
	for (unsigned i = 0; i < ARRAY_LEN(tiles); i++) {
		char words[64];
		struct counts stores;
		snprintf(words, sizeof words, "M=64 N=64 K=64 TILE=%u", tiles[i]);
		struct run_record *r = run_words("sgemm", "tiled_exact", words);
		/* each thread loads one element of A and of B per phase */
		const unsigned warps = (tiles[i] * tiles[i] + 31) / 32;
		const unsigned blocks = 64 / tiles[i] * (64 / tiles[i]), phases = 64 / tiles[i];
		assert_true(metric(r, "mem.ld_requests") == 2.0 * warps * blocks * phases);
		/* and stores its output once */
		stores = of_tag(r, "store");
		assert_int_equal(stores.st_requests, warps * blocks);
		assert_true(metric(r, "flop.fp32") == 2 * 64 * 64 * 64);
		record_free(r);
	}
}

/* Corner turning: the price is paid in banks, and padding takes it away. */
TEST(corner_turning_banks)
{
	/* TILE 32: 32 lanes store to one bank; 33 words per row spread them over all */
	struct run_record *r = run_words("sgemm", "corner", "M=64 N=64 K=64 TILE=32 PAD=0");
	struct counts b = of_tag(r, "load-B");
	assert_int_equal(b.shared_st_wavefronts, 32 * b.shared_st_requests);
	record_free(r);
	r = run_words("sgemm", "corner", "M=64 N=64 K=64 TILE=32 PAD=1");
	b = of_tag(r, "load-B");
	assert_int_equal(b.shared_st_wavefronts, b.shared_st_requests);
	record_free(r);
}

/* S-043, S-044, S-045: the store's sectors, then the banks of the column read. */
TEST(transpose_accesses)
{
	static const struct {
		const char *variant, *words;
		double store;
		unsigned wavefronts;
	} want[] = {
		{ "div_mod", "W=128 H=128", 32, 0 },
		{ "naive", "W=128 H=128 block_x=32 block_y=8", 32, 0 },
		{ "naive", "W=128 H=128 block_x=16 block_y=16", 16, 0 },
		{ "tiled", "W=128 H=128 TILE=32", 4, 32 }, /* 32-way conflict */
		{ "padded", "W=128 H=128 TILE=32", 4, 1 }, /* none */
		{ "tiled", "W=128 H=128 TILE=16", 4, 8 },  /* 8-way */
		{ "padded", "W=128 H=128 TILE=16", 4, 2 }, /* 2-way: 17 words do not do at 16 */
		{ "coarsened", "W=128 H=128", 4, 1 },
		{ "quads", "W=128 H=128", 16, 2 }, /* 16 bytes per lane: 512 bytes a request */
	};
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		struct run_record *r = run_words("transpose", want[i].variant, want[i].words);
		const struct counts store = of_tag(r, "store");
		assert_int_equal(r->verify, VERIFY_OK);
		if ((double)store.st_sectors / (double)store.st_requests != want[i].store ||
		    (want[i].wavefronts &&
		     store.shared_ld_wavefronts != want[i].wavefronts * store.shared_ld_requests))
			fail_msg("transpose/%s %s: %g sectors per store, %g wavefronts per shared load",
			         want[i].variant, want[i].words,
			         (double)store.st_sectors / (double)store.st_requests,
			         (double)store.shared_ld_wavefronts / (double)store.shared_ld_requests);
		record_free(r);
	}
}

/* S-305: 200 x 150 pixels in 16 x 16 blocks: 75 warps split (the book: 80), 65 are all outside. */
TEST(image_edges)
{
	static const struct {
		const char *words;
		unsigned blocks, divergent;
	} want[] = {
		{ "W=200 H=150", 130, 75 },
		{ "W=1000 H=750", 2961, 375 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		struct run_record *r = run_words("rgb_to_gray", "interleaved", want[i].words);
		assert_int_equal(r->plan.grid.x * r->plan.grid.y, want[i].blocks);
		assert_int_equal(of_tag(r, "guard").divergent_branches, want[i].divergent);
		assert_int_equal(r->run.counts.total.divergent_branches, want[i].divergent);
		record_free(r);
	}
}

/* One-byte loads 3 bytes apart: 96 bytes of a row of 32 pixels, asked for three times. */
TEST(pixel_layouts)
{
	/* per warp of 32 pixels; packed: three loads per 128 pixels, 12 bytes apart, 12 sectors each */
	static const struct {
		const char *variant;
		double requests, sectors;
	} want[] = {
		{ "interleaved", 3, 3 * 3 },
		{ "planar", 3, 3 * 1 },
		{ "packed", 0.75, 9 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		struct run_record *r =
			run_words("rgb_to_gray", want[i].variant, "W=128 H=32 block_x=32 block_y=8 block=256");
		const double warps = 128 * 32 / 32.0; /* of pixels */
		assert_true(metric(r, "mem.ld_requests") == want[i].requests * warps);
		assert_true(metric(r, "mem.ld_sectors") == want[i].sectors * warps);
		assert_true(metric(r, "flop.fp32") == 5 * 128 * 32);
		record_free(r);
	}
}

/* S-306: an 8 x 6 image has 24 patches of 9 pixels, 20 of 6 and 4 of 4. */
TEST(blur_patches)
{
	struct run_record *r = run_words("blur", "naive", "W=8 H=6 RADIUS=1");
	/* each lane asks for a byte of its own: bytes of the requests = pixels of the patches */
	assert_int_equal(of_tag(r, "load").ld_bytes, 24 * 9 + 20 * 6 + 4 * 4);
	assert_int_equal(r->verify, VERIFY_OK);
	record_free(r);
}

/* S-307, S-308, S-250: passes of a warp, counted at the multiply-adds of each path. */
TEST(divergent_paths)
{
	enum { WARPS = 4, WORK = 10 };
	struct run_record *r = run_words("diverge", "if_else", "N=128 block=128 work=10 threshold=24");
	const struct counts a = of_tag(r, "path-A"), b = of_tag(r, "path-B"), c = of_tag(r, "path-C");
	assert_int_equal(a.fp32_inst, WORK * WARPS);
	assert_int_equal(a.flop32, 2 * WORK * WARPS * 24);
	assert_int_equal(b.fp32_inst, WORK * WARPS);
	assert_int_equal(b.flop32, 2 * WORK * WARPS * 8);
	assert_int_equal(c.fp32_inst, WORK * WARPS); /* together again */
	assert_int_equal(c.flop32, 2 * WORK * WARPS * 32);
	assert_int_equal(of_tag(r, "branch").divergent_branches, WARPS);
	record_free(r);

	/* all lanes on one side: nothing splits */
	r = run_words("diverge", "if_else", "N=128 block=128 work=10 threshold=32");
	assert_int_equal(r->run.counts.total.divergent_branches, 0);
	assert_int_equal(of_tag(r, "path-B").fp32_inst, 0);
	record_free(r);

	r = run_words("diverge", "parity", "N=128 block=128 work=10");
	assert_int_equal(of_tag(r, "path-A").fp32_inst, WORK * WARPS);
	assert_int_equal(of_tag(r, "path-B").fp32_inst, WORK * WARPS);
	record_free(r);
	r = run_words("diverge", "by_warp", "N=128 block=128 work=10");
	assert_int_equal(of_tag(r, "path-A").fp32_inst + of_tag(r, "path-B").fp32_inst, WORK * WARPS);
	assert_int_equal(r->run.counts.total.divergent_branches, 0);
	record_free(r);

	for (unsigned paths = 1; paths <= 32; paths *= 2) {
		char words[64];
		snprintf(words, sizeof words, "N=128 block=128 work=10 paths=%u", paths);
		r = run_words("diverge", "paths", words);
		assert_int_equal(of_tag(r, "paths").fp32_inst, paths * WORK * WARPS);
		assert_int_equal(of_tag(r, "paths").flop32, 2 * WORK * 128);
		record_free(r);
	}

	/* 4 to 8 turns: the warp makes 8; lanes in turns 5 to 8 thin out */
	r = run_words("diverge", "loop", "N=32 block=32");
	unsigned turns = 0;
	for (unsigned lane = 0; lane < 32; lane++)
		turns += 4 + lane % 5;
	assert_int_equal(of_tag(r, "body").fp32_inst, 8);
	assert_int_equal(of_tag(r, "body").flop32, 2 * turns);
	record_free(r);
}

/* S-054: two barriers for one meeting are an error with the line, not a hang. */
TEST(split_barrier_is_explained)
{
	const struct kernel_desc *k = the_kernel("diverge");
	const unsigned v = the_variant(k, "split_barrier");
	int64_t params[KERNEL_MAX_PARAMS];
	struct launched l;
	struct err err = { 0 };

	settings(k, "N=64 block=64", params);
	assert_true(prepare(k, v, params, &l, &err));
	assert_false(launch(k, v, &l, &err));
	assert_int_equal(err.code, ERR_FAULT);
	assert_non_null(strstr(err.msg, "diverge.cu:"));
	launched_free(&l);
}

/* A barrier left out: the emulator either stops at the unwritten tile or the answer is wrong. */
TEST(missing_barriers_are_noticed)
{
	static const char *const missing[] = { "no_load_barrier", "no_use_barrier" };
	const struct kernel_desc *k = the_kernel("sgemm");

	for (unsigned i = 0; i < ARRAY_LEN(missing); i++) {
		const unsigned v = the_variant(k, missing[i]);
		int64_t params[KERNEL_MAX_PARAMS];
		struct launched l;
		struct err err = { 0 };
		settings(k, "M=64 N=64 K=64 TILE=16", params);
		assert_true(prepare(k, v, params, &l, &err));
		if (launch(k, v, &l, &err))
			assert_false(checked(k, v, &l).ok);
		else
			assert_int_equal(err.code, ERR_FAULT);
		launched_free(&l);
	}
}

/* S-228, S-344: a thread tile divides the shared reads by 8, float4 by 4 more; then the passes
 * per read: S-034's colliding quads, S-035's side by side, and lanes that share a quad in pairs. */
TEST(fast_ladder_shared_reads)
{
	static const struct {
		const char *variant;
		double reads_per_fma, wavefronts_per_read;
	} want[] = {
		{ "block_tile", 2, 0 }, /* volatile scalars: the number of reads is what matters */
		{ "thread_tile", 2.0 / 8, 0 },
		{ "vectorised", 2.0 / 8 / 4, 5 },
		{ "double_buffer", 2.0 / 8 / 4, 5 },
		{ "conflict_free", 2.0 / 8 / 4, 3 },
		{ "warp_tile", 2.0 / 8 / 4, 2 },
		{ "pipelined", 2.0 / 8 / 4, 2 },
	};
	const double fma = 128.0 * 128 * 32 / 32; /* per warp */
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		struct run_record *r = run_words("sgemm_fast", want[i].variant, "M=128 N=128 K=32");
		const double reads = metric(r, "shared.ld_requests");
		const double passes = metric(r, "shared.ld_wavefronts") / reads;
		assert_int_equal(r->verify, VERIFY_OK);
		if (reads != want[i].reads_per_fma * fma ||
		    (want[i].wavefronts_per_read > 0 && passes != want[i].wavefronts_per_read))
			fail_msg("sgemm_fast/%s: %g shared reads per FMA, %g passes per read", want[i].variant,
			         reads / fma, passes);
		record_free(r);
	}
}
