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

static void failure(const struct err *e, const char *head, char *out, size_t n)
{
	snprintf(out, n, "✗ %s%s%s%s", head, e->msg, e->remedy[0] ? " → " : "", e->remedy);
	for (char *p = out; *p; p++) /* a compiler's log has lines; here it is one */
		if (*p == '\n' || *p == '\t')
			*p = ' ';
}

/* The text and its style; "" = nothing to say. */
static enum style compose(const struct session *s, const struct screen_state *st, char *out,
                          size_t n)
{
	char a[64], b[64], legal[200];
	out[0] = '\0';
	if (st->open == CMD_PARAM_TYPE && s->sel.kernel && s->param < s->sel.kernel->n_params) {
		legal_text(s, legal, sizeof legal);
		snprintf(out, n, "%s = %s_   Enter sets it, Esc leaves it   (%s)%s%s",
		         s->sel.kernel->params[s->param].name, st->typed, legal,
		         st->message[0] ? "   ✗ " : "", st->message);
		return st->message[0] ? STYLE_ERROR : STYLE_KNOB;
	}
	if (st->message[0]) {
		snprintf(out, n, "%s%s", st->bad ? "✗ " : "", st->message);
		return st->bad ? STYLE_ERROR : STYLE_NORMAL;
	}
	if (!s->plan_ok && s->plan_err.code != ERR_NONE) {
		failure(&s->plan_err, "", out, n);
		return STYLE_ERROR;
	}
	switch (s->state) {
	case RUN_NONE: snprintf(out, n, "not run yet: press r"); return STYLE_DIM;
	case RUN_RUNNING:
		snprintf(out, n, "%s   c cancels", s->stuck_compile ? "compiling" : "running");
		return STYLE_KNOB;
	case RUN_FAILED: failure(&s->run_err, "", out, n); return STYLE_ERROR;
	case RUN_CANCELLED: snprintf(out, n, "cancelled: press r to run"); return STYLE_WATCH;
	case RUN_DONE: break;
	}
	if (!s->now)
		return STYLE_DIM;
	const struct run_record *r = s->now;
	if (s->stale) {
		snprintf(out, n, "the figures are of an earlier selection: press r to run this one");
		return STYLE_WATCH;
	}
	if (r->verify == VERIFY_WRONG) {
		snprintf(out, n, "✗ wrong result: %s%s%s", r->verify_text, r->check.note[0] ? " · " : "",
		         r->check.note);
		return STYLE_ERROR;
	}
	fmt_count(a, sizeof a, (double)r->run.counts.blocks_run);
	fmt_ns(b, sizeof b, r->run.wall_s * 1e9);
	/* "✓ exact · 4 096 blocks in 310 ms here · note" */
	size_t len = 0;
	out[0] = '\0';
	if (r->verify == VERIFY_OK)
		len = (size_t)snprintf(out, n, "✓ %s · ", r->verify_text[0] ? r->verify_text : "verified");
	else if (r->verify == VERIFY_NO_REFERENCE)
		len = (size_t)snprintf(out, n, "no reference · ");
	if (len < n && !r->run.counts.blocks_run)
		snprintf(out + len, n - len, "ran in %s here%s%s", b, r->run.note[0] ? " · " : "",
		         r->run.note);
	else if (len < n)
		snprintf(out + len, n - len, "%s block%s run in %s here%s%s", a,
		         r->run.counts.blocks_run == 1 ? "" : "s", b, r->run.note[0] ? " · " : "",
		         r->run.note);
	return STYLE_DIM;
}

#define TEXT_MAX 3000

int status_rows(const struct session *s, const struct screen_state *st, int cols)
{
	char text[TEXT_MAX];
	compose(s, st, text, sizeof text);
	int n = text_rows(text, cols - 6);
	return n < 1 ? 1 : n > 3 ? 3 : n;
}

void status_draw(const struct session *s, const struct screen_state *st, struct canvas *c)
{
	char text[TEXT_MAX];
	enum style style = compose(s, st, text, sizeof text);
	canvas_hline(c, 0, 0, c->cols, STYLE_DIM);
	if (!text[0])
		return;
	bool running = style == STYLE_KNOB && s->state == RUN_RUNNING && st->open != CMD_PARAM_TYPE;
	int width = utf8_columns(text);
	if (width <= c->cols - 6 || c->rows == 1) {
		canvas_cell(c, 0, 2, STYLE_DIM, ' ');
		int end = canvas_text_n(c, 0, 3, c->cols - 6, style, text);
		canvas_cell(c, 0, end, STYLE_DIM, ' ');
		if (running && !s->stuck_compile && c->cols - end > 20) {
			int bar = c->cols - end - 14 < 30 ? c->cols - end - 14 : 30;
			int at = end + 2;
			for (int i = -1; i <= bar + 7; i++)
				canvas_cell(c, 0, at + i, STYLE_DIM, ' ');
			for (int i = 0; i < bar; i++)
				canvas_cell(c, 0, at + i, STYLE_DIM, 0xb7);
			canvas_bar(c, 0, at, bar, s->progress, STYLE_KNOB);
			canvas_printf(c, 0, at + bar + 1, STYLE_KNOB, "%3.0f %%", 100 * s->progress);
		}
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

/* Help and quit are always there: the others give way to them. */
static bool must_stay(const struct key_desc *k)
{
	return k->command == CMD_QUIT || k->command == CMD_HELP;
}

void status_keys(const struct view_desc *focused, struct canvas *c)
{
	int col = 1, reserve = 0;
	for (size_t i = 0; i < key_count(); i++)
		if (must_stay(key_at(i)))
			reserve += key_width(key_at(i), key_shown(key_at(i)->key));
	for (size_t i = 0; i < key_count(); i++) {
		const struct key_desc *k = key_at(i);
		char keys[32];
		if (!k->bar[0] || (k->command == CMD_LENS && !(focused && focused->lens_rows)))
			continue;
		bool pair = k->bar[0] == '&' && i > 0;
		snprintf(keys, sizeof keys, "%s%s", pair ? key_shown(key_at(i - 1)->key) : "",
		         key_shown(k->key));
		int width = key_width(k, keys);
		if (must_stay(k))
			reserve -= width;
		else if (col + width + reserve > c->cols)
			continue;
		int end = canvas_text(c, 0, col, STYLE_KEY, keys);
		canvas_text(c, 0, end + 1, STYLE_DIM, k->bar + pair);
		col += width;
	}
}
