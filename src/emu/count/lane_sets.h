/* Which lanes of a warp share a key: an address, a word, a line. */
#ifndef PMPP_EMU_LANE_SETS_H
#define PMPP_EMU_LANE_SETS_H

#include <stdbool.h>
#include <stdint.h>

struct lane_sets {
	uint32_t firsts;   /* the lowest lane of each key */
	uint8_t first[32]; /* of each lane: the lowest one of its key */
};

/* How many lanes up to this one, and with it, have its key; of each lane that was asked for. */
struct lane_ranks {
	uint8_t rank[32];
};

/* Of the lanes of @mask; keys are addresses without their @shift lowest bits. */
void lane_sets_find(struct lane_sets *s, const uint64_t *address, uint32_t mask, unsigned shift);
/* The same, and the lanes' @ranks. */
void lane_sets_rank(struct lane_sets *s, struct lane_ranks *ranks, const uint64_t *address,
                    uint32_t mask, unsigned shift);
/* The most lanes of @mask in one of @n banks (a power of two, 32 at most), which follow from an
 * address's bits from @shift on. */
unsigned lane_busiest_bank(const uint64_t *address, uint32_t mask, unsigned n, unsigned shift);
/* The same on any processor, one lane at a time. */
void lane_sets_one_by_one(struct lane_sets *s, const uint64_t *address, uint32_t mask,
                          unsigned shift);
unsigned lane_busiest_one_by_one(const uint64_t *address, uint32_t mask, unsigned n,
                                 unsigned shift);

#endif
