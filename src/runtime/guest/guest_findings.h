/*
 * What a launch did wrong: what of it matters, the error that the program gets, the records.
 */
#ifndef PMPP_RUNTIME_GUEST_FINDINGS_H
#define PMPP_RUNTIME_GUEST_FINDINGS_H

#include "runtime/guest/guest_second_look.h"

/* What was done anew with something different, and left the same. */
struct agreed {
	bool contents, order;
};

/* Of what was found, what a second look tells to be harmless. @took_s: the launch. @other: one
 * like it, but for values that it is given, was looked at. */
struct agreed findings_look_again(struct second_look *look, const struct run_findings *findings,
                                  const struct launch_print *printed, double took_s, bool other);
void findings_tell(const struct run_findings *findings, uint64_t number,
                   const struct agreed *agreed);
/* The launch failed: what the program is told, and the record, where no finding says it better. */
cudaError_t findings_error(const struct run_findings *findings, const struct err *err);
void findings_tell_failure(const struct run_findings *findings, const struct err *err,
                           uint64_t number);
/* It ran when the program ended. */
void findings_tell_unfinished(uint64_t number);

#endif
