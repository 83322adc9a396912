/*
 * Golden screens: tests/ui/<name>.screen holds what was drawn and approved. BLESS=1 (make bless)
 * rewrites them; read the difference before you commit it. Those of 80x24 carry the style of every
 * cell too (letters: STYLES in ui/canvas.h).
 */
#include "fixture_host.h"
#include "../unit.h"
#include "golden.h"

struct golden {
	const char *name, *keys;
	struct session *(*make)(void);
	int rows, cols;
	bool ascii;
};

static const struct golden goldens[] = {
	{ "occupancy-80x24", "1", fixture_done, 24, 80, false },
	{ "roofline-80x24", "2", fixture_done, 24, 80, false },
	{ "divergence-80x24", "3", fixture_reduced, 24, 80, false },
	{ "divergence-path-80x24", "1 3 ENTER DOWN DOWN DOWN DOWN", fixture_reduced, 24, 80, false },
	{ "coalescing-80x24", "4", fixture_done, 24, 80, false },
	{ "coalescing-global-80x24", "4 ENTER", fixture_reduced, 24, 80, false },
	{ "coalescing-shared-80x24", "4 END ENTER", fixture_done, 24, 80, false },
	{ "timeline-80x24", "", fixture_streams, 24, 80, false },
	{ "timeline-zoom-80x24", "z z > DOWN", fixture_streams, 24, 80, false },
	{ "timeline-blocks-80x24", "ENTER", fixture_streams, 24, 80, false },
	{ "timeline-measured-80x24", "5 DOWN DOWN", fixture_done, 24, 80, false },
	{ "timeline-ascii-80x24", "", fixture_streams, 24, 80, true },
	{ "ladder-80x24", "DOWN", fixture_ladder, 24, 80, false },
	{ "ladder-wide-140x30", "", fixture_ladder, 30, 140, false },
	{ "ladder-recorded-80x24", "", fixture_ladder_reference, 24, 80, false },
	{ "recorded-80x24", "", fixture_reference_run, 24, 80, false },
	{ "recorded-hidden-80x24", "x", fixture_reference_run, 24, 80, false },
	{ "recorded-shown-80x24", "x", fixture_reference_run_hidden, 24, 80, false },
	{ "recorded-ascii-80x24", "", fixture_reference_run, 24, 80, true },
	{ "recorded-200x60", "", fixture_reference_run, 60, 200, false },
	{ "ladder-none-80x24", "1 6", fixture_done, 24, 80, false },
	{ "source-80x24", "7", fixture_done, 24, 80, false },
	{ "source-line-80x24", "7 DOWN UP ENTER", fixture_done, 24, 80, false },
	{ "source-line-200x60", "7 ENTER f", fixture_done, 60, 200, false },
	{ "advice-80x24", "8", fixture_reduced, 24, 80, false },
	{ "device-80x24", "9 DOWN DOWN", fixture_done, 24, 80, false },
	{ "lesson-80x24", "3", fixture_tour, 24, 80, false },
	{ "lesson-solo-80x24", "3 f", fixture_tour, 24, 80, false },
	{ "twice-120x40", "4 B", fixture_done, 40, 120, false },
	{ "solo-120x40", "2 f", fixture_done, 40, 120, false },
	{ "lesson-judged-80x24", "4", fixture_tour_judged, 24, 80, false },
	{ "lesson-ascii-80x24", "2", fixture_tour_judged, 24, 80, true },
	{ "lesson-mystery-80x24", "1", fixture_mystery, 24, 80, false },
	{ "lesson-120x40", "3", fixture_tour_judged, 40, 120, false },
	{ "lesson-200x60", "3", fixture_tour_judged, 60, 200, false },
	{ "roofline-none-80x24", "2", fixture_none, 24, 80, false },
	{ "refused-80x24", "1", fixture_refused, 24, 80, false },
	{ "failed-80x24", "2", fixture_failed, 24, 80, false },
	{ "running-80x24", "4", fixture_running, 24, 80, false },
	{ "wrong-80x24", "1", fixture_wrong, 24, 80, false },
	{ "no-counts-80x24", "3", fixture_no_counts, 24, 80, false },
	{ "kernels-80x24", "K s g", fixture_done, 24, 80, false },
	{ "backends-80x24", "b", fixture_done, 24, 80, false },
	{ "help-80x24", "?", fixture_done, 24, 80, false },
	{ "origins-80x24", "o", fixture_done, 24, 80, false },
	{ "typing-80x24", "# 9 9 ENTER", fixture_done, 24, 80, false },
	{ "roofline-ascii-80x24", "2", fixture_done, 24, 80, true },
	{ "coalescing-ascii-80x24", "4 ENTER", fixture_reduced, 24, 80, true },
	{ "all-200x60", "2", fixture_done, 60, 200, false },
	{ "reduction-200x60", "1 3 ENTER", fixture_reduced, 60, 200, false },
	{ "measured-200x60", "4", fixture_measured, 60, 200, false },
	{ "all-ascii-200x60", "1", fixture_done, 60, 200, true },
	{ "two-120x40", "1", fixture_reduced, 40, 120, false },
	{ "small-20x6", "", fixture_done, 6, 20, false },
	{ "narrow-50x16", "1", fixture_done, 16, 50, false },
};

static char *drawn(const struct golden *g)
{
	struct fixture_host fh = { .s = g->make() };
	struct screen_host host = fixture_host(&fh);
	struct screen_state st = { .open = CMD_NONE };
	struct canvas c;
	fixture_press(&host, &st, g->keys);
	canvas_init(&c, g->rows, g->cols, g->ascii);
	screen_draw(&host, &st, &c);
	char *text = canvas_dump(&c, g->rows <= 24);
	canvas_free(&c);
	fixture_free(fh.s);
	return text;
}

static void compare(void **state)
{
	const struct golden *g = *state;
	char path[200];
	char *is = drawn(g);
	snprintf(path, sizeof path, "tests/ui/%s.screen", g->name);
	if (golden_bless())
		golden_write(path, is);
	char *want = golden_read(path);
	golden_compare(path, is, want);
	free(want);
	free(is);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(goldens); i++)
		unit_add(goldens[i].name, compare, &goldens[i]);
	return unit_run(NULL, NULL);
}
