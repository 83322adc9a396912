/* Every view, in every state, at every size: inside its canvas, and the same twice. */
#include "fixture_host.h"
#include "../unit.h"
#include "view_list.h"

#include <math.h>

#define PAD 3
#define UNTOUCHED 0x2603u

static void draw_guarded(const struct view_desc *v, const struct session *s, int rows, int cols,
                         bool ascii)
{
	struct canvas c;
	canvas_init(&c, rows + 2 * PAD, cols + 2 * PAD, ascii);
	for (int i = 0; i < c.rows * c.cols; i++)
		c.cells[i].ch = UNTOUCHED;
	struct canvas in = canvas_sub(&c, PAD, PAD, rows, cols);
	canvas_clear(&in);
	v->draw(s, &in);
	for (int r = 0; r < c.rows; r++)
		for (int k = 0; k < c.cols; k++) {
			bool inside = r >= PAD && r < PAD + rows && k >= PAD && k < PAD + cols;
			const struct cell *cell = &c.cells[r * c.cols + k];
			if (!inside && cell->ch != UNTOUCHED)
				fail_msg("%s writes outside %dx%d", v->name, rows, cols);
			if (inside && (!cell->ch || cell->style >= STYLE_COUNT))
				fail_msg("%s leaves a bad cell at %dx%d", v->name, rows, cols);
			if (inside && ascii && cell->ch > 0x7e)
				fail_msg("%s draws U+%04X on an ASCII canvas", v->name, cell->ch);
		}
	canvas_free(&c);
}

/* The same sizes in every run: a linear congruential generator (Knuth, MMIX). */
static int some(int most)
{
	static uint64_t state = 1;
	state = state * 6364136223846793005u + 1442695040888963407u;
	return 1 + (int)((state >> 33) % (unsigned)most);
}

static void in_any_focus(struct session *s, const struct view_desc *v)
{
	s->view = some(4) > 1 ? v->name : "another";
	s->cursor.detail = some(3) == 1;
	s->cursor.row = (unsigned)some(9) - 1;
	s->cursor.detail_row = (unsigned)some(6) - 1;
	s->cursor.zoom = (unsigned)some(4) - 1;
	s->cursor.pan = (unsigned)some(3) - 1;
}

/* One view in every state: small sizes one by one, then up to 200 x 400 at random. */
static void every_size(void **state)
{
	const struct view_desc *v = *state;
	for (size_t f = 0; f < n_fixtures; f++) {
		struct session *s = fixtures[f].make();
		for (int rows = 1; rows <= 30; rows += some(3))
			for (int cols = some(9); cols <= 130; cols += 20 + some(60)) {
				in_any_focus(s, v);
				draw_guarded(v, s, rows, cols, some(4) == 1);
			}
		for (int i = 0; i < 12; i++) {
			in_any_focus(s, v);
			draw_guarded(v, s, some(200), some(400), some(4) == 1);
		}
		draw_guarded(v, s, 200, 400, false);
		fixture_free(s);
	}
}

/* The same session and size give the same cells. */
TEST(twice_the_same)
{
	for (size_t f = 0; f < n_fixtures; f++)
		for (size_t v = 0; v < ARRAY_LEN(all_views); v++) {
			struct session *s = fixtures[f].make();
			struct canvas a, b;
			s->view = all_views[v]->name;
			canvas_init(&a, 24, 90, false);
			canvas_init(&b, 24, 90, false);
			all_views[v]->draw(s, &a);
			all_views[v]->draw(s, &b);
			char *first = canvas_dump(&a, true), *second = canvas_dump(&b, true);
			assert_string_equal(first, second);
			free(first);
			free(second);
			canvas_free(&a);
			canvas_free(&b);
			fixture_free(s);
		}
}

/* What the registry, the tab row and the help screen need of a view. */
TEST(descriptors)
{
	for (size_t v = 0; v < ARRAY_LEN(all_views); v++) {
		const struct view_desc *d = all_views[v];
		assert_true(d->name && d->name[0] && d->title && d->title[0] && d->about && d->draw);
		assert_true(utf8_columns(d->title) <= 14 && utf8_columns(d->about) <= 90);
		assert_true(!d->brief || utf8_columns(d->brief) <= 4);
		assert_true(d->rows || (!d->detail_rows && !d->start));
		assert_true(d->detail_rows || !d->detail_start);
	}
}

