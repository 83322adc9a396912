/* Which counts of a launch a card may give differently each time; model/variation.h. */
#ifndef PMPP_EMU_LAUNCH_VARIATION_OF_H
#define PMPP_EMU_LAUNCH_VARIATION_OF_H

#include "emu/ir/ir.h"
#include "model/counts.h"

/* What is known of a launch beyond its counts. Rows of bits (emu/ir/bits.h) by operation. */
struct variation_facts {
	uint64_t *raced;    /* accesses that race with others; NULL = none does */
	uint64_t *stored;   /* of them, stores that race with stores; NULL = none does */
	uint64_t *left;     /* what reads memory that an earlier launch left, which differs each
	                     * time; NULL = nothing */
	uint32_t parted_at; /* struct worker */
};
/* @of_op: counts of each instruction, at its first operation. @leaves: a row of bits, or NULL:
 * stores and atomics behind which global memory differs each time are set in it. */
void variation_of(const struct ir *ir, const struct counts *of_op,
                  const struct variation_facts *facts, uint64_t *leaves, struct run_variation *v);

#endif
