/*
 * The whole frame: layout, then header, tabs, panels, status, keys, and what is open over them.
 *
 * Pure: host's session and screen state in, cells out. Knows no terminal and no back end.
 */
#include "ui/arrangement.h"
#include "ui/screen_parts.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static struct canvas part(struct canvas *c, struct rect r)
{
	return canvas_sub(c, r.row, r.col, r.rows, r.cols);
}

/* A tab's columns: its name, and its digit where it has one. */
/* How the row of tabs saves columns: all names in full; short ones but for the focused panel's;
 * these without a blank behind their digit; and the focused one is short, too. */
enum tab_form { TABS_FULL, TABS_SHORT, TABS_TIGHT, TABS_BRIEF };

static int tab_cols(size_t i, const char *name, enum tab_form form)
{
	return utf8_columns(name) + (i >= 10 ? 0 : form >= TABS_TIGHT ? 1 : 2);
}

static const char *tab_name(const struct screen_host *host, size_t i, size_t focus,
                            enum tab_form form)
{
	const struct view_desc *v = host->view_at(i);
	const bool whole = form == TABS_FULL || (i == focus && form != TABS_BRIEF);
	return whole || !v->brief ? v->title : v->brief;
}

/* How many tabs stand in the row, from the first on, besides the focused one: all, or those that
 * leave room for "+2" behind them. @cols gets their columns without gaps. */
static size_t tabs_shown(const struct screen_host *host, size_t focus, enum tab_form form, int room,
                         int *cols)
{
	for (size_t n = host->n_views;; n--) {
		int gaps = -1;
		*cols = 0;
		for (size_t i = 0; i < host->n_views; i++)
			if (i < n || i == focus) {
				*cols += tab_cols(i, tab_name(host, i, focus, form), form);
				gaps++;
			}
		const int rest = n < host->n_views ? 4 : 0;
		if (!n || *cols + (form == TABS_FULL ? 2 : 1) * gaps + rest < room)
			return n;
		if (form != TABS_BRIEF)
			return 0;
	}
}

/* The widest form in which all tabs have room; else as many tabs as the tightest has room for. */
static void tabs(const struct screen_host *host, const struct session *s, struct canvas *c)
{
	const size_t focus = screen_focus(host, s);
	enum tab_form form = TABS_FULL;
	int cols;
	size_t n;
	for (size_t i = 0; i < host->n_views; i++) /* the same form whichever panel has the focus */
		while (form < TABS_BRIEF && tabs_shown(host, i, form, c->cols, &cols) < host->n_views)
			form++;
	n = tabs_shown(host, focus, form, c->cols, &cols);
	const int gaps = (int)n - 1 > 0 ? (int)n - 1 : 1, spare = c->cols - cols;
	const int gap = spare >= 3 * gaps + 1 ? 3 : n < host->n_views || spare <= 2 * gaps ? 1 : 2;
	size_t hidden = 0;
	int col = 1;
	for (size_t i = 0; i < host->n_views; i++) {
		const bool here = i == focus;
		const int from = col;
		if (i >= n && !here) {
			hidden++;
			continue;
		}
		if (i < 10)
			col = (form < TABS_TIGHT) +
			      canvas_printf(c, 0, col, here ? STYLE_KEY : STYLE_DIM, "%zu", i == 9 ? 0 : i + 1);
		col = canvas_text(c, 0, col, here ? STYLE_TITLE : STYLE_NORMAL,
		                  tab_name(host, i, focus, form));
		canvas_hit(c, 0, from, 1, col - from + 1, HIT_VIEW, (unsigned)i);
		col += gap;
	}
	if (hidden && col + 3 <= c->cols)
		canvas_printf(c, 0, col, STYLE_DIM, "+%zu", hidden);
}

/* @hint: a key that the focused panel offers, "" = none. */
static void heading(const struct view_desc *v, size_t index, bool here, const char *hint,
                    struct canvas *c)
{
	canvas_hline(c, 0, 0, c->cols, here ? STYLE_KNOB : STYLE_DIM);
	if (here && hint[0] && c->cols > 30) {
		canvas_right(c, 0, c->cols - 2, STYLE_KEY, " %s ", hint);
		canvas_hit(c, 0, c->cols - 12, 1, 12, HIT_COMMAND, CMD_SOLO);
	}
	int col = canvas_printf(c, 0, 2, STYLE_DIM, " ");
	if (index < 10)
		col = canvas_printf(c, 0, col, STYLE_KEY, "%zu ", (index + 1) % 10);
	col = canvas_text(c, 0, col, here ? STYLE_TITLE : STYLE_NORMAL, v->title);
	canvas_text(c, 0, col, STYLE_DIM, " ");
}

