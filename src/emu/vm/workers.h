/* The threads that run a launch. */
#ifndef PMPP_EMU_WORKERS_H
#define PMPP_EMU_WORKERS_H

#include "emu/vm/emu_vm.h"

/* Runs all blocks of the order on l->n_workers threads, the caller's among them; false with the
 * reason when a fault, the watchdog or the person ended it. */
bool emu_workers_run(struct launch *l, struct err *err);

#endif
