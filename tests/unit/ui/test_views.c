/* Every view, in every state, at every size: inside its canvas, and the same twice. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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

static void every_size(void **state)
{
	(void)state;
#define X(name) fixture_##name,
	static struct session *(*const make[])(void) = { FIXTURES(X) };
#undef X
	unsigned turn = 0;
	for (size_t f = 0; f < ARRAY_LEN(make); f++) {
		struct session *s = make[f]();
		for (size_t v = 0; v < ARRAY_LEN(fixture_views); v++) {
			s->view = fixture_views[v]->name;
			for (int rows = 1; rows <= 70; rows += rows < 30 ? 1 : 7)
				for (int cols = 1; cols <= 220; cols += 1 + (int)(turn++ % 23)) {
					s->lens = turn % 3 == 0;
					s->line = turn % 7;
					s->lens_row = turn % 5;
					draw_guarded(fixture_views[v], s, rows, cols, turn % 4 == 0);
				}
		}
		fixture_free(s);
	}
}

/* Rows past the end of every table are survived too. */
static void focus_past_the_end(void **state)
{
	(void)state;
	struct session *s = fixture_done();
	s->line = s->lens_row = 4000000000u;
	for (int lens = 0; lens < 2; lens++)
		for (size_t v = 0; v < ARRAY_LEN(fixture_views); v++) {
			s->lens = lens;
			s->view = fixture_views[v]->name;
			draw_guarded(fixture_views[v], s, 18, 80, false);
			draw_guarded(fixture_views[v], s, 40, 100, false);
		}
	fixture_free(s);
}

static void whole_screens(void **state)
{
	(void)state;
#define X(name) fixture_##name,
	static struct session *(*const make[])(void) = { FIXTURES(X) };
#undef X
	static const enum command open[] = { CMD_NONE, CMD_KERNEL,  CMD_GPU,       CMD_BACKEND,
		                                 CMD_HELP, CMD_ORIGINS, CMD_PARAM_TYPE };
	unsigned turn = 0;
	for (size_t f = 0; f < ARRAY_LEN(make); f++) {
		struct fixture_host fh = { .s = make[f]() };
		struct screen_host host = fixture_host(&fh);
		for (int rows = 1; rows <= 70; rows += 1 + (int)(turn % 3))
			for (int cols = 1; cols <= 220; cols += 7 + (int)(turn++ % 11)) {
				struct screen_state st = { .open = open[turn % ARRAY_LEN(open)] };
				struct canvas c;
				fh.s->view = fixture_views[turn % ARRAY_LEN(fixture_views)]->name;
				if (turn % 5 == 0)
					memset(st.message, 'x', sizeof st.message - 1);
				canvas_init(&c, rows, cols, turn % 2);
				screen_draw(&host, &st, &c);
				canvas_free(&c);
			}
		fixture_free(fh.s);
	}
}

/* Hostile figures: NaN, infinity, enormous and negative numbers. */
static void strange_figures(void **state)
{
	static const double values[] = { NAN, INFINITY, -INFINITY, 1e300, -1e300, 0, -1, 1e-300, 1e18 };
	(void)state;
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
		for (size_t v = 0; v < ARRAY_LEN(fixture_views); v++) {
			if (!strcmp(fixture_views[v]->name, "timeline"))
				continue; /* its spans are times of a clock */
			s->view = fixture_views[v]->name;
			draw_guarded(fixture_views[v], s, 27, 66, false);
			draw_guarded(fixture_views[v], s, 18, 80, true);
		}
		fixture_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size),
		cmocka_unit_test(focus_past_the_end),
		cmocka_unit_test(whole_screens),
		cmocka_unit_test(strange_figures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
