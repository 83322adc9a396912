/*
 * Reads of shared memory that nobody has written since all threads of the block met: they race with
 * nothing so far, and with nothing at all if all meet again before anybody writes. So they are only
 * noted, and looked at when one writes (race_reads.c).
 */
#ifndef PMPP_EMU_RACE_READS_H
#define PMPP_EMU_RACE_READS_H

#include "emu/check/race_order.h"

void race_reads_start(struct race_block *b, uint32_t n_pages);
void race_reads_free(struct race_block *b);
/* Notes the weak read @a, whose use is told by @op; false: it has to be looked at now. */
bool race_reads_put_off(struct race_block *b, const struct race_access *a, uint32_t op);
/* @a, which is no weak read, is about to be looked at. True: so are the reads noted, before it. */
bool race_reads_due(struct race_block *b, const struct race_access *a);
/* The same of plain ones: all of them, or none. */
bool race_reads_put_off_plain(struct race_block *b, uint32_t warp, const struct lane_load *load,
                              const uint64_t *low, uint32_t n);
/* Are reads noted that have to be looked at before a plain store? */
bool race_reads_due_plain(struct race_block *b, const struct race_plain *p);
/* The next one that was noted, and its epoch; @address: room for its lanes. False: no more. */
bool race_reads_next(struct race_block *b, struct race_access *a, uint64_t address[32],
                     uint32_t *epoch);

#endif
