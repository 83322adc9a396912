/*
 * Counts of the machine code of a launch.
 *
 * The PTX gives the program its results. The machine code runs in a fork, in front of the launch
 * and at the same time, on the fork's own copy of all memory; only its counts come back.
 */
#ifndef PMPP_RUNTIME_GUEST_MACHINE_H
#define PMPP_RUNTIME_GUEST_MACHINE_H

#include "runtime/guest/guest.h"

/* A fork that runs a launch; fd -1 = there is none. */
struct machine_fork {
	int fd;
	double started_s;
};

/* Asks the explorer once for @m's machine code, where any is wanted. */
void machine_need(struct guest_module *m);
/* Tests: PMPP_RESULTS_OF=sass has the machine code give the program its results, where it can. */
bool machine_gives_results(void);
/* Starts the launch of @req; without machine code of @m, nothing. */
struct machine_fork machine_begin(const struct guest_module *m,
                                  const struct emu_launch_request *req);
/*
 * Waits for it and puts its counts, of the launch and of its lines, in place of the PTX's in
 * @counts (NULL: they are not wanted any more). @compared: the launch leaves the same whatever
 * comes first; where the machine code left something else, the note says so. @r: its level and note
 * are filled.
 */
void machine_end(struct machine_fork *f, const struct guest_module *m, struct run_counts *counts,
                 bool compared, struct record_launch *r);

#endif
