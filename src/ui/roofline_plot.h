/*
 * A plot with logarithmic axes: FLOP per byte and GFLOPS; lines and labels on it. What is drawn,
 * panel_roofline.c and roofline_runs.c say.
 */
#ifndef PMPP_UI_ROOFLINE_PLOT_H
#define PMPP_UI_ROOFLINE_PLOT_H

#include "ui/view.h"

struct axes {
	struct plot p;
	double x0, x1, y0, y1; /* log10 */
	double peak, gbs;      /* GFLOPS, GB/s */
};

struct point {
	double x, y; /* FLOP/byte, GFLOPS; NAN = unknown */
};

bool roofline_drawable(struct point p);
/* Where a value of the axes lies on the plot, 0..1. */
double roofline_x(const struct axes *a, double flop_per_byte);
double roofline_y(const struct axes *a, double gflops);
bool roofline_cell(const struct axes *a, struct point p, int *row, int *col);
/* A line of single dots, in parts of the plot. */
void roofline_dotted(const struct plot *p, double x0, double y0, double x1, double y1, int apart);
/* A label right or left of row, col; false, and nothing, where there is something already. */
bool roofline_beside(const struct axes *a, struct canvas *c, int row, int col, enum style s,
                     const char *text);
/* A label near row, col where nothing is yet: right, left, then the rows below and above. */
void roofline_label(const struct axes *a, struct canvas *c, int row, int col, enum style s,
                    const char *text);

/* True when the @n cells from row, col are free of plot and text. */
bool roofline_free(const struct canvas *c, int row, int col, int n);
const struct cell *roofline_at(const struct canvas *c, int row, int col);

#endif
