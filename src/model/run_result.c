/* What every back end's result owns; see run_result.h. */
#include "model/run_result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *run_races_text(const struct run_races *r, char *out, size_t n)
{
	out[0] = '\0';
	if (r->of && r->blocks == r->of && !r->why[0])
		snprintf(out, n, "races looked for in every block");
	else if (r->of)
		snprintf(out, n, "races looked for in %" PRIu64 " of %" PRIu64 " blocks%s%s", r->blocks,
		         r->of, r->why[0] ? ": " : "", r->why);
	return out;
}

bool run_result_of_machine_code(const struct run_result *res)
{
	return res->level[0] && strcmp(res->level, "PTX") != 0;
}

bool run_result_measured(const struct run_result *res)
{
	return res->timing.n || res->loaded.known || res->counter_passes;
}

const struct run_finding *run_findings_fault(const struct run_findings *f)
{
	for (unsigned i = 0; i < f->n; i++)
		if (!f->finding[i].customary)
			return &f->finding[i];
	return NULL;
}

const struct run_finding *run_findings_with(const struct run_findings *f, const char *words)
{
	for (unsigned i = 0; i < f->n; i++)
		if (strstr(f->finding[i].text, words))
			return &f->finding[i];
	return NULL;
}
