/*
 * What lane_sets.h and probe.h find, 16 lanes at a time, on processors with AVX-512: the same
 * results. Elsewhere, or where it is not allowed, lane_wide() is false, and the others are not to
 * be called.
 */
#ifndef PMPP_EMU_LANE_WIDE_H
#define PMPP_EMU_LANE_WIDE_H

#include "emu/count/lane_sets.h"
#include "emu/count/probe.h"

bool lane_wide(void);
/* For tests and measurements; allowed at first. */
void lane_wide_allow(bool allowed);
/* False: the keys are too far apart (2^32). @mask != 0. */
bool lane_wide_sets(struct lane_sets *s, const uint64_t *address, uint32_t mask, unsigned shift);
/* As lane_busiest_bank(). */
unsigned lane_wide_busiest(const uint64_t *address, uint32_t mask, unsigned n, unsigned shift);
/* As probe_global() of lanes that lie anyhow, of 32 bytes at most; false as above. */
bool lane_wide_probe(const uint64_t *address, uint32_t mask, unsigned access,
                     struct global_probe *p);

#endif
