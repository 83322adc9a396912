/*
 * Worked examples of the memory system and of streams (checklist 3.4, 4.D): coalescing in the
 * emulator, DRAM as the toy that the book draws, copies in the stream model.
 */
#include "seeds.h"

#include "timemodel/stream_time.h"
#include "model/page.h"
#include "model/stream_plan.h"

/* The book's toy: bursts of two elements, four channels, two banks each. */
static unsigned channel_of(unsigned element)
{
	return element / 2 % 4;
}

/* Channels, a bit each, of the first matrix's tiles (the second one's) in @phase of a product of
 * @n x @n in tiles of 2. */
static unsigned channels(unsigned n, unsigned phase, bool second)
{
	unsigned set = 0;
	for (unsigned tile = 0; tile < n / 2; tile++)
		for (unsigned i = 0; i < 4; i++) {
			const unsigned along = 2 * phase + i % 2, across = 2 * tile + i / 2;
			set |= 1u << channel_of(second ? along * n + across : across * n + along);
		}
	return set;
}

/* S-239, S-360: what the page on DRAM says of the toy is what its rule gives. */
TEST(s_359_toy_interleave)
{
	const char *text = page_find("dram")->text;
	unsigned used = 0;

	assert_non_null(strstr(text, "channel e / 2 % 4, bank e / 8 % 2"));
	for (unsigned e = 0; e < 16; e++)
		used |= 1u << (e / 8 % 2 * 4 + channel_of(e));
	assert_int_equal(used, 0xff);
	assert_non_null(strstr(text, "16 elements use all eight"));
	assert_int_equal(channels(4, 0, false), 1 << 0 | 1 << 2);
	assert_int_equal(channels(4, 1, false), 1 << 1 | 1 << 3);
	assert_non_null(strstr(text, "channels 0 and 2, the next from 1 and 3"));
	for (unsigned phase = 0; phase < 4; phase++) {
		assert_int_equal(channels(8, phase, false), 1 << phase);
		assert_int_equal(channels(8, phase, true), 0xf);
	}
	assert_non_null(strstr(
		text, "of a phase come from one channel, another in each phase; those of N use all four"));
}

/* S-235, S-236, S-138: interleaved, one 128-byte line of four sectors; in chunks, 32 of each, of
 * which a line has 124 bytes for nobody (3.1 %), a sector 28 (12.5 %). */
