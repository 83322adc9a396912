/*
 * Header: what runs where, the parameters with the focused one and its neighbours, the verdict.
 * On wide terminals also the parameter sheet. Pure drawing; see screen_parts.h.
 */
#include "ui/screen_parts.h"

#include "base/scopeless.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const struct variant_desc *variant_of(const struct session *s)
{
	const struct kernel_desc *k = s->sel.kernel;
	return k && s->sel.variant < k->n_variants ? &k->variants[s->sel.variant] : NULL;
}

static enum origin origin_now(const struct session *s)
{
	return s->now && !s->stale ? s->now->run.counts.origin : ORIGIN_NONE;
}

void header_title(const struct session *s, struct canvas *c)
{
	const struct variant_desc *v = variant_of(s);
	char gpu[96], be[48];
	int col = 1;
	if (s->sel.kernel)
		col = canvas_verbatim(c, 0, col, c->cols - col, STYLE_TITLE, s->sel.kernel->name);
	else
		col = canvas_text(c, 0, col, STYLE_TITLE, "no kernel");
	if (v && v->name[0]) {
		col = canvas_text(c, 0, col, STYLE_DIM, " / ");
		char whole[512];
		col = canvas_verbatim(c, 0, col, c->cols - col, STYLE_TITLE,
		                      scopeless(v->name, c->cols / 2 - col, whole, sizeof whole));
	}
	const struct gpu_spec *g = s->sel.gpu;
	if (g)
		snprintf(gpu, sizeof gpu, "%s · cc %d.%d", g->name, g->cc_major, g->cc_minor);
	else
		snprintf(gpu, sizeof gpu, "no GPU");
	enum origin o = origin_now(s);
	if (o != ORIGIN_NONE)
		snprintf(be, sizeof be, "%s  %s %s", s->sel.backend, origin_mark(o, c->ascii),
		         origin_name(o));
	else
		snprintf(be, sizeof be, "%s", s->sel.backend);
	int right = c->cols - 1 - utf8_columns(be);
	int width = utf8_columns(gpu), at = (c->cols - width) / 2;
	if (at < col + 3)
		at = col + 3;
	if (right > col + 2)
		canvas_text(c, 0, right, STYLE_DIM, be);
	else
		right = c->cols;
	if (at + width + 3 > right)
		at = right - width - 3;
	if (at >= col + 3)
		canvas_text(c, 0, at, STYLE_NORMAL, gpu);
	/* the idea of the variant, where there is room for all of it */
	if (v && v->title && at - col - 6 > utf8_columns(v->title))
		canvas_text(c, 0, col + 3, STYLE_DIM, v->title);
}

/* --- parameters --- */

static void value_text(const struct session *s, unsigned i, int64_t value, char *out, size_t n)
{
	kernel_param_format(s->sel.kernel, i, value, out, n);
}

/* "‹8 16 32›": the focused value between its neighbours. */
static void neighbours(const struct session *s, unsigned i, char *out, size_t n)
{
	char low[48] = "", is[48], high[48] = "";
	struct err refused;
	int64_t next;
	value_text(s, i, s->sel.params[i], is, sizeof is);
	if (param_next(s, i, -1, &next, &refused))
		value_text(s, i, next, low, sizeof low);
	if (param_next(s, i, +1, &next, &refused))
		value_text(s, i, next, high, sizeof high);
	snprintf(out, n, "‹%s%s%s%s%s›", low, low[0] ? " " : "", is, high[0] ? " " : "", high);
}

static bool used(const struct session *s, unsigned i)
{
	return kernel_param_used(s->sel.kernel, s->sel.variant, i);
}

