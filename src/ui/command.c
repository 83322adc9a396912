/*
 * What keys do: to the screen's state, to the session's focus, and through the host to the rest.
 *
 * Everything returns at once; work happens behind the host's functions. See screen.h.
 */
#include "ui/keys.h"
#include "ui/screen_parts.h"

#include "base/text.h"
#include "model/brief.h"
#include "model/ladder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PAGE 10

static void say(struct screen_state *st, bool bad, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void say(struct screen_state *st, bool bad, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(st->message, sizeof st->message, fmt, ap);
	va_end(ap);
	st->bad = bad;
}

static void close_all(struct screen_state *st)
{
	st->open = CMD_NONE;
	st->selected = st->top = 0;
	st->typed[0] = '\0';
}

static void open(const struct screen_host *host, struct screen_state *st, enum command what)
{
	close_all(st);
	st->open = what;
	if (!overlay_is_list(what))
		return;
	struct choice ch;
	size_t index;
	for (size_t i = 0; overlay_choice(host, st, i, &ch, &index); i++)
		if (ch.current)
			st->selected = i;
	if (!host->choices(host->ctx, what)) {
		close_all(st);
		say(st, true, "there is nothing to choose from");
	}
}

/* --- parameters --- */

static bool has_params(const struct session *s)
{
	const struct kernel_desc *k = s->sel.kernel;
	for (unsigned i = 0; k && i < k->n_params; i++)
		if (kernel_param_used(k, s->sel.variant, i))
			return true;
	return false;
}

static void move_param(const struct screen_host *host, struct screen_state *st, int dir)
{
	struct session *s = host->edit(host->ctx);
	if (!has_params(s)) {
		say(st, true, "this variant has no parameters");
		return;
	}
	const struct kernel_desc *k = s->sel.kernel;
	unsigned n = k->n_params;
	do
		s->param = (s->param + (dir > 0 ? 1 : n - 1)) % n;
	while (!kernel_param_used(k, s->sel.variant, s->param));
}

/* The focused parameter, moved onto one that the variant uses. */
static bool focused_param(const struct screen_host *host, struct screen_state *st)
{
	struct session *s = host->edit(host->ctx);
	if (!has_params(s)) {
		say(st, true, "this variant has no parameters");
		return false;
	}
	if (s->param >= s->sel.kernel->n_params ||
	    !kernel_param_used(s->sel.kernel, s->sel.variant, s->param)) {
		s->param = 0;
		if (!kernel_param_used(s->sel.kernel, s->sel.variant, 0))
			move_param(host, st, +1);
	}
	return true;
}

static void step_param(const struct screen_host *host, struct screen_state *st, int dir)
{
	if (!focused_param(host, st))
		return;
	const struct session *s = host->session(host->ctx);
	int64_t is = s->sel.params[s->param];
	int64_t next = kernel_param_step(s->sel.kernel, s->param, is, dir);
	if (next == is)
		say(st, false, "%s is at its %s value", s->sel.kernel->params[s->param].name,
		    dir > 0 ? "largest" : "smallest");
	else
		host->set_param(host->ctx, s->param, next);
}

static void take_typed(const struct screen_host *host, struct screen_state *st)
{
	const struct session *s = host->session(host->ctx);
	struct err err = { 0 };
	int64_t value;
	if (!st->typed[0]) {
		close_all(st);
		return;
	}
	if (!kernel_param_parse(s->sel.kernel, s->param, st->typed, &value, &err)) {
		say(st, true, "%.400s%s%.150s", err.msg, err.remedy[0] ? " → " : "", err.remedy);
		return; /* what was typed stays, to be corrected */
	}
	close_all(st);
	host->set_param(host->ctx, s->param, value);
}

static void step_variant(const struct screen_host *host, int dir)
{
	const struct session *s = host->session(host->ctx);
	const struct kernel_desc *k = s->sel.kernel;
	if (k && k->n_variants)
		host->set_kernel(host->ctx, k,
		                 (s->sel.variant + (dir > 0 ? 1 : k->n_variants - 1)) % k->n_variants);
}

/* --- views and rows --- */

static void focus_view(const struct screen_host *host, struct screen_state *st, size_t i)
{
	struct session *s = host->edit(host->ctx);
	if (i >= host->n_views) {
		say(st, true, "there is no panel %zu", i + 1);
		return;
	}
	const char *name = host->view_at(i)->name;
	if (s->view && !strcmp(s->view, name))
		return;
	const struct view_desc *v = host->view_at(i);
	s->view = name;
	s->line = v->start ? v->start(s) : 0;
	s->lens_row = 0;
	s->lens = false;
	if (host->focus)
		host->focus(host->ctx);
}

static const struct view_desc *focused_view(const struct screen_host *host)
{
	if (!host->n_views)
		return NULL;
	return host->view_at(screen_focus(host, host->session(host->ctx)));
}

static unsigned moved(unsigned at, unsigned n, enum command cmd)
{
	unsigned last = n ? n - 1 : 0;
	if (at > last)
		at = last;
	switch (cmd) {
	case CMD_ROW_UP: return at ? at - 1 : 0;
	case CMD_ROW_DOWN: return at < last ? at + 1 : last;
	case CMD_PAGE_UP: return at > PAGE ? at - PAGE : 0;
	case CMD_PAGE_DOWN: return last - at > PAGE ? at + PAGE : last;
	case CMD_ROW_FIRST: return 0;
	case CMD_ROW_LAST: return last;
	default: return at;
	}
}

static void move_row(const struct screen_host *host, enum command cmd)
{
	struct session *s = host->edit(host->ctx);
	const struct view_desc *v = focused_view(host);
	if (v && s->lens && v->lens_rows)
		s->lens_row = moved(s->lens_row, v->lens_rows(s), cmd);
	else if (v && v->rows)
		s->line = moved(s->line, v->rows(s), cmd);
}

static void toggle_lens(const struct screen_host *host, struct screen_state *st)
{
	struct session *s = host->edit(host->ctx);
	const struct view_desc *v = focused_view(host);
	if (!v || !v->lens_rows || !v->rows || !v->rows(s)) {
		say(st, false, "no row with a detail in this panel");
		return;
	}
	s->lens = !s->lens;
	s->lens_row = s->lens && v->lens_start ? v->lens_start(s) : 0;
}

static void move_axis(const struct screen_host *host, struct screen_state *st, enum command cmd)
{
	struct session *s = host->edit(host->ctx);
	const struct view_desc *v = focused_view(host);
	if (!v || !v->zooms)
		say(st, false, "this panel has no time axis; the timeline has");
	else if (cmd == CMD_ZOOM_IN && !timeline_zoom_by(s, +1))
		say(st, false, "there is no closer look");
	else if (cmd == CMD_ZOOM_OUT && !timeline_zoom_by(s, -1))
		say(st, false, "this is all of it");
	else if (cmd == CMD_PAN_LEFT && !timeline_pan_by(s, -1))
		say(st, false, "this is the start");
	else if (cmd == CMD_PAN_RIGHT && !timeline_pan_by(s, +1))
		say(st, false, s->timeline_zoom ? "this is the end" : "this is all of it; z looks closer");
}

/* --- what is open --- */

static void choose(const struct screen_host *host, struct screen_state *st)
{
	struct choice ch;
	size_t index, n = overlay_count(host, st);
	if (!n)
		return;
	if (!overlay_choice(host, st, st->selected < n ? st->selected : n - 1, &ch, &index))
		return;
	if (!ch.enabled) {
		say(st, true, "%s: %s", ch.label, ch.why_not[0] ? ch.why_not : "not possible here");
		return;
	}
	enum command what = st->open;
	close_all(st);
	host->choose(host->ctx, what, index);
}

/* True when the open list, page or prompt took the command. */
static bool open_command(const struct screen_host *host, struct screen_state *st, enum command cmd)
{
	bool list = overlay_is_list(st->open);
	switch (cmd) {
	case CMD_BACK: close_all(st); return true;
	case CMD_LENS:
		if (list)
			choose(host, st);
		else if (st->open == CMD_PARAM_TYPE)
			take_typed(host, st);
		else
			close_all(st);
		return true;
	case CMD_ROW_UP:
	case CMD_ROW_DOWN:
	case CMD_PAGE_UP:
	case CMD_PAGE_DOWN:
	case CMD_ROW_FIRST:
	case CMD_ROW_LAST:
		if (list)
			st->selected = moved((unsigned)st->selected, (unsigned)overlay_count(host, st), cmd);
		else if (st->open != CMD_PARAM_TYPE)
			st->top = moved((unsigned)st->top, (unsigned)overlay_text_rows(host, st), cmd);
		return true;
	case CMD_QUIT:
		if (list || st->open == CMD_PARAM_TYPE)
			return false; /* asked for by its own name: quit */
		close_all(st);
		return true;
	default:
		if (cmd == st->open) {
			close_all(st);
			return true;
		}
		return st->open == CMD_PARAM_TYPE;
	}
}

/* What the host answered to a command that it may refuse. */
static void toggle_reference_run(const struct screen_host *host, struct screen_state *st)
{
	struct session *s = host->edit(host->ctx);
	if (!s->reference_run) {
		say(st, false,
		    "nothing is recorded of this launch; 'pmpp-explore list recordings' shows what is");
		return;
	}
	s->reference_run_hidden = !s->reference_run_hidden;
	say(st, false,
	    s->reference_run_hidden ? "recorded figures hidden" : "recorded figures of %s shown",
	    s->reference_run->sel.gpu->name);
}

static void tell(struct screen_state *st, bool ok, const char *said)
{
	say(st, !ok, "%s", said);
}

void screen_command(const struct screen_host *host, struct screen_state *st, enum command cmd)
{
	if (cmd == CMD_NONE)
		return;
	st->message[0] = '\0';
	if (st->open != CMD_NONE && open_command(host, st, cmd))
		return;
	if (cmd >= CMD_VIEW_1 && cmd <= CMD_VIEW_9) {
		focus_view(host, st, (size_t)(cmd - CMD_VIEW_1));
		return;
	}
	const struct session *s = host->session(host->ctx);
	size_t n = host->n_views, focus = screen_focus(host, s);
	char said[sizeof st->message] = "";
	switch (cmd) {
	case CMD_PARAM_PREV: move_param(host, st, -1); break;
	case CMD_PARAM_NEXT: move_param(host, st, +1); break;
	case CMD_PARAM_UP: step_param(host, st, +1); break;
	case CMD_PARAM_DOWN: step_param(host, st, -1); break;
	case CMD_PARAM_TYPE:
		if (focused_param(host, st))
			open(host, st, CMD_PARAM_TYPE);
		break;
	case CMD_PARAM_DEFAULT:
		if (focused_param(host, st))
			host->set_param(host->ctx, s->param, s->sel.kernel->params[s->param].def);
		break;
	case CMD_RUN: host->run(host->ctx); break;
	case CMD_CANCEL:
		if (s->state == RUN_RUNNING || (s->ladder && s->ladder->running >= 0))
			host->cancel(host->ctx);
		else
			say(st, false, "nothing is running");
		break;
	case CMD_KERNEL:
	case CMD_GPU:
	case CMD_BACKEND:
	case CMD_PRESET:
	case CMD_HELP:
	case CMD_ORIGINS: open(host, st, cmd); break;
	case CMD_VARIANT_NEXT: step_variant(host, +1); break;
	case CMD_VARIANT_PREV: step_variant(host, -1); break;
	case CMD_VIEW_NEXT: focus_view(host, st, n ? (focus + 1) % n : 0); break;
	case CMD_VIEW_PREV: focus_view(host, st, n ? (focus + n - 1) % n : 0); break;
	case CMD_ROW_UP:
	case CMD_ROW_DOWN:
	case CMD_PAGE_UP:
	case CMD_PAGE_DOWN:
	case CMD_ROW_FIRST:
	case CMD_ROW_LAST: move_row(host, cmd); break;
	case CMD_ZOOM_IN:
	case CMD_ZOOM_OUT:
	case CMD_PAN_LEFT:
	case CMD_PAN_RIGHT: move_axis(host, st, cmd); break;
	case CMD_LENS: toggle_lens(host, st); break;
	case CMD_BACK:
		if (s->lens)
			toggle_lens(host, st);
		break;
	case CMD_STEP_NEXT: tell(st, host->step(host->ctx, +1, said, sizeof said), said); break;
	case CMD_STEP_PREV: tell(st, host->step(host->ctx, -1, said, sizeof said), said); break;
	case CMD_REVEAL: tell(st, host->reveal(host->ctx, said, sizeof said), said); break;
	case CMD_REFERENCE_RUN: toggle_reference_run(host, st); break;
	case CMD_EXPORT: tell(st, host->save(host->ctx, said, sizeof said), said); break;
	case CMD_QUIT: st->quit = true; break;
	case CMD_NONE:
	case CMD_VIEW_1:
	case CMD_VIEW_9:
	case CMD_COUNT: break;
	}
}

bool screen_type(const struct screen_host *host, struct screen_state *st, uint32_t ch)
{
	(void)host;
	bool taking = overlay_is_list(st->open) || st->open == CMD_PARAM_TYPE;
	size_t len = strlen(st->typed);
	if (!taking)
		return false;
	st->message[0] = '\0';
	if (ch == NK_BACKSPACE) {
		if (len)
			st->typed[len - 1] = '\0';
	} else if (ch >= ' ' && ch < 0x7f) {
		if (len + 1 < sizeof st->typed) {
			st->typed[len] = (char)ch;
			st->typed[len + 1] = '\0';
		}
	} else {
		return ch > 0x7f && ch < NK_BASE; /* other letters cannot match: swallowed */
	}
	st->selected = 0;
	return true;
}

void screen_key(const struct screen_host *host, struct screen_state *st, uint32_t key)
{
	if (!screen_type(host, st, key))
		screen_command(host, st, key_command(key));
}
