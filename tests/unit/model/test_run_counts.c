/* Adding, scaling, copying counts; tags in a source; the metrics that follow from counts. */
#include "../unit.h"
#include "model/counts.h"
#include "model/metric_formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(add_and_scale_touch_every_field)
{
	struct counts a = { 0 }, b = { 0 };
	uint64_t n = 0;
#define X(field, ...) b.field = ++n;
	COUNT_FIELDS(X)
#undef X
	counts_add(&a, &b);
	counts_add(&a, &b);
	n = 0;
#define X(field, ...) assert_int_equal(a.field, 2 * ++n);
	COUNT_FIELDS(X)
#undef X
	counts_scale(&a, 2.5);
	n = 0;
#define X(field, ...) assert_int_equal(a.field, 5 * ++n);
	COUNT_FIELDS(X)
#undef X
	assert_int_equal(sizeof(struct counts), n * sizeof(uint64_t));
}

TEST(scaling_rounds_and_saturates)
{
	struct counts c = { .warp_executed = 3, .branches = UINT64_MAX, .ld_bytes = (1ull << 53) + 1 };
	struct counts d = c;
	counts_scale(&d, 1);
	assert_memory_equal(&c, &d, sizeof c);
	counts_scale(&d, 0.5);
	assert_int_equal(d.warp_executed, 2); /* 1.5, to even */
	d = c;
	counts_scale(&d, 4);
	assert_true(d.branches == UINT64_MAX);
	counts_scale(&d, (double)NAN);
	assert_int_equal(d.warp_executed, 0);
	d = c;
	counts_scale(&d, -1);
	assert_int_equal(d.warp_executed, 0);
}

/* No byte is a figure; less than none is none at all. */
TEST(a_figure_of_zero_is_known)
{
	struct run_counts r;
	run_counts_clear(&r, "not run");
	assert_true(isnan(run_counts_figure(&r, COUNT_dram_read_bytes)));
	run_counts_set_figure(&r, COUNT_dram_read_bytes, 0);
	assert_true(run_counts_figure(&r, COUNT_dram_read_bytes) == 0);
	run_counts_set_figure(&r, COUNT_dram_read_bytes, -1);
	assert_true(isnan(run_counts_figure(&r, COUNT_dram_read_bytes)));
}

static const char source[] = "__global__ void add(float *a)\n"
							 "{\n"
							 "	a[i] += 1; //@ add\n"
							 "	b = a;  //@load-A  \r\n"
							 "	c = 1; // not a tag @ add\n"
							 "	//@ add\n"
							 "	//@\n"
							 "	//@ two words\n"
							 "	x; //@ 12345678901234567890123456789012\n"
							 "	y; //@ 1234567890123456789012345678901\n"
							 "} //@ end";

TEST(tags_are_found)
{
	struct line_tag t[8];
	assert_int_equal(source_tags(source, t, 8), 5);
	assert_int_equal(t[0].line, 3);
	assert_string_equal(t[0].name, "add");
	assert_int_equal(t[1].line, 4);
	assert_string_equal(t[1].name, "load-A");
	assert_int_equal(t[2].line, 6);
	assert_int_equal(t[3].line, 10);
	assert_int_equal(strlen(t[3].name), 31);
	assert_int_equal(t[4].line, 11);
	assert_string_equal(t[4].name, "end");
	assert_int_equal(source_tags(source, t, 1), 5); /* counts all, stores one */
	assert_int_equal(source_tags("", t, 8), 0);
	assert_int_equal(source_tags("//@ x", t, 8), 1);
	assert_int_equal(source_tags("\n\n//@ x\n\n", t, 8), 1);
	assert_int_equal(t[0].line, 3);
}

TEST(tag_sums_its_lines)
{
	struct line_counts lines[] = {
		{ .line = 0, .c = { .warp_executed = 1000 } },
		{ .line = 3, .c = { .warp_executed = 27, .thread_executed = 255 } },
		{ .line = 5, .c = { .warp_executed = 500 } },
		{ .line = 6, .c = { .warp_executed = 3, .thread_executed = 5 } },
	};
	struct run_counts r = { .n_lines = 4, .lines = lines };
	struct counts sum;
	assert_true(counts_of_tag(&r, source, "add", &sum));
	assert_int_equal(sum.warp_executed, 30);
	assert_int_equal(sum.thread_executed, 260);
	assert_true(counts_of_tag(&r, source, "load-A", &sum)); /* tagged, never executed */
	assert_int_equal(sum.warp_executed, 0);
	assert_false(counts_of_tag(&r, source, "none", &sum));
	assert_false(counts_of_tag(&r, "no tags here\n", "add", &sum));
	assert_int_equal(sum.warp_executed, 0);
	r.n_lines = 0;
	assert_true(counts_of_tag(&r, source, "add", &sum));
	assert_int_equal(sum.warp_executed, 0);
}