static void panel(const struct session *s, const struct view_desc *v, size_t index, bool here,
                  const char *hint, struct canvas area)
{
	canvas_hit(&area, 0, 0, area.rows, area.cols, HIT_PANEL, (unsigned)index);
	if (hint) {
		heading(v, index, here, hint, &area);
		area = canvas_sub(&area, 1, 0, area.rows - 1, area.cols);
	}
	if (area.rows < 1 || area.cols < 1)
		return;
	/* a panel that shows metrics leaves its last rows to what was recorded of them */
	struct metric_list shown = { 0 };
	const int rows = recorded_rows(s, area.rows);
	struct canvas upper = canvas_sub(&area, 0, 0, area.rows - rows, area.cols);
	struct canvas lower = canvas_sub(&area, area.rows - rows, 0, rows, area.cols);
	upper.shown = &shown;
	v->draw(s, &upper);
	if (rows && !shown.n) {
		canvas_clear(&area);
		v->draw(s, &area);
	} else if (rows) {
		recorded_draw(s, &shown, &lower);
	}
}

/* The view of the lesson while a preset is walked and it is not itself the focused panel. */
static const struct view_desc *lesson_view(const struct screen_host *host, const struct session *s)
{
	size_t index;
	if (!s->tour.preset || !arrangement_views(0, host, VIEW_LESSON, &index, 1) ||
	    index == screen_focus(host, s))
		return NULL;
	return host->view_at(index);
}

#define TWICE_COLS 76 /* from which on two panels have room beside each other */

/* The focused panel alone; @twice: and once more, where there is an earlier run. */
static void solo_panel(const struct screen_host *host, const struct session *s, bool twice,
                       const struct layout *l, struct canvas *c)
{
	const size_t focus = screen_focus(host, s);
	struct session was;
	if (!l->n_panels)
		return;
	twice = twice && run_before_session(s, &was);
	if (!twice || l->panel[0].cols < TWICE_COLS) {
		panel(s, host->view_at(focus), focus, true, twice ? "two: 76 columns" : "Esc back",
		      part(c, l->panel[0]));
		return;
	}
	struct rect left = l->panel[0], right = left;
	char what[160];
	left.cols = (left.cols - 1) / 2;
	right.col += left.cols + 1;
	right.cols -= left.cols + 1;
	panel(&was, host->view_at(focus), focus, false, "", part(c, left));
	panel_difference(&s->sel, &was.sel, what, sizeof what);
	struct canvas head = part(c, left);
	canvas_right(&head, 0, head.cols - 1, STYLE_WATCH, " %.60s ", what[0] ? what : "as before");
	panel(s, host->view_at(focus), focus, true, "Esc back", part(c, right));
}

/* Of tiles that stand in one column, those that know how little they need give the rest to the
 * others. */
static void fit_heights(const struct screen_host *host, const struct session *s,
                        const size_t *views, unsigned n, struct rect *tile)
{
	int give[LAYOUT_MAX_PANELS] = { 0 }, spare = 0, takers = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct view_desc *v = host->view_at(views[i]);
		if (tile[i].col != tile[0].col || tile[i].cols != tile[0].cols)
			return;
		if (v->side_rows) /* and its heading, and a blank row */
			give[i] = tile[i].rows - 2 - v->side_rows(s, tile[i].cols);
		takers += give[i] <= 0;
		spare += give[i] > 0 ? give[i] : 0;
	}
	if (!takers)
		return;
	const int each = spare / takers;
	int rest = spare % takers; /* a row more for the first ones */
	for (unsigned i = 0; i < n; i++) {
		tile[i].rows += give[i] > 0 ? -give[i] : each + (rest > 0);
		rest -= give[i] <= 0;
		if (i > 0)
			tile[i].row = tile[i - 1].row + tile[i - 1].rows;
	}
}

static void panels(const struct screen_host *host, const struct screen_state *st,
                   const struct layout *l, struct canvas *c)
{
	const struct session *s = host->session(host->ctx);
	size_t grid[LAYOUT_MAX_PANELS], side[LAYOUT_MAX_PANELS], focus = screen_focus(host, s);
	unsigned n = arrangement_views(st->layout, host, VIEW_GRID, grid, LAYOUT_MAX_PANELS);
	unsigned n_side = arrangement_views(st->layout, host, VIEW_SIDE, side, LAYOUT_MAX_PANELS);
	bool seen = false;
	for (unsigned i = 0; i < n_side && i < l->n_side; i++) {
		seen = seen || side[i] == focus;
		panel(s, host->view_at(side[i]), side[i], side[i] == focus, "f full", part(c, l->side[i]));
	}
	for (unsigned i = 0; i < n && i < l->n_panels; i++)
		seen = seen || grid[i] == focus;
	/* what is chosen but has no place takes the last tile */
	if (!seen && l->n_panels) {
		grid[l->n_panels - 1] = focus;
		if (n < l->n_panels)
			n = l->n_panels;
	}
	struct rect tile[LAYOUT_MAX_PANELS];
	n = n < l->n_panels ? n : l->n_panels;
	memcpy(tile, l->panel, sizeof tile);
	fit_heights(host, s, grid, n, tile);
	for (unsigned i = 0; i < n; i++)
		panel(s, host->view_at(grid[i]), grid[i], grid[i] == focus, l->headings ? "f full" : NULL,
		      part(c, tile[i]));
}

