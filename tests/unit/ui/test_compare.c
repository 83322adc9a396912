/* A pinned run, undo and redo, the way back: through the keys that a person presses. */
#include "fixture_world.h"
#include "../unit.h"
#include "model/brief.h"

static void shows(struct world *w, const char *what, bool wanted)
{
	world_shows(w, 24, 80, what, wanted);
}

/* All figures are held against the pinned run, whatever ran in between. */
TEST(a_pinned_run_is_the_baseline)
{
	struct world w;
	world_begin(&w, fixture_done());
	world_press(&w, "4");
	shows(&w, "previous", true);
	world_press(&w, "P");
	shows(&w, "pinned", true);
	shows(&w, "previous", false);
	shows(&w, "was ", false);
	/* another run, twice as slow, with other sectors */
	struct session *s = w.fh.s;
	const double ns = metric_get(&s->now->metrics, M_TIME_KERNEL);
	s->sel.variant = s->now->sel.variant = 0;
	metric_num(&s->now->metrics, M_TIME_KERNEL, ORIGIN_MODELLED, 2 * ns);
	metric_num(&s->now->metrics, M_MEM_LD_SPR, ORIGIN_COUNTED, 9);
	world_press(&w, "4");
	shows(&w, "×0.5 ▼ pinned", true);
	shows(&w, "was 4.0 ▲", true);
	world_press(&w, "P");
	shows(&w, "pinned", true);
	world_press(&w, "P");
	shows(&w, "unpinned", true);
	assert_null(s->pinned);
	fixture_free(s);
}

/* The run before and this one, each with its own figures, in every panel; Esc ends it. */
TEST(two_runs_side_by_side)
{
	struct world w;
	world_begin(&w, fixture_done());
	world_press(&w, "4 B");
	char *text = world_shot(&w, 40, 160, false);
	const char *first = strstr(text, "loads"), *second = first ? strstr(first + 1, "loads") : NULL;
	assert_non_null(second);
	assert_int_equal(strncmp(first, "loads     3.0", 13), 0);  /* naive */
	assert_int_equal(strncmp(second, "loads     4.0", 13), 0); /* tiled */
	assert_true(second - first < 120);                         /* in one row */
	free(text);
	shows(&w, " naive ", true);
	world_press(&w, "ESC");
	shows(&w, " naive ", false);
	/* nothing ran before: said, and not done */
	record_free(w.fh.s->before);
	w.fh.s->before = NULL;
	world_press(&w, "B");
	assert_non_null(strstr(w.st.message, "no earlier run of this kernel"));
	assert_false(w.st.solo);
	world_end(&w);
}

/* A file that was read again is a new family of the same name: still comparable. */
TEST(an_edited_file_is_compared)
{
	struct world w;
	static int of_a_person;
	world_begin(&w, fixture_done());
	struct session *s = w.fh.s;
	struct kernel_desc edited = *s->sel.kernel, earlier = edited;
	earlier.user = edited.user = (const void *)&of_a_person;
	s->before->sel.kernel = &earlier;
	s->now->sel.kernel = s->sel.kernel = &edited;
	world_press(&w, "4");
	shows(&w, "was 3.0 ▲", true);
	edited.name = "another";
	shows(&w, "was 3.0", false);
	fixture_free(s);
}

TEST(undo_and_redo)
{
	struct world w;
	world_begin(&w, fixture_done());
	const struct session *s = w.fh.s;
	const int64_t was = s->sel.params[s->param];
	world_press(&w, "u");
	shows(&w, "nothing to undo", true);
	world_press(&w, "-");
	const int64_t less = s->sel.params[s->param];
	assert_true(less < was);
	world_press(&w, "v u");
	assert_int_equal(s->sel.params[s->param], less);
	world_press(&w, "u");
	assert_int_equal(s->sel.params[s->param], was);
	shows(&w, "undone", true);
	world_press(&w, "U");
	assert_int_equal(s->sel.params[s->param], less);
	shows(&w, "redone", true);
	/* a change ends what could be redone */
	world_press(&w, "+ U");
	shows(&w, "nothing to redo", true);
	/* the oldest are forgotten, not the newest */
	for (int i = 0; i < 3 * TRAIL_MAX; i++)
		world_press(&w, i % 2 ? "+" : "-");
	world_press(&w, "u");
	assert_int_equal(s->sel.params[s->param], less);
	fixture_free(w.fh.s);
}

TEST(the_way_back)
{
	struct world w;
	world_begin(&w, fixture_done());
	world_press(&w, "1 2 4 ENTER");
	assert_true(w.fh.s->cursor.detail);
	world_press(&w, "ESC");
	assert_false(w.fh.s->cursor.detail);
	world_press(&w, "ESC");
	assert_string_equal(w.fh.s->view, "roofline");
	world_press(&w, "z");
	assert_true(w.st.solo);
	world_press(&w, "ESC");
	assert_false(w.st.solo);
	world_press(&w, "ENTER"); /* no rows to open: the panel opens */
	assert_true(w.st.solo);
	world_press(&w, "ESC ESC");
	assert_string_equal(w.fh.s->view, "occupancy");
	for (int i = 0; i < 5 * VISITED_MAX; i++)
		world_press(&w, "TAB");
	for (int i = 0; i < VISITED_MAX; i++)
		world_press(&w, "ESC");
	world_press(&w, "ESC");
	shows(&w, "nothing to go back to", true);
	fixture_free(w.fh.s);
}

/* Every run of the session is a numbered point; what is left to the roof is said. */
TEST(the_roofline_remembers)
{
	struct world w;
	world_begin(&w, fixture_done());
	struct session *s = w.fh.s;
	struct run_record *r = s->now;
	const double rate = metric_get(&r->metrics, M_ROOF_ACHIEVED);
	world_press(&w, "2");
	for (int i = 1; i <= 12; i++) { /* nine are shown, the newest */
		r->sel.params[0] = 1024 + i;
		metric_num(&r->metrics, M_ROOF_ACHIEVED, ORIGIN_MODELLED, rate / (1 << i));
		metric_num(&r->metrics, M_ROOF_AI, ORIGIN_MODELLED, 0.5 * i);
		session_remember(s, r, "");
	}
	shows(&w, "× left", true);
	char *text = world_shot(&w, 24, 80, false);
	char *plot = strstr(text, "FLOP per byte"), *end = strstr(text, "achieved");
	assert_true(plot && end && plot < end);
	*end = '\0';
	/* the last is the run itself, and one may lie on another's cell or the book's */
	for (int digit = '3'; digit <= '7'; digit++) {
		bool seen = false;
		for (const char *p = plot; *p; p++)
			seen = seen || (*p == digit && (p[-1] == ' ' || (unsigned char)p[-1] >= 0x80));
		if (!seen)
			fail_msg("no run %c in\n%s", digit, text);
	}
	free(text);
	fixture_free(s);
}
