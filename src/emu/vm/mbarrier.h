/* Barriers in shared memory. */
#ifndef PMPP_EMU_MBARRIER_H
#define PMPP_EMU_MBARRIER_H

#include "emu/vm/warp.h"

/* What one lane does, by @u, a call of SYSTEM_MBARRIER_...; false: its barrier is not in shared
 * memory, or misaligned. */
bool mbarrier_lane(struct warp *w, const struct uop *u, unsigned lane, const uint64_t *arg,
                   uint64_t *result);
/* @bytes more are awaited by the barrier at @at, or -@bytes have come; false as above. */
bool mbarrier_bytes(const struct worker *wk, uint64_t at, int64_t bytes);
/* @bytes have come by a copy that @lane of @w asked for; false as above. */
bool mbarrier_copied(struct warp *w, unsigned lane, uint64_t at, uint64_t bytes);

#endif