TEST(s_354_one_warp)
{
	static const struct {
		const char *variant;
		unsigned lines, sectors;
	} rows[] = {
		{ "one_block", 1, 4 },
		{ "chunks", 32, 32 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct run_record *r = run_words("vec_add", rows[i].variant, "N=65536 block=256");
		const struct counts x = of_tag(r, "load-x");
		assert_int_equal(x.ld_lines, rows[i].lines * x.ld_requests);
		assert_int_equal(x.ld_sectors, rows[i].sectors * x.ld_requests);
		assert_int_equal(x.ld_bytes, 128 * x.ld_requests);
		record_free(r);
	}
	assert_int_equal(128 - 4, 124);
	assert_true(fabs(128.0 / (32 * 128) - 0.031) < 0.001);
	assert_true(128.0 / (32 * 32) == 0.125);
}

/* S-387: chunks start at t * 3907; interleaved, thread 0 ends at 999,936, not past the end. */
TEST(s_355_chunks_of_a_million)
{
	struct run_record *r = run_words("vec_add", "chunks", "N=1000000 block=256");
	const struct access_sample *x = lanes_of(r, "load-x", false);

	for (unsigned t = 0; t < 32; t++)
		assert_int_equal(x->offset[t], 4 * 3907 * t);
	assert_int_equal(ceil_div(1000000, 256), 3907);
	assert_int_equal(1000000 - 255 * 3907, 3715);
	/* every thread of the first warp makes 3,907 loads */
	assert_int_equal(r->verify, VERIFY_OK);
	record_free(r);
	r = run_words("vec_add", "one_block", "N=1000000 block=256");
	x = lanes_of(r, "load-x", false);
	for (unsigned t = 0; t < 32; t++)
		assert_int_equal(x->offset[t], 4 * t);
	/* rounds: 3,906 full ones of 8 warps, then 64 elements, 2 warps */
	assert_int_equal(of_tag(r, "load-x").ld_requests, 3906 * 8 + 2);
	assert_true(3906 * 256 == 999936 && 3907 * 256 > 1000000);
	record_free(r);
}

/* S-356: two rows of 16 are halves of two lines; a row of 32 is one line. */
TEST(s_356_sixteen_wide)
{
	static const struct {
		const char *words;
		unsigned lines;
	} rows[] = {
		{ "W=64 H=64 block_x=16 block_y=16", 2 },
		{ "W=64 H=64 block_x=32 block_y=8", 1 },
		{ "W=64 H=64 block_x=64 block_y=4", 1 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct run_record *r = run_words("transpose", "naive", rows[i].words);
		const struct counts in = of_tag(r, "load");
		assert_int_equal(in.ld_lines, rows[i].lines * in.ld_requests);
		assert_int_equal(in.ld_sectors, 4 * in.ld_requests);
		record_free(r);
	}
}

/* S-234: 128 bytes from offset 64 are two lines; 32 bytes wanted leave 96 of a line. S-139: a bus
 * of 32 bytes brings 128 in four bursts. */
TEST(s_357_misaligned)
{
	static const char source[] =
		"extern \"C\" __global__ void shifted(const float *in, float *out)\n"
		"{ out[threadIdx.x] = in[threadIdx.x + 16]; }\n"
		"extern \"C\" __global__ void quarter(const float *in, float *out)\n"
		"{ if (threadIdx.x < 8) out[threadIdx.x] = in[threadIdx.x]; }\n";
	static float in[64], out[32];
	const struct user_buffer b[] = { { ELEM_F32, BUF_IN, 64, in }, { ELEM_F32, BUF_OUT, 32, out } };
	const struct dim3u one = { 1, 1, 1 }, warp = { 32, 1, 1 };
	struct run_counts c = { 0 };

	run_source(source, "shifted", one, warp, 2, b, &c);
	assert_int_equal(c.total.ld_lines, 2);
	assert_int_equal(c.total.ld_sectors, 4);
	run_counts_free(&c);
	run_source(source, "quarter", one, warp, 2, b, &c);
	assert_int_equal(c.total.ld_lines, 1);
	assert_int_equal(c.total.ld_sectors, 1);
	assert_int_equal(128 * c.total.ld_lines - c.total.ld_bytes, 96);
	run_counts_free(&c);
	assert_int_equal(256 / 8 * 4, 128);
}

/* One address for the whole warp: one sector, and in shared memory one pass; 32 words of one bank:
 * 32 passes. Bank = word % 32. */
TEST(s_242_broadcast_and_banks)
{
	static const char source[] = "extern \"C\" __global__ void banks(const float *in, float *out)\n"
								 "{\n"
								 "	__shared__ float s[1024];\n"
								 "	for (int i = threadIdx.x; i < 1024; i += 32) s[i] = in[0];\n"
								 "	__syncthreads();\n"
								 "	out[threadIdx.x] = s[threadIdx.x * STRIDE];\n"
								 "}\n";
	static const struct {
		unsigned stride, passes;
	} rows[] = {
		{ 0, 1 }, { 1, 1 }, { 2, 2 }, { 8, 8 }, { 17, 1 }, { 31, 1 }, { 32, 32 },
	};
	static float in[1] = { 1 }, out[32];
	const struct user_buffer b[] = { { ELEM_F32, BUF_IN, 1, in }, { ELEM_F32, BUF_OUT, 32, out } };

	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		char text[512];
		struct run_counts c = { 0 };
		snprintf(text, sizeof text, "#define STRIDE %u\n%s", rows[i].stride, source);
		run_source(text, "banks", (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 32, 1, 1 }, 2, b, &c);
		assert_int_equal(c.total.ld_sectors, c.total.ld_requests);
		assert_int_equal(c.total.shared_ld_requests, 1);
		assert_int_equal(c.total.shared_ld_wavefronts, rows[i].passes);
		assert_int_equal(c.total.shared_st_wavefronts, c.total.shared_st_requests);
		run_counts_free(&c);
	}
}

/* Stores of one warp that lie side by side in pairs of floats. */
static unsigned pairs(const struct access_sample *a, unsigned lanes)
{
	unsigned n = 0;

	for (unsigned i = 0; i + 1 < lanes; i++)
		n += a->offset[i] % 8 == 0 && a->offset[i + 1] == a->offset[i] + 4;
	return n;
}

/* S-361: 0 1 2 3 / 4 5 6 7 / ... becomes 0 4 8 c / 1 5 9 d / ...; naive stores are single elements,
 * tiled ones pairs. */
TEST(s_361_transpose_of_four)
{
	static const struct {
		const char *variant, *words;
		unsigned pairs;
	} rows[] = {
		{ "naive", "W=4 H=4 block_x=2 block_y=2", 0 },
		{ "tiled", "W=4 H=4 TILE=2", 2 },
	};
	const struct kernel_desc *k = the_kernel("transpose");

	for (unsigned v = 0; v < ARRAY_LEN(rows); v++) {
		struct launched l;
		struct err err = { 0 };
		int64_t params[KERNEL_MAX_PARAMS];
		settings(k, rows[v].words, params);
		assert_true(prepare(k, the_variant(k, rows[v].variant), params, &l, &err));
		float *in = l.after[0];
		for (unsigned i = 0; i < 16; i++)
			in[i] = (float)i;
		if (!launch(k, the_variant(k, rows[v].variant), &l, &err))
			fail_msg("%s", err.msg);
		const float *out = l.after[1];
		for (unsigned i = 0; i < 16; i++)
			assert_int_equal((int)out[i], i % 4 * 4 + i / 4);
		launched_free(&l);
		struct run_record *r = run_words("transpose", rows[v].variant, rows[v].words);
		assert_int_equal(pairs(lanes_of(r, "store", true), 4), rows[v].pairs);
		record_free(r);
	}
}

/* --- copies --- */

static uint64_t copied(const struct stream_program *p, enum stream_op_kind kind)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind == kind)
			bytes += p->ops[i].bytes;
	return bytes;
}

