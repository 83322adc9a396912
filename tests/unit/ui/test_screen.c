/* Keys to commands to session, through the same function that the loop uses. */
#include "fixture_world.h"
#include "ui/command.h"
#include "../unit.h"
#include "model/ladder.h"
#include "model/preset.h"

static void shows(struct world *w, const char *what)
{
	world_shows(w, 24, 80, what, true);
}

TEST(every_key_is_unique_and_explained)
{
	for (size_t i = 0; i < key_count(); i++) {
		const struct key_desc *k = key_at(i);
		assert_true(k->about[0] != '\0');
		uint32_t key = key_parse(k->key);
		assert_true(key != 0);
		assert_int_equal(key_command(key), k->command);
		if (k->alt[0])
			assert_int_equal(key_command(key_parse(k->alt)), k->command);
		assert_false(key >= '0' && key <= '9');
	}
	assert_int_equal(key_command('3'), CMD_VIEW_1 + 2);
	assert_int_equal(key_command('0'), CMD_VIEW_10);
	assert_int_equal(key_command(0), CMD_NONE);
	assert_int_equal(key_command('~'), CMD_NONE);
	assert_int_equal(key_parse("NOKEY"), 0);
}

TEST_ON_SCREEN(parameters, fixture_done())
{
	assert_int_equal(w->fh.s->param, 3);
	world_press(w, "+");
	assert_int_equal(w->fh.s->sel.params[3], 32);
	world_press(w, "+"); /* at its end: said, not done */
	assert_int_equal(w->fh.s->sel.params[3], 32);
	assert_string_equal(w->st.message, "TILE is at its largest value");
	world_press(w, "- -");
	assert_int_equal(w->fh.s->sel.params[3], 8);
	assert_string_equal(w->st.message, "");
	world_press(w, "BACKSPACE");
	assert_int_equal(w->fh.s->sel.params[3], 16);
	world_press(w, "RIGHT");
	assert_int_equal(w->fh.s->param, 0);
	world_press(w, "LEFT LEFT");
	assert_int_equal(w->fh.s->param, 2);
	/* naive has no TILE: it is passed over */
	w->fh.s->sel.variant = 0;
	world_press(w, "RIGHT");
	assert_int_equal(w->fh.s->param, 0);
	/* focus on a parameter that this variant does not use: + goes to one that it does */
	w->fh.s->param = 3;
	world_press(w, "+");
	assert_int_equal(w->fh.s->param, 0);
	assert_int_equal(w->fh.s->sel.params[0], 2048);
	assert_int_equal(w->fh.s->sel.params[3], 16);
}

