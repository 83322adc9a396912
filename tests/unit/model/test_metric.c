/* The catalogue is complete, keys are found, and an unknown value is never a number. */
#include "../unit.h"
#include "model/metric.h"
#include "model/metric_formula.h"

#include <math.h>
#include <string.h>

TEST(catalogue_is_complete)
{
	for (unsigned i = 0; i < METRIC_COUNT; i++) {
		const struct metric_desc *d = &metric_catalogue[i];
		assert_non_null(d->key);
		assert_non_null(strchr(d->key, '.'));
		assert_true(strlen(d->title) > 0 && strlen(d->definition) > 0);
		assert_non_null(d->unit);
		assert_non_null(d->cupti);
		assert_int_equal(metric_find(d->key), i); /* so keys are unique */
	}
	assert_int_equal(metric_find("mem.ld_sectors"), M_MEM_LD_SEC);
	assert_int_equal(metric_find("mem.ld_sector"), METRIC_COUNT);
	assert_int_equal(metric_find(""), METRIC_COUNT);
}

TEST(keys_of_the_issue_exist)
{
	static const char *const keys[] = {
		"launch.grid_blocks",
		"launch.block_threads",
		"launch.registers_per_thread",
		"launch.shared_bytes_per_block",
		"launch.waves",
		"occ.blocks_per_sm",
		"occ.warps_per_sm",
		"occ.theoretical_pct",
		"occ.limiters",
		"inst.warp_executed",
		"inst.thread_executed",
		"inst.threads_per_warp_inst",
		"div.branches",
		"div.divergent_branches",
		"div.branch_efficiency_pct",
		"div.simd_efficiency_pct",
		"mem.ld_requests",
		"mem.st_requests",
		"mem.ld_sectors",
		"mem.st_sectors",
		"mem.ld_lines",
		"mem.st_lines",
		"mem.ld_sectors_per_request",
		"mem.st_sectors_per_request",
		"mem.ld_efficiency_pct",
		"mem.st_efficiency_pct",
		"shared.ld_requests",
		"shared.ld_wavefronts",
		"shared.ld_excess_wavefronts",
		"shared.st_requests",
		"shared.st_wavefronts",
		"shared.st_excess_wavefronts",
		"flop.fp16",
		"flop.fp32",
		"flop.fp64",
		"dram.read_bytes",
		"dram.write_bytes",
		"roof.intensity_flop_per_byte",
		"roof.book_intensity_flop_per_byte",
		"roof.attainable_gflops",
		"roof.achieved_gflops",
		"roof.bound",
		"time.kernel_ns",
	};
	for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
		if (metric_find(keys[i]) == METRIC_COUNT)
			fail_msg("no metric %s", keys[i]);
}

TEST(unknown_is_not_a_number)
{
	struct metric_set m;
	metrics_clear(&m, "not run yet");
	for (unsigned i = 0; i < METRIC_COUNT; i++) {
		assert_false(metric_known(&m, (enum metric_id)i));
		assert_true(isnan(metric_get(&m, (enum metric_id)i)));
		assert_string_equal(m.v[i].reason, "not run yet");
	}
	metric_num(&m, M_FLOP_FP32, ORIGIN_COUNTED, 12.5);
	assert_true(metric_get(&m, M_FLOP_FP32) == 12.5);
	metric_num(&m, M_FLOP_FP32, ORIGIN_COUNTED, (double)NAN);
	assert_false(metric_known(&m, M_FLOP_FP32));
	metric_num(&m, M_FLOP_FP32, ORIGIN_COUNTED, (double)INFINITY);
	assert_false(metric_known(&m, M_FLOP_FP32));
	assert_non_null(m.v[M_FLOP_FP32].reason);
	assert_false(metric_known(&m, METRIC_COUNT));
	assert_true(isnan(metric_get(&m, METRIC_COUNT)));
}

TEST(text_is_cut_not_overrun)
{
	struct metric_set m;
	char longer[200];
	metrics_clear(&m, NULL);
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	metric_text(&m, M_OCC_LIMITERS, ORIGIN_MODELLED, longer);
	assert_int_equal(strlen(m.v[M_OCC_LIMITERS].text), sizeof m.v[0].text - 1);
	assert_true(metric_known(&m, M_OCC_LIMITERS));
	assert_true(isnan(metric_get(&m, M_OCC_LIMITERS))); /* words, not a number */
}

TEST(origins_have_marks)
{
	for (unsigned o = 0; o < ORIGIN_COUNT; o++) {
		assert_int_equal(strlen(origin_mark((enum origin)o, true)), 1);
		assert_true(strlen(origin_mark((enum origin)o, false)) >= 1);
		assert_true(strlen(origin_about((enum origin)o)) > 5);
		for (unsigned k = 0; k < o; k++) {
			assert_string_not_equal(origin_name((enum origin)o), origin_name((enum origin)k));
			assert_string_not_equal(origin_mark((enum origin)o, true),
			                        origin_mark((enum origin)k, true));
		}
	}
	assert_string_equal(origin_name(ORIGIN_MEASURED), "measured");
	assert_string_equal(origin_name((enum origin)99), "?");
	assert_string_equal(origin_mark((enum origin)99, true), "?");
}

static double value_of(const char *text, const struct counts *c, const char **why)
{
	struct formula *f;
	char bad[160];
	struct counted all = { 0 };
	const struct formula_input in = { .counts = c, .known = &all };
	counts_set_known(&all);
	if (!formula_read(text, &f, bad))
		fail_msg("%s: %s", text, bad);
	const double v = formula_value(f, &in, why);
	formula_free(f);
	return v;
}

TEST(formulas_are_arithmetic)
{
	const struct counts c = { .branches = 8, .divergent_branches = 6, .ld_requests = 3 };
	const char *why;
	assert_true(value_of("100 * (branches - divergent_branches) / branches", &c, &why) == 25);
	assert_true(value_of("1.5+2*3-4/8", &c, &why) == 7);
	assert_true(value_of("branches / divergent_branches / 2", &c, &why) == 8.0 / 6 / 2);
	assert_true(value_of("max(0, divergent_branches - branches)", &c, &why) == 0);
	assert_true(value_of(" max( branches ,2 ) ", &c, &why) == 8);
	assert_null(why);
	assert_true(isnan(value_of("branches / (32 * st_sectors)", &c, &why)));
	assert_string_equal(why, "no global stores executed");
}

TEST(malformed_formulas_are_refused)
{
	static const char *const bad[] = { "",          "ld_sector",  "1 +",        "(branches",
		                               "branches)", "max(1)",     "max(1, 2",   "1 2",
		                               "* 3",       "branches /", "ld_sectors$" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct formula *f = NULL;
		char why[160] = "";
		if (formula_read(bad[i], &f, why))
			fail_msg("'%s' was read", bad[i]);
		assert_true(strlen(why) > 0);
	}
	char longer[400] = "1";
	for (int i = 0; i < 60; i++)
		strcat(longer, " + 1");
	struct formula *f = NULL;
	char why[160];
	assert_false(formula_read(longer, &f, why));
	assert_non_null(strstr(why, "too long"));
}

/* Each row says where its value comes from: a formula that can be read, or a part of the model. */
TEST(every_source_is_known)
{
	static const char *const parts[] = { "launch",   "occupancy",    "time model",
		                                 "roofline", "stream model", "code mix" };
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		const char *source = metric_catalogue[id].source;
		bool known = metric_formula(id) != NULL;
		for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
			known = known || !strcmp(source, parts[i]);
		if (!known)
			fail_msg("%s: source \"%s\" is neither a formula nor a part of the model",
			         metric_catalogue[id].key, source);
	}
}
