/* What a card counts of divided warps beyond the instructions that their parts execute. */
#ifndef PMPP_EMU_REPLAY_H
#define PMPP_EMU_REPLAY_H

#include "emu/vm/warp.h"

/* Those who wait at @barrier for @wanted and go on at @block, perhaps nobody yet. */
struct meeting *replay_meeting(struct warp *w, uint32_t barrier, uint32_t wanted, int32_t block);
/* Of one at WARPSYNC (MEET_WARP). */
enum meet_warp meeting_kind(const struct warp *w, const struct meeting *m);
/* Lanes go on together at @block, or do not, and a card may do otherwise; -1 = nowhere. */
void replay_unsure(struct warp *w, int32_t block);
/* The running part is about to be divided by a branch. */
void replay_split(struct warp *w);
/* The part that was put aside last has its turn, its lanes are the active ones, from *@block on;
 * false: there is none. */
bool replay_pop(struct warp *w, int32_t *block);
/* The instruction that ends @block is counted once more, in @lanes. */
void replay_count(struct warp *w, uint32_t block, uint64_t warps, uint32_t lanes);
/* Lanes that came to WARPSYNC.COLLECTIVE at several places go on, for each place but that of
 * @block, which begins behind it: @left have not yet gone on. */
void replay_collective(struct warp *w, int32_t block, uint32_t left);
/* Of @mask, divided by the lanes that each waits for: those that have their turn first, as with a
 * branch not the larger side. */
uint32_t replay_first_group(const uint32_t wanted_by[32], uint32_t mask);
/* The warp's active lanes have met at @m; @again: its instruction is issued once more for them. */
void replay_met(struct warp *w, const struct meeting *m, bool again);

#endif
