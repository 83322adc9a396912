/*
 * Timeline: copies and kernels on one time axis, per engine and per stream, and what would make
 * the whole faster.
 *
 * Draws the spans a GPU reported when there are any (measured), else the stream model's
 * (modelled); never a mixture. PMPP 20.5; CUDA guide 3.2.8.
 */
#include "ui/view.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWS                                                                                     \
	"Here after a run: when data went up, when the kernel ran, when results came down; overlap, " \
	"bandwidth of every copy, and the critical path."

/* One bar of the chart, whatever it came from. */
struct bar {
	enum stream_engine engine;
	unsigned stream;
	double start, end; /* ns */
	uint64_t bytes;
	char name[24];
};

struct chart {
	struct bar *bars;
	unsigned n;
	double span_ns, serial_ns;
	double busy[ENGINE_COUNT], bytes[ENGINE_COUNT];
	unsigned max_stream;
	enum origin origin;
};

static void add_bar(struct chart *ch, const struct bar *b)
{
	ch->bars[ch->n++] = *b;
	ch->span_ns = fmax(ch->span_ns, b->end);
	ch->busy[b->engine] += b->end - b->start;
	ch->bytes[b->engine] += (double)b->bytes;
	ch->serial_ns += b->end - b->start;
	if (b->stream > ch->max_stream)
		ch->max_stream = b->stream;
}

static bool engine_of_span(enum span_kind k, enum stream_engine *e)
{
	switch (k) {
	case SPAN_KERNEL: *e = ENGINE_SM; return true;
	case SPAN_H2D: *e = ENGINE_H2D; return true;
	case SPAN_D2H: *e = ENGINE_D2H; return true;
	default: return false;
	}
}

static void from_spans(struct chart *ch, const struct run_record *r)
{
	double first = INFINITY;
	enum stream_engine e;
	for (unsigned i = 0; i < r->n_spans; i++)
		if (engine_of_span(r->spans[i].kind, &e))
			first = fmin(first, r->spans[i].start_ns);
	for (unsigned i = 0; i < r->n_spans; i++) {
		const struct span *s = &r->spans[i];
		if (!engine_of_span(s->kind, &e))
			continue;
		struct bar b = { .engine = e, .stream = s->stream, .start = s->start_ns - first,
			         .end = s->end_ns - first, .bytes = s->bytes };
		snprintf(b.name, sizeof b.name, "%.23s", s->name);
		add_bar(ch, &b);
	}
	ch->origin = ORIGIN_MEASURED;
}

static void from_model(struct chart *ch, const struct run_record *r)
{
	for (unsigned i = 0; i < r->program->n_ops; i++) {
		const struct stream_op *op = &r->program->ops[i];
		const struct stream_span *t = &r->timeline->spans[i];
		if (t->engine == ENGINE_HOST || t->end_ns <= t->start_ns)
			continue;
		struct bar b = { .engine = t->engine, .stream = op->stream, .start = t->start_ns,
			         .end = t->end_ns, .bytes = op->bytes };
		memcpy(b.name, op->name, sizeof b.name);
		add_bar(ch, &b);
	}
	ch->span_ns = fmax(ch->span_ns, r->timeline->makespan_ns);
	ch->origin = ORIGIN_MODELLED;
}

/* --- drawing ----------------------------------------------------------------------------------- */

struct axis {
	int left, cols; /* columns of the chart */
	double ns_per_col, unit_ns;
	const char *unit;
};

static struct axis axis_of(const struct chart *ch, int cols)
{
	struct axis a = { .left = 7, .cols = cols - 7 - 12 };
	if (a.cols < 10)
		a.cols = cols - a.left > 1 ? cols - a.left : 1;
	a.ns_per_col = ch->span_ns > 0 ? ch->span_ns / a.cols : 1;
	a.unit_ns = ch->span_ns >= 2e9 ? 1e9 : ch->span_ns >= 2e6 ? 1e6 : ch->span_ns >= 2e3 ? 1e3 : 1;
	a.unit = a.unit_ns >= 1e9 ? "s" : a.unit_ns >= 1e6 ? "ms" : a.unit_ns >= 1e3 ? "us" : "ns";
	return a;
}

/* A step of 1, 2 or 5 times a power of ten that leaves labels some ten columns apart. */
static double tick_step(const struct axis *a)
{
	const double want = a->ns_per_col / a->unit_ns * 10;
	double step = pow(10, floor(log10(want > 0 ? want : 1)));
	if (step * 2 >= want)
		return step >= want ? step : step * 2;
	return step * 5 >= want ? step * 5 : step * 10;
}

static void draw_axis(struct canvas *c, int row, const struct axis *a, const struct chart *ch)
{
	canvas_text(c, row, 2, STYLE_DIM, a->unit);
	const double step = tick_step(a);
	for (double t = 0; t * a->unit_ns <= ch->span_ns * 1.0001; t += step) {
		char num[32];
		const int col = a->left + (int)(t * a->unit_ns / a->ns_per_col);
		canvas_text(c, row, col, STYLE_DIM, fmt_num(num, sizeof num, t, 4));
	}
}

static uint32_t shade(enum stream_engine e)
{
	return e == ENGINE_H2D ? 0x2593 : e == ENGINE_SM ? 0x2588 : 0x2592;
}

static enum style colour(enum stream_engine e)
{
	return e == ENGINE_H2D ? STYLE_HEAT1 : e == ENGINE_SM ? STYLE_GOOD : STYLE_HEAT2;
}

