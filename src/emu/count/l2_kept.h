/*
 * What L2 still holds between the launches of a program, by ranges of memory: what was touched
 * last, and how much came after it. A launch alone begins with nothing in L2, as under a profiler
 * that empties the caches; in a program it finds what the launch before left there.
 *
 * Measured on an H200 (tests/gpu/micro/kept.cu, tests/gpu/h200-2026-11-27/micro/kept.jsonl): data
 * that a kernel read or wrote, or that a set or a copy within the device touched, is there for the
 * next one until L2 has no room for it; of what a copy from the host brought, a half is, if it is
 * small;
 * all of it, if it is so small that the host sends it along with the command (L2_SENT).
 */
#ifndef PMPP_EMU_L2_KEPT_H
#define PMPP_EMU_L2_KEPT_H

#include "model/gpu.h"

#include <stdbool.h>
#include <stdint.h>

enum l2_touch {
	L2_READ,
	L2_WRITTEN,
	L2_SET,
	L2_COPIED_FROM,
	L2_COPIED_TO,
	L2_FROM_HOST,
	L2_SENT,
	L2_TOUCHES
};

struct l2_kept;
struct l2_kept *l2_kept_new(const struct gpu_spec *gpu);
void l2_kept_free(struct l2_kept *k);
/* Something new begins, a launch or a copy: what it touches, it touches at once. */
void l2_kept_begin(struct l2_kept *k);
/* [base, base + bytes) was touched, all of it. */
void l2_kept_touch(struct l2_kept *k, uint64_t base, uint64_t bytes, enum l2_touch how);
/* It is no memory any more, or with the host. */
void l2_kept_drop(struct l2_kept *k, uint64_t base, uint64_t bytes);
/* What was touched together, number @i of them from the last one on: where it lies, and the share
 * of it that is there. False: there are no more. */
bool l2_kept_piece(const struct l2_kept *k, unsigned i, uint64_t *base, uint64_t *end,
                   double *share);
/* The share of [base, base + bytes) that L2 holds: 0 to 1. */
double l2_kept_share(const struct l2_kept *k, uint64_t base, uint64_t bytes);
/* The share of it that L2 holds where who reads it first has further to go: nobody has read it
 * since a set or a copy wrote it, or a kernel: a half of that, since what a block writes the same
 * block of the next launch often reads. */
double l2_kept_far(const struct l2_kept *k, uint64_t base, uint64_t bytes);

#endif
