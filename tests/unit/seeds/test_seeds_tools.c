/*
 * What the sources show in profilers (checklist 5) and what stands behind their occupancy rows
 * (3.2): statistics of a launch, limits by resource, advice in words, calls against device work.
 */
#include "seeds.h"
#include "cli/view_list.h"

#include "timemodel/stream_time.h"
#include "ui/canvas.h"

static struct occ_result occupancy(const char *gpu, unsigned block, unsigned regs, unsigned shared)
{
	const struct occ_input in = { .block_threads = block,
		                          .regs_per_thread = regs,
		                          .static_shared_bytes = shared };
	struct occ_result r;

	assert_true(occ_compute(gpu_find(gpu), &in, &r, NULL));
	return r;
}

/* S-328, S-329, S-330, S-446: the rows of the ncu table, by resource. Registers come in
 * units of 256 per warp, warps in groups of four, and each block takes 1 KB of shared memory
 * more. */
TEST(s_216_allocation_rules)
{
	static const struct {
		unsigned block, regs, shared, blocks;
		double pct;
		const char *limiters;
	} rows[] = {
		{ 256, 40, 0, 6, 100, "warps, registers" },
		{ 1024, 37, 8192, 1, 66.67, "warps, registers" },
		{ 256, 94, 8192, 2, 33.33, "registers" },
		{ 256, 56, 4096, 4, 66.67, "registers" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		const struct occ_result r =
			occupancy("rtx4060ti", rows[i].block, rows[i].regs, rows[i].shared);
		const unsigned warps = rows[i].block / 32;
		assert_int_equal(r.blocks_per_sm, rows[i].blocks);
		assert_true(fabs(r.pct - rows[i].pct) < 0.005);
		assert_string_equal(r.limiters, rows[i].limiters);
		assert_true(r.limits[OCC_REGISTERS].needs ==
		            (double)(warps * 256 * ceil_div(rows[i].regs * 32, 256)));
		assert_true(r.limits[OCC_SHARED].needs == rows[i].shared + 1024);
		assert_int_equal(r.limits[OCC_BLOCKS].blocks, 24);
		assert_int_equal(r.limits[OCC_WARPS].blocks, 48 / warps);
	}
	/* a device at work holds hundreds of blocks (S-143) */
	assert_int_equal(occupancy("a100", 256, 32, 0).blocks_per_sm * gpu_find("a100")->sm_count,
	                 8 * 108);
}

/* Grid, block, registers and shared memory of a launch, and its waves. */
TEST(s_442_launch_statistics)
{
	struct run_record *r = run_words("sgemm", "tiled", "M=128 N=64 K=32 TILE=16");

	assert_true(metric(r, "launch.grid_blocks") == 8 * 4);
	assert_true(metric(r, "launch.block_threads") == 256);
	assert_true(metric(r, "launch.shared_bytes_per_block") == 2048);
	assert_true(metric(r, "launch.registers_per_thread") == r->occ_in.regs_per_thread);
	assert_true(r->occ_in.regs_per_thread >= 16 && r->occ_in.regs_per_thread <= 255);
	assert_true(near_to(metric(r, "launch.waves"),
	                    32.0 / (r->occ.blocks_per_sm * r->sel.gpu->sm_count), 1e-9));
	assert_true(metric(r, "occ.warps_per_sm") == 8 * metric(r, "occ.blocks_per_sm"));
	record_free(r);
}

/* The advice panel's words for a record. */
static char *advice(const char *kernel, const char *variant, const char *words, const char *gpu)
{
	struct selection sel = { .kernel = the_kernel(kernel), .seed = 1 };
	struct session s = { 0 };
	struct canvas c;
	struct err err = { 0 };

	sel.variant = the_variant(sel.kernel, variant);
	settings(sel.kernel, words, sel.params);
	if (!choose_gpu_and_backend(gpu, "emu", &sel, &err) || !run_selection(&sel, NULL, &s.now, &err))
		fail_msg("%s/%s %s: %s", kernel, variant, words, err.msg);
	s.sel = sel;
	s.source = kernel_source(sel.kernel);
	s.state = RUN_DONE;
	canvas_init(&c, 40, 160, true);
	canvas_clear(&c);
	view_find("advice")->draw(&s, &c);
	char *text = canvas_dump(&c, false);
	canvas_free(&c);
	record_free(s.now);
	return text;
}

static void says(char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("no '%s' in:\n%s", words, text);
}

/* Limited by a resource, a grid that does not fill the device, and nothing of either. */
TEST(s_444_advice)
{
	char *text = advice("sgemm_fast", "thread_tile", "M=1024 N=1024 K=8", "rtx4060ti");
	says(text, "0.94 waves");
	says(text, "94 %");
	free(text);
	text = advice("latency", "chase", "N=4096 block=32 blocks=512 hops=16 ballast=48", "a100");
	says(text, "too few warps");
	says(text, "limited by shared memory");
	free(text);
	text = advice("vec_add", "grid_stride", "N=262144 blocks=816", "rtx4060ti");
	assert_null(strstr(text, "the grid is small"));
	assert_null(strstr(text, "tail"));
	says(text, "the grid fills the GPU");
	assert_null(strstr(text, "too few warps"));
	says(text, "memory-bound");
	free(text);
}

/* The host's call and the device's work are apart. */
TEST(s_420_launch_is_asynchronous)
{
	struct stream_program p = { 0 };
	struct stream_outcome o;
	const int k = stream_kernel(&p, 0, "k", 1e6, 1);
	const int d = stream_copy(&p, SOP_D2H, 0, "r", 4096, true, false);

	const struct stream_rates rates = stream_rates_of(gpu_find("a100"));
	assert_true(stream_run(&p, gpu_find("a100"), &rates, &o, NULL));
	assert_true(o.spans[k].return_ns < 0.1 * o.spans[k].end_ns);
	assert_true(o.spans[d].call_ns < o.spans[k].end_ns);
	assert_true(o.spans[d].start_ns >= o.spans[k].end_ns);
	assert_true(o.spans[d].return_ns >= o.spans[d].end_ns); /* the copy is where the host waits */
}

/* S-091, S-093, S-424: a stream is a queue; two streams share the hardware while it is free; an
 * event holds one back for the other. */
TEST(s_421_one_and_two_streams)
{
	static const struct stream_rates ideal = { .pinned_gbs = 1,
		                                       .duplex_gbs = 1,
		                                       .pageable_gbs = { 1, 1 } };
	double ns[3];

	for (unsigned streams = 1; streams <= 3; streams++) {
		struct stream_program p = { 0 };
		struct stream_outcome o;
		stream_kernel(&p, 1, "a", 100, 0.4);
		if (streams == 3) {
			stream_event(&p, SOP_RECORD, 1, 0);
			stream_event(&p, SOP_WAIT, 2, 0);
		}
		stream_kernel(&p, streams == 1 ? 1 : 2, "b", 100, 0.4);
		assert_true(stream_run(&p, gpu_find("a100"), &ideal, &o, NULL));
		ns[streams - 1] = o.makespan_ns;
	}
	assert_true(ns[0] == 200); /* one queue */
	assert_true(ns[1] == 100); /* both are first in their stream, and both fit */
	assert_true(ns[2] == 200); /* two streams, and an event between them */
}

/* Everything the sources have a kernel for is here. */
TEST(s_097_what_is_there)
{
	static const char *const kernels[][4] = {
		{ "rgb_to_gray", "interleaved" },
		{ "blur", "naive" },
		{ "sgemm", "naive", "tiled", "coarsened" },
		{ "sgemm_fast", "thread_tile", "vectorised", "double_buffer" },
		{ "transpose", "naive", "tiled" },
		{ "reduction", "simple", "shared", "coarsened" },
		{ "vec_add", "per_element", "grid_stride" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(kernels); i++)
		for (unsigned v = 1; v < 4 && kernels[i][v]; v++)
			the_variant(the_kernel(kernels[i][0]), kernels[i][v]);
}
