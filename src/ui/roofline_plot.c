/* See roofline_plot.h. */
#include "ui/roofline_plot.h"

#include "base/text.h"

#include <math.h>

bool roofline_drawable(struct point p)
{
	return isfinite(p.x) && isfinite(p.y) && p.x > 0 && p.y > 0;
}

double roofline_x(const struct axes *a, double flop_per_byte)
{
	return (log10(flop_per_byte) - a->x0) / (a->x1 - a->x0);
}

double roofline_y(const struct axes *a, double gflops)
{
	return (log10(gflops) - a->y0) / (a->y1 - a->y0);
}

bool roofline_cell(const struct axes *a, struct point p, int *row, int *col)
{
	return roofline_drawable(p) &&
	       plot_cell(&a->p, roofline_x(a, p.x), roofline_y(a, p.y), row, col);
}

const struct cell *roofline_at(const struct canvas *c, int row, int col)
{
	return c->cells + (size_t)(c->row + row) * (size_t)c->stride + (size_t)(c->col + col);
}

bool roofline_free(const struct canvas *c, int row, int col, int n)
{
	if (row < 0 || row >= c->rows || col < 0 || col + n > c->cols)
		return false;
	const struct cell *cell = roofline_at(c, row, col);
	for (int i = 0; i < n; i++)
		if (cell[i].ch != ' ')
			return false;
	return true;
}

bool roofline_beside(const struct axes *a, struct canvas *c, int row, int col, enum style s,
                     const char *text)
{
	const int n = utf8_columns(text);
	if (row < a->p.row || row >= a->p.row + a->p.rows)
		return false;
	if (col + 2 + n <= a->p.col + a->p.cols && roofline_free(c, row, col + 1, n + 2)) {
		canvas_text(c, row, col + 2, s, text);
		return true;
	}
	if (col - 1 - n >= a->p.col && roofline_free(c, row, col - 2 - n, n + 2)) {
		canvas_text(c, row, col - 1 - n, s, text);
		return true;
	}
	return false;
}

void roofline_label(const struct axes *a, struct canvas *c, int row, int col, enum style s,
                    const char *text)
{
	static const int rows[] = { 0, 1, -1, 2, -2, 3 };
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (roofline_beside(a, c, row + rows[i], col, s, text))
			return;
}

void roofline_dotted(const struct plot *p, double x0, double y0, double x1, double y1, int apart)
{
	const double wide = fabs(x1 - x0) * p->cols * 2, high = fabs(y1 - y0) * p->rows * 4;
	/* figures of a damaged or strange file lead far outside */
	const int n = (int)fmin(fmax(wide, high) / apart, 10000);
	for (int i = 0; i <= n; i++) {
		const double t = n ? (double)i / n : 0;
		plot_dot(p, x0 + t * (x1 - x0), y0 + t * (y1 - y0));
	}
}
