/*
 * The lesson: a preset's step, what to notice, our figure beside the book's, and whether what the
 * step claims holds. Docked over the panels while a preset is walked; as a panel it shows all of
 * it, and without a preset those that there are. Draws the preset's text and the session's
 * judgement of it.
 */
#include "ui/view.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME "tour"
#define SHOWS                                                                                 \
	"A preset is a guided ladder: every step changes one thing, says what to notice, and is " \
	"checked. Enter begins one, ] and [ step. The parameters stay yours to change."
#define WIDE 110 /* columns from which words and figures stand side by side */
#define LABEL 24 /* columns of a figure's name, at least */

static const struct preset_step *step_of(const struct session *s)
{
	return &s->tour.preset->steps[s->tour.step];
}

/* A mystery keeps what it claims to itself until its answer is asked for. */
static bool secret(const struct session *s)
{
	return step_of(s)->reveal && !s->tour.revealed;
}

static const char *answer(const struct session *s)
{
	return !step_of(s)->reveal ? ""
	       : s->tour.revealed  ? step_of(s)->reveal
	                           : "Found the cause? ! shows the answer.";
}

/* "── 3 of 6 · why one unused word per row ──" */
static void head(const struct session *s, struct canvas *c)
{
	const struct preset *p = s->tour.preset;
	const bool last = s->tour.step + 1 == p->n_steps;
	canvas_hline(c, 0, 0, c->cols, STYLE_KNOB);
	int col = canvas_printf(c, 0, 2, STYLE_KEY, " %u of %u ", s->tour.step + 1, p->n_steps);
	const int title = utf8_columns(step_of(s)->title) + 3;
	const char *next = last ? " last step · p other presets " : " ] next ";
	int right = c->cols - 2;
	if (last && right - utf8_columns(next) < col + title)
		next = " last step ";
	if (right - utf8_columns(next) >= col + title) {
		right -= utf8_columns(next);
		canvas_text(c, 0, right, STYLE_KEY, next);
	}
	if (c->cols >= WIDE && right - utf8_columns(p->title) - 4 > col + 40) {
		right -= utf8_columns(p->title) + 4;
		canvas_printf(c, 0, right, STYLE_DIM, " %s ", p->title);
	}
	col = canvas_text_n(c, 0, col, right - col - 2, STYLE_TITLE, step_of(s)->title);
	canvas_text(c, 0, col, STYLE_DIM, " ");
}

/* The bar of @value among the two, in @cols columns. */
static void bar(struct canvas *c, int row, int col, int cols, double value, double most,
                enum style style)
{
	if (most > 0 && value >= 0 && cols > 0)
		canvas_bar(c, row, col, cols, value / most, style);
}

/* Columns that the names of figures may take: so many that two bars are left beside them. A longer
 * name has a row of its own. */
static int most_label(int cols)
{
	return cols - 42 > LABEL ? cols - 42 : LABEL;
}

static void printed(const struct preset_book *b, char *out, size_t n)
{
	char number[64];
	if (!strcmp(b->unit, "ns"))
		fmt_ns(out, n, b->value);
	else
		snprintf(out, n, "%.40s%s%.40s", fmt_num(number, sizeof number, b->value, 7),
		         b->unit[0] ? " " : "", b->unit);
}

static bool two_rows(const struct preset_book *b, int cols)
{
	char book[96];
	printed(b, book, sizeof book);
	return utf8_columns(b->what) > (b->ours ? most_label(cols) : cols - 12 - utf8_columns(book));
}

static int figure_rows(const struct preset_step *step, int cols)
{
	int rows = (int)step->n_book;
	for (unsigned k = 0; k < step->n_book; k++)
		rows += two_rows(&step->book[k], cols);
	return rows;
}

/* The column where the figures of a step begin: behind the longest name that has them beside it. */
static int figures_at(const struct preset_step *step, int cols)
{
	int longest = LABEL;
	for (unsigned k = 0; k < step->n_book; k++) {
		const int n = utf8_columns(step->book[k].what);
		if (step->book[k].ours && n > longest && !two_rows(&step->book[k], cols))
			longest = n;
	}
	return longest + 3;
}

