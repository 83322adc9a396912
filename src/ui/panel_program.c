/*
 * A whole program on one time axis: copy engines and SMs, its streams with their events, and the
 * host; below, what the GPU waits for. See view.h.
 *
 * Times are the program's clock: the host's own time as it passed here, the GPU's as modelled.
 */
#include "model/program_session.h"
#include "ui/view.h"

#include "base/scopeless.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWS                                                                                      \
	"Here after a run: copies and kernels of the whole program by engine and stream, its events, " \
	"and the gaps in which only the host works."

enum lane { LANE_H2D, LANE_SM, LANE_D2H, LANES };
static const char *const lane_names[LANES] = { "H2D", "SM", "D2H" };

struct bar {
	enum lane lane;
	unsigned stream;
	double start, end, bytes;
	bool copy;
};

static bool bar_of(const struct program_event *e, struct bar *b)
{
	if (e->launch) {
		*b = (struct bar){ .lane = LANE_SM,
			               .stream = e->launch->stream,
			               .start = e->launch->span.start_ns,
			               .end = e->launch->span.end_ns };
		return true;
	}
	if (!e->copy || e->copy->direction == PROGRAM_H2H)
		return false;
	*b = (struct bar){ .lane = e->copy->direction == PROGRAM_H2D   ? LANE_H2D
		                       : e->copy->direction == PROGRAM_D2H ? LANE_D2H
		                                                           : LANE_SM,
		               .stream = e->copy->stream,
		               .start = e->copy->span.start_ns,
		               .end = e->copy->span.end_ns,
		               .bytes = (double)e->copy->bytes,
		               .copy = true };
	return true;
}

struct totals {
	double from, to; /* of the GPU's work */
	double busy[LANES], bytes[LANES];
	double idle;          /* between `from` and `to` nothing ran on the GPU */
	double pageable_ns;   /* copies of pageable memory */
	unsigned streams[64]; /* in use, ascending */
	unsigned n_streams;
};

static void note_stream(struct totals *t, unsigned stream)
{
	unsigned i = 0;
	while (i < t->n_streams && t->streams[i] < stream)
		i++;
	if ((i < t->n_streams && t->streams[i] == stream) || t->n_streams == 64)
		return;
	memmove(t->streams + i + 1, t->streams + i, (t->n_streams - i) * sizeof *t->streams);
	t->streams[i] = stream;
	t->n_streams++;
}

/* Events come in the order of the host's calls, so that a gap is told by the latest end so far. */
static struct totals totals_of(const struct program *p)
{
	struct totals t = { .from = INFINITY };
	double covered = -1;
	for (size_t i = 0; i < program_events(p); i++) {
		const struct program_event e = program_event_at(p, i);
		struct bar b;
		if (!bar_of(&e, &b))
			continue;
		t.from = fmin(t.from, b.start);
		t.to = fmax(t.to, b.end);
		t.busy[b.lane] += b.end - b.start;
		t.bytes[b.lane] += b.bytes;
		if (b.copy && !e.copy->set && !e.copy->pinned && b.lane != LANE_SM)
			t.pageable_ns += b.end - b.start;
		if (covered >= 0 && b.start > covered)
			t.idle += b.start - covered;
		covered = fmax(covered, b.end);
		note_stream(&t, b.stream);
	}
	if (!isfinite(t.from))
		t.from = 0;
	return t;
}

static void put_bar(struct canvas *c, int row, const struct time_axis *a, const struct totals *t,
                    const struct bar *b, bool chosen)
{
	int from, to;
	if (!time_axis_columns(a, b->start - t->from, b->end - t->from, &from, &to))
		return;
	const enum style style = chosen                ? STYLE_BAR_ON
	                         : b->lane == LANE_SM  ? STYLE_GOOD
	                         : b->lane == LANE_H2D ? STYLE_HEAT1
	                                               : STYLE_HEAT2;
	const uint32_t ch = b->lane == LANE_H2D ? 0x2593 : b->lane == LANE_SM ? 0x2588 : 0x2592;
	for (int col = from; col < to; col++)
		canvas_cell(c, row, col, style, ch);
}

static bool is_chosen(const struct session *s, const struct program_event *e, size_t i,
                      bool focused)
{
	if (focused)
		return i == s->cursor.row;
	return e->launch && e->launch->number == s->program->launch;
}

/* One row of bars: those of an engine, or of a stream. The chosen one goes over the others. */
static void lane_row(const struct session *s, struct canvas *c, int row, const struct time_axis *a,
                     const struct totals *t, bool focused, int lane, int stream)
{
	const struct program *p = s->program->now;
	struct bar chosen = { 0 };
	bool any = false;
	for (size_t i = 0; i < program_events(p); i++) {
		const struct program_event e = program_event_at(p, i);
		struct bar b;
		if (!bar_of(&e, &b) || (lane >= 0 && (int)b.lane != lane) ||
		    (stream >= 0 && (int)b.stream != stream))
			continue;
		const bool here = is_chosen(s, &e, i, focused);
		if (here) {
			chosen = b;
			any = true;
		}
		put_bar(c, row, a, t, &b, here);
	}
	if (any)
		put_bar(c, row, a, t, &chosen, true);
}

static void marks(const struct program *p, struct canvas *c, int row, const struct time_axis *a,
                  const struct totals *t, unsigned stream)
{
	for (size_t i = 0; i < p->n_marks; i++) {
		const struct program_mark *m = &p->marks[i];
		int from, to;
		const double at = m->at_ns - t->from;
		if (m->stream == stream && time_axis_columns(a, at, at, &from, &to))
			canvas_cell(c, row, from, STYLE_WATCH, m->wait ? '>' : '|');
	}
}

