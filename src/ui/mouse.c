/*
 * The mouse: where a click lands is what the last frame drew there, so the frame is drawn once more
 * into cells that nobody sees. See screen.h.
 */
#include "ui/command.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define WHEEL_ROWS 3

/* The places of a frame of that size. The caller frees them. */
static struct canvas_hits *places(const struct screen_host *host, const struct screen_state *st,
                                  int rows, int cols)
{
	struct canvas_hits *hits = mem_zalloc(sizeof *hits);
	struct canvas c;
	canvas_init(&c, rows, cols, false);
	c.hits = hits;
	screen_draw(host, st, &c);
	canvas_free(&c);
	return hits;
}

static bool holds(const struct canvas_hit *h, const struct mouse_event *e)
{
	return e->row >= h->row && e->row < h->row + h->rows && e->col >= h->col &&
	       e->col < h->col + h->cols;
}

/* What lies on top at the event; of @kind alone, where it is not HIT_BOX. NULL = nothing. */
static const struct canvas_hit *at(const struct canvas_hits *hits, const struct mouse_event *e,
                                   enum hit_kind kind)
{
	for (unsigned i = hits->n; i > 0; i--)
		if (holds(&hits->hit[i - 1], e) && (kind == HIT_BOX || hits->hit[i - 1].kind == kind))
			return &hits->hit[i - 1];
	return NULL;
}

/* A row is chosen; what was chosen already, in a panel that had the focus, opens. */
static void press_row(const struct screen_host *host, struct screen_state *st, unsigned row,
                      bool focused)
{
	struct session *s = host->edit(host->ctx);
	if (focused && s->cursor.row == row && !s->cursor.detail) {
		screen_command(host, st, CMD_DETAIL);
		return;
	}
	s->cursor.row = row;
	s->cursor.placed = true;
	view_follow(host);
}

static void press_param(const struct screen_host *host, struct screen_state *st, unsigned param)
{
	struct session *s = host->edit(host->ctx);
	if (s->param == param)
		screen_command(host, st, CMD_PARAM_TYPE);
	else
		s->param = param;
}

/* Blocks of that many threads, or as near as the kernel allows. */
static void press_block(const struct screen_host *host, struct screen_state *st, unsigned threads)
{
	const struct session *s = host->session(host->ctx);
	unsigned param;
	int64_t value;
	uint64_t got;
	if (!param_for_block(s, threads, &param, &value, &got)) {
		screen_say(st, false, "no parameter of this variant changes the block");
		return;
	}
	if (value != s->sel.params[param]) {
		host->edit(host->ctx)->param = param;
		host->set_param(host->ctx, param, value);
	}
	if (got != threads)
		screen_say(st, false, "the block nearest to %u threads that %s allows: %u", threads,
		           s->sel.kernel->params[param].name, (unsigned)got);
}

static void press(const struct screen_host *host, struct screen_state *st,
                  const struct canvas_hits *hits, const struct mouse_event *e)
{
	const struct canvas_hit *h = at(hits, e, HIT_BOX), *panel = at(hits, e, HIT_PANEL);
	if (overlay_is_open(st) &&
	    (!h || (h->kind != HIT_BOX && h->kind != HIT_CHOICE && h->kind != HIT_COMMAND))) {
		screen_command(host, st, CMD_BACK);
		return;
	}
	if (!h)
		return;
	const struct canvas_hit *axis = at(hits, e, HIT_AXIS);
	const bool focused = panel && panel->index == screen_focus(host, host->session(host->ctx));
	if (panel && h->kind != HIT_CHOICE && h->kind != HIT_BOX && !focused)
		view_focus(host, st, panel->index);
	st->held = axis && !overlay_is_open(st) ? HIT_AXIS : h->kind;
	if (axis) {
		st->held_col = e->col;
		st->held_cols = axis->cols;
	}
	switch (h->kind) {
	case HIT_CHOICE:
		st->selected = h->index;
		screen_command(host, st, CMD_DETAIL);
		return;
	case HIT_COMMAND: screen_command(host, st, (enum command)h->index); return;
	case HIT_VIEW: view_focus(host, st, h->index); return;
	case HIT_ROW: press_row(host, st, h->index, focused); return;
	case HIT_PARAM: press_param(host, st, h->index); return;
	case HIT_BLOCK: press_block(host, st, h->index); return;
	case HIT_EDGE:
	case HIT_AXIS:
	case HIT_PANEL:
	case HIT_BOX: return;
	}
}

/* What is held follows: the edge, the block size under the pointer, the time axis by quarters of
 * its window, as < and > move it. */
static void drag(const struct screen_host *host, struct screen_state *st, int cols,
                 const struct canvas_hits *hits, const struct mouse_event *e)
{
	const struct canvas_hit *bar = at(hits, e, HIT_BLOCK);
	struct session *s = host->edit(host->ctx);
	const int step = st->held_cols > 4 ? st->held_cols / 4 : 1;
	if (st->held == HIT_EDGE)
		st->side_cols = layout_side_cols(cols, e->col > 0 ? e->col : 1);
	else if (st->held == HIT_BLOCK && bar)
		press_block(host, st, bar->index);
	for (; st->held == HIT_AXIS && e->col - st->held_col >= step; st->held_col += step)
		time_axis_pan(&s->cursor, -1);
	for (; st->held == HIT_AXIS && st->held_col - e->col >= step; st->held_col -= step)
		time_axis_pan(&s->cursor, 1);
}

static void wheel(const struct screen_host *host, struct screen_state *st,
                  const struct canvas_hits *hits, const struct mouse_event *e)
{
	const bool up = e->action == MOUSE_WHEEL_UP;
	const struct canvas_hit *param = at(hits, e, HIT_PARAM), *panel = at(hits, e, HIT_PANEL);
	if (overlay_is_open(st)) {
		panel = NULL;
	} else if (param) {
		host->edit(host->ctx)->param = param->index;
		screen_command(host, st, up ? CMD_PARAM_UP : CMD_PARAM_DOWN);
		return;
	} else if (!panel) {
		return;
	}
	if (panel && panel->index != screen_focus(host, host->session(host->ctx)))
		view_focus(host, st, panel->index);
	for (int i = 0; i < WHEEL_ROWS; i++)
		screen_command(host, st, up ? CMD_ROW_UP : CMD_ROW_DOWN);
}

void screen_mouse(const struct screen_host *host, struct screen_state *st, int rows, int cols,
                  const struct mouse_event *event)
{
	if (event->action == MOUSE_RELEASE) { /* where the edge is let go, it stays */
		if (st->held == HIT_EDGE)
			st->side_cols = layout_side_cols(cols, event->col > 0 ? event->col : 1);
		st->held = HIT_BOX;
		return;
	}
	struct canvas_hits *hits = places(host, st, rows, cols);
	trail_follow(host, st);
	if (event->action == MOUSE_PRESS)
		press(host, st, hits, event);
	else if (event->action == MOUSE_DRAG)
		drag(host, st, cols, hits, event);
	else
		wheel(host, st, hits, event);
	trail_note(host, st);
	free(hits);
}
