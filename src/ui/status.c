/*
 * The status line, written into the rule above the key bar, and the key bar itself.
 *
 * One thing at a time, the most urgent first: what is being typed, a refusal, a running or failed
 * run, what the last run was. Pure drawing; see screen_parts.h.
 */
#include "ui/keys.h"
#include "ui/screen_parts.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void legal_text(const struct session *s, char *out, size_t n)
{
	const struct param_desc *p = &s->sel.kernel->params[s->param];
	if (!p->choices) {
		snprintf(out, n, "%" PRId64 " … %" PRId64, p->min, p->max);
		return;
	}
	out[0] = '\0';
	for (int i = 0; p->choices[i] != INT64_MIN; i++) {
		char value[48];
		size_t len = strlen(out);
		kernel_param_format(s->sel.kernel, s->param, p->choices[i], value, sizeof value);
		snprintf(out + len, n - len, "%s%s", i ? " " : "", value);
	}
}

/* What a line of status says; "" in @text = nothing. */
struct saying {
	char text[3000];
	enum style style;
};

static void say_failure(const struct err *e, struct saying *out)
{
	snprintf(out->text, sizeof out->text, "✗ %.2400s%s%.580s", e->msg, e->remedy[0] ? " → " : "",
	         e->remedy);
	for (char *p = out->text; *p; p++) /* a compiler's log has lines; here it is one */
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	out->style = STYLE_ERROR;
}

static void say_typing(const struct session *s, const struct screen_state *st, struct saying *out)
{
	char legal[200];
	legal_text(s, legal, sizeof legal);
	snprintf(out->text, sizeof out->text, "%s = %s_   Enter sets it, Esc leaves it   (%s)%s%s",
	         s->sel.kernel->params[s->param].name, st->typed, legal, st->message[0] ? "   ✗ " : "",
	         st->message);
	out->style = st->message[0] ? STYLE_ERROR : STYLE_KNOB;
}

static void say_state(const struct session *s, struct saying *out)
{
	switch (s->state) {
	case RUN_NONE:
		if (panel_no_launch(s))
			return;
		snprintf(out->text, sizeof out->text, "not run yet: press r");
		out->style = STYLE_DIM;
		return;
	case RUN_RUNNING:
		snprintf(out->text, sizeof out->text, "%s%s   %s",
		         s->opening             ? "opening "
		         : s->stuck_compile     ? "compiling"
		         : s->progress >= 0.995 ? "evaluating result, caches and time"
		                                : "running",
		         s->opening ? s->opening : "", "c cancels");
		out->style = STYLE_KNOB;
		return;
	case RUN_FAILED: say_failure(&s->run_err, out); return;
	case RUN_CANCELLED:
		snprintf(out->text, sizeof out->text, "cancelled: press r to run");
		out->style = STYLE_WATCH;
		return;
	case RUN_DONE: return;
	}
}

/* "✓ exact · 4 096 blocks run in 310 ms here · note". @here: it ran here, in so long; else it was
 * read from a file. */
static void say_record(const struct run_record *r, bool here, struct saying *out)
{
	char blocks[64], took[64], ran[96] = "";
	size_t len = 0;
	const size_t n = sizeof out->text;
	if (r->verify == VERIFY_WRONG) {
		snprintf(out->text, n, "✗ wrong result: %s%s%s", r->verify_text,
		         r->check.note[0] ? " · " : "", r->check.note);
		out->style = STYLE_ERROR;
		return;
	}
	const struct run_finding *fault = run_findings_fault(&r->run.found);
	if (r->run.found.n) {
		const struct run_finding *f = fault ? fault : &r->run.found.finding[0];
		snprintf(out->text, n, "%s %s: %s", fault ? "✗" : "≈", f->kind, f->text);
		if (fault)
			out->style = STYLE_ERROR;
		return;
	}
	fmt_count(blocks, sizeof blocks, (double)r->run.counts.blocks_run);
	fmt_ns(took, sizeof took, r->run.wall_s * 1e9);
	if (r->verify == VERIFY_OK)
		len = (size_t)snprintf(out->text, n, "✓ %s · ",
		                       r->verify_text[0] ? r->verify_text : "verified");
	else if (r->verify == VERIFY_NO_REFERENCE)
		len = (size_t)snprintf(out->text, n, "no reference · ");
	if (here && (r->run.wall_s > 0 || !run_result_measured(&r->run)))
		snprintf(ran, sizeof ran, " in %s here", took);
	if (!r->run.counts.blocks_run)
		snprintf(out->text + len, n - len, "ran%s%s%s", ran, r->run.note[0] ? " · " : "",
		         r->run.note);
	else
		snprintf(out->text + len, n - len, "%s block%s run%s%s%s", blocks,
		         r->run.counts.blocks_run == 1 ? "" : "s", ran, r->run.note[0] ? " · " : "",
		         r->run.note);
}

