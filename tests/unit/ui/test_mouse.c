/* Clicks and the wheel: what lies under the pointer is found on the screen's own text. */
#include "fixture_world.h"
#include "../unit.h"

#include "base/text.h"

/* Presses, or turns the wheel, on the first place that shows @what; @right columns beside it. */
static void mouse(struct world *w, int rows, int cols, enum mouse_action action, const char *what,
                  int right)
{
	char *text = world_shot(w, rows, cols, false);
	const char *line = text, *at = strstr(text, what);
	struct mouse_event e = { .action = action };
	if (!at)
		fail_msg("'%s' is not in\n%s", what, text);
	for (const char *p = text; p < at; p++)
		if (*p == '\n') {
			line = p + 1;
			e.row++;
		}
	while (line < at) {
		utf8_next(&line);
		e.col++;
	}
	e.col += right;
	free(text);
	screen_mouse(&w->host, &w->st, rows, cols, &e);
}

static void press(struct world *w, const char *what)
{
	mouse(w, 24, 80, MOUSE_PRESS, what, 0);
}

TEST_ON_SCREEN(tabs_and_rows, fixture_done())
{
	press(w, "4 Coal");
	assert_string_equal(w->fh.s->view, "coalescing");
	press(w, "C[row * N + col]");
	assert_int_equal(w->fh.s->cursor.row, 2);
	assert_false(w->fh.s->cursor.detail);
	press(w, "C[row * N + col]"); /* what is chosen opens */
	assert_true(w->fh.s->cursor.detail);
	world_press(w, "ESC");
	assert_false(w->fh.s->cursor.detail);
	mouse(w, 24, 80, MOUSE_WHEEL_DOWN, "source", 0);
	assert_int_equal(w->fh.s->cursor.row, 5);
	mouse(w, 24, 80, MOUSE_WHEEL_UP, "source", 0);
	assert_int_equal(w->fh.s->cursor.row, 2);
}

/* The edge of the side column is held, and let go elsewhere; what is let go without it is not. */
TEST_ON_SCREEN(the_edge_is_dragged, fixture_done())
{
	const struct mouse_event hold = { MOUSE_PRESS, 20, 80 }, there = { MOUSE_RELEASE, 25, 90 };
	screen_mouse(&w->host, &w->st, 60, 240, &there);
	assert_int_equal(w->st.side_cols, 0);
	for (int col = 60; col < 90 && w->st.held != HIT_EDGE; col++)
		screen_mouse(&w->host, &w->st, 60, 240, &(struct mouse_event){ MOUSE_PRESS, 20, col });
	assert_int_equal(w->st.held, HIT_EDGE);
	screen_mouse(&w->host, &w->st, 60, 240, &there);
	assert_int_equal(w->st.side_cols, 90);
	assert_int_not_equal(w->st.held, HIT_EDGE);
	screen_mouse(&w->host, &w->st, 60, 240, &hold); /* there it is no more */
	assert_int_not_equal(w->st.held, HIT_EDGE);
	world_press(w, "( (");
	assert_int_equal(w->st.side_cols, 78);
	world_press(w, ")");
	assert_int_equal(w->st.side_cols, 84);
}

static bool plan_tile(unsigned variant, const int64_t *params, struct launch_plan *plan,
                      struct err *err)
{
	(void)variant;
	(void)err;
	plan->block.x = plan->block.y = (uint32_t)params[3];
	plan->block.z = 1;
	return true;
}

/* The kernel of the screen with a plan: blocks of TILE x TILE. */
static void with_plan(struct world *w)
{
	static struct kernel_desc k;
	static struct param_desc params[KERNEL_MAX_PARAMS];
	struct session *s = w->fh.s;
	k = *s->sel.kernel;
	memcpy(params, k.params, k.n_params * sizeof *params);
	params[3].role = PARAM_KNOB;
	k.params = params;
	k.plan = plan_tile;
	s->sel.kernel = &k;
}

/* A bar of the block sizes is pressed: the parameter that makes it follows, as near as it can; and
 * while the button is held, the bar under the pointer. */
TEST_ON_SCREEN(block_sizes_are_dragged, fixture_done())
{
	const unsigned tile = 3; /* a block is TILE x TILE */
	with_plan(w);
	world_press(w, "1");
	mouse(w, 24, 80, MOUSE_PRESS, "1k", 0);
	assert_int_equal(w->fh.s->sel.params[tile], 32);
	assert_int_equal(w->fh.s->param, tile);
	assert_int_equal(w->st.held, HIT_BLOCK);
	mouse(w, 24, 80, MOUSE_DRAG, "192 256", 5);
	assert_int_equal(w->fh.s->sel.params[tile], 16);
	mouse(w, 24, 80, MOUSE_DRAG, "256 320", 5);
	assert_int_equal(w->fh.s->sel.params[tile], 16);
	assert_non_null(strstr(w->st.message, "nearest to 320 threads that TILE allows: 256"));
	mouse(w, 24, 80, MOUSE_RELEASE, "256 320", 5);
	mouse(w, 24, 80, MOUSE_DRAG, "1k", 0); /* held no more */
	assert_int_equal(w->fh.s->sel.params[tile], 16);
	world_press(w, "u");
	assert_int_equal(w->fh.s->sel.params[tile], 32);
}