/* The figure that the claim of a book's figure found in our run; NULL = none yet. */
static const struct tour_outcome *computed(const struct session *s, unsigned k)
{
	const struct session_tour *const t = &s->tour;
	const unsigned claim = preset_book_claim(step_of(s), k);
	return preset_book_metric(&step_of(s)->book[k]) == METRIC_COUNT && t->judged && !t->off_path &&
	               claim < t->n && isfinite(t->outcomes[claim].is) && !secret(s)
	           ? &t->outcomes[claim]
	           : NULL;
}

/* "book 4 FLOP/byte ¶  intensity" */
static void book_alone(struct canvas *c, int row, const struct preset_book *b, bool named)
{
	char book[96];
	printed(b, book, sizeof book);
	int col = canvas_text(c, row, named ? 4 : 2, STYLE_DIM, "book ");
	col = canvas_text(c, row, col, STYLE_BOLD, book);
	col = canvas_printf(c, row, col, STYLE_DIM, " %s  ", origin_mark(ORIGIN_BOOK, c->ascii));
	if (!named)
		canvas_text_n(c, row, col, c->cols - col - 1, STYLE_NORMAL, b->what);
}

/* "yours 3.9 ██████     book 4 ██████▏ FLOP/byte" from @col on. */
static void both(const struct session *s, struct canvas *c, int row, int col, unsigned k)
{
	const struct preset_book *const b = &step_of(s)->book[k];
	const struct tour_outcome *const o = computed(s, k);
	const enum metric_id id = preset_book_metric(b);
	char number[64], book[96];
	if (o)
		snprintf(number, sizeof number, "%s%s", fmt_num(book, sizeof book, o->is, 4),
		         strcmp(b->unit, "%") ? "" : " %");
	else
		metric_format(&s->now->metrics, id, number, sizeof number);
	printed(b, book, sizeof book);
	const double is = o ? o->is : metric_get(&s->now->metrics, id), said = preset_book_value(b);
	const double most = fmax(is, said);
	const bool alike = is > 0 && said > 0;
	const int width = utf8_columns(book) + 6;
	const int bars = (c->cols - col - 1 - utf8_columns(number) - 10 - width) / 2;
	col = canvas_text(c, row, col, STYLE_DIM, "yours ");
	col = (o ? canvas_text(c, row, col, STYLE_BOLD, number)
	         : canvas_metric(c, row, col, 0, &s->now->metrics, id)) +
	      1;
	if (alike && bars >= 3)
		bar(c, row, col, bars, is, most, STYLE_KNOB);
	col += bars >= 3 ? bars + 1 : 1;
	if (col + width > c->cols)
		return;
	col = canvas_text(c, row, col, STYLE_DIM, "book ");
	col = canvas_text(c, row, col, STYLE_BOLD, book) + 1;
	if (alike && bars >= 3)
		bar(c, row, col, bars < c->cols - col - 1 ? bars : c->cols - col - 1, said, most,
		    STYLE_WATCH);
}

static int figures(const struct session *s, struct canvas *c, int row)
{
	const struct preset_step *step = step_of(s);
	const int at = figures_at(step, c->cols);
	for (unsigned k = 0; k < step->n_book && row < c->rows; k++, row++) {
		const struct preset_book *b = &step->book[k];
		const bool named = two_rows(b, c->cols);
		const bool ours =
			computed(s, k) || (preset_book_metric(b) != METRIC_COUNT && s->now && !s->stale);
		if (named && row + 1 < c->rows)
			canvas_text_n(c, row++, 2, c->cols - 3, STYLE_NORMAL, b->what);
		if (!ours) {
			book_alone(c, row, b, named);
			continue;
		}
		if (!named)
			canvas_text_n(c, row, 2, at - 3, STYLE_NORMAL, b->what);
		both(s, c, row, named ? 4 : at, k);
	}
	return row;
}

/* Figures that differ from ours for a reason, or that the source has wrong. */
static int figure_notes(const struct session *s, struct canvas *c, int row)
{
	const struct preset_step *step = step_of(s);
	for (unsigned i = 0; i < step->n_book && row < c->rows; i++) {
		char text[900];
		if (!step->book[i].note)
			continue;
		snprintf(text, sizeof text, "! %s: %s", step->book[i].what, step->book[i].note);
		row += canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_WATCH, text);
	}
	return row;
}

/* --- claims --- */

