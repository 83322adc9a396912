/* A preset being walked: before its run, judged, and a mystery whose answer is shown. */
#include "fixture.h"

static struct preset_book book[] = {
	{ .what = "lane slots used", .value = 35, .unit = "%", .ours = "div.simd_efficiency_pct" },
	{ .what = "kernel time",
	  .value = 3.5,
	  .unit = "us",
	  .ours = "time.kernel_ns",
	  .seed = "S-363",
	  .note = "the source lets all warps run for five iterations; the loop runs six for them" },
};
static char *expect[] = { "div.simd_efficiency_pct < 95", "inst.warp_executed == 240",
	                      "sh.conflicts == 0" };
static struct preset_step steps[] = {
	{ .title = "stride doubling",
	  .run = "reduction/simple N=256 block=128",
	  .view = "divergence",
	  .say = "Threads drop out two by two. A warp runs on while one of its lanes has work, so "
	         "most lanes of most warps do nothing. Watch the mask: half as many lanes each pass.",
	  .n_book = ARRAY_LEN(book),
	  .book = book,
	  .n_expect = ARRAY_LEN(expect),
	  .expect = expect },
	{ .title = "what is wrong here?",
	  .run = "reduction/simple N=256 block=128",
	  .say = "The same kernel on the same data gives another sum now and then. Why?",
	  .reveal = "There is no barrier between the passes: a warp reads what another one has not "
	            "written yet." },
};
static const struct preset preset = {
	.title = "Reduction: from idle lanes to full warps",
	.chapter = "PMPP ch. 10",
	.about = "a sum, step by step",
	.n_steps = ARRAY_LEN(steps),
	.steps = steps,
	.name = "reduction",
};

struct session *fixture_tour(void)
{
	struct session *s = fixture_reduced();
	metric_num(&s->now->metrics, M_TIME_KERNEL, ORIGIN_MODELLED, 3560);
	s->tour.preset = &preset;
	snprintf(s->tour.name, sizeof s->tour.name, "%s", preset.name);
	return s;
}

struct session *fixture_tour_judged(void)
{
	struct session *s = fixture_tour();
	s->tour.judged = true;
	s->tour.n = ARRAY_LEN(expect);
	s->tour.outcomes[0].holds = s->tour.outcomes[2].holds = true;
	snprintf(s->tour.outcomes[1].found, sizeof s->tour.outcomes[1].found, "it is 236");
	snprintf(s->tour.outcomes[2].found, sizeof s->tour.outcomes[2].found,
	         "this GPU does not count it");
	return s;
}

struct session *fixture_mystery(void)
{
	struct session *s = fixture_tour();
	s->tour.step = 1;
	s->tour.judged = s->tour.revealed = true;
	return s;
}