/* S-010: 100 M floats in four pieces of 25 M; nothing is lost between them. */
TEST(s_367_four_streams)
{
	const struct launch_plan plan = plan_words("vec_add", "per_element", "N=100000000");
	const struct stream_knobs knobs = { .streams = 4, .chunks = 4, .pinned = true };
	struct stream_program p;

	stream_pipeline(&plan, &knobs, 4e6, 1, &p);
	assert_int_equal(copied(&p, SOP_H2D), 2 * 400000000u);
	assert_int_equal(copied(&p, SOP_D2H), 400000000u);
	for (unsigned i = 0; i < p.n_ops; i++)
		if (p.ops[i].kind == SOP_H2D || p.ops[i].kind == SOP_D2H)
			assert_int_equal(p.ops[i].bytes, 25000000 * 4);
	assert_int_equal(plan_words("vec_add", "per_element", "N=25000000 block=256").grid.x, 97657);
}

/* S-252: piece b of B is [N b / B, N (b + 1) / B), also where B does not divide N: each begins
 * where the last one ended, none is lost; and the kernel's time is divided among them. */
TEST(s_252_pieces_of_what_is_not_divisible)
{
	static const unsigned want[] = { 250, 251, 251, 251 }; /* of 1003 */
	const struct launch_plan plan = plan_words("vec_add", "per_element", "N=1003");
	const struct stream_knobs knobs = { .streams = 4, .chunks = 4, .pinned = true };
	struct stream_program p;
	double kernel_ns = 0;
	uint64_t next = 0;
	unsigned kernels = 0;

	stream_pipeline(&plan, &knobs, 4e6, 1, &p);
	assert_int_equal(copied(&p, SOP_H2D), 2 * 4 * 1003);
	assert_int_equal(copied(&p, SOP_D2H), 4 * 1003);
	for (unsigned i = 0; i < p.n_ops; i++) {
		if (p.ops[i].kind != SOP_KERNEL)
			continue;
		assert_int_equal(p.ops[i].first, next);
		assert_int_equal(p.ops[i].count, want[kernels++]);
		next += p.ops[i].count;
		kernel_ns += p.ops[i].time_ns;
	}
	assert_int_equal(next, 1003);
	assert_true(near_to(kernel_ns, 4e6, 1e-12));
}

