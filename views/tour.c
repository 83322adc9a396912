/*
 * Preset tour: what this step changes, what to notice, the book's figure beside ours, and whether
 * what the step claims holds. Draws the preset's text and the session's judgement of it.
 */
#include "ui/view.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define SHOWS                                                                                 \
	"A preset is a guided ladder: every step changes one thing, says what to notice, and is " \
	"checked. Press p to choose one, ] and [ to step. The parameters stay yours to change."

static int head(const struct session *s, struct canvas *c)
{
	const struct preset *p = s->tour.preset;
	const struct preset_step *step = &p->steps[s->tour.step];
	int col = canvas_printf(c, 0, 2, STYLE_KEY, "%u/%u ", s->tour.step + 1, p->n_steps);
	col = canvas_text_n(c, 0, col, c->cols - col - 2, STYLE_TITLE, step->title);
	if (c->cols - col > utf8_columns(p->title) + 6)
		canvas_right(c, 0, c->cols - 1, STYLE_DIM, "%s", p->title);
	return 1;
}

/* "¶ kernel time 4984 ms   ours 5.1 ms ~", one row a figure, and why the source is wrong. */
static int book(const struct session *s, struct canvas *c, int row)
{
	const struct preset_step *step = &s->tour.preset->steps[s->tour.step];
	for (unsigned i = 0; i < step->n_book && row < c->rows; i++) {
		const struct preset_book *b = &step->book[i];
		char num[32];
		int col = canvas_text(c, row, 2, STYLE_DIM, "¶ ");
		col = canvas_text(c, row, col, STYLE_NORMAL, b->what);
		col = canvas_printf(c, row, col, STYLE_BOLD, "  %s %s",
		                    fmt_num(num, sizeof num, b->value, 7), b->unit);
		const enum metric_id id = b->metric ? metric_find(b->metric) : METRIC_COUNT;
		if (id != METRIC_COUNT && s->now && !s->stale) {
			col = canvas_text(c, row, col, STYLE_DIM, "   ours");
			canvas_metric(c, row, col, 10, &s->now->metrics, id);
		}
		if (b->seed)
			canvas_right(c, row, c->cols - 1, STYLE_DIM, "%s", b->seed);
		row++;
		if (b->really && row < c->rows)
			row += canvas_wrap(c, row, 4, c->rows - row, c->cols - 6, STYLE_WATCH, b->really);
	}
	return row;
}

static int checks(const struct session *s, struct canvas *c, int row)
{
	const struct session_tour *t = &s->tour;
	const struct preset_step *step = &t->preset->steps[t->step];
	if (!t->judged || t->off_path) {
		if (row < c->rows)
			canvas_text(c, row, 2, STYLE_DIM,
			            t->off_path
			                ? "you changed something: ] goes on, [ and ] come back to this step"
			                : "what this step claims is checked when its run is done");
		return row + 1;
	}
	if (step->stops && t->n && row < c->rows) {
		const int col = canvas_printf(c, row, 2, t->holds[0] ? STYLE_GOOD : STYLE_BAD, "%s ",
		                              t->holds[0] ? "✓" : "✗");
		canvas_printf(c, row++, col, STYLE_NORMAL, "the run is stopped: %s%s%s", step->stops,
		              t->holds[0] ? "" : "   it said ", t->found[0]);
	}
	for (unsigned i = 0; i < step->n_expect && i < t->n && row < c->rows; i++, row++) {
		const bool excused = t->holds[i] && t->found[i][0];
		const enum style style = excused ? STYLE_DIM : t->holds[i] ? STYLE_GOOD : STYLE_BAD;
		const int col = canvas_printf(c, row, 2, style, "%s ",
		                              excused       ? "–"
		                              : t->holds[i] ? "✓"
		                                            : "✗");
		const int end =
			canvas_text(c, row, col, excused ? STYLE_DIM : STYLE_NORMAL, step->expect[i]);
		if (t->found[i][0])
			canvas_printf(c, row, end, style, "   %s", t->found[i]);
	}
	return row;
}

/* In a strip there is room for two columns: the words left, the figures right. */
static void draw_wide(const struct session *s, struct canvas *c)
{
	const struct preset_step *step = &s->tour.preset->steps[s->tour.step];
	const int half = c->cols / 2;
	int row = head(s, c);
	row += canvas_wrap(c, row, 2, c->rows - row, half - 4, STYLE_NORMAL, step->say);
	if (step->reveal && row < c->rows)
		canvas_wrap(c, row, 2, c->rows - row, half - 4, s->tour.revealed ? STYLE_BOLD : STYLE_DIM,
		            s->tour.revealed ? step->reveal : "Found the cause? ! shows the answer.");
	struct canvas right = canvas_sub(c, 1, half, c->rows - 1, c->cols - half);
	checks(s, &right, book(s, &right, 0));
}

static void draw(const struct session *s, struct canvas *c)
{
	if (!s->tour.preset) {
		canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_DIM, SHOWS);
		return;
	}
	if (c->cols >= 120 || (c->rows < 12 && c->cols >= 100)) {
		draw_wide(s, c);
		return;
	}
	const struct preset_step *step = &s->tour.preset->steps[s->tour.step];
	int row = head(s, c) + 1;
	canvas_text_n(c, row++, 2, c->cols - 4, STYLE_KNOB, step->run);
	row++;
	row += canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_NORMAL, step->say) + 1;
	if (step->reveal && row < c->rows)
		row += canvas_wrap(
				   c, row, 2, c->rows - row, c->cols - 4, s->tour.revealed ? STYLE_BOLD : STYLE_DIM,
				   s->tour.revealed ? step->reveal : "Found the cause? ! shows the answer.") +
		       1;
	checks(s, c, book(s, c, row));
}

const struct view_desc view_tour = {
	.name = "tour",
	.title = "Tour",
	.order = 9,
	.about = "the preset: what this step changes, what to notice, the book's figure beside ours",
	.draw = draw,
	.place = VIEW_STRIP,
};