static void claim_row(const struct session *s, struct canvas *c, int row, unsigned i)
{
	const struct session_tour *t = &s->tour;
	const bool excused = t->outcomes[i].holds && t->outcomes[i].found[0];
	const enum style style = excused ? STYLE_DIM : t->outcomes[i].holds ? STYLE_GOOD : STYLE_BAD;
	char words[200], line[400];
	panel_claim(preset_claim(step_of(s), i, line, sizeof line), words, sizeof words);
	int col = canvas_text(c, row, 2, style, excused ? "– " : t->outcomes[i].holds ? "✓ " : "✗ ");
	col = canvas_text_n(c, row, col, c->cols - col - 1, excused ? STYLE_DIM : STYLE_NORMAL, words);
	if (t->outcomes[i].found[0] && col + 6 < c->cols) {
		canvas_text(c, row, col, style, ": ");
		canvas_text_n(c, row, col + 2, c->cols - col - 3, style, t->outcomes[i].found);
	}
}

/* The state of the claims in one row; the failed ones follow where there is room. */
static int summary(const struct session *s, struct canvas *c, int row)
{
	const struct session_tour *t = &s->tour;
	const struct preset_step *step = step_of(s);
	unsigned holds = 0;
	if (row >= c->rows || (!step->n_expect && !step->stops))
		return row;
	if (t->off_path || !t->judged) {
		canvas_text_n(c, row, 2, c->cols - 3, STYLE_DIM,
		              t->off_path ? "you changed something: ] goes on, [ and ] come back here"
		                          : "what this step claims is checked when its run is done");
		return row + 1;
	}
	for (unsigned i = 0; i < t->n; i++)
		holds += t->outcomes[i].holds;
	const bool all = holds == t->n;
	if (step->stops)
		canvas_printf(c, row, 2, all ? STYLE_GOOD : STYLE_BAD, "%s the mistake is caught%s%s",
		              all ? "✓" : "✗", all ? "" : ": ", all ? "" : t->outcomes[0].found);
	else if (all && t->n == 1)
		canvas_text(c, row, 2, STYLE_GOOD, "✓ what this step claims holds");
	else if (all)
		canvas_printf(c, row, 2, STYLE_GOOD, "✓ all %u claims of this step hold%s", t->n,
		              secret(s) ? "; ! shows them" : "");
	else
		canvas_printf(c, row, 2, STYLE_BAD, "✗ %u of %u claims of this step do not hold",
		              t->n - holds, t->n);
	row++;
	for (unsigned i = 0; i < preset_claims(step) && i < t->n && row < c->rows; i++)
		if (!t->outcomes[i].holds && !secret(s))
			claim_row(s, c, row++, i);
	return row;
}

/* Every claim, where they are no secret. */
static int claims(const struct session *s, struct canvas *c, int row)
{
	const struct session_tour *t = &s->tour;
	if (!t->judged || t->off_path || secret(s) || step_of(s)->stops)
		return summary(s, c, row);
	/* a figure of the book that holds stands beside ours already */
	for (unsigned i = 0; i < preset_claims(step_of(s)) && i < t->n && row < c->rows; i++)
		if (i < step_of(s)->n_expect || !t->outcomes[i].holds)
			claim_row(s, c, row++, i);
	return row;
}

/* --- docked and alone --- */

/* Rows of the words, and of figures and claims; what the source gets wrong is extra. */
static int rows_needed(const struct session *s, int cols)
{
	const struct preset_step *step = step_of(s);
	const bool wide = cols >= WIDE;
	const int width = wide ? cols / 2 - 4 : cols - 4;
	const int words = text_rows(step->say, width) + text_rows(answer(s), width);
	const int facts =
		figure_rows(step, wide ? cols - cols / 2 : cols) + (step->n_expect || step->stops);
	return 1 + (wide ? (words > facts ? words : facts) : words + facts);
}

static int dock_rows(const struct session *s, int cols, int most)
{
	const struct preset_step *step = step_of(s);
	int rows = rows_needed(s, cols), more = 0;
	for (unsigned i = 0; i < step->n_book; i++)
		if (step->book[i].note)
			more += text_rows(step->book[i].note, cols - 30) + 1;
	if (rows + more <= most * 2 / 3)
		rows += more;
	return rows < most ? rows : most;
}

