/* From the workers' counters to run_counts. */
#ifndef PMPP_EMU_TALLY_H
#define PMPP_EMU_TALLY_H

#include "backend/emu/emu_vm.h"
#include "model/counts.h"

/* Counts of all workers, whole and per line, and the trace. @out is filled from zero. */
void tally(const struct launch *l, struct run_counts *out);

#endif
