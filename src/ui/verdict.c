/*
 * The first row: what one wants to know in two seconds. Time, share of the roof, what limits it,
 * how it stands to the run before, and the session's runs as a sparkline.
 *
 * Reads the record's metrics; computes nothing but ratios of them. Pure drawing; see
 * screen_parts.h.
 */
#include "ui/screen_parts.h"

#include "base/text.h"
#include "model/brief.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GAP 3
#define SPARK_MAX 16

/* A resource as a sentence names it. */
static const char *resource_words(const char *name)
{
	static const struct {
		enum perf_resource id;
		const char *words;
	} table[] = {
		{ PERF_ISSUE, "instruction issue" },
		{ PERF_FP32, "the FP32 pipe" },
		{ PERF_FP64, "the FP64 pipe" },
		{ PERF_INT, "the integer pipe" },
		{ PERF_SFU, "special functions" },
		{ PERF_LSU, "loads and stores (L1)" },
		{ PERF_SHARED, "shared memory" },
		{ PERF_L2, "L2" },
		{ PERF_DRAM, "memory (DRAM)" },
		{ PERF_LATENCY, "latency" },
		{ PERF_PAGES, "pages of managed memory" },
		{ PERF_HOST, "the host's memory" },
		{ PERF_TENSOR, "the tensor cores" },
		{ PERF_ADU, "constants that are looked up" },
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!strcmp(name, perf_resource_name(table[i].id)))
			return table[i].words;
	return name;
}

/* Of the roof over the kernel's intensity; without arithmetic, of the memory's bandwidth. */
static double share_of_roof(const struct session *s, const struct metric_set *m, bool *of_roof)
{
	const double is = metric_get(m, M_ROOF_ACHIEVED), could = metric_get(m, M_ROOF_ATTAINABLE);
	*of_roof = isfinite(is) && is > 0 && could > 0;
	if (*of_roof)
		return is / could;
	return metric_get(m, M_DRAM_GBS) / s->now->sel.gpu->dram_gbs;
}

static enum style grade(double share)
{
	return share >= 0.6 ? STYLE_GOOD : share >= 0.25 ? STYLE_WATCH : STYLE_BAD;
}

/* Text at @col if it ends before @right; returns the column for what follows, or @col. */
static int piece(struct canvas *c, int col, int right, enum style style, const char *text)
{
	if (!text[0] || col + utf8_columns(text) > right)
		return col;
	return canvas_text(c, 0, col, style, text) + GAP;
}

/* How good a run was, for comparison with others of the same kernel; NAN = unknown. */
static double merit(const struct run_brief *b)
{
	const double rate = metric_get(&b->metrics, M_ROOF_ACHIEVED);
	return isfinite(rate) && rate > 0 ? rate : 1 / metric_get(&b->metrics, M_TIME_KERNEL);
}

/* The session's runs of this kernel, the newest last, the best as high as the row. Returns the
 * first column it took. */
static int sparkline(const struct session *s, struct canvas *c, int right)
{
	double value[SPARK_MAX], best = 0;
	int n = 0;
	for (unsigned i = s->n_history; i > 0 && n < SPARK_MAX; i--) {
		const struct run_brief *b = &s->history[i - 1];
		const double v = b->sel.kernel == s->sel.kernel ? merit(b) : NAN;
		if (!isfinite(v) || !(v > 0))
			continue;
		value[n++] = v;
		best = fmax(best, v);
	}
	if (n < 2)
		return right;
	for (int i = 0; i < n; i++) {
		const int eighths = (int)ceil(8 * value[i] / best);
		canvas_cell(c, 0, right - 1 - i, i ? STYLE_BAR : STYLE_BAR_ON,
		            0x2580u + (uint32_t)(eighths < 1   ? 1
		                                 : eighths > 8 ? 8
		                                               : eighths));
	}
	return right - n - GAP;
}

/* "×5.32 ▲ previous"; "×1.07 ?" where the model cannot tell which is the quicker */
static int against_before(const struct session *s, struct canvas *c, int col, int right)
{
	const struct metric_set *before = panel_before(s);
	const bool pinned = panel_pinned(s);
	char text[64], number[32];
	if (!before)
		return pinned ? piece(c, col, right, STYLE_KNOB, "the pinned run") : col;
	const double times =
		metric_get(before, M_TIME_KERNEL) / metric_get(&s->now->metrics, M_TIME_KERNEL);
	if (!isfinite(times) || !(times > 0) || fabs(times - 1) < 0.005)
		return col;
	const bool apart = panel_times_apart(s);
	snprintf(text, sizeof text, "×%s %s", fmt_num(number, sizeof number, times, 3),
	         !apart      ? "?"
	         : times > 1 ? "▲"
	                     : "▼");
	const int end = piece(c, col, right,
	                      !apart      ? STYLE_DIM
	                      : times > 1 ? STYLE_GOOD
	                                  : STYLE_BAD,
	                      text);
	if (end > col && end - GAP + 9 <= right)
		return canvas_text(c, 0, end - GAP, STYLE_DIM, pinned ? " pinned" : " previous") + GAP;
	return end;
}

