/*
 * How a launch runs: cancelled, timed out, sampled, on several threads; what the cache simulation
 * says of known patterns; that a warp which leaves the fast program counts as if it had not.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "emu_fixture.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#define COPY                                                                                   \
	PTX_HEAD                                                                                   \
	".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"                   \
	"\t.reg .pred %p<2>;\n\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<8>;\n"                           \
	"\tld.param.u64 %rd1, [in];\n\tld.param.u64 %rd2, [out];\n\tld.param.u32 %r1, [n];\n"      \
	"\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\tmov.u32 %r4, %tid.x;\n"              \
	"\tmad.lo.s32 %r5, %r2, %r3, %r4;\n\tsetp.ge.s32 %p1, %r5, %r1;\n\t@%p1 bra END;\n"        \
	"\tmul.wide.s32 %rd3, %r5, 4;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tadd.s64 %rd5, %rd2, %rd3;\n" \
	"\tld.global.u32 %r6, [%rd4];\n\tst.global.u32 [%rd5], %r6;\nEND:\n\tret;\n}\n"

#define ENDLESS                                                                                 \
	PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<2>;\n" \
			 "\tld.param.u64 %rd1, [out];\n\tmov.u32 %r1, 0;\nAGAIN:\n\tadd.s32 %r1, %r1, 1;\n" \
			 "\tst.global.u32 [%rd1], %r1;\n\tbra AGAIN;\n}\n"

static const struct emu_way best = { "best", "", false, 1 };

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void copy_case(struct emu_case *c, size_t n)
{
	*c = (struct emu_case){ .ptx = mem_strdup(COPY) };
	emu_launch(c, "k", (struct dim3u){ (uint32_t)((n + 255) / 256), 1, 1 },
	           (struct dim3u){ 256, 1, 1 });
	uint32_t *in = emu_buffer(c, "in", ELEM_U32, BUF_IN, n);
	emu_buffer(c, "out", ELEM_U32, BUF_OUT, n);
	emu_arg(c, (int32_t)n);
	for (size_t i = 0; i < n; i++)
		in[i] = (uint32_t)(i * 2654435761u);
}

/* --- ends --- */

TEST(watchdog_ends_a_loop)
{
	struct emu_case c = { .ptx = mem_strdup(ENDLESS), .timeout_s = 0.2 };
	emu_launch(&c, "k", (struct dim3u){ 4, 1, 1 }, (struct dim3u){ 64, 1, 1 });
	emu_buffer(&c, "out", ELEM_U32, BUF_INOUT, 16);
	for (unsigned threads = 1; threads <= 2; threads++) {
		const struct emu_way way = { "", "", false, threads };
		const double start = seconds();
		assert_false(emu_run_way(&c, &way));
		assert_int_equal(c.err.code, ERR_TIMEOUT);
		assert_non_null(strstr(c.err.msg, "still running after 0.2 s"));
		assert_true(seconds() - start < 2);
	}
	emu_case_free(&c);
}

static atomic_bool stop_now;
static void *press_stop(void *arg)
{
	const struct timespec wait = { 0, 50000000 };
	nanosleep(&wait, NULL);
	*(double *)arg = seconds();
	atomic_store(&stop_now, true);
	return NULL;
}

TEST(cancel_is_prompt)
{
	struct emu_case c = { .ptx = mem_strdup(ENDLESS) };
	const struct run_hooks hooks = { .cancel = &stop_now };
	double pressed = 0;
	pthread_t t;
	c.hooks = &hooks;
	emu_launch(&c, "k", (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 32, 1, 1 });
	emu_buffer(&c, "out", ELEM_U32, BUF_INOUT, 16);
	atomic_store(&stop_now, false);
	assert_int_equal(pthread_create(&t, NULL, press_stop, &pressed), 0);
	assert_false(emu_run_way(&c, &best));
	const double late = seconds() - pressed;
	pthread_join(t, NULL);
	assert_int_equal(c.err.code, ERR_CANCELLED);
	/* ten milliseconds on an idle machine; sanitizers and neighbours may take more */
	assert_true(late < 0.5);
	emu_case_free(&c);
}

/* Gigabytes are not copied first: here a single byte read would end the test. */
TEST(cancel_comes_before_copying)
{
	const size_t bytes = (size_t)64 << 20;
	struct emu_case c = { .ptx = mem_strdup(ENDLESS) };
	const struct run_hooks hooks = { .cancel = &stop_now };
	c.hooks = &hooks;
	emu_launch(&c, "k", (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 32, 1, 1 });
	emu_buffer(&c, "out", ELEM_U32, BUF_INOUT, bytes / 4);
	void *readable = c.buffers[0].data;
	c.buffers[0].data = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(c.buffers[0].data != MAP_FAILED);
	atomic_store(&stop_now, true);
	assert_false(emu_run_way(&c, &best));
	assert_int_equal(c.err.code, ERR_CANCELLED);
	munmap(c.buffers[0].data, bytes);
	c.buffers[0].data = readable;
	emu_case_free(&c);
}