/* The chart follows the pointer: to the left is later. A bar of it is an operation. */
TEST_ON_SCREEN(the_time_axis_is_dragged, fixture_streams())
{
	world_press(w, "5 z z");
	const unsigned from = w->fh.s->cursor.pan;
	assert_int_equal(w->fh.s->cursor.zoom, 2);
	screen_mouse(&w->host, &w->st, 24, 80, &(struct mouse_event){ MOUSE_PRESS, 7, 60 });
	assert_int_equal(w->st.held, HIT_AXIS);
	screen_mouse(&w->host, &w->st, 24, 80, &(struct mouse_event){ MOUSE_DRAG, 7, 50 });
	assert_int_equal(w->fh.s->cursor.pan, from); /* not a quarter of the window yet */
	screen_mouse(&w->host, &w->st, 24, 80, &(struct mouse_event){ MOUSE_DRAG, 7, 20 });
	assert_int_equal(w->fh.s->cursor.pan, from + 2);
	screen_mouse(&w->host, &w->st, 24, 80, &(struct mouse_event){ MOUSE_DRAG, 7, 60 });
	assert_int_equal(w->fh.s->cursor.pan, from);
	screen_mouse(&w->host, &w->st, 24, 80, &(struct mouse_event){ MOUSE_RELEASE, 7, 60 });
	world_press(w, "Z Z");
	press(w, "▓A1");
	assert_string_equal(w->fh.s->view, "timeline");
	assert_int_equal(w->fh.s->cursor.row, 3);
}

TEST_ON_SCREEN(parameters_and_keys, fixture_done())
{
	press(w, "M 1024");
	assert_int_equal(w->fh.s->param, 0);
	mouse(w, 24, 80, MOUSE_WHEEL_UP, "M [1024]", 0);
	assert_int_equal(w->fh.s->sel.params[0], 2048);
	mouse(w, 24, 80, MOUSE_WHEEL_DOWN, "TILE", 1);
	assert_int_equal(w->fh.s->param, 3);
	assert_int_equal(w->fh.s->sel.params[3], 8);
	world_press(w, "u u"); /* undone like any other change */
	assert_int_equal(w->fh.s->sel.params[0], 1024);
	press(w, "TILE ["); /* once more: a value is typed */
	assert_int_equal(w->st.open, CMD_PARAM_TYPE);
	world_press(w, "ESC");
	press(w, "+- change"); /* of a pair, the key that is pressed */
	assert_int_equal(w->fh.s->sel.params[3], 32);
	mouse(w, 24, 80, MOUSE_PRESS, "+- change", 1);
	assert_int_equal(w->fh.s->sel.params[3], 16);
	press(w, "r run  Tab");
	assert_int_equal(w->fh.runs, 1);
	press(w, "? help");
	assert_int_equal(w->st.open, CMD_HELP);
}

TEST_ON_SCREEN(lists, fixture_done())
{
	press(w, "K kernel");
	assert_int_equal(w->st.open, CMD_KERNEL);
	mouse(w, 24, 80, MOUSE_WHEEL_DOWN, "sgemm / naive", 0);
	assert_int_equal(w->st.selected, 2);
	press(w, "filter"); /* beside the choices: nothing */
	assert_int_equal(w->st.open, CMD_KERNEL);
	press(w, "sgemm / naive          every");
	assert_int_equal(w->st.open, CMD_NONE);
	assert_int_equal(w->fh.chosen, 1);
	world_press(w, "g");
	press(w, "M 1024"); /* outside: it closes, and that is all */
	assert_int_equal(w->st.open, CMD_NONE);
	assert_int_equal(w->fh.s->param, 3);
	assert_int_equal(w->fh.chosen_list, CMD_KERNEL);
}

TEST_ON_SCREEN(panels_of_a_wide_screen, fixture_done())
{
	world_press(w, "1");
	mouse(w, 60, 200, MOUSE_PRESS, "SIMD efficiency", 0);
	assert_string_equal(w->fh.s->view, "divergence");
	mouse(w, 60, 200, MOUSE_PRESS, "f full", 0);
	assert_true(w->st.solo);
	mouse(w, 60, 200, MOUSE_PRESS, "Esc back", 0);
	assert_false(w->st.solo);
	/* the wheel goes to the panel under it */
	mouse(w, 60, 200, MOUSE_WHEEL_DOWN, "float sum = 0;", 0);
	assert_string_equal(w->fh.s->view, "source");
}

/* Anywhere, at any size: nothing is written or read outside. */
TEST_ON_SCREEN(everywhere, fixture_done())
{
	unsigned turn = 0;
	for (int rows = 1; rows < 70; rows += 9)
		for (int cols = 1; cols < 220; cols += 31)
			for (int i = 0; i < 40; i++, turn++) {
				const struct mouse_event e = { .action = (enum mouse_action)(turn % 3),
					                           .row = (int)(turn * 7919 % 80) - 2,
					                           .col = (int)(turn * 104729 % 230) - 2 };
				screen_mouse(&w->host, &w->st, rows, cols, &e);
				free(w->st.copied);
				w->st.copied = NULL;
			}
}
