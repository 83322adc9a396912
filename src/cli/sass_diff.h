/* Two pieces of machine code of one kernel held against each other: `sass --diff`. */
#ifndef PMPP_CLI_SASS_DIFF_H
#define PMPP_CLI_SASS_DIFF_H

#include "cli/sass_out.h"

#include <jansson.h>

/* One side of it. */
struct sass_side {
	struct sass_show show;
	char name[160];   /* what was asked for: "sgemm/tiled TILE=16 --gpu h200" */
	const char *only; /* the function meant; "" = all */
};

/* Functions that both have, by name, or the only one of each; aligned by source line, also where
 * lines were put in or taken out. Where both were run, also lines that executed more or less often.
 * ERR_USAGE: they have none in common. */
bool sass_diff(struct cli *c, const struct sass_side *a, const struct sass_side *b,
               struct err *err);
/* The same as JSON: an array, an object a function, with the rows of the text. NULL: *err. */
json_t *sass_diff_json(const struct sass_side *a, const struct sass_side *b, struct err *err);

#endif
