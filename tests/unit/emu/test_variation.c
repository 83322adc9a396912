/*
 * Which counts a card may give differently each time: loops that ask, compare-and-swap that is
 * tried again, places that an atomic gives out, loads that race, clocks; and nothing where all is
 * fixed. Every count that is named is a metric.
 */
#include "emu_fixture.h"
#include "model/metric.h"

#define KERNEL(body)                                                                           \
	PTX_HEAD                                                                                   \
	".visible .entry k(.param .u64 out)\n{\n\t.reg .pred %p<3>;\n"                             \
	"\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<8>;\n\tld.param.u64 %rd1, [out];\n"                  \
	"\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.u64 %rd3, %rd1, %rd2;\n" body \
	"\tret;\n}\n"

static struct run_variation run(const char *ptx)
{
	struct emu_case c = { .ptx = mem_strdup(ptx) };
	emu_launch(&c, "k", (struct dim3u){ 2, 1, 1 }, (struct dim3u){ 32, 1, 1 });
	emu_buffer(&c, "out", ELEM_U32, BUF_INOUT, 128);
	emu_must_run(&c);
	const struct run_variation v = c.res.counts.variation;
	emu_case_free(&c);
	return v;
}

TEST(nothing_where_all_is_fixed)
{
	const struct run_variation v = run(KERNEL("\tld.global.u32 %r2, [%rd3];\n"
	                                          "\tadd.u32 %r2, %r2, 1;\n"
	                                          "\tst.global.u32 [%rd3], %r2;\n"
	                                          "\tred.global.add.u32 [%rd1+256], 1;\n"));
	assert_false(variation_any(&v));
}

TEST(a_loop_that_asks)
{
	const struct run_variation v = run(KERNEL("\tst.volatile.global.u32 [%rd1], 1;\n"
	                                          "AGAIN:\n\tld.volatile.global.u32 %r2, [%rd1];\n"
	                                          "\tsetp.eq.u32 %p1, %r2, 0;\n\t@%p1 bra AGAIN;\n"));
	assert_true(v.counts[VARIES_ASKS]);
	assert_true(variation_has(&v, "inst.warp_executed"));
	assert_true(variation_has(&v, "mem.ld_requests"));
	assert_false(variation_has(&v, "mem.st_requests"));
	assert_false(variation_has(&v, "mem.ld_req"));
}

/* A loop counts in memory of the lane's own, as spilled registers do. */
TEST(a_spilled_number_asks_nobody)
{
	const struct run_variation v =
		run(KERNEL("\t.local .align 4 .b8 l[4];\n\tmov.u64 %rd4, l;\n\tst.local.u32 [%rd4], 0;\n"
	               "AGAIN:\n\tld.local.u32 %r2, [%rd4];\n\tadd.u32 %r2, %r2, 1;\n"
	               "\tst.local.u32 [%rd4], %r2;\n\tld.local.u32 %r3, [%rd4];\n"
	               "\tsetp.lt.u32 %p1, %r3, 10;\n\t@%p1 bra AGAIN;\n"));
	assert_false(variation_any(&v));
}

TEST(a_swap_that_is_tried_again)
{
	const struct run_variation v =
		run(KERNEL("\tld.global.u32 %r2, [%rd1];\nAGAIN:\n\tmov.u32 %r3, %r2;\n"
	               "\tadd.u32 %r4, %r3, 1;\n\tatom.global.cas.b32 %r2, [%rd1], %r3, %r4;\n"
	               "\tsetp.ne.u32 %p1, %r2, %r3;\n\t@%p1 bra AGAIN;\n"));
	assert_true(v.counts[VARIES_SWAPS]);
	assert_false(v.counts[VARIES_ASKS]);
	assert_true(variation_has(&v, "mem.atom_requests"));
}

TEST(places_that_an_atomic_gives_out)
{
	const struct run_variation v =
		run(KERNEL("\tatom.global.add.u32 %r2, [%rd1], 1;\n\tand.b32 %r2, %r2, 31;\n"
	               "\tmul.wide.u32 %rd4, %r2, 4;\n\tadd.u64 %rd4, %rd1, %rd4;\n"
	               "\tst.global.u32 [%rd4+128], %r1;\n"));
	assert_int_equal(v.counts[VARIES_PLACES], 1u << VARY_ST_SECTORS);
}

/* Through shared memory, to a branch. */
TEST(who_comes_last_goes_on)
{
	const struct run_variation v =
		run(KERNEL("\t.shared .align 4 .b8 s[4];\n\tmov.u32 %r5, s;\n"
	               "\tatom.global.add.u32 %r2, [%rd1], 1;\n\tst.shared.u32 [%r5], %r2;\n"
	               "\tbar.sync 0;\n\tld.shared.u32 %r3, [%r5];\n"
	               "\tsetp.ne.u32 %p1, %r3, 63;\n\t@%p1 bra OVER;\n"
	               "\tst.global.u32 [%rd1+256], %r1;\nOVER:\n"));
	assert_true(v.counts[VARIES_PLACES]);
	assert_true(variation_has(&v, "mem.st_requests"));
	assert_true(variation_has(&v, "inst.thread_executed"));
	assert_false(variation_has(&v, "mem.ld_requests"));
}

TEST(a_load_that_races)
{
	const struct run_variation v =
		run(KERNEL("\tld.volatile.global.u32 %r2, [%rd3];\n\tsetp.ne.u32 %p1, %r2, 0;\n"
	               "\t@%p1 bra OVER;\n\tst.volatile.global.u32 [%rd3+4], %r1;\nOVER:\n"));
	assert_true(v.counts[VARIES_RACES]);
	assert_true(variation_has(&v, "mem.st_requests"));
}

TEST(a_clock_that_decides)
{
	const struct run_variation told =
		run(KERNEL("\tmov.u32 %r2, %clock;\n\tst.global.u32 [%rd3], %r2;\n"));
	assert_false(variation_any(&told));
	const struct run_variation v = run(KERNEL("\tmov.u32 %r2, %clock;\n\tand.b32 %r2, %r2, 1;\n"
	                                          "\tsetp.ne.u32 %p1, %r2, 0;\n\t@%p1 bra OVER;\n"
	                                          "\tst.global.u32 [%rd3], %r1;\nOVER:\n"));
	assert_true(v.counts[VARIES_CLOCK]);
}

TEST(what_is_named_is_a_metric)
{
	for (unsigned c = 0; c < VARIATION_COUNTS; c++)
		for (const char *key = variation_keys((enum variation_counts)c); *key;) {
			char one[64];
			const size_t n = strcspn(key, " ");
			snprintf(one, sizeof one, "%.*s", (int)n, key);
			if (metric_find(one) == METRIC_COUNT)
				fail_msg("no metric '%s'", one);
			key += n + (key[n] == ' ');
		}
}

TEST(in_words)
{
	char words[200];
	const struct run_variation v = { .counts = { [VARIES_PLACES] = 1u << VARY_ST_SECTORS |
		                                                           1u << VARY_LD_SECTORS },
		                             .line = { [VARIES_PLACES] = 12 } };
	assert_int_equal(variation_next(&v, 0), VARIES_PLACES);
	assert_int_equal(variation_next(&v, VARIES_PLACES + 1), VARIATION_WHYS);
	assert_string_equal(variation_counts_text(&v, VARIES_PLACES, words, sizeof words),
	                    "line 12: mem.ld_sectors, mem.st_sectors");
	assert_string_equal(variation_counts_text(&v, VARIES_PLACES, words, 12), "line 12: me");
}