static int words(const struct session *s, struct canvas *c, int row)
{
	row += canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_NORMAL, step_of(s)->say);
	return row + canvas_wrap(c, row, 2, c->rows - row, c->cols - 4,
	                         s->tour.revealed ? STYLE_BOLD : STYLE_DIM, answer(s));
}

static void draw_docked(const struct session *s, struct canvas *c)
{
	struct canvas left = canvas_sub(c, 1, 0, c->rows - 1, c->cols), right = left;
	int row = 0;
	head(s, c);
	if (c->cols >= WIDE) {
		left = canvas_sub(c, 1, 0, c->rows - 1, c->cols / 2);
		right = canvas_sub(c, 1, c->cols / 2, c->rows - 1, c->cols - c->cols / 2);
		words(s, &left, 0);
	} else {
		row = words(s, &left, 0);
	}
	row = summary(s, &right, figures(s, &right, row));
	figure_notes(s, &right, row);
}

/* --- without a preset: those that there are --- */

static unsigned n_rows(const struct session *s)
{
	return s->tour.preset ? 0 : (unsigned)preset_count();
}

static size_t chosen(const struct session *s)
{
	const unsigned n = n_rows(s);
	return s->cursor.row < n ? s->cursor.row : n - 1;
}

#define TITLE 30 /* where it begins */

/* Has every preset room for its chapter behind its title? */
static bool chapters_fit(const struct session *s, int cols)
{
	const unsigned n = n_rows(s);
	for (unsigned i = 0; i < n; i++) {
		const struct preset_brief *p = preset_brief(i);
		if (p && TITLE + utf8_columns(p->title) + 2 + utf8_columns(p->chapter) + 2 > cols)
			return false;
	}
	return true;
}

/* "▸ transpose  6 steps  Transpose, bytes that only move       PMPP ch. 6" */
static void preset_row(struct canvas *c, int row, const struct preset_brief *p, bool here,
                       bool chapter)
{
	canvas_text(c, row, 0, STYLE_KNOB, here ? "▸" : " ");
	canvas_text_n(c, row, 2, 17, here ? STYLE_BOLD : STYLE_KEY, p->name);
	if (!p->title[0]) {
		canvas_text_n(c, row, 20, c->cols - 21, STYLE_BAD, p->why_not);
		return;
	}
	canvas_right(c, row, 28, STYLE_DIM, "%u steps", p->n_steps);
	canvas_text_n(c, row, TITLE, c->cols - TITLE, here ? STYLE_BOLD : STYLE_NORMAL, p->title);
	if (chapter)
		canvas_right(c, row, c->cols - 2, STYLE_DIM, "%s", p->chapter);
}

static void presets(const struct session *s, struct canvas *c)
{
	const bool pick = panel_focused(s, NAME);
	const unsigned n = n_rows(s), at = pick ? (unsigned)chosen(s) : 0;
	const int row = 2 + canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_DIM, SHOWS);
	const bool chapters = chapters_fit(s, c->cols);
	const int window = c->rows - row;
	const unsigned top = panel_scroll(n, at, window);
	for (int r = 0; r < window && top + (unsigned)r < n; r++) {
		canvas_hit(c, row + r, 0, 1, c->cols, HIT_ROW, top + (unsigned)r);
		preset_row(c, row + r, preset_brief(top + (unsigned)r), pick && top + (unsigned)r == at,
		           chapters);
	}
	panel_scroll_marks(c, row, window, top, n);
}

static void draw(const struct session *s, struct canvas *c)
{
	if (!s->tour.preset) {
		presets(s, c);
		return;
	}
	if (!panel_focused(s, NAME)) {
		draw_docked(s, c);
		return;
	}
	head(s, c);
	canvas_text_n(c, 1, 2, c->cols - 4, STYLE_KNOB, step_of(s)->run);
	int row = words(s, c, 3) + 1;
	row = figures(s, c, row);
	row = claims(s, c, row);
	figure_notes(s, c, row);
}

const struct view_desc view_tour = {
	.name = NAME,
	.title = "Tour",
	.order = 9,
	.about = "the lesson: what this step changes, what to notice, the book's figure beside ours",
	.draw = draw,
	.rows = n_rows,
	.preset = chosen,
	.dock_rows = dock_rows,
	.scope = VIEW_OF_KERNEL,
	.place = VIEW_LESSON,
};
