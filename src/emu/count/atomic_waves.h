/*
 * Wavefronts of atomics: passes that one request of a warp takes, by the places its lanes touch.
 * Rules of an H200, whose counters tests/gpu/micro/atomic_waves.cu has (atomic_waves_check.py).
 */
#ifndef PMPP_EMU_ATOMIC_WAVES_H
#define PMPP_EMU_ATOMIC_WAVES_H

#include <stdbool.h>
#include <stdint.h>

/* Of lanes @mask at these addresses; 0 for none. @swap: compare-and-swap. @merged: of the lanes on
 * one word one goes for all. All patterns that were measured are exact. */
unsigned shared_atomic_waves(const uint64_t address[32], uint32_t mask, unsigned bytes, bool swap,
                             bool merged);
/* Of global memory. Now and then one off where lanes share words in requests of many lines. */
unsigned global_atomic_waves(const uint64_t address[32], uint32_t mask, bool swap);

#endif