/* S-001: 1 M elements are 12 MB, 3 million floats. */
TEST(s_368_twelve_megabytes)
{
	const struct launch_plan plan = plan_words("vec_add", "one_thread", "N=1000000");
	size_t floats = 0;

	for (unsigned b = 0; b < plan.n_buffers; b++)
		floats += plan.buffers[b].count;
	assert_int_equal(floats, 3000000);
	assert_int_equal(4 * floats, 12000000);
}

/* S-009, S-362, S-438: the table's copy labels are swapped. Two vectors go up, one comes down,
 * 2 : 1. As labelled, 800 MB in 30 ms would be 26.7 GB/s on a link of 15.75. */
TEST(s_383_swapped_labels)
{
	const struct gpu_spec *g = gpu_find("rtx4060ti");
	const double up = 800e6, down = 400e6; /* bytes; / ms / 1e6 = GB/s */

	assert_true(up / 30 / 1e6 > g->pcie_gbs);
	assert_true(near_to(up / 61 / 1e6, 13.1, 0.002) && up / 61 / 1e6 < g->pcie_gbs);
	assert_true(near_to(down / 30 / 1e6, 13.3, 0.003) && down / 30 / 1e6 < g->pcie_gbs);
	assert_true(near_to(61.0 / 30, up / down, 0.02));
	assert_true(near_to(down / 134 / 1e6, 3.0, 0.01) && near_to(up / 276 / 1e6, 2.9, 0.01));
}

/* S-009, S-423, S-432: pinned copies by the model, against 61 + 30 ms measured; pageable ones are
 * staged by the host and take a multiple. */
TEST(s_363_pinned_and_pageable)
{
	const struct gpu_spec *g = gpu_find("rtx4060ti");
	const struct launch_plan plan = plan_words("vec_add", "grid_stride", "N=100000000");
	double ms[2];

	for (unsigned pinned = 0; pinned < 2; pinned++) {
		const struct stream_knobs knobs = { .chunks = 1, .pinned = pinned };
		struct stream_program p;
		struct stream_outcome o;
		struct err err = { 0 };
		stream_pipeline(&plan, &knobs, 6e6, 1, &p);
		const struct stream_rates rates = stream_rates_of(g);
		if (!stream_run(&p, g, &rates, &o, &err))
			fail_msg("%s", err.msg);
		ms[pinned] = o.makespan_ns / 1e6;
	}
	assert_true(near_to(ms[1], 61 + 6 + 30, 0.25));
	assert_true(ms[0] > 1.5 * ms[1]);
	/* 131 + 6 + 386 = 523 ms were measured with pageable memory */
	assert_int_equal(131 + 6 + 386, 523);
	/* kernel bandwidths of the table: 1.2 GB in 4984, 104, 6 ms */
	assert_true(near_to(1.2e9 / 4984 / 1e6, 0.24, 0.01) && near_to(1.2e9 / 104 / 1e6, 11.5, 0.01) &&
	            near_to(1.2e9 / 6 / 1e6, 200, 0.01));
	assert_true(near_to(4984.0 / 104, 47.9, 0.002) && near_to(104.0 / 6, 17.3, 0.002));
}