/* " · counts: sm_90 machine code", of "sm_90 machine code, ptxas 13.0.88"; " · counts: PTX" */
static void say_level(const struct run_record *r, struct saying *out)
{
	const size_t len = strlen(out->text);
	char level[sizeof r->run.level];
	if (r->verify == VERIFY_WRONG || r->run.found.n || !r->run.level[0])
		return;
	if (!run_result_of_machine_code(&r->run)) {
		snprintf(out->text + len, sizeof out->text - len, " · counts: PTX");
		return;
	}
	snprintf(level, sizeof level, "%.*s", (int)strcspn(r->run.level, " "), r->run.level);
	snprintf(out->text + len, sizeof out->text - len, " · counts: %s machine code", level);
}

/* " · from a file of alice@laptop, 2026-11-22": figures of somebody else's, perhaps. */
static void say_source(const struct session *s, struct saying *out)
{
	const size_t len = strlen(out->text);
	const struct session_written *w = &s->written;
	snprintf(out->text + len, sizeof out->text - len, " · from a file%s%s%s%.10s%s",
	         w->by[0] ? " of " : "", w->by, w->at[0] ? ", " : "", w->at,
	         w->changed ? ", CHANGED since it was written" : "");
	if (w->changed)
		out->style = STYLE_ERROR;
}

static void compose(const struct session *s, const struct screen_state *st, struct saying *out)
{
	*out = (struct saying){ .style = STYLE_DIM };
	if (st->open == CMD_PARAM_TYPE && s->sel.kernel && s->param < s->sel.kernel->n_params) {
		say_typing(s, st, out);
	} else if (st->open == CMD_LINE) {
		snprintf(out->text, sizeof out->text,
		         ": %s_   Tab completes, Enter does it, Esc leaves%s%s%s", st->typed,
		         st->message[0] ? "   " : "", st->bad && st->message[0] ? "✗ " : "", st->message);
		out->style = st->bad && st->message[0] ? STYLE_ERROR : STYLE_KNOB;
	} else if (st->message[0]) {
		snprintf(out->text, sizeof out->text, "%s%s", st->bad ? "✗ " : "", st->message);
		out->style = st->bad ? STYLE_ERROR : STYLE_NORMAL;
	} else if (!s->plan_ok && s->plan_err.code != ERR_NONE) {
		say_failure(&s->plan_err, out);
	} else if (s->state != RUN_DONE) {
		say_state(s, out);
	} else if (s->now && s->stale) {
		snprintf(out->text, sizeof out->text,
		         "the figures are of an earlier selection: press r to run this one");
		out->style = STYLE_WATCH;
	} else if (s->now) {
		say_record(s->now, !s->opened, out);
		if (s->opened)
			say_source(s, out); /* alone: who reads a foreign file must see it on any screen */
		else
			say_level(s->now, out);
	}
}

int status_rows(const struct session *s, const struct screen_state *st, int cols)
{
	struct saying say;
	compose(s, st, &say);
	int n = text_rows(say.text, cols - 6);
	return n < 1 ? 1 : n > 3 ? 3 : n;
}

