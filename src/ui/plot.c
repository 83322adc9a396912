/*
 * Dots and lines in braille: 2 x 4 dots per cell, so that a slope looks like one.
 *
 * Knows no axes and no units: coordinates are 0..1 in both directions, y up. Dot bits follow the
 * Unicode braille block (U+2800: dots 1-2-3-7 left column, 4-5-6-8 right).
 */
#include "ui/canvas.h"

#include <math.h>

static const uint8_t dot_bit[4][2] = {
	{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
};

static bool inside(double v)
{
	return v >= 0 && v <= 1; /* false for NaN */
}

static void dot_at(const struct plot *p, int dx, int dy)
{
	int row = p->row + p->rows - 1 - dy / 4;
	int col = p->col + dx / 2;
	struct canvas *c = p->c;
	if (row < 0 || col < 0 || row >= c->rows || col >= c->cols)
		return;
	if (c->ascii) {
		canvas_cell(c, row, col, p->style, '*');
		return;
	}
	const struct cell *old =
		c->cells + (size_t)(c->row + row) * (size_t)c->stride + (size_t)(c->col + col);
	uint32_t bits = old->ch >= 0x2800 && old->ch <= 0x28ff ? old->ch & 0xff : 0;
	bits |= dot_bit[3 - dy % 4][dx % 2];
	canvas_cell(c, row, col, p->style, 0x2800 | bits);
}

static int scale(double v, int n)
{
	int d = (int)floor(v * (n - 1) + 0.5);
	return d < 0 ? 0 : d > n - 1 ? n - 1 : d;
}

void plot_dot(const struct plot *p, double x, double y)
{
	if (p->rows > 0 && p->cols > 0 && inside(x) && inside(y))
		dot_at(p, scale(x, p->cols * 2), scale(y, p->rows * 4));
}

bool plot_cell(const struct plot *p, double x, double y, int *row, int *col)
{
	if (p->rows <= 0 || p->cols <= 0 || !inside(x) || !inside(y))
		return false;
	*col = p->col + scale(x, p->cols * 2) / 2;
	*row = p->row + p->rows - 1 - scale(y, p->rows * 4) / 4;
	return true;
}

/* One edge of the unit square (Liang and Barsky 1984): keeps the part of t0..t1 inside it. */
static bool cut(double towards, double distance, double *t0, double *t1)
{
	if (towards == 0)
		return distance >= 0;
	double t = distance / towards;
	if (towards < 0) {
		if (t > *t0)
			*t0 = t;
	} else if (t < *t1) {
		*t1 = t;
	}
	return *t0 <= *t1;
}

void plot_line(const struct plot *p, double x0, double y0, double x1, double y1)
{
	if (!isfinite(x0) || !isfinite(y0) || !isfinite(x1) || !isfinite(y1) || p->rows <= 0 ||
	    p->cols <= 0)
		return;
	double dx = x1 - x0, dy = y1 - y0, t0 = 0, t1 = 1;
	if (!cut(-dx, x0, &t0, &t1) || !cut(dx, 1 - x0, &t0, &t1) || !cut(-dy, y0, &t0, &t1) ||
	    !cut(dy, 1 - y0, &t0, &t1))
		return;
	int ax = scale(x0 + t0 * dx, p->cols * 2), ay = scale(y0 + t0 * dy, p->rows * 4);
	int bx = scale(x0 + t1 * dx, p->cols * 2), by = scale(y0 + t1 * dy, p->rows * 4);
	int nx = bx > ax ? bx - ax : ax - bx, ny = by > ay ? by - ay : ay - by;
	int n = nx > ny ? nx : ny;
	for (int i = 0; i <= n; i++) {
		double t = n ? (double)i / n : 0;
		dot_at(p, (int)floor(ax + t * (bx - ax) + 0.5), (int)floor(ay + t * (by - ay) + 0.5));
	}
}