TEST(source_lines)
{
	char s[64], tiny[4];
	assert_true(source_line(source, 2, s, sizeof s));
	assert_string_equal(s, "{");
	assert_true(source_line(source, 4, s, sizeof s));
	assert_string_equal(s, "	b = a;  //@load-A  "); /* without the carriage return */
	assert_true(source_line(source, 11, s, sizeof s));
	assert_string_equal(s, "} //@ end");
	assert_false(source_line(source, 12, s, sizeof s));
	assert_string_equal(s, "");
	assert_false(source_line(source, 0, s, sizeof s));
	assert_false(source_line("", 1, s, sizeof s));
	assert_true(source_line(source, 1, tiny, sizeof tiny));
	assert_string_equal(tiny, "__g");
}

TEST(a_copy_owns_its_tables)
{
	struct line_counts lines[2] = { { .line = 1 }, { .line = 2, .c = { .flop32 = 9 } } };
	struct access_sample access = { .line = 2, .executions = 4 };
	struct mask_step step = { .line = 1, .mask = 0xff, .instructions = 3 };
	struct run_counts a = {
		.origin = ORIGIN_SAMPLED,
		.blocks_run = 2,
		.blocks_total = 9,
		.n_lines = 2,
		.lines = lines,
		.n_accesses = 1,
		.accesses = &access,
		.n_steps = 1,
		.steps = &step,
		.dram_read_bytes = 5,
		.dram_write_bytes = 6,
		.l2_sectors = 7,
	};
	struct run_counts b;
	run_counts_copy(&b, &a);
	assert_ptr_not_equal(a.lines, b.lines);
	assert_int_equal(b.lines[1].c.flop32, 9);
	assert_int_equal(b.accesses[0].executions, 4);
	assert_int_equal(b.steps[0].mask, 0xff);
	assert_true(b.l2_sectors == 7);
	run_counts_free(&b);
	assert_null(b.lines);
	assert_int_equal(b.n_lines, 0);
	assert_true(isnan(b.dram_read_bytes) && isnan(b.l2_sectors)); /* unknown, not zero */
	run_counts_free(&b);
	run_counts_free(NULL);
	a = (struct run_counts){ 0 };
	run_counts_copy(&b, &a);
	assert_null(b.lines);
	run_counts_free(&b);
}

TEST(ratios)
{
	struct metric_set m;
	struct counted all = { 0 };
	counts_set_known(&all);
	metrics_clear(&m, "x");
	/* S-371: the add line of the simple reduction, N = 256: 255 lanes in 27 warp executions. */
	struct counts c = { .warp_executed = 27,
		                .thread_executed = 255,
		                .branches = 8,
		                .divergent_branches = 6,
		                .ld_requests = 10,
		                .ld_sectors = 320,
		                .ld_bytes = 1280,
		                .st_requests = 2,
		                .st_sectors = 8,
		                .st_bytes = 256,
		                .shared_ld_wavefronts = 64,
		                .shared_ld_ideal = 2,
		                .shared_st_wavefronts = 1,
		                .shared_st_ideal = 3,
		                .barriers = 4,
		                .local_requests = 5,
		                .shared_atom_requests = 6,
		                .flop16 = 1,
		                .flop32 = 2,
		                .flop64 = 3 };
	metrics_from_counts(&m, &c, &all, ORIGIN_COUNTED);
	assert_true(fabs(metric_get(&m, M_DIV_SIMD_EFF) - 100.0 * 255 / 864) < 1e-9);
	assert_true(fabs(metric_get(&m, M_INST_RATIO) - 255.0 / 27) < 1e-9);
	assert_true(metric_get(&m, M_DIV_BRANCH_EFF) == 25);
	assert_true(metric_get(&m, M_MEM_LD_SPR) == 32);
	assert_true(metric_get(&m, M_MEM_LD_EFF) == 12.5);
	assert_true(metric_get(&m, M_MEM_ST_SPR) == 4);
	assert_true(metric_get(&m, M_MEM_ST_EFF) == 100);
	assert_true(metric_get(&m, M_SH_LD_EXCESS) == 62);
	assert_true(metric_get(&m, M_SH_ST_EXCESS) == 0);
	assert_true(metric_get(&m, M_INST_BARRIERS) == 4);
	assert_true(metric_get(&m, M_MEM_LOCAL_REQ) == 5);
	assert_true(metric_get(&m, M_SH_ATOM_REQ) == 6);
	assert_true(metric_get(&m, M_FLOP_FP64) == 3);
	assert_int_equal(m.v[M_MEM_LD_SPR].origin, ORIGIN_COUNTED);
}

