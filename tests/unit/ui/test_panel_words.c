/* Words of panels against figures that once made them say something else than the truth. */
#include "fixture.h"
#include "../unit.h"
#include "ui/view.h"

#include <math.h>

extern const struct view_desc view_advice, view_coalescing, view_divergence, view_occupancy,
	view_device, view_machine_code, view_roofline;

/* The panel of @s at 60x100, as text; free it. */
static char *drawn(const struct view_desc *v, struct session *s)
{
	struct canvas c;
	s->view = v->name;
	s->cursor = (struct view_cursor){ 0 };
	canvas_init(&c, 60, 100, false);
	v->draw(s, &c);
	char *text = canvas_dump(&c, false);
	canvas_free(&c);
	return text;
}

static void says(const struct view_desc *v, struct session *s, const char *want, bool it_does)
{
	char *text = drawn(v, s);
	if (!strstr(text, want) == it_does)
		fail_msg("%s %s '%s':\n%s", v->name, it_does ? "does not say" : "says", want, text);
	free(text);
}

/* The line's first load is of indices, side by side; the second gathers by them. */
TEST(the_worst_access_stands_for_a_line)
{
	struct session *s = fixture_reduced();
	struct run_counts *r = &s->now->run.counts;
	for (unsigned k = 0; k < 2; k++) {
		struct access_sample *a = &r->accesses[k];
		*a = (struct access_sample){ .line = 6, .bytes_per_lane = 4, .mask = UINT32_MAX };
		a->executions = 27;
		snprintf(a->op, sizeof a->op, "ld.global.%s", k ? "f32" : "u32");
		for (unsigned i = 0; i < 32; i++)
			a->offset[i] = k ? (i * 7919 % 32) * 1024 + i % 3 * 4 : 4 * i;
	}
	for (unsigned i = 0; i < r->n_lines; i++)
		if (r->lines[i].line == 6)
			r->lines[i].c.ld_sectors = 27 * (4 + 32);
	says(&view_coalescing, s, "scattered +1", true);
	says(&view_coalescing, s, "access 2 of 2", true);
	says(&view_coalescing, s, "varies", false);
	/* the run as a whole asked for more than what was recorded at its beginning */
	for (unsigned i = 0; i < 32; i++)
		r->accesses[1].offset[i] = 4 * i;
	says(&view_coalescing, s, "varies", true);
	says(&view_coalescing, s, "the run's mean: 18.0 sectors", true);
	fixture_free(s);
}

TEST(two_addresses_are_no_gather)
{
	struct session *s = fixture_reduced();
	struct run_counts *r = &s->now->run.counts;
	for (unsigned i = 0; i < 32; i++)
		r->accesses[0].offset[i] = i / 16 * 4096;
	for (unsigned i = 0; i < r->n_lines; i++)
		if (r->lines[i].line == 6)
			r->lines[i].c.ld_sectors = 2 * 54;
	says(&view_coalescing, s, "2 addresses", true);
	says(&view_coalescing, s, "sort the indices", false);
	says(&view_coalescing, s, "wasted", false);
	says(&view_coalescing, s, "56 of 64 B not for this access", true);
	fixture_free(s);
}

/* Two rows of a block that each walk down a column are a stride, and nothing to sort. */
TEST(columns_are_no_gather)
{
	struct session *s = fixture_reduced();
	struct run_counts *r = &s->now->run.counts;
	for (unsigned i = 0; i < 32; i++)
		r->accesses[0].offset[i] = i % 16 * 1024;
	for (unsigned i = 0; i < r->n_lines; i++)
		if (r->lines[i].line == 6)
			r->lines[i].c.ld_sectors = 16 * 54;
	says(&view_coalescing, s, "stride 1K B", true);
	says(&view_coalescing, s, "a column walk: let neighbouring lanes", true);
	says(&view_coalescing, s, "scattered", false);
	says(&view_coalescing, s, "sort the indices", false);
	fixture_free(s);
}

/* Advice names the cure of the access that wastes most, and what comes next in the ladder. */
TEST(advice_goes_on)
{
	struct session *s = fixture_reduced();
	for (unsigned i = 0; i < 32; i++)
		s->now->run.counts.accesses[0].offset[i] = i % 16 * 1024;
	says(&view_advice, s, "uncoalesced accesses", true);
	says(&view_advice, s, "a column walk: let neighbouring lanes", true);
	fixture_free(s);
	s = fixture_done();
	says(&view_advice, s, "the next variant", false); /* there is none behind it */
	s->now->sel.variant = 0;
	says(&view_advice, s, "v the next variant: tiled", true);
	fixture_free(s);
}

/* A kernel that stores nothing has no sectors per store, and none is named. */
TEST(advice_names_no_stores_where_none_are)
{
	struct session *s = fixture_done();
	says(&view_advice, s, "per load, ", true);
	metric_num(&s->now->metrics, M_MEM_ST_REQ, ORIGIN_COUNTED, 0);
	metric_num(&s->now->metrics, M_MEM_ST_SPR, ORIGIN_COUNTED, NAN);
	says(&view_advice, s, "sectors per load", true);
	says(&view_advice, s, "nan", false);
	says(&view_advice, s, "per store", false);
	fixture_free(s);
}