/* Of a modelled time: where the measured one lies in four of five launches. */
static void range(const struct metric_set *m, struct canvas *c, int col, int right)
{
	char text[128], low[32], high[32];
	if (!metric_known(m, M_TIME_LOW) || !metric_known(m, M_TIME_HIGH))
		return;
	fmt_ns(low, sizeof low, metric_get(m, M_TIME_LOW));
	fmt_ns(high, sizeof high, metric_get(m, M_TIME_HIGH));
	snprintf(text, sizeof text, "%s–%s", low, high);
	piece(c, col, right, STYLE_DIM, text);
}

static void figures(const struct session *s, struct canvas *c)
{
	const struct metric_set *m = panel_metrics(s);
	const bool old = s->stale || s->state == RUN_RUNNING;
	char text[128], number[64];
	bool of_roof;
	int right = sparkline(s, c, c->cols - 1), col = 1;
	if (!metric_known(m, M_TIME_KERNEL)) {
		col = piece(c, col, right, STYLE_DIM, "time n/a");
		snprintf(text, sizeof text, "%s", panel_reason(m, M_TIME_KERNEL));
		canvas_text_n(c, 0, col, right - col, STYLE_DIM, text);
		return;
	}
	if (s->now->verify == VERIFY_WRONG && !old)
		col = piece(c, col, right, STYLE_ERROR, "✗ wrong result");
	metric_format(m, M_TIME_KERNEL, number, sizeof number);
	snprintf(text, sizeof text, "%s %s", number, origin_mark(m->v[M_TIME_KERNEL].origin, c->ascii));
	col = piece(c, col, right, old ? STYLE_DIM : STYLE_BOLD, text);
	const double share = share_of_roof(s, m, &of_roof);
	if (isfinite(share)) {
		char percent[32];
		snprintf(percent, sizeof percent, share < 0.01 ? "%.1g" : "%.0f", 100 * share);
		snprintf(text, sizeof text, of_roof ? "%s %% of its roof" : "%s %% of DRAM bandwidth",
		         percent);
		col = piece(c, col, right, old ? STYLE_DIM : grade(share), text);
	}
	if (metric_known(m, M_TIME_BOTTLENECK)) {
		snprintf(text, sizeof text, "limited by %.60s",
		         resource_words(m->v[M_TIME_BOTTLENECK].text));
		col = piece(c, col, right, old ? STYLE_DIM : STYLE_BOLD, text);
	}
	if (old) {
		panel_difference(&s->sel, &s->now->sel, number, sizeof number);
		snprintf(text, sizeof text, "earlier: %s", number);
		piece(c, col, right, STYLE_WATCH, number[0] ? text : "earlier run");
	} else {
		col = against_before(s, c, col, right);
		range(m, c, col, right);
	}
}

void verdict_draw(const struct session *s, struct canvas *c)
{
	char text[160];
	if (!s->plan_ok && s->plan_err.code != ERR_NONE) {
		canvas_text_n(c, 0, 1, c->cols - 2, STYLE_ERROR, "✗ this launch is refused");
	} else if (s->state == RUN_FAILED) {
		canvas_text_n(c, 0, 1, c->cols - 2, STYLE_ERROR, "✗ the run failed");
	} else if (panel_metrics(s)) {
		figures(s, c);
	} else {
		int col = piece(c, 1, c->cols - 1, STYLE_DIM,
		                s->state == RUN_RUNNING ? "first run under way"
		                : panel_no_launch(s)    ? "no kernel was launched"
		                                        : "not run yet");
		if (s->plan_ok && s->usage_known && s->occ_ok && s->occ.launchable) {
			snprintf(text, sizeof text, "occupancy %.0f %%", s->occ.pct);
			col = piece(c, col, c->cols - 1, STYLE_BOLD, text);
			snprintf(text, sizeof text, "limited by %.60s", s->occ.limiters);
			piece(c, col, c->cols - 1, STYLE_NORMAL, text);
		}
	}
}
