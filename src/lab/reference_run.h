/*
 * Ghosts: what a run gave on a real GPU, from the recordings built into the program
 * (presets/h200/NAME.json: sessions that walked the preset NAME there).
 *
 * Thread-safe. A recording is read when one of its kernels is first asked for, which takes some
 * milliseconds: the screen's thread asks after the worker did. Knows no screen.
 */
#ifndef PMPP_LAB_REFERENCE_RUN_H
#define PMPP_LAB_REFERENCE_RUN_H

#include "model/brief.h"

#define REFERENCE_RUN_FOLDER "presets/h200"

/* The same launch as recorded, whatever @sel's GPU; NULL = none. Lasts. */
const struct run_brief *reference_run_find(const struct selection *sel);
/* The session's reference run is that of its last run. */
void reference_run_of_session(struct session *s);
/* The recorded times of the ladder's rungs, and of the vendor's library there. */
void reference_runs_of_ladder(struct ladder *l);
/* How many recorded runs there are; reads them all. @broken: name of one that cannot be read. */
unsigned reference_run_count(char *broken, size_t n);

#endif
