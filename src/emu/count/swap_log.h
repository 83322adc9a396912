/*
 * Who wants to change which word of global memory by compare-and-swap, warp by warp, for
 * timemodel/swap_contest.h.
 *
 * Where there is not room for all, of one warp of many, and of few warps the first.
 */
#ifndef PMPP_EMU_SWAP_LOG_H
#define PMPP_EMU_SWAP_LOG_H

#include "timemodel/swap_contest.h"

struct swap_log;
/* @warps: of the grid. */
struct swap_log *swap_log_new(uint64_t warps);
void swap_log_free(struct swap_log *l);

/* Thread-safe. */
void swap_log_add(struct swap_log *l, const struct swap_wish *w);

/* What was noted, sorted, and the lanes of all wishes: *@c's wish, n, stands_for and lanes. The
 * wishes stay the log's. */
void swap_log_wishes(struct swap_log *l, struct swap_contest *c);

#endif