/* Too small for panels: say so, and still give the figure that matters most. */
static void small_screen(const struct session *s, struct canvas *c)
{
	char text[160];
	int row = 0;
	bool known = s->plan_ok && s->usage_known && s->occ_ok;
	if (!s->plan_ok && s->plan_err.code != ERR_NONE && c->rows > 1) {
		canvas_text_n(c, row++, 0, c->cols, STYLE_ERROR, "✗ launch refused");
	} else if (known) {
		snprintf(text, sizeof text, "occupancy %.1f %%", s->occ.pct);
		canvas_text_n(c, row++, 0, c->cols, STYLE_BOLD, text);
		snprintf(text, sizeof text, "%u blocks per SM", s->occ.blocks_per_sm);
		if (c->rows >= 5)
			canvas_text_n(c, row++, 0, c->cols, STYLE_NORMAL, text);
	} else {
		canvas_text_n(c, row++, 0, c->cols, STYLE_NORMAL,
		              s->state == RUN_RUNNING ? "first run under way" : "press r to run");
	}
	snprintf(text, sizeof text,
	         "%d×%d is too small for the panels: they need %d×%d or more. q quits.", c->cols,
	         c->rows, LAYOUT_MIN_COLS, LAYOUT_MIN_ROWS);
	canvas_wrap(c, row, 0, c->rows - row, c->cols, STYLE_WATCH, text);
}

void screen_draw(const struct screen_host *host, const struct screen_state *st, struct canvas *c)
{
	const struct session *s = host->session(host->ctx);
	struct layout l;
	struct layout_need need = {
		.status_rows = status_rows(s, st, c->cols),
		.param_rows = header_sheet_rows(s, layout_side_cols(c->cols, st->side_cols)),
	};
	size_t views[LAYOUT_MAX_PANELS];
	need.grid = arrangement_views(st->layout, host, VIEW_GRID, views, LAYOUT_MAX_PANELS);
	need.side = arrangement_views(st->layout, host, VIEW_SIDE, views, LAYOUT_MAX_PANELS);
	need.no_side = !need.side;
	need.side_cols = layout_side_cols(c->cols, st->side_cols);
	for (unsigned i = 0; i < need.side; i++)
		if (host->view_at(views[i])->side_rows) /* and its heading */
			need.side_rows[i] = 1 + host->view_at(views[i])->side_rows(s, need.side_cols);
	const struct view_desc *lesson = st->solo ? NULL : lesson_view(host, s);
	if (lesson)
		need.lesson_rows = lesson->dock_rows(s, c->cols, layout_lesson_most(c->rows));
	need.solo = st->solo;
	canvas_clear(c);
	layout_make(c->rows, c->cols, &need, &l);
	if (l.message.rows) {
		small_screen(s, c);
		return;
	}
	struct canvas area = part(c, l.verdict);
	if (area.rows)
		verdict_draw(s, &area);
	area = part(c, l.title);
	header_title(s, &area);
	area = part(c, l.params);
	if (area.rows)
		header_params(s, &area);
	area = part(c, l.tabs);
	if (area.rows)
		tabs(host, s, &area);
	if (host->n_views && st->solo)
		solo_panel(host, s, st->twice, &l, c);
	else if (host->n_views)
		panels(host, st, &l, c);
	area = part(c, l.lesson);
	if (area.rows && lesson)
		lesson->draw(s, &area);
	area = part(c, l.sheet);
	if (area.rows)
		header_sheet(s, &area);
	if (l.wide) /* the blank column between the two is held and dragged */
		canvas_hit(c, l.sheet.row, l.sheet.col + l.sheet.cols, l.status.row - l.sheet.row, 1,
		           HIT_EDGE, 0);
	area = part(c, l.status);
	status_draw(s, st, &area);
	area = part(c, l.keys);
	if (area.rows)
		status_keys(s, host->n_views ? host->view_at(screen_focus(host, s)) : NULL, &area);
	if (overlay_is_open(st)) {
		struct rect over = { l.title.row + l.title.rows + l.params.rows, 0, 0, c->cols };
		over.rows = l.status.row - over.row;
		area = part(c, over);
		overlay_draw(host, st, &area);
	}
}
