/*
 * Where the runs stand under the roofs: this one, the one before, the book's, a real GPU's, and the
 * session's or the program's others, numbered.
 */
#ifndef PMPP_UI_ROOFLINE_RUNS_H
#define PMPP_UI_ROOFLINE_RUNS_H

#include "ui/roofline_plot.h"

#define ROOFLINE_RUNS 9 /* numbered: the session's runs of this kernel, or a program's groups */

struct roofline_runs {
	struct point now, before, reference, book; /* NAN = unknown */
	struct point run[ROOFLINE_RUNS];           /* numbered from 1 */
	unsigned n;
	bool path; /* they are one after another */
};

void roofline_runs_of(const struct session *s, struct roofline_runs *r);
/* Marks without names, which find their places around them; and the way from run to run. */
void roofline_dots(const struct axes *a, const struct roofline_runs *r, struct canvas *c);
/* The names; two numbers in one cell are both said. */
void roofline_names(const struct session *s, const struct axes *a, const struct roofline_runs *r,
                    struct canvas *c);

#endif
