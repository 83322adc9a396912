/* What is found by its name, what can be copied, and the page that explains the panel in front. */
#include "fixture_world.h"
#include "../unit.h"
#include "base/lang.h"
#include "ui/screen_parts.h"

static void shows(struct world *w, const char *what)
{
	world_shows(w, 40, 120, what, true);
}

TEST_ON_SCREEN(everything_is_found, fixture_done())
{
	/* a figure: what it is here, and what it means */
	world_press(w, "/ i d e a l");
	shows(w, "figure sectors per load");
	world_press(w, "ENTER");
	assert_non_null(strstr(w->st.message, "sectors per load 4.0"));
	assert_non_null(strstr(w->st.message, "load sectors / load requests"));
	/* a panel: it has the focus */
	world_press(w, "/ p a n e l");
	world_press(w, "DOWN DOWN ENTER");
	assert_string_equal(w->fh.s->view, "divergence");
	/* a kernel and a GPU: the host is told which */
	world_press(w, "/ n a i v e ENTER");
	assert_int_equal(w->fh.chosen_list, CMD_KERNEL);
	assert_int_equal(w->fh.chosen, 1);
	world_press(w, "/ h 2 0 0 ENTER");
	assert_int_equal(w->fh.chosen_list, CMD_GPU);
	assert_int_equal(w->fh.chosen, 4);
	/* a key: it is as if pressed */
	world_press(w, "/ n e x t");
	const size_t theme = w->st.theme;
	world_press(w, "BACKSPACE BACKSPACE BACKSPACE BACKSPACE t h e m e ENTER");
	assert_true(w->st.theme != theme);
	assert_int_equal(w->st.open, CMD_NONE);
}

/* A word of a list and one in the middle of a paragraph: the page opens where it stands. */
TEST_ON_SCREEN(what_pages_explain_is_found, fixture_done())
{
	world_press(w, "/ g i g a t h");
	shows(w, "hands blocks to SMs");
	world_press(w, "ENTER");
	assert_int_equal(w->st.open, CMD_PAGE);
	world_shows(w, 24, 80, "GigaThread engine", true);
	world_press(w, "ESC ESC / r i d g e DOWN"); /* the first is of a fridge */
	shows(w, "page Roofline: which limit");
	world_press(w, "ENTER");
	assert_int_equal(w->st.open, CMD_PAGE);
	world_shows(w, 24, 80, "at the ridge", true);
}

TEST_ON_SCREEN(source_lines_are_found, fixture_done())
{
	world_press(w, "/ t h r e a d s ( ) ;");
	shows(w, "▸ line ");
	shows(w, "__syncthreads();");
	world_press(w, "ENTER");
	assert_string_equal(w->fh.s->view, "source");
	char line[200];
	assert_true(source_line(w->fh.s->source, w->fh.s->cursor.row + 1, line, sizeof line));
	assert_non_null(strstr(line, "__syncthreads();"));
	/* not twice the same one */
	const unsigned first = w->fh.s->cursor.row;
	world_press(w, "/ t h r e a d s ( ) ; DOWN ENTER");
	assert_true(w->fh.s->cursor.row > first);
}

/* Another script finds what is shown in it; Backspace takes a character, not a byte. */
TEST_ON_SCREEN(chinese_is_found, fixture_done())
{
	size_t zh;
	assert_true(lang_find("zh_CN", &zh, NULL));
	lang_use(zh);
	world_press(w, "/ 占 用 率");
	shows(w, "占用率_");
	world_press(w, "x BACKSPACE ENTER");
	assert_string_equal(w->fh.s->view, "occupancy");
	world_press(w, "/ 占 BACKSPACE");
	assert_string_equal(w->st.typed, "");
	lang_use(0);
}

TEST_ON_SCREEN(what_is_copied, fixture_done())
{
	world_press(w, "4 y ENTER");
	assert_string_equal(
		w->st.copied,
		"pmpp-explore sgemm/tiled M=1024 N=1024 K=1024 TILE=16 --gpu a100 --backend emu");
	world_press(w, "y DOWN ENTER");
	assert_non_null(strstr(w->st.copied, "limited by shared memory"));
	world_press(w, "y DOWN DOWN ENTER");
	assert_non_null(strstr(w->st.copied, "4 194 304 = req"));
	assert_null(strstr(w->st.copied, " \n"));
	world_press(w, "y DOWN DOWN DOWN ENTER");
	assert_non_null(strstr(w->st.copied, "| sectors per load | 4.0 | counted | mem.ld_sectors"));
	shows(w, "copied, if the terminal allows it");
}

TEST_ON_SCREEN(help_explains_the_panel, fixture_done())
{
	world_press(w, "4 ?");
	shows(w, "sectors per load  4.0 =");
	shows(w, "load sectors / load requests");
	shows(w, "PMPP 5.4");
	world_press(w, "ESC 1 ?");
	shows(w, "theoretical occupancy  100.0 % ~");
	world_press(w, "END");
	shows(w, "0 Tour");
	world_press(w, "ESC");
	assert_int_equal(w->st.open, CMD_NONE);
}

extern const struct view_desc view_machine_code;

static const struct view_desc *only_machine_code(size_t i)
{
	(void)i;
	return &view_machine_code;
}

/* What the row of tabs calls a panel finds it, before any page that speaks of it. */
TEST_ON_SCREEN(panels_are_found_by_their_tab, fixture_done())
{
	w->host.view_at = only_machine_code;
	w->host.n_views = 1;
	world_press(w, "/ S A S S");
	shows(w, "▸ panel Machine code (SASS)");
	world_press(w, "ENTER");
	assert_int_equal(w->st.open, CMD_NONE);
	assert_string_equal(w->fh.s->view, "machine_code");
}

/* Columns that are no metrics are explained, too. */
TEST_ON_SCREEN(help_explains_columns, fixture_done())
{
	w->host.view_at = only_machine_code;
	w->host.n_views = 1;
	w->fh.s->view = "machine_code";
	world_press(w, "?");
	shows(w, "where the instruction lies in the kernel");
	shows(w, "scoreboards that must be free before it issues");
}

/* A page can be read from its first to its last row at any size. */
TEST_ON_SCREEN(every_row_is_reached, fixture_done())
{
	for (int cols = 20; cols <= 130; cols += 11) {
		const int n = help_draw(&w->host, CMD_HELP, 0, cols, NULL);
		struct canvas c;
		canvas_init(&c, n, cols, false);
		assert_int_equal(help_draw(&w->host, CMD_HELP, 0, cols, &c), n);
		char *whole = canvas_dump(&c, false);
		canvas_free(&c);
		for (int first = 0; first < n; first += 7) { /* any window shows the rows of the whole */
			canvas_init(&c, 1, cols, false);
			help_draw(&w->host, CMD_HELP, first, cols, &c);
			char *line = canvas_dump(&c, false);
			const char *want = whole;
			for (int r = 0; r < first; r++)
				want = strchr(want, '\n') + 1;
			assert_memory_equal(line, want, strcspn(want, "\n") + 1);
			free(line);
			canvas_free(&c);
		}
		free(whole);
	}
}
