/*
 * Reference runs: what a run gave on a real GPU, from the recordings built into the program
 * (presets/GPU/NAME.json: sessions that walked the preset NAME on that GPU).
 *
 * Thread-safe. A recording is read when one of its kernels is first asked for, which takes some
 * milliseconds: the screen's thread asks after the worker did. Knows no screen.
 */
#ifndef PMPP_LAB_REFERENCE_RUN_H
#define PMPP_LAB_REFERENCE_RUN_H

#include "model/brief.h"

struct asset; /* base/asset.h */

/* Is the asset a recording, presets/GPU/NAME.json? Then @gpu and @name have those parts of it. */
bool reference_run_recording(const struct asset *a, char gpu[64], char name[64]);
/* The same launch as recorded: on @sel's GPU if it was, else on any; NULL = none. Lasts. */
const struct run_brief *reference_run_find(const struct selection *sel);
/* The session's reference run is that of its last run. */
void reference_run_of_session(struct session *s);
/* The recorded times of the ladder's rungs, and of the vendor's library there. */
void reference_runs_of_ladder(struct ladder *l);
/* How many recorded runs there are; reads them all. @broken: name of one that cannot be read. */
unsigned reference_run_count(char *broken, size_t n);

#endif
