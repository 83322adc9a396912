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
/* @ranks: or NULL. False: the keys are too far apart (2^32). @mask != 0. */
bool lane_wide_sets(struct lane_sets *s, struct lane_ranks *ranks, const uint64_t *address,
                    uint32_t mask, unsigned shift);
/* As lane_busiest_bank(). */
unsigned lane_wide_busiest(const uint64_t *address, uint32_t mask, unsigned n, unsigned shift);
/* As probe_layout() of all 32 lanes: @row tells whether the second lies behind the first. */
enum lane_layout lane_wide_layout(const uint64_t *address, unsigned access, bool row);
/* All lanes' addresses from the first one's on; false: further than 2^31. *@same: they are what
 * @before has, the offsets of another access. */
bool lane_wide_offsets(const uint64_t *address, const int32_t before[32], int32_t offset[32],
                       bool *same);
/* As probe_global() of lanes that lie anyhow, of 32 bytes at most; false as above. */
bool lane_wide_probe(const uint64_t *address, uint32_t mask, unsigned access,
                     struct global_probe *p);

#endif
