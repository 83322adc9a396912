/*
 * What most panels share: waiting texts, comparable earlier runs, source lines, scrolling.
 *
 * Reads the session only; knows no terminal and no particular view. See view.h.
 */
#include "ui/view.h"

#include "base/text.h"
#include "model/brief.h"
#include "model/program_session.h"
#include "model/time_range.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool panel_focused(const struct session *s, const char *name)
{
	return s->view && !strcmp(s->view, name);
}

/* A person's file that was read again is a new family of the same name. */
static bool same_family(const struct kernel_desc *a, const struct kernel_desc *b)
{
	return a == b || (a && b && a->user && b->user && !strcmp(a->name, b->name));
}

static bool has_record(const struct session *s)
{
	return s->now && s->sel.kernel && s->now->sel.kernel == s->sel.kernel;
}

const struct metric_set *panel_metrics(const struct session *s)
{
	return has_record(s) ? &s->now->metrics : NULL;
}

const struct metric_set *panel_before(const struct session *s)
{
	if (!panel_before_selection(s))
		return NULL;
	return panel_pinned(s) ? &s->pinned->metrics : &s->before->metrics;
}

bool panel_pinned(const struct session *s)
{
	return has_record(s) && s->pinned && same_family(s->pinned->sel.kernel, s->now->sel.kernel);
}

const struct selection *panel_before_selection(const struct session *s)
{
	if (panel_pinned(s)) /* the pinned run itself is held against nothing */
		return selection_equal(&s->pinned->sel, &s->now->sel) ? NULL : &s->pinned->sel;
	if (!has_record(s) || !s->before || !same_family(s->before->sel.kernel, s->now->sel.kernel))
		return NULL;
	return &s->before->sel;
}

bool panel_times_apart(const struct session *s)
{
	const struct selection *was = panel_before_selection(s);
	const bool same_variant =
		was && was->kernel == s->now->sel.kernel && was->variant == s->now->sel.variant;
	return was && times_apart(panel_before(s), &s->now->metrics,
	                          same_variant ? TIME_STEP_VALUE : TIME_STEP_VARIANT);
}

void panel_pace(const struct pace *p, bool of_blocks, int width, char *out, size_t n)
{
	char left[48], number[32];
	out[0] = '\0';
	if (p->left_s < 1)
		return;
	if (p->left_s >= 90)
		snprintf(left, sizeof left, "%.0f min left", p->left_s / 60);
	else
		snprintf(left, sizeof left, "%.0f s left", p->left_s);
	if (p->per_s >= 100)
		fmt_count(number, sizeof number, round(p->per_s));
	else
		fmt_num(number, sizeof number, p->per_s, 2);
	if (of_blocks)
		snprintf(out, n, "%s blocks a second, %s", number, left);
	else
		snprintf(out, n, "%s a second, %s", number, left);
	if (!(p->per_s > 0) || utf8_columns(out) > width)
		snprintf(out, n, "%s", left);
}

const char *panel_reason(const struct metric_set *m, enum metric_id id)
{
	if (!m || metric_known(m, id))
		return "";
	return m->v[id].reason ? m->v[id].reason : "nothing filled it in this run";
}

static void add(char *out, size_t n, const char *text)
{
	size_t len = strlen(out);
	snprintf(out + len, n - len, "%s%s", len ? ", " : "", text);
}

void panel_difference(const struct selection *is, const struct selection *was, char *out, size_t n)
{
	char word[128], value[64];
	out[0] = '\0';
	if (is->kernel != was->kernel && same_family(is->kernel, was->kernel)) {
		add(out, n, "the file as it was");
		return;
	}
	if (!is->kernel || is->kernel != was->kernel) {
		add(out, n, was->kernel ? was->kernel->name : "another kernel");
		return;
	}
	const struct kernel_desc *k = is->kernel;
	if (is->variant != was->variant && was->variant < k->n_variants)
		add(out, n, k->variants[was->variant].name);
	for (unsigned i = 0; i < k->n_params && i < KERNEL_MAX_PARAMS; i++) {
		if (is->params[i] == was->params[i] || !kernel_param_used(k, was->variant, i))
			continue;
		kernel_param_format(k, i, was->params[i], value, sizeof value);
		snprintf(word, sizeof word, "%s %s", k->params[i].name, value);
		add(out, n, word);
	}
	if (strcmp(is->gpu->id, was->gpu->id))
		add(out, n, was->gpu->name);
	if (strcmp(is->backend, was->backend))
		add(out, n, was->backend);
}

/* Message and remedy from row 1 on; returns the next free row. */
static int explain(struct canvas *c, const char *head, const struct err *e)
{
	int width = c->cols - 4, row = 1;
	canvas_text_n(c, row++, 2, width, STYLE_ERROR, head);
	if (e->msg[0])
		row += canvas_wrap(c, row, 2, c->rows - row, width, STYLE_NORMAL, e->msg);
	if (e->remedy[0])
		row += canvas_wrap(c, row, 2, c->rows - row, width, STYLE_KNOB, e->remedy);
	return row + 1;
}

