/* From the workers' counters to run_counts. */
#ifndef PMPP_EMU_TALLY_H
#define PMPP_EMU_TALLY_H

#include "emu/launch/launch.h"
#include "model/counts.h"

/* Counts of all workers, whole and per line, the trace, and the regions for the time model: those
 * for
 * @factor times the blocks that ran. @out is zero but for the traffic beyond L1, which is likewise.
 */
void tally(const struct emu_launch *l, double factor, struct run_counts *out);

#endif