/* Rows past the end of every table are survived too. */
TEST(focus_past_the_end)
{
	struct session *s = fixture_done();
	s->cursor.row = s->cursor.detail_row = 4000000000u;
	for (int detail = 0; detail < 2; detail++)
		for (size_t v = 0; v < ARRAY_LEN(all_views); v++) {
			s->cursor.detail = detail;
			s->view = all_views[v]->name;
			draw_guarded(all_views[v], s, 18, 80, false);
			draw_guarded(all_views[v], s, 40, 100, false);
		}
	fixture_free(s);
}

TEST(whole_screens)
{
	static const enum command open[] = { CMD_NONE, CMD_KERNEL,  CMD_GPU,       CMD_BACKEND,
		                                 CMD_HELP, CMD_ORIGINS, CMD_PARAM_TYPE };
	unsigned turn = 0;
	for (size_t f = 0; f < n_fixtures; f++) {
		struct fixture_host fh = { .s = fixtures[f].make() };
		struct screen_host host = fixture_host(&fh);
		for (int rows = 1; rows <= 70; rows += 1 + (int)(turn % 3))
			for (int cols = 1; cols <= 220; cols += 7 + (int)(turn++ % 11)) {
				struct screen_state st = { .open = open[turn % ARRAY_LEN(open)] };
				struct canvas c;
				fh.s->view = fixture_tab(turn % FIXTURE_TABS)->name;
				if (turn % 5 == 0)
					memset(st.message, 'x', sizeof st.message - 1);
				canvas_init(&c, rows, cols, turn % 2);
				screen_draw(&host, &st, &c);
				canvas_free(&c);
			}
		fixture_free(fh.s);
	}
}

/* An instruction that is longer than nearly all others is whole where source and PTX leave room. */
TEST(long_instructions_are_whole)
{
	enum { N = 60, AT = 5, COLS = 220 };
	static const char text[] = "ATOMG.E.ADD.STRONG.GPU PT, R17, desc[UR4][R2.64+0x1000], R9";
	struct session *s = fixture_done();
	struct code_listing *code = s->now->code;
	struct canvas c;
	code->insts = mem_realloc(code->insts, N, sizeof *code->insts);
	for (unsigned i = code->n; i < N; i++) {
		code->insts[i] = code->insts[0];
		code->insts[i].offset = i * 16;
	}
	code->n = N;
	snprintf(code->insts[AT].text, sizeof code->insts[AT].text, "%s", text);
	s->view = "another";
	canvas_init(&c, 60, COLS, false);
	view_machine_code.draw(s, &c);
	char *shown = canvas_dump(&c, false);
	assert_non_null(strstr(shown, text));
	free(shown);
	canvas_free(&c);
	fixture_free(s);
}

/* Hostile figures: NaN, infinity, enormous and negative numbers. */
TEST(strange_figures)
{
	static const double values[] = { NAN, INFINITY, -INFINITY, 1e300, -1e300, 0, -1, 1e-300, 1e18 };
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		struct session *s = fixture_done();
		for (unsigned m = 0; m < METRIC_COUNT; m++)
			if (metric_catalogue[m].kind == METRIC_NUM)
				metric_num(&s->now->metrics, (enum metric_id)m, ORIGIN_COUNTED, values[i]);
		for (int p = 0; p < PERF_RESOURCE_COUNT; p++)
			s->now->perf.resource_ns[p] = values[i];
		s->occ.pct = values[i];
		struct gpu_spec gpu = *s->sel.gpu;
		gpu.dram_gbs = values[i];
		gpu.fp32_gflops = values[(i + 3) % ARRAY_LEN(values)];
		s->sel.gpu = &gpu;
		s->progress = values[i];
		for (unsigned l = 0; l < s->now->run.counts.n_lines; l++)
			memset(&s->now->run.counts.lines[l].c, 0xff, sizeof s->now->run.counts.lines[l].c);
		for (size_t v = 0; v < ARRAY_LEN(all_views); v++) {
			if (!strcmp(all_views[v]->name, "timeline"))
				continue; /* its spans are times of a clock */
			s->view = all_views[v]->name;
			draw_guarded(all_views[v], s, 27, 66, false);
			draw_guarded(all_views[v], s, 18, 80, true);
		}
		fixture_free(s);
	}
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(all_views); i++)
		unit_add(all_views[i]->name, every_size, all_views[i]);
	return unit_run(NULL, NULL);
}
