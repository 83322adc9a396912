/* The map is walked with the arrows; Enter takes the launch under the cursor to every panel. */
#include "fixture_world.h"
#include "../unit.h"

extern const struct view_desc view_sweep;

static const struct view_desc *map_alone(size_t i)
{
	(void)i;
	return &view_sweep;
}

static void begin(struct world *w, struct session *s)
{
	world_begin(w, s);
	w->host.view_at = map_alone;
	w->host.n_views = 1;
	s->view = "sweep";
}

TEST(arrows_walk)
{
	struct world w;
	begin(&w, fixture_map());
	struct session *s = w.fh.s;
	const unsigned across = s->map->n[SWEEP_ACROSS], n = sweep_map_points(s->map);
	const unsigned param = s->param;
	assert_true(across > 1 && s->map->n[SWEEP_DOWN] > 1);
	world_press(&w, "HOME RIGHT");
	assert_int_equal(s->cursor.row, 1);
	world_press(&w, "DOWN LEFT LEFT LEFT"); /* not around the edge */
	assert_int_equal(s->cursor.row, across);
	world_press(&w, "UP UP");
	assert_int_equal(s->cursor.row, 0);
	world_press(&w, "END DOWN RIGHT");
	assert_int_equal(s->cursor.row, n - 1);
	assert_int_equal(s->param, param); /* the arrows are the map's here */
	world_end(&w);
}

/* What is left is said while points run, and only then. */
TEST(says_what_is_left)
{
	struct world w;
	begin(&w, fixture_map());
	struct sweep_map *m = w.fh.s->map;
	for (int running = -1; running < 1; running++) {
		struct canvas c;
		m->running = running;
		m->pace = (struct pace){ .per_s = 0.8, .left_s = 12 };
		canvas_init(&c, 24, 80, false);
		screen_draw(&w.host, &w.st, &c);
		char *text = canvas_dump(&c, false);
		assert_int_equal(strstr(text, ", 12 s left") != NULL, running >= 0);
		free(text);
		canvas_free(&c);
		canvas_init(&c, 24, 120, false); /* the rate, too, where there is room */
		screen_draw(&w.host, &w.st, &c);
		text = canvas_dump(&c, false);
		assert_int_equal(strstr(text, ", 0.8 a second, 12 s left") != NULL, running >= 0);
		free(text);
		canvas_free(&c);
	}
	world_end(&w);
}

TEST(enter_goes_there)
{
	struct world w;
	begin(&w, fixture_map());
	struct session *s = w.fh.s;
	const struct selection there = sweep_map_selection(s->map, 0);
	assert_false(selection_equal(&there, &s->sel));
	world_press(&w, "HOME ENTER");
	assert_true(selection_equal(&there, &s->sel));
	assert_false(s->cursor.detail);
	world_press(&w, "u"); /* and back */
	assert_false(selection_equal(&there, &s->sel));
	world_end(&w);
}

TEST(other_parameters)
{
	struct world w;
	begin(&w, fixture_map());
	struct session *s = w.fh.s;
	const unsigned pairs = s->map->pairs;
	assert_true(pairs > 2);
	world_press(&w, "<");
	assert_int_equal(s->map_pair, pairs - 1);
	world_press(&w, "> >");
	assert_int_equal(s->map_pair, 1);
	world_end(&w);
	/* a panel without axes of that kind says so */
	world_begin(&w, fixture_done());
	world_press(&w, "2 >");
	assert_string_equal(w.st.message, "this panel has no time axis; the timeline has");
	world_end(&w);
}
