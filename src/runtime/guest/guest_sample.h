/*
 * A launch counted in a sample of its blocks, in a copy of the program: the launch itself then only
 * does its work.
 */
#ifndef PMPP_RUNTIME_GUEST_SAMPLE_H
#define PMPP_RUNTIME_GUEST_SAMPLE_H

#include "emu/device.h"
#include "model/counts.h"

/* How many blocks of @req are to be counted, as the explorer asks; 0 = all. */
uint64_t sample_blocks(const struct emu_launch_request *req);
/* Counts a sample of req->max_blocks; run_counts_free() @out. False: its blocks need those that are
 * left out, or a copy is not to be had. */
bool sample_count(const struct emu_launch_request *req, struct run_counts *out);

#endif
