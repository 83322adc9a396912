/*
 * Walking a preset: a step to a selection, a record against the step's expectations.
 *
 * Shared by the command line and the screen. Runs nothing by itself and draws nothing.
 */
#ifndef PMPP_TOUR_H
#define PMPP_TOUR_H

#include "base/err.h"
#include "model/expect.h"
#include "model/preset.h"
#include "model/session.h"

/* What the step wants run: kernel, variant, parameters and GPU sheet. @sel keeps its back end and
 * seed. Errors carry the preset's name and the step's number. */
bool tour_select(const struct preset *p, unsigned step, struct selection *sel, struct err *err);

struct tour_result {
	unsigned n;                       /* expectations of the step */
	struct expect_outcome outcome[40];
	bool evaluated[40];
	char problem[40][200];            /* why it could not be evaluated */
	unsigned failed;
};

/* Holds @r against the step's expectations; @before is the previous step's record or NULL. */
void tour_check(const struct preset_step *step, const struct run_record *r,
                const struct run_record *before, struct tour_result *out);

#endif
