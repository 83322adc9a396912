/* One side of `diff`: what was run, on what, and what came out; from a file or from a run. */
#ifndef PMPP_CLI_DIFF_SIDE_H
#define PMPP_CLI_DIFF_SIDE_H

#include "base/err.h"
#include "model/metric.h"

#include <jansson.h>
#include <stdio.h>

struct diff_side {
	const char *name; /* as typed */
	char kernel[160], gpu[96], backend[16], params[300], result[16];
	struct metric_set m;
	const char *unit[METRIC_COUNT]; /* as the file spells it; NULL = it has none */
	json_t *doc;                    /* holds the texts; the caller's */
};

/* Fills @d from the file @d->name, a snapshot or the output of `run --json`; where a snapshot is
 * from goes to @said. ERR_PARSE names the place; a signature that does not hold is an error. */
bool diff_side_read(struct diff_side *d, FILE *said, struct err *err);
/* The same from the object of `run --json` in @d->doc. */
bool diff_side_take(struct diff_side *d, struct err *err);

#endif