/* "████····  34 %  540 blocks a second, 12 s left" from @at on. */
static void draw_progress(const struct session *s, struct canvas *c, int at)
{
	char left[96] = "";
	const int most = c->cols - at - 24; /* the bar and the percents keep these */
	panel_pace(&s->pace, s->pace_of_blocks, most, left, sizeof left);
	if (utf8_columns(left) > most)
		left[0] = '\0';
	const int width = utf8_columns(left), room = c->cols - at - 14 - width,
			  bar = room < 30 ? room : 30;
	for (int i = -1; i <= bar + 9 + width; i++)
		canvas_cell(c, 0, at + i, STYLE_DIM, ' ');
	for (int i = 0; i < bar; i++)
		canvas_cell(c, 0, at + i, STYLE_DIM, 0xb7);
	canvas_bar(c, 0, at, bar, s->progress, STYLE_KNOB);
	const int end = canvas_printf(c, 0, at + bar + 1, STYLE_KNOB, "%3.0f %%", 100 * s->progress);
	canvas_text(c, 0, end + 2, STYLE_DIM, left);
}

void status_draw(const struct session *s, const struct screen_state *st, struct canvas *c)
{
	struct saying say;
	compose(s, st, &say);
	const char *text = say.text;
	const enum style style = say.style;
	canvas_hline(c, 0, 0, c->cols, STYLE_DIM);
	if (!text[0])
		return;
	bool running = style == STYLE_KNOB && s->state == RUN_RUNNING && !overlay_is_prompt(st->open);
	int width = utf8_columns(text);
	if (width <= c->cols - 6 || c->rows == 1) {
		canvas_cell(c, 0, 2, STYLE_DIM, ' ');
		int end = canvas_text_n(c, 0, 3, c->cols - 6, style, text);
		canvas_cell(c, 0, end, STYLE_DIM, ' ');
		if (running && !s->stuck_compile && c->cols - end > 20)
			draw_progress(s, c, end + 2);
		return;
	}
	for (int k = 2; k < c->cols; k++)
		canvas_cell(c, 0, k, STYLE_DIM, ' ');
	canvas_wrap(c, 0, 3, c->rows, c->cols - 6, style, text);
}

static int key_width(const struct key_desc *k, const char *keys)
{
	return utf8_columns(keys) + 1 + utf8_columns(k->bar + (k->bar[0] == '&')) + 2;
}

/* Help and quit are always there, and the way through the lessons: the others give way to them. */
static bool must_stay(const struct session *s, const struct key_desc *k)
{
	return k->command == CMD_QUIT || k->command == CMD_HELP ||
	       k->command == (s->tour.preset ? CMD_STEP_NEXT : CMD_PRESET);
}

/* "←→ param": the keys of a row, with those of the row before where they are a pair. */
static void keys_shown(size_t i, char *out, size_t n)
{
	const struct key_desc *k = key_at(i);
	snprintf(out, n, "%s%s", k->bar[0] == '&' && i > 0 ? key_shown(key_at(i - 1)->key) : "",
	         key_shown(k->key));
}

void status_keys(const struct session *s, const struct view_desc *focused, struct canvas *c)
{
	int col = 1, reserve = 0;
	char keys[32];
	for (size_t i = 0; i < key_count(); i++)
		if (must_stay(s, key_at(i))) {
			keys_shown(i, keys, sizeof keys);
			reserve += key_width(key_at(i), keys);
		}
	for (size_t i = 0; i < key_count(); i++) {
		const struct key_desc *k = key_at(i);
		if (!k->bar[0] || command_refused(s, focused, k->command))
			continue;
		keys_shown(i, keys, sizeof keys);
		const int width = key_width(k, keys);
		if (must_stay(s, k))
			reserve -= width;
		else if (col + width + reserve > c->cols)
			continue;
		const int end = canvas_text(c, 0, col, STYLE_KEY, keys);
		canvas_text(c, 0, end + 1, STYLE_DIM, k->bar + (k->bar[0] == '&'));
		canvas_hit(c, 0, col, 1, width - 1, HIT_COMMAND, k->command);
		if (k->bar[0] == '&') /* of a pair, its first key */
			canvas_hit(c, 0, col, 1, utf8_columns(key_shown(key_at(i - 1)->key)), HIT_COMMAND,
			           key_at(i - 1)->command);
		col += width;
	}
}