/* What has no room in the head is left out, not cut off; the hottest loop then goes a row down. The
 * instruction in front is whole below the list, and says where its PTX went close to it. */
TEST(the_head_of_machine_code_is_whole)
{
	struct session *s = fixture_done();
	struct canvas c;
	s->view = view_machine_code.name;
	s->cursor = (struct view_cursor){ .row = 2 };
	snprintf(s->now->code->insts[2].text, sizeof s->now->code->insts[2].text,
	         "@!P0 LDG.E.128.CONSTANT R8, desc[UR6][R2.64]");
	for (int cols = 64; cols <= 130; cols++) {
		canvas_init(&c, 18, cols, false);
		view_machine_code.draw(s, &c);
		char *text = canvas_dump(&c, false), *at = strstr(text, " runs ");
		assert_non_null(strstr(text, "loop 0020-00a0 99.9 %"));
		assert_non_null(strstr(text, "── 0020 @!P0 LDG.E.128.CONSTANT R8, desc[UR6][R2.64] ─"));
		*at = '\0';
		assert_null(strstr(text, "…"));
		free(text);
		canvas_free(&c);
	}
	s->cursor = (struct view_cursor){ .row = 2, .detail = true };
	canvas_init(&c, 50, 190, false);
	view_machine_code.draw(s, &c);
	char *text = canvas_dump(&c, false);
	assert_non_null(strstr(text, "309  mul.wide.s32 %rd3, %r1, 4   no code of its own"));
	assert_non_null(strstr(text, "EXIT")); /* the list has all rows that its detail leaves */
	free(text);
	canvas_free(&c);
	fixture_free(s);
}

/* Counts that a card gives differently each time are marked where they are shown. */
TEST(machine_code_says_what_varies)
{
	struct session *s = fixture_done();
	struct run_variation *v = &s->now->run.counts.variation;
	says(&view_machine_code, s, "may vary", false);
	v->counts[VARIES_PLACES] = 1u << VARY_ST_SECTORS;
	v->line[VARIES_PLACES] = 20;
	says(&view_machine_code, s, "may vary", false);
	v->counts[VARIES_ASKS] = 1u << VARY_FLOW;
	v->line[VARIES_ASKS] = 22;
	says(&view_machine_code, s, "may vary on a card (line 22)", true);
	s->now->code->insts[9].spill = true;
	says(&view_machine_code, s, "✗ 2 spills, 1 of line ", true);
	fixture_free(s);
}

/* Line 4: 36 comparisons by full warps, and 36 branches that no lane takes. */
TEST(a_guard_loses_nothing)
{
	struct session *s = fixture_reduced();
	struct run_counts *r = &s->now->run.counts;
	for (unsigned i = 0; i < r->n_lines; i++)
		r->lines[i].c = (struct counts){ .warp_executed = 32, .thread_executed = 1024 };
	r->lines[1].c = (struct counts){ .warp_executed = 72,
		                             .thread_executed = 36 * 32,
		                             .branches = 36,
		                             .branch_idle_lanes = 36 * 32 };
	says(&view_divergence, s, " 50.0 %", false);
	r->lines[1].c.branch_idle_lanes = 0;
	says(&view_divergence, s, " 50.0 %", true);
	fixture_free(s);
}

/* Blocks of one thread: as many of them, yet 1.6 % by threads and 50 % by warps. */
TEST(equal_blocks_are_not_the_same)
{
	struct session *s = fixture_done();
	s->occ.book_blocks = s->occ.blocks_per_sm = 32;
	s->occ.book_pct = 1.6;
	s->occ.pct = 50;
	says(&view_occupancy, s, "! same blocks", true);
	s->occ.book_pct = 50;
	says(&view_occupancy, s, "! same blocks", false);
	says(&view_occupancy, s, "same", true);
	fixture_free(s);
}

TEST(memory_is_sold_in_gb)
{
	struct session *s = fixture_done();
	s->sel.gpu = gpu_find("rtx4090");
	says(&view_device, s, "24 GB", true);
	says(&view_device, s, "22.4", false);
	fixture_free(s);
}

/* A kernel that computes nothing has no point: what each resource needs is shown in any case. */
TEST(without_a_point_there_are_resources)
{
	struct session *s = fixture_done();
	static const enum metric_id none[] = {
		M_ROOF_ACHIEVED, M_ROOF_AI,      M_ROOF_ATTAINABLE,
		M_ROOF_BOUND,    M_ROOF_BOOK_AI, M_ROOF_BOOK_ATTAINABLE
	};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		metric_none(&s->now->metrics, none[i], "no floating-point operation executed");
	metric_num(&s->now->metrics, M_DRAM_GBS, ORIGIN_MODELLED, 622);
	says(&view_roofline, s, "no point here  no floating-point operation executed", true);
	says(&view_roofline, s, "bound", false);
	for (int rows = 12; rows <= 40; rows++) {
		struct canvas c;
		canvas_init(&c, rows, 78, false);
		view_roofline.draw(s, &c);
		char *text = canvas_dump(&c, false);
		assert_non_null(strstr(text, "time each resource needs"));
		assert_non_null(strstr(text, "shared "));
		assert_non_null(strstr(text, "622 ~ GB/s   40 % of 1 555 GB/s"));
		free(text);
		canvas_free(&c);
	}
	fixture_free(s);
}
