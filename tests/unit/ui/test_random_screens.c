/*
 * Screens of random states and sizes: no text over other text, none that begins outside its panel,
 * and no empty third of the screen while a panel shows less than it holds. SCREENS=5000 draws so
 * many (make check-screens); without it a thousand.
 */
#include "fixture_watch.h"
#include "../unit.h"

#include "base/lang.h"
#include "base/mem.h"
#include "base/text.h"
#include "ui/canvas.h"

#include <stdio.h>

static uint64_t stream;

static unsigned some(unsigned most)
{
	return (unsigned)(rand_next(&stream) % most);
}

static void check(const struct world *w, const char *state, const char *keys, int rows, int cols)
{
	struct canvas_watch watch = { 0 };
	struct canvas c;
	canvas_init(&c, rows, cols, some(5) == 0);
	c.watch = &watch;
	screen_draw(&w->host, &w->st, &c);
	const char *fault = frame_fault(w, &c, &watch);
	if (fault) {
		char *text = canvas_dump(&c, false);
		fputs(text, stderr); /* a message of cmocka's has no room for a screen */
		free(text);
		fail_msg("%s, keys '%s', at %dx%d: %s", state, keys, cols, rows, fault);
	}
	canvas_free(&c);
}

/* Keys that change what is drawn; nothing that ends the screen. */
static void random_keys(char *out, size_t n)
{
	static const char *const keys[] = { "1", "2",     "3",    "4",    "5",   "6",     "7", "8",
		                                "9", "0",     "L",    "DOWN", "END", "ENTER", "f", "+",
		                                "-", "RIGHT", "PGDN", "P",    "v",   "z",     "x", "K",
		                                "?", "/",     "ESC",  "BTAB", "UP",  "#",     "y", "o",
		                                "i", "g",     "]",    "T",    "B" };
	size_t len = 0;
	out[0] = '\0';
	for (unsigned i = some(7); i > 0; i--) {
		const char *key = keys[some(ARRAY_LEN(keys))];
		if (!strcmp(key, "]"))
			continue; /* the fixture's host walks no preset */
		len += (size_t)snprintf(out + len, n - len, "%s%s", len ? " " : "", key);
	}
}

static void draw_many(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct world w;
		char keys[200];
		const struct fixture *f = &fixtures[some((unsigned)n_fixtures)];
		world_begin(&w, f->make());
		if (!w.fh.s->sel.kernel) { /* most keys need one */
			world_end(&w);
			continue;
		}
		random_keys(keys, sizeof keys);
		world_press(&w, keys);
		static const int sizes[][2] = { { 24, 80 }, { 40, 120 }, { 60, 200 } };
		const unsigned usual = some(6);
		const int rows = usual < 3 ? sizes[usual][0] : 8 + (int)some(66);
		const int cols = usual < 3 ? sizes[usual][1] : 40 + (int)some(200);
		check(&w, f->name, keys, rows, cols);
		world_end(&w);
	}
}

/* So many screens in every language. */
TEST(nothing_overlaps)
{
	const char *many = getenv("SCREENS"), *seed = getenv("SEED");
	int64_t n = 1000, from = 1;
	assert_true(!many || parse_int(many, &n));
	assert_true(!seed || parse_int(seed, &from));
	for (size_t i = 0; i < lang_count(); i++) {
		lang_use(i);
		stream = (uint64_t)from;
		draw_many((unsigned)n);
	}
	lang_use(0);
}

#define HEAD_ROWS 6 /* of a screen: what is not the panel */

extern const struct view_desc view_tour, view_against, view_hardware, view_advice, view_ladder;

/* Panels with little of their own to show say what a reader could do or know there: no third of the
 * screen stays empty. */
TEST(no_panel_is_half_empty)
{
	static const struct {
		struct session *(*make)(void);
		const struct view_desc *view;
		const char *says;
		int rows, cols;
	} table[] = {
		{ fixture_done, &view_tour, "Reduction, where the idle lanes sit", 18, 80 },
		{ fixture_reduced, &view_against, "There is one run so far", 18, 80 },
		{ fixture_done, &view_hardware, "waits at __syncthreads()", 18, 80 },
		{ fixture_reference_run, &view_hardware, "recorded on NVIDIA H200", 18, 80 },
		{ fixture_done, &view_advice, "no bank conflicts        0 of 46 137 344", 18, 80 },
		{ fixture_done, &view_advice, "time each resource needs", 26, 120 },
		{ fixture_ladder, &view_ladder, "What every rung changes", 55, 200 },
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct session *s = table[i].make();
		struct canvas c;
		s->view = table[i].view->name;
		canvas_init(&c, table[i].rows, table[i].cols, false);
		table[i].view->draw(s, &c);
		const struct watch_window e = most_empty(&c);
		char *text = canvas_dump(&c, false);
		const bool said = strstr(text, table[i].says) != NULL;
		if (!said || e.rows * e.cols * 3 > (c.rows + HEAD_ROWS) * c.cols) {
			fputs(text, stderr);
			fail_msg("%s, %dx%d: %s", table[i].view->name, table[i].cols, table[i].rows,
			         said ? "a third is empty" : table[i].says);
		}
		free(text);
		canvas_free(&c);
		fixture_free(s);
	}
}

/* The checker sees what it is there to see. */
TEST(the_checker_finds)
{
	struct canvas_watch watch = { 0 };
	struct canvas c;
	canvas_init(&c, 4, 20, false);
	c.watch = &watch;
	canvas_text(&c, 0, 0, STYLE_NORMAL, "makespan");
	assert_int_equal(most_empty(&c).rows, 3);
	assert_int_equal(most_empty(&c).cols, 20);
	struct canvas right = canvas_sub(&c, 0, 10, 1, 10), all = canvas_sub(&c, 0, 0, 4, 20);
	canvas_scrolls(&all); /* itself has room: its own business */
	assert_false(wastes_room(&c, &watch));
	canvas_scrolls(&right);
	assert_true(wastes_room(&c, &watch));
	canvas_text(&c, 0, 0, STYLE_NORMAL, "makespan"); /* the same once more is nothing new */
	canvas_hline(&c, 1, 0, 20, STYLE_DIM);
	canvas_text(&c, 1, 2, STYLE_NORMAL, " head ");
	assert_int_equal(watch.overlaps, 0);
	canvas_text(&c, 0, 4, STYLE_NORMAL, "12");
	assert_int_equal(watch.overlaps, 2);
	assert_non_null(strstr(watch.first, "row 1, column 5: '1' is drawn over 's'"));
	watch = (struct canvas_watch){ 0 };
	canvas_right(&c, 2, 3, STYLE_NORMAL, "%s", "27.1 GB/s");
	assert_int_equal(watch.cuts, 1);
	assert_non_null(strstr(watch.first, "row 3: '27.1 GB/s' begins outside"));
	canvas_free(&c);
}
