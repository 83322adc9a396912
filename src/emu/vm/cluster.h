/* Clusters of blocks: their barrier, and shared memory of one another. */
#ifndef PMPP_EMU_CLUSTER_H
#define PMPP_EMU_CLUSTER_H

#include "emu/vm/warp.h"

/* The block whose shared memory @address (32 bits, see CLUSTER_SHIFT in ir.h) is in, and the offset
 * there. NULL: the cluster has no such block. */
struct worker *cluster_block_at(const struct worker *wk, uint64_t address, uint64_t *offset);
/* A host address for @bytes of them; NULL: they do not lie wholly in shared memory. */
uint8_t *cluster_bytes_at(const struct worker *wk, uint64_t address, uint64_t bytes,
                          struct worker **owner);
/* What a wait of a whole warp comes to: it goes on, or asks again later (WARP_WAIT). */
/* @relaxed: what its lanes did before is not handed over, but for what fences said. */
void cluster_arrive(struct warp *w, uint32_t mask, bool relaxed);
bool cluster_wait(struct warp *w, uint32_t mask);

#endif