static void verdict(const struct session *s, char *out, size_t n, enum style *style)
{
	*style = STYLE_DIM;
	if (!s->plan_ok && s->plan_err.code != ERR_NONE) {
		*style = STYLE_ERROR;
		snprintf(out, n, "✗ refused");
	} else if (s->state == RUN_RUNNING) {
		*style = STYLE_KNOB;
		if (s->stuck_compile)
			snprintf(out, n, "compiling");
		else if (s->progress >= 0.995) /* every block has run: caches, time, the result */
			snprintf(out, n, "evaluating");
		else
			snprintf(out, n, "running %.0f %%", 100 * s->progress);
	} else if (s->state == RUN_FAILED) {
		*style = STYLE_ERROR;
		snprintf(out, n, "✗ failed");
	} else if (!s->now || s->stale) {
		snprintf(out, n, panel_no_launch(s) ? "no launch" : "not run");
	} else if (s->now->verify == VERIFY_OK) {
		*style = STYLE_GOOD;
		bool brief = s->now->verify_text[0] && utf8_columns(s->now->verify_text) <= 12;
		snprintf(out, n, "✓ %.48s", brief ? s->now->verify_text : "verified");
	} else if (s->now->verify == VERIFY_WRONG) {
		*style = STYLE_ERROR;
		snprintf(out, n, "✗ wrong");
	} else if (s->now->verify == VERIFY_SAMPLED) {
		snprintf(out, n, "sampled");
	} else if (s->now->verify == VERIFY_NO_REFERENCE) {
		snprintf(out, n, "no reference");
	} else {
		snprintf(out, n, "not verified");
	}
}

/* A dimension of the launch, "block 16×16"; nothing where a parameter says just that. */
static void dimension_text(const struct session *s, const char *name, const struct dim3u *d,
                           char *out, size_t n)
{
	const struct kernel_desc *k = s->sel.kernel;
	if (d->z > 1)
		snprintf(out, n, "%s %u×%u×%u  ", name, d->x, d->y, d->z);
	else if (d->y > 1)
		snprintf(out, n, "%s %u×%u  ", name, d->x, d->y);
	else
		snprintf(out, n, "%s %u  ", name, d->x);
	for (unsigned i = 0; k && i < k->n_params && i < KERNEL_MAX_PARAMS; i++) {
		char value[64], said[96];
		if (!used(s, i))
			continue;
		value_text(s, i, s->sel.params[i], value, sizeof value);
		snprintf(said, sizeof said, "%s %s  ", k->params[i].name, value);
		if (!strcmp(said, out))
			out[0] = '\0';
	}
}

static void launch_text(const struct session *s, char *out, size_t n)
{
	char block[96], grid[96];
	dimension_text(s, "block", &s->plan.block, block, sizeof block);
	dimension_text(s, "grid", &s->plan.grid, grid, sizeof grid);
	snprintf(out, n, "%.60s%.60s", block, grid);
	size_t len = strlen(out);
	while (len && out[len - 1] == ' ')
		out[--len] = '\0';
}

void header_params(const struct session *s, struct canvas *c)
{
	char text[KERNEL_MAX_PARAMS][96], near[160] = "", ok[64], launch[128];
	unsigned order[KERNEL_MAX_PARAMS], n = 0, focus = 0;
	enum style style;
	const struct kernel_desc *k = s->sel.kernel;
	verdict(s, ok, sizeof ok, &style);
	canvas_right(c, 0, c->cols - 1, style, "%s", ok);
	int room = c->cols - 2 - utf8_columns(ok) - 2;
	if (!k)
		return;
	for (unsigned i = 0; i < k->n_params && i < KERNEL_MAX_PARAMS; i++) {
		if (!used(s, i))
			continue;
		char value[64];
		value_text(s, i, s->sel.params[i], value, sizeof value);
		bool here = i == s->param;
		snprintf(text[n], sizeof text[n], here ? "[%s]" : "%s", value);
		if (here) {
			focus = n;
			neighbours(s, i, near, sizeof near);
		}
		order[n++] = i;
	}
	if (!n)
		return;
	int width[KERNEL_MAX_PARAMS];
	for (unsigned i = 0; i < n; i++)
		width[i] = text_columns(k->params[order[i]].name) + 1 + text_columns(text[i]) + 2;
	if (width[focus] + utf8_columns(near) <= room)
		width[focus] += utf8_columns(near);
	else
		near[0] = '\0';
	unsigned first = 0;
	int sum = 0;
	for (unsigned i = 0; i <= focus; i++)
		sum += width[i];
	while (first < focus && sum + (first ? 2 : 0) > room)
		sum -= width[first++];
	int col = 1;
	if (first)
		col = canvas_text(c, 0, col, STYLE_DIM, "‹ ");
	for (unsigned i = first; i < n; i++) {
		if (i > focus && col + width[i] - 2 > room) {
			canvas_text(c, 0, col < room ? col : room, STYLE_DIM, "›");
			return;
		}
		bool here = order[i] == s->param;
		int left = room + 1 - col;
		int end = canvas_verbatim(c, 0, col, left, STYLE_DIM, k->params[order[i]].name);
		end =
			canvas_verbatim(c, 0, end + 1, room - end, here ? STYLE_KNOB_ON : STYLE_KNOB, text[i]);
		if (here)
			canvas_text(c, 0, end, STYLE_KNOB, near);
		canvas_hit(c, 0, col, 1, width[i], HIT_PARAM, order[i]);
		col += width[i];
	}
	launch_text(s, launch, sizeof launch);
	if (s->plan_ok && col + utf8_columns(launch) <= room + 1)
		canvas_text(c, 0, col, STYLE_DIM, launch);
}

