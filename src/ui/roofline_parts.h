/*
 * The pieces of the roofline's picture: axes and roofs (panel_roofline.c), and where the runs stand
 * under them (panel_roofline_runs.c). Private to these two.
 */
#ifndef PMPP_UI_ROOFLINE_PARTS_H
#define PMPP_UI_ROOFLINE_PARTS_H

#include "ui/view.h"

struct axes {
	struct plot p;
	double x0, x1, y0, y1; /* log10 */
	double peak, gbs;      /* GFLOPS, GB/s */
};

struct point {
	double x, y; /* FLOP/byte, GFLOPS; NAN = unknown */
};

/* Where a value of the axes lies on the plot, 0..1. */
double roofline_x(const struct axes *a, double flop_per_byte);
double roofline_y(const struct axes *a, double gflops);
bool roofline_cell(const struct axes *a, struct point p, int *row, int *col);
/* A line of single dots, in parts of the plot. */
void roofline_dotted(const struct plot *p, double x0, double y0, double x1, double y1, int apart);
/* A label near row, col where nothing is yet: right, left, then the rows below and above. */
void roofline_label(const struct axes *a, struct canvas *c, int row, int col, enum style s,
                    const char *text);

/* --- panel_roofline_runs.c --- */

#define ROOFLINE_RUNS 9 /* numbered: the session's runs of this kernel, or a program's groups */

struct roofline_runs {
	struct point now, before, reference, book; /* NAN = unknown */
	struct point run[ROOFLINE_RUNS];           /* numbered from 1 */
	unsigned n;
	bool path; /* they are one after another */
};

bool roofline_drawable(struct point p);
void roofline_runs_of(const struct session *s, struct roofline_runs *r);
/* Marks without names, which find their places around them; and the way from run to run. */
void roofline_dots(const struct axes *a, const struct roofline_runs *r, struct canvas *c);
/* The names; two numbers in one cell are both said. */
void roofline_names(const struct session *s, const struct axes *a, const struct roofline_runs *r,
                    struct canvas *c);

#endif
