/* Keys inside the panels: which one has the focus, its row, its detail, its time axis. See
 * command.h. */
#include "ui/command.h"

#include <string.h>

#define PAGE 10

const char *when_detail(const struct session *s, const struct view_desc *view)
{
	const bool opens = view && (view->detail_rows || view->choose || view->preset);
	return opens && view->rows && view->rows(s) ? NULL : "no row with a detail in this panel";
}

const char *when_axis(const struct session *s, const struct view_desc *view)
{
	(void)s;
	return view && (view->zooms || view->pairs) ? NULL
	                                            : "this panel has no time axis; the timeline has";
}

/* Where the cursor stands on a launch of the program, all panels show that one. */
static void follow_cursor(const struct screen_host *host, const struct view_desc *v)
{
	const struct session *s = host->session(host->ctx);
	const uint64_t number = v && v->launch && host->set_launch ? v->launch(s) : 0;
	if (number)
		host->set_launch(host->ctx, number);
}

void view_follow(const struct screen_host *host)
{
	if (host->n_views)
		follow_cursor(host, host->view_at(screen_focus(host, host->session(host->ctx))));
}

static void show(const struct screen_host *host, const struct view_desc *v)
{
	struct session *s = host->edit(host->ctx);
	s->view = v->name;
	s->cursor.row = v->start ? v->start(s) : 0;
	s->cursor.placed = false;
	s->cursor.detail_row = 0;
	s->cursor.detail = false;
	if (host->focus)
		host->focus(host->ctx);
}

static void put(const char **names, unsigned *n, const char *name)
{
	if (*n == VISITED_MAX)
		memmove(names, names + 1, --*n * sizeof *names);
	names[(*n)++] = name;
}

void view_focus(const struct screen_host *host, struct screen_state *st, size_t i)
{
	struct session *s = host->edit(host->ctx);
	if (i >= host->n_views) {
		screen_say(st, true, "there is no panel %zu", i + 1);
		return;
	}
	const struct view_desc *v = host->view_at(i);
	if (s->view && !strcmp(s->view, v->name))
		return;
	if (s->view)
		put(st->visited, &st->n_visited, s->view);
	st->n_left = 0;
	show(host, v);
}

/* The last panel of @names that is there; this one goes to the end of @to. False: there is none. */
static bool go(const struct command_call *call, const char **names, unsigned *n, const char **to,
               unsigned *n_to)
{
	const char *here = call->host->session(call->host->ctx)->view;
	while (*n) {
		const char *name = names[--*n];
		for (size_t i = 0; i < call->host->n_views; i++)
			if (!strcmp(call->host->view_at(i)->name, name)) {
				if (here)
					put(to, n_to, here);
				show(call->host, call->host->view_at(i));
				return true;
			}
	}
	return false;
}

void view_forward(const struct command_call *call)
{
	struct screen_state *st = call->st;
	if (!go(call, st->left, &st->n_left, st->visited, &st->n_visited))
		screen_say(st, false, "nothing to go forward to: Esc goes back");
}

void view_settle(const struct screen_host *host)
{
	struct session *s = host->edit(host->ctx);
	const struct view_desc *v = host->n_views ? host->view_at(screen_focus(host, s)) : NULL;
	if (v && v->start && !s->opened && !s->cursor.placed && !s->cursor.detail && panel_metrics(s))
		s->cursor.row = v->start(s);
}

void view_step(const struct command_call *call)
{
	const size_t n = call->host->n_views;
	const size_t focus = screen_focus(call->host, call->host->session(call->host->ctx));
	view_focus(call->host, call->st, n ? (focus + (call->arg > 0 ? 1 : n - 1)) % n : 0);
}

unsigned row_moved(unsigned at, unsigned n, enum command command)
{
	const unsigned last = n ? n - 1 : 0;
	if (at > last)
		at = last;
	switch (command) {
	case CMD_ROW_UP: return at ? at - 1 : 0;
	case CMD_ROW_DOWN: return at < last ? at + 1 : last;
	case CMD_PAGE_UP: return at > PAGE ? at - PAGE : 0;
	case CMD_PAGE_DOWN: return last - at > PAGE ? at + PAGE : last;
	case CMD_ROW_FIRST: return 0;
	case CMD_ROW_LAST: return last;
	default: return at;
	}
}

/* Up and down in a view whose rows lie in columns. */
static unsigned cell_moved(unsigned at, unsigned n, unsigned columns, enum command command)
{
	if (command == CMD_ROW_UP || command == CMD_PAGE_UP)
		return at >= columns ? at - columns : at;
	if (command == CMD_ROW_DOWN || command == CMD_PAGE_DOWN)
		return at + columns < n ? at + columns : at;
	return row_moved(at, n, command);
}