struct seen {
	unsigned calls;
	double last;
	bool falls;
};
static void note_progress(void *ctx, double fraction)
{
	struct seen *s = ctx;
	s->falls |= fraction < s->last || fraction < 0 || fraction > 1;
	s->last = fraction;
	s->calls++;
}

TEST(progress_rises_to_one)
{
	struct emu_case c;
	struct seen seen = { 0 };
	const struct run_hooks hooks = { .progress = note_progress, .ctx = &seen };
	copy_case(&c, 1 << 20);
	c.hooks = &hooks;
	emu_must_run(&c);
	assert_false(seen.falls);
	assert_true(seen.calls >= 1 && seen.last == 1.0);
	emu_case_free(&c);
}

/* --- samples --- */

TEST(sample_is_scaled)
{
	struct emu_case c;
	copy_case(&c, 256 * 1000);
	emu_must_run(&c);
	const struct counts whole = c.res.counts.total;
	assert_int_equal(c.res.counts.origin, ORIGIN_COUNTED);
	assert_true(c.res.outputs_complete);
	assert_memory_equal(c.buffers[0].data, c.buffers[1].data, c.buffers[0].bytes);
	c.max_blocks = 10;
	emu_must_run(&c);
	assert_int_equal(c.res.counts.origin, ORIGIN_SAMPLED);
	assert_int_equal(c.res.counts.blocks_run, 10);
	assert_int_equal(c.res.counts.blocks_total, 1000);
	assert_false(c.res.outputs_complete);
	assert_string_equal(c.res.note, "sampled 10 of 1000 blocks");
	const char *differ = emu_counts_differ(&c.res.counts.total, &whole); /* all blocks are alike */
	if (differ)
		fail_msg("%s differs in the sample", differ);
	emu_case_free(&c);
}

TEST(trace_has_its_shape)
{
	struct emu_case c;
	copy_case(&c, 4096);
	emu_must_run(&c);
	const struct run_counts *r = &c.res.counts;
	assert_int_equal(r->n_accesses, 2);
	assert_string_equal(r->accesses[0].op, "ld.global.u32");
	assert_int_equal(r->accesses[0].buffer, 0);
	assert_int_equal(r->accesses[1].buffer, 1);
	assert_true(r->accesses[1].store && !r->accesses[0].store);
	assert_int_equal(r->accesses[0].executions, 128);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(r->accesses[0].offset[i], 4 * i);
	assert_int_equal(r->n_steps, 1);
	assert_int_equal(r->steps[0].mask, 0xffffffffu);
	assert_int_equal(r->steps[0].instructions, r->total.warp_executed / 128);
	emu_case_free(&c);
}

/* --- traffic --- */

TEST(copy_moves_every_byte_once)
{
	static const size_t sizes[] = { 256, 10000, 1 << 18, 3 << 20 };
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct emu_case c;
		const double bytes = 4.0 * (double)sizes[i];
		copy_case(&c, sizes[i]);
		emu_must_run(&c);
		const struct run_counts *r = &c.res.counts;
		if (r->dram_read_bytes < 0.97 * bytes || r->dram_read_bytes > 1.03 * bytes + 64)
			fail_msg("%zu: read %.0f of %.0f bytes", sizes[i], r->dram_read_bytes, bytes);
		if (r->dram_write_bytes < 0.97 * bytes || r->dram_write_bytes > 1.03 * bytes + 64)
			fail_msg("%zu: wrote %.0f of %.0f bytes", sizes[i], r->dram_write_bytes, bytes);
		emu_case_free(&c);
	}
}

