/* What a launch costs on the modelled device, and how many of its blocks an SM holds. */
#ifndef PMPP_RUNTIME_GUEST_TIME_H
#define PMPP_RUNTIME_GUEST_TIME_H

#include "runtime/guest/guest_op.h"

/* Resident blocks of an SM; 0 = the launch cannot be. Registers that are not known count as 32. */
unsigned guest_resident_blocks(const struct guest_function *f, unsigned threads,
                               unsigned dynamic_shared_bytes);
/* Modelled time of a launch from its counts; *@share: of the SMs that it fills, 0..1. */
double guest_kernel_ns(const struct guest_op *op, const struct run_counts *counts, double *share);

#endif