bool view_walks(const struct command_call *call)
{
	struct session *s = call->host->edit(call->host->ctx);
	const unsigned columns = call->view && call->view->columns ? call->view->columns(s) : 0;
	if (!columns)
		return false;
	unsigned *at = &s->cursor.row;
	s->cursor.placed = true;
	if (call->arg > 0 && *at % columns + 1 < columns)
		++*at;
	else if (call->arg < 0 && *at % columns)
		--*at;
	return true;
}

void row_move(const struct command_call *call)
{
	struct session *s = call->host->edit(call->host->ctx);
	const struct view_desc *v = call->view;
	const unsigned columns = v && v->columns ? v->columns(s) : 0;
	s->cursor.placed = true;
	if (columns)
		s->cursor.row = cell_moved(s->cursor.row, v->rows(s), columns, call->command);
	else if (v && s->cursor.detail && v->detail_rows)
		s->cursor.detail_row = row_moved(s->cursor.detail_row, v->detail_rows(s), call->command);
	else if (v && v->rows)
		s->cursor.row = row_moved(s->cursor.row, v->rows(s), call->command);
	follow_cursor(call->host, v);
}

void detail_toggle(const struct command_call *call)
{
	struct session *s = call->host->edit(call->host->ctx);
	struct selection chosen;
	if (call->view->choose) {
		if (call->view->choose(s, &chosen))
			call->host->set_selection(call->host->ctx, &chosen);
		return;
	}
	if (call->view->preset) {
		call->host->choose(call->host->ctx, CMD_PRESET, call->view->preset(s));
		return;
	}
	s->cursor.detail = !s->cursor.detail;
	s->cursor.detail_row =
		s->cursor.detail && call->view->detail_start ? call->view->detail_start(s) : 0;
	follow_cursor(call->host, call->view);
}

void play_toggle(const struct command_call *call)
{
	struct session *s = call->host->edit(call->host->ctx);
	struct screen_state *st = call->st;
	if (!call->view->detail_rows) {
		screen_say(st, true, "nothing plays here: coalescing and divergence have an observed warp");
		return;
	}
	st->playing = !st->playing;
	if (!s->cursor.detail)
		detail_toggle(call);
	const unsigned n = call->view->detail_rows(s);
	if (st->playing && (!s->cursor.detail || n < 2)) {
		st->playing = false;
		screen_say(st, false, "there is one access: nothing moves");
	} else if (st->playing) {
		s->cursor.detail_row = 0;
		screen_say(st, false, "playing: a stops");
	}
}

bool play_step(const struct screen_host *host, struct screen_state *st)
{
	struct session *s = host->edit(host->ctx);
	const struct view_desc *v = host->n_views ? host->view_at(screen_focus(host, s)) : NULL;
	const bool more =
		v && v->detail_rows && s->cursor.detail && s->cursor.detail_row + 1 < v->detail_rows(s);
	if (more)
		s->cursor.detail_row++;
	else
		st->playing = false;
	return more;
}

void view_solo(const struct command_call *call)
{
	call->st->solo = !call->st->solo;
	call->st->twice = false;
}

const char *when_twice(const struct session *s, const struct view_desc *view)
{
	struct session was;
	(void)view;
	return run_before_session(s, &was)
	           ? NULL
	           : "no earlier run of this kernel to stand beside: change something";
}

void view_twice(const struct command_call *call)
{
	call->st->twice = !call->st->twice;
	call->st->solo = call->st->twice;
}

void view_back(const struct command_call *call)
{
	if (call->host->session(call->host->ctx)->cursor.detail && call->view)
		detail_toggle(call);
	else if (call->st->solo)
		call->st->solo = call->st->twice = false;
	else if (!go(call, call->st->visited, &call->st->n_visited, call->st->left, &call->st->n_left))
		screen_say(call->st, false, "nothing to go back to: q quits");
}

/* A closer look: at the time axis where there is one, else at the panel. */
void view_zoom(const struct command_call *call)
{
	if (call->view && call->view->zooms)
		axis_zoom(call);
	else
		view_solo(call);
}

void axis_zoom(const struct command_call *call)
{
	if (!time_axis_zoom(&call->host->edit(call->host->ctx)->cursor, call->arg))
		screen_say(call->st, false,
		           call->arg > 0 ? "there is no closer look" : "this is all of it");
}

void axis_pan(const struct command_call *call)
{
	struct session *s = call->host->edit(call->host->ctx);
	if (call->view->pairs) {
		const unsigned n = call->view->pairs(s);
		s->map_pair = n ? (s->map_pair % n + (call->arg > 0 ? 1 : n - 1)) % n : 0;
		s->cursor.row = call->view->start(s);
		if (call->host->focus)
			call->host->focus(call->host->ctx);
		return;
	}
	if (time_axis_pan(&s->cursor, call->arg))
		return;
	screen_say(call->st, false,
	           call->arg < 0    ? "this is the start"
	           : s->cursor.zoom ? "this is the end"
	                            : "this is all of it; z looks closer");
}
