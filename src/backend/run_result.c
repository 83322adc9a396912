/* What every back end's result owns; see backend.h. */
#include "backend/backend.h"

#include <stdlib.h>

void run_result_free(struct run_result *res)
{
	if (!res)
		return;
	run_counts_free(&res->counts);
	free(res->spans);
	res->spans = NULL;
	res->n_spans = 0;
}