static bool small_tiles_only(unsigned variant, const int64_t *params, struct launch_plan *plan,
                             struct err *err)
{
	(void)variant;
	*plan = (struct launch_plan){ .entry = "none", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
	return params[3] <= 8 || params[3] == 32 ||
	       err_set(err, ERR_USAGE, "a block has at most 64 threads");
}

/* A value whose launch would be refused is passed over; past the last one the reason is said. */
TEST(plus_offers_what_can_run)
{
	struct world w;
	struct kernel_desc k = fixture_sgemm;
	k.plan = small_tiles_only;
	world_begin(&w, fixture_done());
	w.fh.s->sel.kernel = &k;
	w.fh.s->sel.params[3] = 8;
	shows(&w, "TILE [8]‹4 8 32›");
	world_press(&w, "+");
	assert_int_equal(w.fh.s->sel.params[3], 32);
	world_press(&w, "-");
	assert_int_equal(w.fh.s->sel.params[3], 8);
	struct param_desc params[4];
	static const int64_t few[] = { 4, 8, 16, INT64_MIN };
	memcpy(params, k.params, sizeof params);
	params[3].choices = few;
	k.params = params;
	world_press(&w, "+");
	assert_int_equal(w.fh.s->sel.params[3], 8);
	assert_non_null(strstr(w.st.message, "no larger TILE can be launched: "));
	assert_non_null(strstr(w.st.message, "at most 64 threads"));
	world_end(&w);
}

TEST_ON_SCREEN(typed_values, fixture_done())
{
	world_press(w, "# 3 2 ENTER");
	assert_int_equal(w->fh.s->sel.params[3], 32);
	assert_int_equal(w->st.open, CMD_NONE);
	world_press(w, "# 9 9 ENTER"); /* refused: stays open with the reason */
	assert_int_equal(w->st.open, CMD_PARAM_TYPE);
	assert_int_equal(w->fh.s->sel.params[3], 32);
	shows(w, "TILE");
	shows(w, "2, 4, 8, 16, 32");
	world_press(w, "BACKSPACE BACKSPACE 8 ENTER");
	assert_int_equal(w->fh.s->sel.params[3], 8);
	world_press(w, "# 1 6 ESC");
	assert_int_equal(w->st.open, CMD_NONE);
	assert_int_equal(w->fh.s->sel.params[3], 8);
	w->fh.s->param = 0;
	world_press(w, "# - 1 ENTER");
	assert_int_equal(w->fh.s->sel.params[0], 1024);
	assert_true(w->st.bad);
	world_press(w, "ESC # q u i t ENTER"); /* letters are typed, not obeyed */
	assert_false(w->st.quit);
	assert_int_equal(w->st.open, CMD_PARAM_TYPE);
	world_press(w, "ESC # 2 k ENTER");
	assert_int_equal(w->fh.s->sel.params[0], 2048);
	/* more than fits is ignored, not written past the end */
	world_press(w, "#");
	for (int i = 0; i < 300; i++)
		world_press(w, "7");
	assert_int_equal(strlen(w->st.typed), sizeof w->st.typed - 1);
}

/* The row of a panel that was opened before its run ended is where the view starts; a row that the
 * person chose stays. */
TEST_ON_SCREEN(a_row_nobody_chose_follows_the_run, fixture_done())
{
	struct session *s = w->fh.s;
	world_press(w, "7");
	const unsigned hot = s->cursor.row;
	assert_true(hot > 1);
	s->cursor.row = 0; /* as a change of kernel leaves it */
	view_settle(&w->host);
	assert_int_equal(s->cursor.row, hot);
	world_press(w, "HOME");
	view_settle(&w->host);
	assert_int_equal(s->cursor.row, 0);
	world_press(w, "4 7");
	assert_int_equal(s->cursor.row, hot);
}

/* Esc goes back panel by panel, n forward again; a panel chosen anew ends the way forward. */
TEST_ON_SCREEN(back_and_forward, fixture_done())
{
	world_press(w, "1 4 3 ESC");
	assert_string_equal(w->fh.s->view, "coalescing");
	world_press(w, "ESC n");
	assert_string_equal(w->fh.s->view, "coalescing");
	world_press(w, "n");
	assert_string_equal(w->fh.s->view, "divergence");
	world_press(w, "n");
	assert_string_equal(w->fh.s->view, "divergence");
	assert_non_null(strstr(w->st.message, "nothing to go forward to"));
	world_press(w, "ESC 2 n");
	assert_string_equal(w->fh.s->view, "roofline");
	world_press(w, "ESC");
	assert_string_equal(w->fh.s->view, "coalescing");
}

/* The accesses of the observed warp pass by in the detail, one a step, and end at the last. */
TEST_ON_SCREEN(accesses_are_played, fixture_done())
{
	world_press(w, "3 a");
	assert_true(w->st.playing);
	assert_true(w->fh.s->cursor.detail);
	assert_int_equal(w->fh.s->cursor.detail_row, 0);
	unsigned steps = 0;
	while (play_step(&w->host, &w->st))
		assert_int_equal(w->fh.s->cursor.detail_row, ++steps);
	assert_true(steps > 1);
	assert_false(w->st.playing);
	world_press(w, "a");
	assert_true(w->st.playing);
	world_press(w, "a");
	assert_false(w->st.playing);
	assert_true(w->fh.s->cursor.detail);
	world_press(w, "a ESC"); /* what is closed does not go on */
	assert_false(play_step(&w->host, &w->st));
	assert_false(w->st.playing);
	world_press(w, "2 a");
	assert_false(w->st.playing);
}

TEST_ON_SCREEN(panels_and_rows, fixture_done())
{
	world_press(w, "4");
	assert_string_equal(w->fh.s->view, "coalescing");
	world_press(w, "TAB BTAB BTAB");
	assert_string_equal(w->fh.s->view, "divergence");
	w->host.n_views = 8;
	world_press(w, "9");
	w->host.n_views = FIXTURE_TABS;
	assert_string_equal(w->fh.s->view, "divergence");
	assert_string_equal(w->st.message, "there is no panel 9");
	world_press(w, "4 UP");
	assert_int_equal(w->fh.s->cursor.row, 0);
	world_press(w, "DOWN DOWN");
	assert_int_equal(w->fh.s->cursor.row, 2);
	world_press(w, "END DOWN");
	assert_int_equal(w->fh.s->cursor.row, 5);
	world_press(w, "PGUP");
	assert_int_equal(w->fh.s->cursor.row, 0);
	world_press(w, "ENTER");
	assert_true(w->fh.s->cursor.detail);
	shows(w, "line 22 · ld.global.f32");
	world_press(w, "ESC");
	assert_false(w->fh.s->cursor.detail);
	world_press(w, "END ENTER DOWN");
	assert_int_equal(w->fh.s->cursor.detail_row, 1);
	world_press(w, "DOWN DOWN");
	assert_int_equal(w->fh.s->cursor.detail_row, 1);
	shows(w, "access 2 of 2");
	world_press(w, "1");
	assert_false(w->fh.s->cursor.detail);
	world_press(w, "ENTER"); /* no rows here: the panel itself opens */
	assert_false(w->fh.s->cursor.detail);
	assert_true(w->st.solo);
}

TEST_ON_SCREEN(a_table_opens_on_its_worst_line, fixture_reduced())
{
	w->fh.s->view = "occupancy";
	world_press(w, "3");
	shows(w, "▸    6  input[i]");
	shows(w, "255 / 864 lane slots = 29.5 %");
	shows(w, "255/736");
}

/* The panel of the lesson lists the presets while none is walked; Enter begins one. */
TEST_ON_SCREEN(a_lesson_begins_in_its_panel, fixture_done())
{
	w->fh.s->view = "tour";
	shows(w, "▸ divergence");
	world_press(w, "DOWN DOWN ENTER");
	assert_int_equal(w->fh.chosen_list, CMD_PRESET);
	assert_int_equal(w->fh.chosen, 2);
	assert_string_equal(preset_name(w->fh.chosen), "mystery_2");
}

TEST_ON_SCREEN(lists_filter_and_choose, fixture_done())
{
	world_press(w, "g 4 0 6 0");
	shows(w, "2 of 12");
	world_press(w, "DOWN DOWN ENTER");
	assert_int_equal(w->fh.chosen_list, CMD_GPU);
	assert_int_equal(w->fh.chosen, 8);
	assert_int_equal(w->st.open, CMD_NONE);
	world_press(w, "g x x x ENTER");
	assert_int_equal(w->st.open, CMD_GPU);
	shows(w, "nothing matches 'xxx'");
	world_press(w, "BACKSPACE BACKSPACE BACKSPACE A 1 0 0 ENTER");
	assert_int_equal(w->fh.chosen, 0);
	/* what is not possible here says why and is not chosen */
	world_press(w, "b"); /* opens on what is chosen now */
	assert_int_equal(w->st.selected, 1);
	world_press(w, "UP ENTER");
	assert_int_equal(w->st.open, CMD_BACKEND);
	shows(w, "no NVIDIA driver here");
	assert_int_equal(w->fh.chosen_list, CMD_GPU);
	world_press(w, "END ENTER");
	assert_int_equal(w->fh.chosen_list, CMD_BACKEND);
	assert_int_equal(w->fh.chosen, 1);
	world_press(w, "K q");
	assert_false(w->st.quit);
	world_press(w, "ESC q"); /* two runs would be lost: asked */
	assert_false(w->st.quit);
	shows(w, "q again quits; e first writes the 2 runs");
	world_press(w, "1 q");
	assert_false(w->st.quit);
	world_press(w, "q");
	assert_true(w->st.quit);
}

TEST_ON_SCREEN(help_and_legend, fixture_done())
{
	world_press(w, "?");
	shows(w, "previous parameter");
	world_press(w, "END");
	shows(w, "Device");
	world_press(w, "q");
	assert_false(w->st.quit);
	assert_int_equal(w->st.open, CMD_NONE);
	world_press(w, "o");
	shows(w, "exact: every block executed");
	world_press(w, "o");
	assert_int_equal(w->st.open, CMD_NONE);
}

TEST_ON_SCREEN(a_panel_takes_the_screen, fixture_tour())
{
	shows(w, "Threads drop out two by two");
	world_press(w, "3 f");
	char *text = world_shot(w, 24, 80, false);
	assert_null(strstr(text, "Threads drop out two by two"));
	assert_non_null(strstr(text, "3 Divergence"));
	free(text);
	world_press(w, "TAB"); /* another panel, still the whole screen */
	assert_true(w->st.solo);
	shows(w, "4 Coalescing");
	world_press(w, "ENTER ESC");
	assert_true(w->st.solo);
	world_press(w, "ESC");
	assert_false(w->st.solo);
	shows(w, "Threads drop out two by two");
}

TEST_ON_SCREEN(running_and_cancelling, fixture_running())
{
	shows(w, "43 %");
	shows(w, "1 234 blocks a second, 12 s left");
	shows(w, "c cancels");
	w->fh.s->pace.per_s = 0;
	shows(w, "12 s left");
	world_shows(w, 24, 80, "a second", false);
	w->fh.s->progress = 1;
	shows(w, "evaluating result, caches and time");
	world_press(w, "c r r");
	assert_int_equal(w->fh.cancels, 1);
	assert_int_equal(w->fh.runs, 2);
	w->fh.s->state = RUN_DONE;
	world_press(w, "c");
	assert_int_equal(w->fh.cancels, 1);
	assert_string_equal(w->st.message, "nothing is running");
	const unsigned n_history = w->fh.s->n_history;
	w->fh.s->n_history = 1;
	world_press(w, "q");
	assert_true(w->st.quit); /* one run, which the next start gives again */
	w->st.quit = w->st.quit_asked = false;
	struct ladder l = { .running = 1 }; /* other long work: asked first */
	w->fh.s->ladder = &l;
	world_press(w, "q");
	assert_false(w->st.quit);
	assert_string_equal(w->st.message, "q again quits; a run is under way");
	w->fh.s->ladder = NULL;
	w->fh.s->n_history = n_history;
	w->st.quit_asked = false;
	world_press(w, "v");
	assert_int_equal(w->fh.s->sel.variant, 0);
	world_press(w, "V V");
	assert_int_equal(w->fh.s->sel.variant, 0);
}

TEST(bad_states_say_why)
{
	struct world w;
	world_begin(&w, fixture_refused());
	shows(&w, "a block has at most 1024 threads");
	shows(&w, "try block=1024");
	shows(&w, "✗ refused");
	world_end(&w);
	world_begin(&w, fixture_failed());
	w.fh.s->view = "coalescing";
	shows(&w, "sgemm.cu:22");
	shows(&w, "guard the load");
	world_end(&w);
	world_begin(&w, fixture_wrong());
	shows(&w, "✗ wrong");
	shows(&w, "C[17] is 4.25, 4.5 expected");
	world_end(&w);
	world_begin(&w, fixture_no_counts());
	w.fh.s->view = "divergence";
	shows(&w, "n/a");
	shows(&w, "ERR_NVGPUCTRPERM");
	world_end(&w);
	world_begin(&w, fixture_measured());
	w.fh.s->view = "coalescing";
	w.fh.s->cursor.detail = true;
	shows(&w, "● measured");
	shows(&w, "a GPU does not report addresses");
	world_end(&w);
	world_begin(&w, fixture_first());
	shows(&w, "press r");
	world_end(&w);
}

TEST(figures_of_others_say_whose_they_are)
{
	struct world w;
	world_begin(&w, fixture_done());
	w.fh.s->opened = "x.json";
	w.fh.s->written =
		(struct session_written){ .by = "alice@laptop", .at = "2026-11-22T10:00:00Z" };
	shows(&w, "from a file of alice@laptop, 2026-11-22");
	w.fh.s->written.changed = true;
	shows(&w, "CHANGED since it was written");
	world_end(&w);
}

TEST_ON_SCREEN(the_axis_zooms_and_pans, fixture_streams())
{
	const struct session *s = w->fh.s;
	world_press(w, "Z");
	assert_string_equal(w->st.message, "this is all of it");
	world_press(w, ">");
	assert_string_equal(w->st.message, "this is all of it; z looks closer");
	world_press(w, "z"); /* around the middle: from a quarter on */
	assert_int_equal(s->cursor.zoom, 1);
	assert_int_equal(s->cursor.pan, 2);
	world_press(w, "z z Z Z"); /* in and out again: the same window */
	assert_int_equal(s->cursor.zoom, 1);
	assert_int_equal(s->cursor.pan, 2);
	world_press(w, "> >");
	assert_int_equal(s->cursor.pan, 4);
	world_press(w, ">");
	assert_int_equal(s->cursor.pan, 4);
	assert_string_equal(w->st.message, "this is the end");
	world_press(w, "< < < < <");
	assert_int_equal(s->cursor.pan, 0);
	assert_string_equal(w->st.message, "this is the start");
	for (int i = 0; i < 100; i++)
		world_press(w, "z >");
	assert_int_equal(s->cursor.zoom, VIEW_ZOOM_MAX);
	shows(w, "zoom 4096");
	for (int i = 0; i < 100; i++)
		world_press(w, "Z");
	assert_int_equal(s->cursor.zoom, 0);
	assert_int_equal(s->cursor.pan, 0);
	world_press(w, "1 z");
	assert_int_equal(s->cursor.zoom, 0);
	assert_true(w->st.solo);
	world_press(w, "Z");
	assert_string_equal(w->st.message, "this panel has no time axis; the timeline has");
}

TEST_ON_SCREEN(blocks_on_sms, fixture_streams())
{
	world_press(w, "ENTER"); /* 4096 blocks, 108 SMs, 8 blocks each: 864 a wave */
	shows(w, "4.74 waves");
	shows(w, "the last wave is 74 % full; 5 % of");
	w->fh.s->now->plan.grid = (struct dim3u){ 864, 2, 1 };
	shows(w, "2.00 waves");
	shows(w, "no tail: the last wave is full");
	w->fh.s->now->plan.grid = (struct dim3u){ 1, 1, 1 };
	shows(w, "0.00 waves");
	shows(w, "100 % of the kernel's block places stay empty");
	w->fh.s->now->occ.blocks_per_sm = 0;
	shows(w, "n/a");
	world_press(w, "ENTER");
	shows(w, "makespan");
}

TEST_ON_SCREEN(too_small_still_says_something, fixture_done())
{
	char *text = world_shot(w, 6, 20, false);
	assert_non_null(strstr(text, "occupancy 100.0 %"));
	assert_non_null(strstr(text, "20×6 is too small"));
	free(text);
	text = world_shot(w, 1, 10, false);
	assert_non_null(strstr(text, "occupancy"));
	free(text);
}

TEST(ascii_has_no_other_bytes)
{
	static const char *const keys[] = { "1", "2", "3", "4",     "5",     "6",          "7",
		                                "8", "9", "?", "ESC o", "ESC K", "ESC 4 ENTER" };
	struct world w;
	world_begin(&w, fixture_done());
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		world_press(&w, keys[i]);
		char *text = world_shot(&w, 60, 200, true);
		for (const char *p = text; *p; p++)
			if ((unsigned char)*p >= 0x80 || *p == '?')
				if (*p != '?' || (p > text && p[-1] != ' '))
					fail_msg("byte %02x after keys %s", (unsigned char)*p, keys[i]);
		free(text);
	}
	world_end(&w);
}
