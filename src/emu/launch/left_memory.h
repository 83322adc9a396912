/*
 * Which counts of a launch a card may give differently (variation_of.h), from its code, from races
 * that were seen, and from memory whose contents depend on the order in which warps and blocks of
 * earlier launches came. That is kept per allocation, of whole programs; what is copied takes it
 * along, what is set or comes from the host ends it.
 */
#ifndef PMPP_EMU_LAUNCH_LEFT_MEMORY_H
#define PMPP_EMU_LAUNCH_LEFT_MEMORY_H

#include "emu/launch/launch.h"

/* Behind a run; @of_op: counts of each instruction, at its first operation. Memory that differs
 * each time from now on is noted. */
void launch_variation(const struct emu_launch *l, const struct counts *of_op,
                      struct run_variation *v);

#endif
