/*
 * Timeline: copies and kernels on one time axis, per engine and per stream, and what would make
 * the whole faster. Enter: the kernel alone, its blocks on the SMs, wave by wave to the tail.
 *
 * Draws the record's timeline, made from the spans of a GPU (measured) or by the stream model
 * (modelled); never a mixture. Spans that fit no program are drawn as they are. The waves are the
 * model's: every block takes the same time. PMPP 4.3 (waves), 20.5 (streams); CUDA guide 3.2.8.
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
	int op; /* of the program; -1 = seen on a GPU */
};

struct chart {
	struct bar *bars;
	unsigned n;
	double span_ns, serial_ns;
	double busy[ENGINE_COUNT], bytes[ENGINE_COUNT];
	unsigned max_stream;
	enum origin origin;
	bool explained; /* what waited for what is known */
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
	for (unsigned i = 0; i < r->run.n_spans; i++)
		if (engine_of_span(r->run.spans[i].kind, &e))
			first = fmin(first, r->run.spans[i].start_ns);
	for (unsigned i = 0; i < r->run.n_spans; i++) {
		const struct span *s = &r->run.spans[i];
		if (!engine_of_span(s->kind, &e))
			continue;
		struct bar b = { .engine = e,
			             .stream = s->stream,
			             .start = s->start_ns - first,
			             .end = s->end_ns - first,
			             .bytes = s->bytes,
			             .op = -1 };
		snprintf(b.name, sizeof b.name, "%.23s", s->name);
		add_bar(ch, &b);
	}
	ch->origin = ORIGIN_MEASURED;
}

static void from_timeline(struct chart *ch, const struct run_record *r)
{
	for (unsigned i = 0; i < r->program->n_ops; i++) {
		const struct stream_op *op = &r->program->ops[i];
		const struct stream_span *t = &r->timeline->spans[i];
		if (t->engine == ENGINE_HOST || t->end_ns <= t->start_ns)
			continue;
		struct bar b = { .engine = t->engine,
			             .stream = op->stream,
			             .start = t->start_ns,
			             .end = t->end_ns,
			             .bytes = op->bytes,
			             .op = (int)i };
		memcpy(b.name, op->name, sizeof b.name);
		add_bar(ch, &b);
	}
	ch->span_ns = fmax(ch->span_ns, r->timeline->makespan_ns);
	ch->origin = r->timeline->origin;
	ch->explained = true;
}

static bool chart_of(struct chart *ch, const struct run_record *r)
{
	*ch = (struct chart){ 0 };
	if (!r || (!r->run.n_spans && !r->timeline))
		return false;
	ch->bars = mem_calloc(r->run.n_spans ? r->run.n_spans : STREAM_MAX_OPS, sizeof *ch->bars);
	if (r->timeline && (r->timeline->origin == ORIGIN_MEASURED || !r->run.n_spans))
		from_timeline(ch, r);
	else
		from_spans(ch, r);
	return true;
}

/* --- drawing --- */

static uint32_t shade(enum stream_engine e)
{
	return e == ENGINE_H2D ? 0x2593 : e == ENGINE_SM ? 0x2588 : 0x2592;
}

static enum style colour(enum stream_engine e)
{
	return e == ENGINE_H2D ? STYLE_HEAT1 : e == ENGINE_SM ? STYLE_GOOD : STYLE_HEAT2;
}

