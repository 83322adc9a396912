/*
 * Fills the buffers of a large launch while its GPU is still looked for.
 */
#ifndef PMPP_LAB_HEAD_START_H
#define PMPP_LAB_HEAD_START_H

#include "model/session.h"

struct workbench;

/*
 * Begins on a thread of its own; the next run at @w begins with these buffers if they fit it. A
 * launch that is small, illegal or too large for this machine is left alone: the run will say so.
 */
void head_start(struct workbench *w, const struct selection *sel);
/* Takes what was begun, if it was; waits for its end. */
void head_start_end(struct workbench *w);

#endif
