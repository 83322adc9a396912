/* What every back end's result owns; see run_result.h. */
#include "model/run_result.h"

#include <stdlib.h>

void run_result_free(struct run_result *res)
{
	if (!res)
		return;
	run_counts_free(&res->counts);
	free(res->spans);
	free(res->printed);
	res->printed = NULL;
	res->printed_bytes = 0;
	res->spans = NULL;
	res->n_spans = 0;
}

bool run_result_measured(const struct run_result *res)
{
	return res->timing.n || res->loaded.known || res->counter_passes;
}
