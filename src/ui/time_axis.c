/* A time axis with its ticks, zoomed and panned by the focused panel. See view.h. */
#include "ui/view.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>

struct time_axis time_axis_of(const struct session *s, double span_ns, int left, int right,
                              int cols)
{
	struct time_axis a = { .left = left, .cols = cols - left - right };
	if (a.cols < 10)
		a.cols = cols - a.left > 1 ? cols - a.left : 1;
	const double span = span_ns > 0 ? span_ns : a.cols;
	const double window = span / (double)(1u << s->cursor.zoom);
	a.from = fmin(window / 4 * s->cursor.pan, span - window);
	a.to = a.from + window;
	a.ns_per_col = window / a.cols;
	a.unit_ns = a.to >= 2e9 ? 1e9 : a.to >= 2e6 ? 1e6 : a.to >= 2e3 ? 1e3 : 1;
	a.unit = a.unit_ns >= 1e9 ? "s" : a.unit_ns >= 1e6 ? "ms" : a.unit_ns >= 1e3 ? "us" : "ns";
	return a;
}

/* A step of 1, 2 or 5 times a power of ten that leaves labels some ten columns apart. */
static double tick_step(const struct time_axis *a)
{
	const double want = a->ns_per_col / a->unit_ns * 10;
	double step = pow(10, floor(log10(want > 0 ? want : 1)));
	if (step * 2 >= want)
		return step >= want ? step : step * 2;
	return step * 5 >= want ? step * 5 : step * 10;
}

void time_axis_draw(const struct time_axis *a, const struct session *s, struct canvas *c, int row)
{
	canvas_hit(c, row, a->left, c->rows - row, a->cols, HIT_AXIS, 0);
	canvas_text(c, row, 2, STYLE_DIM, a->unit);
	const double step = tick_step(a);
	const double first = ceil(a->from / a->unit_ns / step - 1e-6);
	for (int i = 0; i < 40 && (first + i) * step * a->unit_ns <= a->to * 1.0001; i++) {
		char num[32];
		const double t = (first + i) * step;
		const int col = a->left + (int)((t * a->unit_ns - a->from) / a->ns_per_col);
		if (col < a->left + a->cols)
			canvas_text(c, row, col, STYLE_DIM, fmt_num(num, sizeof num, t, 6));
	}
	if (s->cursor.zoom) {
		canvas_text(c, row, c->cols - 11, STYLE_DIM, "          ");
		canvas_right(c, row, c->cols - 1, STYLE_KNOB, "%s zoom %u %s", s->cursor.pan ? "◀" : " ",
		             1u << s->cursor.zoom,
		             s->cursor.pan < 4 * ((1u << s->cursor.zoom) - 1) ? "▶" : " ");
	}
}

bool time_axis_columns(const struct time_axis *a, double start, double end, int *from, int *to)
{
	if (end < a->from || start > a->to)
		return false;
	const double left = fmax(start - a->from, 0) / a->ns_per_col;
	const double right = fmin(end - a->from, a->to - a->from) / a->ns_per_col;
	*from = (int)fmin(left, a->cols - 1);
	*to = (int)ceil(right - 1e-9);
	if (*to <= *from)
		*to = *from + 1;
	*from += a->left;
	*to = *to < a->cols ? a->left + *to : a->left + a->cols;
	return true;
}

/* --- moving along it --- */

/* A window of 1/2^zoom can start at 0 ... 4 * (2^zoom - 1) quarters of itself. */
static unsigned last_pan(unsigned zoom)
{
	return 4 * ((1u << zoom) - 1);
}

bool time_axis_zoom(struct view_cursor *at, int direction)
{
	if (direction > 0 ? at->zoom >= VIEW_ZOOM_MAX : at->zoom == 0)
		return false;
	/* half the window: its start moves by a quarter of the old one, in quarters of the new */
	if (direction > 0) {
		at->zoom++;
		at->pan = 2 * at->pan + 2;
	} else {
		at->zoom--;
		at->pan = at->pan > 2 ? (at->pan - 2) / 2 : 0;
	}
	if (at->pan > last_pan(at->zoom))
		at->pan = last_pan(at->zoom);
	return true;
}

bool time_axis_pan(struct view_cursor *at, int direction)
{
	if (direction > 0 ? at->pan >= last_pan(at->zoom) : at->pan == 0)
		return false;
	at->pan += direction > 0 ? 1u : -1u;
	return true;
}