static void draw_bar(struct canvas *c, int row, const struct time_axis *a, const struct chart *ch,
                     unsigned i, bool selected)
{
	const struct bar *b = &ch->bars[i];
	int from, to;
	if (!time_axis_columns(a, b->start, b->end, &from, &to))
		return;
	canvas_hit(c, row, from, 1, to - from, HIT_ROW, i);
	for (int col = from; col < to; col++)
		canvas_cell(c, row, col, selected ? STYLE_BAR_ON : colour(b->engine), shade(b->engine));
	const int width = utf8_columns(b->name);
	if (to - from >= width + 2)
		canvas_text(c, row, from + (to - from - width) / 2, selected ? STYLE_KNOB_ON : STYLE_BOLD,
		            b->name);
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

static int draw_engines(struct canvas *c, int row, const struct time_axis *a,
                        const struct chart *ch, unsigned selected)
{
	for (enum stream_engine e = ENGINE_H2D; e < ENGINE_COUNT; e++, row++) {
		canvas_text(c, row, 2, STYLE_NORMAL, stream_engine_name(e));
		for (unsigned i = 0; i < ch->n; i++)
			if (ch->bars[i].engine == e)
				draw_bar(c, row, a, ch, i, i == selected);
		lane_label(c, row, c->cols - 1, ch, e);
	}
	return row;
}

static int draw_streams(struct canvas *c, int row, int last, const struct time_axis *a,
                        const struct chart *ch, unsigned selected)
{
	for (unsigned s = 0; s <= ch->max_stream && row < last; s++) {
		unsigned n = 0;
		for (unsigned i = 0; i < ch->n; i++)
			if (ch->bars[i].stream == s) {
				draw_bar(c, row, a, ch, i, i == selected);
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
static const char *advice(enum stream_engine critical, double pct, bool overlapped, bool pageable)
{
	if (pageable && !overlapped)
		return "Copies of pageable memory hold the calling thread, so nothing overlaps: pin it.";
	if (pct < 50)
		return "no single engine holds the others up";
	switch (critical) {
	case ENGINE_H2D:
		return overlapped
		           ? "Faster kernels will not help; fewer bytes up will, or keeping data on the "
		             "device."
		           : "Copies up dominate: split the work over streams, or keep data on the device.";
	case ENGINE_D2H: return "Copies down dominate: return less, or keep results on the device.";
	case ENGINE_SM: return "The kernel dominates: here a faster kernel is a faster program.";
	default: return "The host's calls dominate: fewer, larger launches, or a CUDA graph.";
	}
}

/* "321 ms once, before it: context 320 ms · pin 1.2 ms". */
static void initialisation(struct canvas *c, int row, const struct run_record *r)
{
	const struct stream_init *once = &r->init;
	char num[32];
	fmt_ns(num, sizeof num, once->total_ns);
	canvas_text(c, row, 2, STYLE_NORMAL, "init ");
	int col =
		canvas_printf(c, row, 7, STYLE_BOLD, "%s %s", num, origin_mark(once->origin, c->ascii));
	bool any = false;
	col = canvas_text(c, row, col, STYLE_DIM, " once, not in the makespan:");
	for (enum stream_init_part k = 0; k < INIT_COUNT; k++) {
		if (!(once->ns[k] > 0))
			continue;
		char text[64];
		snprintf(text, sizeof text, "%s%s %s", any ? " · " : " ", stream_init_name(k),
		         fmt_ns(num, sizeof num, once->ns[k]));
		if (col + utf8_columns(text) >= c->cols - 1)
			continue;
		col = canvas_text(c, row, col, STYLE_DIM, text);
		any = true;
	}
}

/* No overlap makes the whole shorter than its busiest engine. */
static int limit(struct canvas *c, int row, const struct chart *ch)
{
	char most[32], part[ENGINE_COUNT][32], sum[128], share[64] = "";
	enum stream_engine busiest = ENGINE_H2D;
	for (enum stream_engine e = ENGINE_H2D; e < ENGINE_COUNT; e++) {
		fmt_ns(part[e], sizeof part[e], ch->busy[e]);
		if (ch->busy[e] > ch->busy[busiest])
			busiest = e;
	}
	fmt_ns(most, sizeof most, ch->busy[busiest]);
	snprintf(sum, sizeof sum, "limit max(%s, %s, %s) = ", part[ENGINE_H2D], part[ENGINE_SM],
	         part[ENGINE_D2H]);
	if (ch->span_ns > 0)
		snprintf(share, sizeof share, " is %.0f %% of the makespan",
		         100 * ch->busy[busiest] / ch->span_ns);
	/* the sum itself gives way first */
	const bool whole = 2 + utf8_columns(sum) + utf8_columns(most) + utf8_columns(share) < c->cols;
	const int col = canvas_text(c, row, 2, STYLE_NORMAL, whole ? sum : "limit ");
	canvas_text(c, row, canvas_text(c, row, col, STYLE_BOLD, most), STYLE_DIM, share);
	return row + 1;
}

static int if_room(struct canvas *c, int row, int col, const char *what, double ns)
{
	char text[64], num[32];
	snprintf(text, sizeof text, "   %s %s", what, fmt_ns(num, sizeof num, ns));
	return ns > 0 && col + (int)strlen(text) < c->cols ? canvas_text(c, row, col, STYLE_DIM, text)
	                                                   : col;
}

static void summary(struct canvas *c, int row, const struct run_record *r, const struct chart *ch,
                    bool with_init)
{
	char make[32], serial[32];
	fmt_ns(make, sizeof make, ch->span_ns);
	fmt_ns(serial, sizeof serial, ch->serial_ns);
	canvas_shows(c, M_STREAM_MAKESPAN);
	canvas_shows(c, M_STREAM_H2D);
	canvas_shows(c, M_STREAM_D2H);
	canvas_shows(c, M_TIME_KERNEL);
	int col = canvas_text(c, row, 2, STYLE_NORMAL, "makespan ");
	col = canvas_printf(c, row, col, STYLE_BOLD, "%s %s", make, origin_mark(ch->origin, c->ascii));
	const double hidden =
		ch->serial_ns > ch->span_ns ? 100 * (ch->serial_ns - ch->span_ns) / ch->serial_ns : 0;
	col = canvas_printf(c, row, col, STYLE_NORMAL, "   serial %s   overlap hides %.0f %%", serial,
	                    hidden);
	if (!ch->explained)
		return;
	const struct stream_outcome *o = r->timeline;
	if (o->origin == ORIGIN_MEASURED) {
		col = if_room(c, row, col, "model", o->modelled_ns);
		if_room(c, row, col, "unrecorded", r->run.program_ns);
	}
	row = limit(c, row + 1, ch) - 1;
	bool pageable = false; /* and meant to overlap */
	for (unsigned i = 0; i < r->program->n_ops; i++)
		pageable |=
			r->program->ops[i].async && !r->program->ops[i].pinned && r->program->n_streams > 1;
	col = canvas_printf(c, row + 1, 2, STYLE_NORMAL, "critical path: %s %.0f %%.  ",
	                    stream_engine_name(o->critical), o->critical_pct);
	const char *words = advice(o->critical, o->critical_pct, hidden > 1, pageable);
	const int rows = text_rows(words, c->cols - col - 1);
	canvas_wrap(c, row + 1, col, c->rows - row - 1, c->cols - col - 1, STYLE_DIM, words);
	if (with_init && row + 1 + rows < c->rows)
		initialisation(c, row + 1 + rows, r);
}

/* One operation in words: when, how fast, and what it waited for. */
static void describe(struct canvas *c, int row, const struct chart *ch, const struct run_record *r,
                     unsigned i)
{
	const struct bar *b = &ch->bars[i];
	char start[32], takes[32], bytes[32], how[64] = "", after[80] = "";
	fmt_ns(start, sizeof start, b->start);
	fmt_ns(takes, sizeof takes, b->end - b->start);
	if (b->bytes && b->end > b->start)
		snprintf(how, sizeof how, ": %s at %.1f GB/s",
		         fmt_bytes(bytes, sizeof bytes, (double)b->bytes),
		         (double)b->bytes / (b->end - b->start));
	const int before = b->op < 0 ? -1 : r->timeline->spans[b->op].waits_for;
	if (before >= 0)
		snprintf(after, sizeof after, "; waited for %s on %s", r->program->ops[before].name,
		         stream_engine_name(r->timeline->spans[before].engine));
	else if (b->op >= 0)
		snprintf(after, sizeof after, "; waited for the host's call");
	char *text = mem_printf("%s  %s, stream %u, from %s for %s%s%s", b->name,
	                        stream_engine_name(b->engine), b->stream, start, takes, how, after);
	canvas_wrap(c, row, 2, 2, c->cols - 4, STYLE_KNOB, text);
	free(text);
}

/* --- the panel --- */

/* Copies and kernels can be gone through one by one. */
static unsigned rows(const struct session *s)
{
	struct chart ch;
	if (s->program)
		return panel_program_rows(s);
	if (!s->now || s->now->sel.kernel != s->sel.kernel || !chart_of(&ch, s->now))
		return 0;
	free(ch.bars);
	return ch.n;
}

/* The detail has no rows of its own. */
static unsigned detail_rows(const struct session *s)
{
	(void)s;
	return 0;
}

static void draw(const struct session *s, struct canvas *c)
{
	const bool focused = panel_focused(s, "timeline");
	if (s->program && !(focused && s->cursor.detail)) {
		panel_program(s, focused, c);
		return;
	}
	if (panel_waiting(s, c, SHOWS))
		return;
	if (focused && s->cursor.detail) {
		panel_waves(s, c);
		return;
	}
	const struct run_record *r = s->now;
	struct chart ch;
	if (!chart_of(&ch, r)) {
		canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_WATCH,
		            "n/a: the kernel's time is not known, so nothing can be put on an axis");
		return;
	}
	const unsigned selected = !focused || !ch.n      ? ch.n
	                          : s->cursor.row < ch.n ? s->cursor.row
	                                                 : ch.n - 1;
	const struct time_axis a = time_axis_of(s, ch.span_ns, 7, 12, c->cols);
	time_axis_draw(&a, s, c, 1);
	int row = draw_engines(c, 2, &a, &ch, selected);
	row++;
	if (ch.max_stream > 0 && c->rows - row > 7)
		row = draw_streams(c, row, c->rows - 6, &a, &ch, selected) + 1;
	/* where there is room for one of them, the chosen operation goes before the initialisation */
	const bool described = selected < ch.n && c->rows - row > 5;
	summary(c, row, r, &ch, !described || c->rows - row > 6);
	if (described) {
		struct canvas foot = canvas_sub(c, c->rows - 2, 0, 2, c->cols);
		canvas_clear(&foot);
		describe(&foot, 0, &ch, r, selected);
	}
	free(ch.bars);
}

const struct view_desc view_timeline = {
	.name = "timeline",
	.title = "Timeline",
	.brief = "Time",
	.order = 5,
	.about = "copies, kernel and streams on one time axis; overlap and critical path",
	.draw = draw,
	.rows = rows,
	.detail_rows = detail_rows,
	.place = VIEW_GRID,
	.rank = { [LAYOUT_PROFILE] = 5 },
	.zooms = true,
};