/* S-422, S-427: one created stream overlaps nothing, four do; it helps the slowest stage. */
TEST(s_426_pipeline_of_four)
{
	const struct gpu_spec *g = gpu_find("a100"); /* an engine for each direction */
	const struct launch_plan plan = plan_words("vec_add", "grid_stride", "N=100000000");
	double ms[5] = { 0 };

	for (unsigned streams = 1; streams <= 4; streams += 3) {
		const struct stream_knobs knobs = { .streams = streams, .chunks = 4, .pinned = true };
		struct stream_program p;
		struct stream_outcome o;
		stream_pipeline(&plan, &knobs, 4e6, 1, &p);
		const struct stream_rates rates = stream_rates_of(g);
		assert_true(stream_run(&p, g, &rates, &o, NULL));
		ms[streams] = o.makespan_ns;
		if (streams == 1)
			assert_true(near_to(o.makespan_ns, o.serial_ns, 0.01));
		else
			assert_int_equal(o.critical, ENGINE_H2D);
	}
	assert_true(ms[4] < 0.8 * ms[1]);
}

/* The sums of a plain loop on the CPU are what every variant is held against: the program's
 * reference takes them, and refuses one that is off by an element. */
TEST(s_001_sums_of_the_cpu)
{
	const struct kernel_desc *k = the_kernel("vec_add");
	const unsigned v = the_variant(k, "per_element");
	int64_t params[KERNEL_MAX_PARAMS];
	struct launched l;
	struct err err = { 0 };

	settings(k, "N=100003", params);
	assert_true(prepare(k, v, params, &l, &err));
	const float *x = l.before[0], *y = l.before[1];
	float *sum = l.after[2];
	for (unsigned i = 0; i < 100003; i++)
		sum[i] = x[i] + y[i];
	assert_true(checked(k, v, &l).ok);
	sum[100002] = x[100002];
	assert_false(checked(k, v, &l).ok);
	sum[100002] += y[100002];
	assert_true(checked(k, v, &l).ok);
	launched_free(&l);
}

/* 30 ms become 21: a size that L2 does not hold. The text beside the table says 21 and 15, which is
 * the same ratio. What L2 has to do for stores of parts of sectors was measured on an H200, and is
 * assumed of other GPUs: the ratio lies within the ranges of the two times. */
TEST(s_362_gain_of_the_tile)
{
	static const char *const variants[] = { "naive", "tiled" };
	static const char *const words[] = { "W=4096 H=4096 block_x=16 block_y=16",
		                                 "W=4096 H=4096 TILE=16" };
	double ns[2], low[2], high[2];

	for (unsigned i = 0; i < 2; i++) {
		struct selection sel = { .kernel = the_kernel("transpose"), .seed = 1 };
		struct run_record *r = NULL;
		struct err err = { 0 };
		sel.variant = the_variant(sel.kernel, variants[i]);
		settings(sel.kernel, words[i], sel.params);
		if (!choose_gpu_and_backend("rtx4060ti", "emu", &sel, &err) ||
		    !run_selection(&sel, NULL, &r, &err))
			fail_msg("%s", err.msg);
		ns[i] = metric(r, "time.kernel_ns");
		low[i] = metric(r, "time.low_ns");
		high[i] = metric(r, "time.high_ns");
		record_free(r);
	}
	if (!(low[1] / high[0] < 21.0 / 30 && 21.0 / 30 < high[1] / low[0] && high[1] < ns[0]))
		fail_msg("%.0f and %.0f us: %.2f", ns[0] / 1e3, ns[1] / 1e3, ns[1] / ns[0]);
}
