/*
 * Loops that never end. A warp that only computes, and comes to a state in which it has been
 * before, comes there for ever: nobody else can change what it computes with.
 */
#ifndef PMPP_EMU_ENDLESS_H
#define PMPP_EMU_ENDLESS_H

#include "emu/vm/warp.h"

/* A worker's look at one warp of its block. */
struct endless;

/* @w has used up its fuel once more. True: it never ends, and the fault says so. */
bool endless_look(struct warp *w);
/* The worker begins another block. */
void endless_forget(struct worker *wk);
void endless_free(struct worker *wk);

#endif
