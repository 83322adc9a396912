/*
 * What a preset claims, held against runs of the emulator and of a GPU: on a GPU only what does not
 * depend on the sheet, on PTX and on the emulator's own counts can fail.
 */
#include "fake_registry.h"

#include "lab/lab_state.h"
#include "lab/tour.h"

static const char yaml[] =
	"title: t\nchapter: c\nabout: a\ngpu: a100\nsteps:\n"
	"- title: one\n  run: toy/one N=64\n  view: occupancy\n  say: s\n  expect:\n"
	"  - mem.ld_requests == 8\n"   /* the same wherever it runs */
	"  - occ.blocks_per_sm == 6\n" /* of the sheet */
	"  - time.kernel_ns < 10\n"
	"  - div.divergent_branches == 1\n" /* of PTX */
	"  - inst.barriers == 4\n"          /* not counted by hardware */
	"  - flop.fp32@scale == 64\n"       /* not by line */
	"  - occ.blocks_per_sm == 8\n"      /* holds */
	"  - verified == 1\n"
	"- title: two\n  run: toy/one N=64\n  gpu: h200\n  view: occupancy\n  say: s\n  expect:\n"
	"  - occ.blocks_per_sm == 6\n";

static struct preset *preset(void)
{
	struct preset *p;
	struct err err = { 0 };
	if (!preset_parse(yaml, sizeof yaml - 1, "test.yaml", &p, &err))
		fail_msg("%s", err.msg);
	return p;
}

/* A run that fulfils claims 7 and 8 alone. */
static void record(struct run_record *r, bool live)
{
	*r = (struct run_record){ .sel.kernel = &toy, .verify = VERIFY_OK };
	struct gpu_spec gpu = *gpu_find("h200");
	gpu.live = live;
	if (live)
		snprintf(gpu.name, sizeof gpu.name, "NVIDIA H200");
	r->sel.gpu = gpu_intern(&gpu);
	metrics_clear(&r->metrics, "hardware has no counter for this");
	const enum origin o = live ? ORIGIN_MEASURED : ORIGIN_COUNTED;
	metric_num(&r->metrics, M_MEM_LD_REQ, o, 8);
	metric_num(&r->metrics, M_OCC_BLOCKS, o, 8);
	metric_num(&r->metrics, M_TIME_KERNEL, o, 11);
	metric_num(&r->metrics, M_DIV_DIVERGENT, o, 0);
	static struct line_counts line = { .line = 8, .c.warp_executed = 2 };
	r->run.counts = (struct run_counts){ .origin = o, .n_lines = 1, .lines = &line };
	if (live)
		counts_set_hardware_lines(&r->run.counts.of_lines);
	else
		counts_set_known(&r->run.counts.of_lines);
}

TEST(the_emulator_is_held_to_all)
{
	struct preset *p = preset();
	struct run_record r;
	struct tour_result t;
	fake_reset();
	record(&r, false);
	tour_check(p, 0, &r, NULL, &t);
	assert_int_equal(t.n, 8);
	assert_int_equal(t.failed, 5);
	assert_int_equal(t.n_excused, 0);
	assert_true(t.outcome[6].holds && t.outcome[7].holds);
	preset_free(p);
}

TEST(a_gpu_answers_for_itself)
{
	struct preset *p = preset();
	struct run_record r;
	struct tour_result t;
	record(&r, true);
	tour_check(p, 0, &r, NULL, &t);
	assert_int_equal(t.failed, 0);
	assert_int_equal(t.n_excused, 5);
	assert_false(t.excused[0] || t.excused[6] || t.excused[7]);
	assert_non_null(strstr(t.problem[1], "sheet a100"));
	assert_non_null(strstr(t.problem[1], "here 8"));
	assert_non_null(strstr(t.problem[3], "ptxas"));
	assert_non_null(strstr(t.problem[4], "no counter"));
	assert_non_null(strstr(t.problem[5], "by line"));
	/* what is the same everywhere is no matter of excuses */
	metric_num(&r.metrics, M_MEM_LD_REQ, ORIGIN_MEASURED, 9);
	r.verify = VERIFY_WRONG;
	tour_check(p, 0, &r, NULL, &t);
	assert_int_equal(t.failed, 2);
	assert_false(t.excused[0] || t.excused[7]);
	/* and the step about this very GPU is held to its claims */
	tour_check(p, 1, &r, NULL, &t);
	assert_int_equal(t.failed, 1);
	preset_free(p);
}

int main(void)
{
	return unit_run(own_cache, drop_cache);
}

/* A step that is to be stopped holds when it is stopped for its reason, not for another. */
TEST(stopped_for_its_reason)
{
	struct session s = { 0 };
	struct preset *p;
	struct err err = { 0 };
	assert_true(preset_load("divergence", &p, &err));
	while (s.tour.step < p->n_steps && !p->steps[s.tour.step].stops)
		s.tour.step++;
	assert_true(s.tour.step < p->n_steps);
	s.tour.preset = p;
	err_set(&err, ERR_USAGE, "line 3: %s in block 0", p->steps[s.tour.step].stops);
	tour_judge_stop(&s, &err);
	assert_true(s.tour.judged && s.tour.n == 1 && s.tour.outcomes[0].holds);
	assert_string_equal(s.tour.outcomes[0].found, "");
	err_set(&err, ERR_USAGE, "out of memory");
	tour_judge_stop(&s, &err);
	assert_false(s.tour.outcomes[0].holds);
	assert_string_equal(s.tour.outcomes[0].found, "out of memory");
	preset_free(p);
}