static void draw_bar(struct canvas *c, int row, const struct axis *a, const struct bar *b)
{
	int from = a->left + (int)(b->start / a->ns_per_col);
	int to = a->left + (int)ceil(b->end / a->ns_per_col);
	if (to <= from)
		to = from + 1;
	if (to > a->left + a->cols)
		to = a->left + a->cols;
	for (int col = from; col < to; col++)
		canvas_cell(c, row, col, colour(b->engine), shade(b->engine));
	const int width = utf8_columns(b->name);
	if (to - from >= width + 2)
		canvas_text(c, row, from + (to - from - width) / 2, STYLE_BOLD, b->name);
}

static void lane_label(struct canvas *c, int row, int right, const struct chart *ch,
                       enum stream_engine e)
{
	char text[32];
	if (e == ENGINE_SM)
		fmt_ns(text, sizeof text, ch->busy[e]);
	else if (ch->busy[e] > 0)
		snprintf(text, sizeof text, "%.1f GB/s", ch->bytes[e] / ch->busy[e]);
	else
		snprintf(text, sizeof text, "no copy");
	canvas_right(c, row, right, STYLE_DIM, "%s", text);
}

static int draw_engines(struct canvas *c, int row, const struct axis *a, const struct chart *ch)
{
	for (enum stream_engine e = ENGINE_H2D; e < ENGINE_COUNT; e++, row++) {
		canvas_text(c, row, 2, STYLE_NORMAL, stream_engine_name(e));
		for (unsigned i = 0; i < ch->n; i++)
			if (ch->bars[i].engine == e)
				draw_bar(c, row, a, &ch->bars[i]);
		lane_label(c, row, c->cols - 1, ch, e);
	}
	return row;
}

static int draw_streams(struct canvas *c, int row, int last, const struct axis *a,
                        const struct chart *ch)
{
	for (unsigned s = 0; s <= ch->max_stream && row < last; s++) {
		unsigned n = 0;
		for (unsigned i = 0; i < ch->n; i++)
			if (ch->bars[i].stream == s) {
				draw_bar(c, row, a, &ch->bars[i]);
				n++;
			}
		if (!n)
			continue;
		canvas_printf(c, row, 1, STYLE_DIM, s ? "s %u" : "s def", s);
		row++;
	}
	return row;
}

/* What would help, from where the time goes. */
static const char *advice(enum stream_engine critical, double pct, bool overlapped)
{
	if (pct < 50)
		return "no single engine holds the others up";
	switch (critical) {
	case ENGINE_H2D: return overlapped
		? "Faster kernels will not help; fewer bytes up will, or keeping data on the device."
		: "Copies up dominate: split the work over streams, or keep data on the device.";
	case ENGINE_D2H: return "Copies down dominate: return less, or keep results on the device.";
	case ENGINE_SM: return "The kernel dominates: here a faster kernel is a faster program.";
	default: return "The host's calls dominate: fewer, larger launches, or a CUDA graph.";
	}
}

static void summary(struct canvas *c, int row, const struct run_record *r, const struct chart *ch)
{
	char make[32], serial[32];
	fmt_ns(make, sizeof make, ch->span_ns);
	fmt_ns(serial, sizeof serial, ch->serial_ns);
	int col = canvas_text(c, row, 2, STYLE_NORMAL, "makespan ");
	col = canvas_printf(c, row, col, STYLE_BOLD, "%s %s", make, origin_mark(ch->origin, c->ascii));
	const double hidden = ch->serial_ns > ch->span_ns
	                      ? 100 * (ch->serial_ns - ch->span_ns) / ch->serial_ns : 0;
	canvas_printf(c, row, col, STYLE_NORMAL, "   serial %s   overlap hides %.0f %%", serial, hidden);
	if (ch->origin != ORIGIN_MODELLED)
		return;
	const struct stream_outcome *o = r->timeline;
	col = canvas_printf(c, row + 1, 2, STYLE_NORMAL, "critical path: %s %.0f %%.  ",
	                    stream_engine_name(o->critical), o->critical_pct);
	canvas_wrap(c, row + 1, col, c->rows - row - 1, c->cols - col - 1, STYLE_DIM,
	            advice(o->critical, o->critical_pct, hidden > 1));
}

static void draw(const struct session *s, struct canvas *c)
{
	if (panel_waiting(s, c, SHOWS))
		return;
	const struct run_record *r = s->now;
	if (!r->n_spans && !r->timeline) {
		canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_WATCH,
		            "n/a: the kernel's time is not known, so nothing can be put on an axis");
		return;
	}
	struct chart ch = { 0 };
	ch.bars = mem_calloc(r->n_spans ? r->n_spans : STREAM_MAX_OPS, sizeof *ch.bars);
	if (r->n_spans)
		from_spans(&ch, r);
	else
		from_model(&ch, r);
	const struct axis a = axis_of(&ch, c->cols);
	draw_axis(c, 1, &a, &ch);
	int row = draw_engines(c, 2, &a, &ch);
	row++;
	if (ch.max_stream > 0 && c->rows - row > 5)
		row = draw_streams(c, row, c->rows - 4, &a, &ch) + 1;
	summary(c, row, r, &ch);
	free(ch.bars);
}

const struct view_desc view_timeline = {
	.name = "timeline",
	.title = "Timeline",
	.brief = "Time",
	.order = 5,
	.about = "copies, kernel and streams on one time axis; overlap and critical path",
	.draw = draw,
	.place = VIEW_GRID,
};
