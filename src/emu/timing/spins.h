/*
 * Small loops in which lanes wait for what others write: a flag, or a lock that is free. How often
 * they go round on hardware, nobody knows.
 */
#ifndef PMPP_EMU_SPINS_H
#define PMPP_EMU_SPINS_H

#include "emu/ir/ir.h"
#include "model/counts.h"
#include "timemodel/timing_program.h"

/* Takes away what the loops went round: what is known is how often they were come to, and, of lanes
 * that wait for each other, how often some of them left. Marks their loads in @inst. False: there
 * are no such loops. */
bool spins_shorten(const struct ir *ir, const struct counts *of_op, struct timing_inst *inst,
                   struct timing_block *block);

#endif