#define NOTE_ROWS 16 /* from which every panel leaves its first row empty */

bool panel_notes(const struct session *s, const struct canvas *c)
{
	return has_record(s) && s->stale && c->rows >= NOTE_ROWS;
}

bool panel_no_launch(const struct session *s)
{
	const struct program *p = s->program ? s->program->now : NULL;
	return p && !p->n_launches && s->state != RUN_RUNNING && s->state != RUN_FAILED;
}

bool panel_waiting(const struct session *s, struct canvas *c, const char *shows)
{
	int width = c->cols - 4, row;
	if (has_record(s)) {
		if (panel_notes(s, c)) {
			char what[160], note[200];
			panel_difference(&s->sel, &s->now->sel, what, sizeof what);
			snprintf(note, sizeof note, "last run: %s", what[0] ? what : "earlier selection");
			int cols = utf8_columns(note);
			int at = c->cols - 1 - cols < 2 ? 2 : c->cols - 1 - cols;
			canvas_text_n(c, 0, at, c->cols - 1 - at, STYLE_WATCH, note);
		}
		return false;
	}
	if (!s->plan_ok && s->plan_err.code != ERR_NONE) {
		row = explain(c, "✗ This launch is refused", &s->plan_err);
	} else if (s->state == RUN_FAILED) {
		row = explain(c, "✗ The run failed", &s->run_err);
	} else if (s->state == RUN_RUNNING) {
		row = 1;
		if (s->stuck_compile)
			canvas_text_n(c, row++, 2, width, STYLE_NORMAL, "compiling …");
		else
			canvas_printf(c, row++, 2, STYLE_NORMAL, "running … %.0f %%", 100 * s->progress);
		row++;
	} else if (panel_no_launch(s)) {
		row = 2 + canvas_wrap(c, 1, 2, c->rows - 1, width, STYLE_NORMAL,
		                      "The program has run, and launched no kernel.");
	} else {
		row = 1;
		canvas_text_n(c, row++, 2, width, STYLE_NORMAL,
		              s->state == RUN_CANCELLED ? "The run was cancelled."
		                                        : "Nothing has run for this kernel yet.");
		int col = canvas_text(c, row, 2, STYLE_NORMAL, "press ");
		col = canvas_text(c, row, col, STYLE_KEY, "r");
		canvas_text_n(c, row++, col, c->cols - 2 - col, STYLE_NORMAL, " to run it");
		row++;
	}
	canvas_wrap(c, row, 2, c->rows - row, width, STYLE_DIM, shows);
	return true;
}

/* The tag comment starts at the last "//@". */
static char *tag_start(char *text)
{
	char *found = NULL;
	for (char *p = strstr(text, "//@"); p; p = strstr(p + 3, "//@"))
		found = p;
	return found;
}

void panel_source(const struct session *s, uint32_t line, char *out, size_t n)
{
	char raw[512];
	if (!line) {
		snprintf(out, n, "(no source line: compiler's own)");
		return;
	}
	if (!s->source || !source_line(s->source, line, raw, sizeof raw)) {
		snprintf(out, n, "(line not in this source)");
		return;
	}
	char *tag = tag_start(raw);
	if (tag)
		*tag = '\0';
	char *p = raw;
	while (*p == ' ' || *p == '\t')
		p++;
	size_t len = strlen(p);
	while (len && (p[len - 1] == ' ' || p[len - 1] == '\t' || p[len - 1] == '\r'))
		p[--len] = '\0';
	for (char *q = p; *q; q++)
		if (*q == '\t')
			*q = ' ';
	snprintf(out, n, "%s", p);
}

void panel_tag(const struct session *s, uint32_t line, char *out, size_t n)
{
	char raw[512];
	out[0] = '\0';
	if (!line || !s->source || !source_line(s->source, line, raw, sizeof raw))
		return;
	char *tag = tag_start(raw);
	if (!tag)
		return;
	tag += 3;
	while (*tag == ' ')
		tag++;
	size_t len = strcspn(tag, " \t\r");
	snprintf(out, n, "%.*s", (int)len, tag);
}

unsigned panel_scroll(unsigned total, unsigned selected, int rows)
{
	if (rows <= 0 || total <= (unsigned)rows)
		return 0;
	if (selected >= total)
		selected = total - 1;
	unsigned half = (unsigned)rows / 2;
	unsigned top = selected > half ? selected - half : 0;
	return top + (unsigned)rows > total ? total - (unsigned)rows : top;
}

void panel_scroll_marks(struct canvas *c, int row, int rows, unsigned top, unsigned total)
{
	if (rows <= 0 || total <= (unsigned)rows)
		return;
	canvas_scrolls(c);
	unsigned window = (unsigned)rows;
	unsigned thumb = window * window / total ? window * window / total : 1;
	unsigned at = (unsigned)((uint64_t)top * (window - thumb) / (total - window));
	for (unsigned r = 0; r < window; r++)
		canvas_cell(c, row + (int)r, c->cols - 1, STYLE_DIM,
		            r >= at && r < at + thumb ? 0x2588 : 0x2502);
}