TEST(a_ratio_over_nothing_has_a_reason)
{
	struct metric_set m;
	struct counted all = { 0 };
	counts_set_known(&all);
	metrics_clear(&m, "x");
	const struct counts c = { 0 };
	metrics_from_counts(&m, &c, &all, ORIGIN_COUNTED);
	assert_false(metric_known(&m, M_MEM_LD_SPR));
	assert_string_equal(m.v[M_MEM_LD_SPR].reason, "no global loads executed");
	assert_string_equal(m.v[M_MEM_LD_EFF].reason, "no global loads executed");
	assert_string_equal(m.v[M_MEM_ST_SPR].reason, "no global stores executed");
	assert_string_equal(m.v[M_DIV_BRANCH_EFF].reason, "no conditional branch executed");
	assert_string_equal(m.v[M_DIV_SIMD_EFF].reason, "no instruction executed");
	assert_true(metric_known(&m, M_MEM_LD_REQ)); /* counted: really zero */
	assert_true(metric_get(&m, M_MEM_LD_REQ) == 0);
}

TEST(a_sample_says_of_how_many)
{
	struct metric_set m;
	metrics_clear(&m, "x");
	struct run_counts r = { .origin = ORIGIN_SAMPLED,
		                    .blocks_run = 64,
		                    .blocks_total = 1024,
		                    .total = { .warp_executed = 5 } };
	counts_set_known(&r.of_total);
	metrics_from_run(&m, &r);
	assert_int_equal(m.v[M_INST_WARP].origin, ORIGIN_SAMPLED);
	assert_int_equal(m.v[M_INST_WARP].sampled, 64);
	assert_int_equal(m.v[M_INST_WARP].of, 1024);
	assert_int_equal(m.v[M_MEM_LD_SPR].of, 0); /* n/a stays n/a */
	r.origin = ORIGIN_COUNTED;
	metrics_from_run(&m, &r);
	assert_int_equal(m.v[M_INST_WARP].origin, ORIGIN_COUNTED);
	assert_int_equal(m.v[M_INST_WARP].of, 0);
}

/* Every metric that has a formula: without one of its counts it is n/a for that count's reason. */
TEST(what_was_not_counted_is_not_known)
{
	static struct metric_set m;
	char reasons[COUNT_ID_COUNT][64];
	for (enum count_id id = 0; id < COUNT_ID_COUNT; id++)
		snprintf(reasons[id], sizeof reasons[id], "%s was left out", count_name(id));
	unsigned judged = 0;
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		const struct formula *f = metric_formula(id);
		if (!f)
			continue;
		for (enum count_id gone = 0; gone < COUNT_ID_COUNT; gone++) {
			struct run_counts r;
			run_counts_clear(&r, "x");
			r.origin = ORIGIN_MEASURED;
			for (enum count_id other = 0; other < COUNT_ID_COUNT; other++) {
				if (other >= COUNT_FIELD_COUNT)
					run_counts_set_figure(&r, other, 7);
				else
					count_put(&r.total, other, 7);
			}
			counts_set_known(&r.of_total);
			if (gone >= COUNT_FIELD_COUNT)
				run_counts_set_figure(&r, gone, (double)NAN);
			else
				count_put(&r.total, gone, 0); /* what an unfilled field holds */
			count_set_unknown(&r.of_total, gone, reasons[gone]);
			metrics_clear(&m, "not derived");
			metrics_from_run(&m, &r);
			if (formula_needs(f) >> gone & 1) {
				assert_false(metric_known(&m, id));
				assert_string_equal(m.v[id].reason, reasons[gone]);
				judged++;
			} else {
				assert_true(metric_known(&m, id));
				assert_int_equal(m.v[id].origin, ORIGIN_MEASURED);
			}
		}
	}
	assert_true(judged > 40);
}

TEST(nothing_is_known_of_an_empty_run)
{
	static struct metric_set m;
	struct run_counts r;
	run_counts_clear(&r, "the counters were not read");
	metrics_clear(&m, NULL);
	metrics_from_run(&m, &r);
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		assert_false(metric_known(&m, id));
		if (metric_formula(id))
			assert_string_equal(m.v[id].reason, "the counters were not read");
	}
	const struct run_counts zero = { 0 };
	metrics_from_run(&m, &zero);
	assert_false(metric_known(&m, M_MEM_LD_REQ));
	assert_non_null(m.v[M_MEM_LD_REQ].reason);
}

TEST(hardware_lines_lack_what_cupti_lacks)
{
	static struct metric_set m;
	const struct counts c = { .warp_executed = 4, .thread_executed = 100 };
	struct counted k = { 0 };
	counts_set_hardware_lines(&k);
	metrics_clear(&m, NULL);
	metrics_from_counts(&m, &c, &k, ORIGIN_MEASURED);
	assert_true(metric_get(&m, M_INST_RATIO) == 25);
	assert_true(metric_get(&m, M_MEM_LD_REQ) == 0); /* counted: really none */
	assert_false(metric_known(&m, M_FLOP_FP32));
	assert_string_equal(m.v[M_FLOP_FP32].reason,
	                    "hardware does not count it by line; the emulator does");
	assert_false(metric_of_lines(M_DRAM_READ));
	assert_null(m.v[M_DRAM_READ].reason); /* left alone */
}
