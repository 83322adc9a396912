/*
 * What a launch of a program finds in L2 from before, and what it leaves there (count/l2_kept.h):
 * by allocations, of which a launch touches all or nothing.
 */
#ifndef PMPP_EMU_KEPT_LINES_H
#define PMPP_EMU_KEPT_LINES_H

#include "emu/launch/launch.h"

/* On a launch whose cache is new: puts there what L2 holds. */
void kept_lines_begin(struct emu_launch *l);
/* It ended: what it touched is what was touched last. */
void kept_lines_note(const struct emu_launch *l);
/* Does L2 keep what lies there? Not of the host's memory, nor where pages move. */
bool kept_lines_region(const struct emu_device *d, const struct arena_region *r);

#endif