static int engines(const struct session *s, struct canvas *c, int row, const struct time_axis *a,
                   const struct totals *t, bool focused)
{
	for (int k = 0; k < LANES; k++, row++) {
		char text[32];
		canvas_text(c, row, 2, STYLE_NORMAL, lane_names[k]);
		lane_row(s, c, row, a, t, focused, k, -1);
		if (k == LANE_SM)
			fmt_ns(text, sizeof text, t->busy[k]);
		else if (t->busy[k] > 0)
			snprintf(text, sizeof text, "%.1f GB/s", t->bytes[k] / t->busy[k]);
		else
			snprintf(text, sizeof text, "no copy");
		canvas_right(c, row, c->cols - 1, STYLE_DIM, "%s", text);
	}
	return row;
}

static int streams(const struct session *s, struct canvas *c, int row, int last,
                   const struct time_axis *a, const struct totals *t, bool focused)
{
	for (unsigned i = 0; i < t->n_streams && row < last; i++, row++) {
		if (row == last - 1 && i + 1 < t->n_streams) {
			canvas_printf(c, row, 2, STYLE_DIM, "and %u more streams", t->n_streams - i);
			return row + 1;
		}
		canvas_printf(c, row, 2, STYLE_DIM, "s%u", t->streams[i]);
		lane_row(s, c, row, a, t, focused, -1, (int)t->streams[i]);
		marks(s->program->now, c, row, a, t, t->streams[i]);
	}
	return row;
}

static const char *advice(const struct totals *t)
{
	const double span = t->to - t->from, copies = t->busy[LANE_H2D] + t->busy[LANE_D2H];
	if (t->idle > 0.5 * span)
		return "The GPU waits for the host: fewer and larger launches, a CUDA graph, or less work "
			   "between the calls.";
	if (copies > t->busy[LANE_SM] && t->pageable_ns > 0.5 * copies)
		return "Copies of pageable memory dominate: pin it (cudaMallocHost), then streams can "
			   "overlap them with kernels.";
	if (copies > t->busy[LANE_SM])
		return "Copies dominate: keep data on the device, or overlap them in streams.";
	return "Kernels dominate: here a faster kernel is a faster program.";
}

static void summary(struct canvas *c, int row, const struct totals *t, enum origin origin)
{
	char span[32], idle[32];
	const double all = t->to - t->from;
	canvas_printf(c, row, 2, STYLE_NORMAL,
	              "GPU from first to last %s %s   idle %s (%.0f %%): only the "
	              "host works",
	              fmt_ns(span, sizeof span, all), origin_mark(origin, c->ascii),
	              fmt_ns(idle, sizeof idle, t->idle), all > 0 ? 100 * t->idle / all : 0.0);
	canvas_wrap(c, row + 1, 2, c->rows - row - 1, c->cols - 4, STYLE_DIM, advice(t));
}

static void describe(const struct program *p, struct canvas *c, int row,
                     const struct program_event *e)
{
	char start[32], ns[32], bytes[32], name[40];
	if (e->launch) {
		canvas_printf(
			c, row, 2, STYLE_KNOB, "launch %" PRIu64 "  %s  stream %u, from %s for %s",
			e->launch->number,
			scopeless(p->kernels[e->launch->kernel].name, (int)sizeof name - 1, name, sizeof name),
			e->launch->stream, fmt_ns(start, sizeof start, e->launch->span.start_ns),
			fmt_ns(ns, sizeof ns, e->launch->span.end_ns - e->launch->span.start_ns));
	} else if (e->copy) {
		const double takes = e->copy->span.end_ns - e->copy->span.start_ns;
		const bool host = !e->copy->set && e->copy->direction != PROGRAM_D2D;
		canvas_printf(c, row, 2, STYLE_KNOB, "%s of %s%s%s, stream %u, from %s for %s",
		              e->copy->set ? "memset" : program_direction_name(e->copy->direction),
		              fmt_bytes(bytes, sizeof bytes, (double)e->copy->bytes),
		              !host             ? ""
		              : e->copy->pinned ? ", pinned memory"
		                                : ", pageable memory",
		              e->copy->async ? ", async" : "", e->copy->stream,
		              fmt_ns(start, sizeof start, e->copy->span.start_ns),
		              fmt_ns(ns, sizeof ns, takes));
	}
}

unsigned panel_program_rows(const struct session *s)
{
	return s->program && s->program->now ? (unsigned)program_events(s->program->now) : 0;
}

void panel_program(const struct session *s, bool focused, struct canvas *c)
{
	const struct program *p = s->program->now;
	if (!p || !program_events(p)) {
		canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_DIM,
		            p ? "The program used no GPU: no launch, no copy." : SHOWS);
		return;
	}
	const struct totals t = totals_of(p);
	const struct time_axis a = time_axis_of(s, t.to - t.from, 7, 12, c->cols);
	time_axis_draw(&a, s, c, 1);
	int row = engines(s, c, 2, &a, &t, focused) + 1;
	const int below = focused ? 4 : 3;
	if (c->rows - row > below + 1 && (t.n_streams > 1 || p->n_marks))
		row = streams(s, c, row, c->rows - below - 1, &a, &t, focused) + 1;
	if (row + 1 < c->rows)
		summary(c, row, &t, p->time_origin);
	if (focused && c->rows > 8) {
		const struct program_event e = program_event_at(p, s->cursor.row);
		struct canvas foot = canvas_sub(c, c->rows - 1, 0, 1, c->cols);
		canvas_clear(&foot);
		describe(p, &foot, 0, &e);
	}
}
