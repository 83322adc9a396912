/*
 * Walking a preset: a step to a selection, a record against the step's expectations.
 *
 * Shared by the command line and the screen. Runs nothing by itself and draws nothing.
 */
#ifndef PMPP_LAB_TOUR_H
#define PMPP_LAB_TOUR_H

#include "base/err.h"
#include "model/expect.h"
#include "model/preset.h"
#include "model/session.h"

/* What the step wants run: kernel, variant, parameters and GPU sheet. @sel keeps its back end and
 * seed. Errors carry the preset's name and the step's number. */
bool tour_select(const struct preset *p, unsigned step, struct selection *sel, struct err *err);

struct tour_result {
	unsigned n; /* claims of the step: preset_claims() */
	struct expect_outcome outcome[PRESET_MAX_CLAIMS];
	bool evaluated[PRESET_MAX_CLAIMS];
	bool excused[PRESET_MAX_CLAIMS]; /* it does not hold, and cannot be held against this run */
	char problem[PRESET_MAX_CLAIMS][200]; /* why it could not be evaluated, or the excuse */
	unsigned failed, n_excused;
};

/*
 * Holds @r against the claims of step @step; @before is the previous step's record or NULL.
 *
 * Expectations are about the step's GPU sheet, about PTX, and about what the emulator counts. On a
 * real GPU one that does not hold is excused, with the reason, when it speaks of another GPU's
 * times, occupancy or roofs, of instructions that the machine's compiler may merge or predicate, of
 * a figure that hardware does not count, or of a race that need not show itself. Results, memory
 * requests, sectors and operations are never excused.
 */
void tour_check(const struct preset *p, unsigned step, const struct run_record *r,
                const struct run_record *before, struct tour_result *out);

#endif