/* --- the sheet --- */

int header_sheet_rows(const struct session *s, int cols)
{
	const struct variant_desc *v = variant_of(s);
	int n = 5;
	for (unsigned i = 0; s->sel.kernel && i < s->sel.kernel->n_params; i++)
		n += used(s, i);
	if (v && v->idea)
		n += text_rows(v->idea, cols - 3);
	return n;
}

void header_sheet(const struct session *s, struct canvas *c)
{
	const struct kernel_desc *k = s->sel.kernel;
	const struct variant_desc *v = variant_of(s);
	char text[160];
	if (!k || !v)
		return;
	int row = 0;
	canvas_hline(c, row, 0, c->cols, STYLE_DIM);
	snprintf(text, sizeof text, " %s ", k->title ? k->title : k->name);
	canvas_text_n(c, row++, 2, c->cols - 4, STYLE_NORMAL, text);
	int col = canvas_text(c, row, 1, STYLE_BOLD, v->title ? v->title : v->name);
	if (v->section)
		canvas_text_n(c, row, col + 2, c->cols - col - 3, STYLE_DIM, v->section);
	row++;
	if (v->idea)
		row += canvas_wrap(c, row, 1, 3, c->cols - 3, STYLE_DIM, v->idea);
	row++;
	for (unsigned i = 0; i < k->n_params && i < KERNEL_MAX_PARAMS; i++) {
		if (!used(s, i))
			continue;
		bool here = i == s->param;
		char value[64], near[160];
		value_text(s, i, s->sel.params[i], value, sizeof value);
		neighbours(s, i, near, sizeof near);
		canvas_hit(c, row, 0, 1, c->cols, HIT_PARAM, i);
		canvas_text(c, row, 0, STYLE_KNOB, here ? "▸" : " ");
		canvas_verbatim(c, row, 1, 10, here ? STYLE_BOLD : STYLE_NORMAL, k->params[i].name);
		snprintf(text, sizeof text, here ? "[%s]" : "%s ", value);
		canvas_verbatim(c, row, 24 - text_columns(text), c->cols, here ? STYLE_KNOB_ON : STYLE_KNOB,
		                text);
		int at = 25;
		if (here)
			at = canvas_text(c, row, 24, STYLE_KNOB, near) + 1;
		snprintf(text, sizeof text, "%s%s", k->params[i].title ? k->params[i].title : "",
		         k->params[i].kind == PARAM_COMPILE ? " (compiled in)" : "");
		canvas_text_n(c, row, at, c->cols - 1 - at, STYLE_DIM, text);
		row++;
	}
	if (s->plan_ok) {
		launch_text(s, text, sizeof text);
		canvas_text_n(c, row, 1, c->cols - 2, STYLE_DIM, text);
	}
}