/* Every thread of every block reads the same 4 KiB: one cold read of it, and L1 does the rest. */
TEST(shared_lines_hit)
{
	struct emu_case c = {
		.ptx = mem_strdup(
			PTX_HEAD
			".visible .entry k(.param .u64 in, .param .u64 out)\n{\n\t.reg .pred %p<2>;\n"
			"\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<8>;\n\tld.param.u64 %rd1, [in];\n"
			"\tld.param.u64 %rd2, [out];\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, 0;\n"
			"\tmov.u32 %r3, 0;\n"
			"NEXT:\n\tadd.s32 %r4, %r1, %r2;\n\tand.b32 %r4, %r4, 1023;\n"
			"\tmul.wide.u32 %rd3, %r4, 4;\n"
			"\tadd.s64 %rd4, %rd1, %rd3;\n\tld.global.u32 %r5, [%rd4];\n\tadd.s32 %r3, %r3, %r5;\n"
			"\tadd.s32 %r2, %r2, 32;\n\tsetp.lt.s32 %p1, %r2, 2048;\n\t@%p1 bra NEXT;\n"
			"\tmov.u32 %r6, %ctaid.x;\n\tmul.wide.u32 %rd5, %r6, 4;\n\tadd.s64 %rd6, %rd2, %rd5;\n"
			"\tst.global.u32 [%rd6], %r3;\n\tret;\n}\n")
	};
	emu_launch(&c, "k", (struct dim3u){ 432, 1, 1 }, (struct dim3u){ 64, 1, 1 });
	emu_buffer(&c, "in", ELEM_U32, BUF_IN, 1024);
	emu_buffer(&c, "out", ELEM_U32, BUF_OUT, 432);
	emu_must_run(&c);
	const struct run_counts *r = &c.res.counts;
	assert_true(r->dram_read_bytes >= 4096 * 0.9 && r->dram_read_bytes <= 4096 * 1.1);
	/* 108 SMs fetch 128 sectors each, far from the 432 * 2 * 64 * 4 that were asked for */
	assert_int_equal(r->total.ld_sectors, 432 * 2 * 64 * 4);
	assert_true(r->l2_sectors < 108 * 128 * 1.2 + 432 * 2 * 1.2);
	emu_case_free(&c);
}

/* --- assumptions that fail --- */

/* Index near 2^31: widening it wraps in some lanes, which the fast program cannot express. */
TEST(wrap_is_exact)
{
	struct emu_case c = {
		.ptx = mem_strdup(
			PTX_HEAD
			".visible .entry k(.param .u64 out, .param .u32 n)\n{\n\t.reg .b32 %r<8>;\n"
			"\t.reg .b64 %rd<8>;\n\tld.param.u64 %rd1, [out];\n\tld.param.u32 %r7, [n];\n"
			"\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tmul.lo.s32 %r3, %r2, %r7;\n"
			"\tadd.s32 %r3, %r3, %r1;\n\tmul.wide.s32 %rd2, %r3, 3;\n\tmov.u32 %r4, %ntid.x;\n"
			"\tmad.lo.s32 %r5, %r2, %r4, %r1;\n\tmul.wide.u32 %rd3, %r5, 8;\n"
			"\tadd.s64 %rd4, %rd1, %rd3;\n"
			"\tst.global.u64 [%rd4], %rd2;\n\tret;\n}\n")
	};
	const uint32_t blocks = 6, threads = 96, n = 715827880; /* 3 n is just below 2^31 */
	emu_launch(&c, "k", (struct dim3u){ blocks, 1, 1 }, (struct dim3u){ threads, 1, 1 });
	int64_t *out = emu_buffer(&c, "out", ELEM_F64, BUF_INOUT, blocks * threads);
	emu_arg(&c, (int32_t)n);
	for (size_t w = 0; w < ARRAY_LEN(emu_ways); w++) {
		memset(out, 0, sizeof *out * blocks * threads);
		if (!emu_run_way(&c, &emu_ways[w]))
			fail_msg("%s", c.err.msg);
		for (uint32_t b = 0; b < blocks; b++)
			for (uint32_t t = 0; t < threads; t++)
				assert_int_equal(out[b * threads + t], (int64_t)(int32_t)(b * n + t) * 3);
		assert_int_equal(c.res.counts.total.warp_executed, 13 * blocks * 3);
		assert_int_equal(c.res.counts.total.st_requests, blocks * 3);
	}
	emu_case_free(&c);
}

/* The same counts from one thread and from many. */
TEST(threads_do_not_count)
{
	struct emu_case c;
	struct run_counts one = { 0 };
	copy_case(&c, 100000);
	for (unsigned threads = 1; threads <= 7; threads += 3) {
		const struct emu_way way = { "", "", false, threads };
		assert_true(emu_run_way(&c, &way));
		if (threads == 1) {
			run_counts_copy(&one, &c.res.counts);
			continue;
		}
		assert_null(emu_counts_differ(&one.total, &c.res.counts.total));
		assert_true(one.dram_read_bytes == c.res.counts.dram_read_bytes);
		assert_true(one.l2_sectors == c.res.counts.l2_sectors);
	}
	run_counts_free(&one);
	emu_case_free(&c);
}

TEST(launch_must_be_legal)
{
	struct emu_case c;
	copy_case(&c, 1000);
	c.plan.block.x = 2048;
	assert_false(emu_run_way(&c, &best));
	assert_int_equal(c.err.code, ERR_USAGE);
	c.plan.block.x = 32;
	c.plan.n_args = 2;
	assert_false(emu_run_way(&c, &best));
	assert_non_null(strstr(c.err.msg, "takes 3 parameters, the launch gives 2"));
	c.plan.n_args = 3;
	c.plan.entry = "other";
	assert_false(emu_run_way(&c, &best));
	assert_non_null(strstr(c.err.msg, "no kernel 'other'"));
	emu_case_free(&c);
}
