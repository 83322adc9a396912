/* Bulk copies: what one lane begins is done at once. */
#ifndef PMPP_EMU_BULK_H
#define PMPP_EMU_BULK_H

#include "emu/vm/warp.h"

/* SYSTEM_BULK_..., SYSTEM_TENSOR_..., SYSTEM_REMOTE_STORE with arguments as in ir.h; false: stopped
 * by a fault. */
bool bulk_lane(struct warp *w, const struct uop *u, unsigned lane, const uint64_t *arg);

/* --- bulk_move.c, for bulk.c and tensor_copy.c --- */

struct bulk {
	struct warp *w;
	const struct uop *u;
	unsigned lane;
	uint64_t how;
	bool to_shared;
	uint8_t *shared;     /* host address */
	struct shadow *seen; /* of the block that owns it; NULL = not followed */
	uint64_t offset;     /* there */
	struct worker *owner;
	/* the mbarrier that hears of the copy, and the block it is of; NULL = the lane waits for it */
	struct worker *barrier_owner;
	uint64_t barrier;
};
/* Looks for races of @bytes from @at on, in global memory, or at that offset of b->owner's. */
void bulk_race(const struct bulk *b, enum ptx_space space, uint64_t at, uint64_t bytes, bool write);
/* @bytes between @at in global and @offset bytes behind the copy's place in shared memory: copied,
 * added, counted. False: stopped by a fault. */
bool bulk_move(struct bulk *b, uint64_t at, uint64_t offset, uint64_t bytes);
/* The same without being counted, and what is counted of so many bytes. */
bool bulk_move_piece(struct bulk *b, uint64_t at, uint64_t offset, uint64_t bytes);
void bulk_count(const struct bulk *b, uint64_t at, uint64_t bytes);
bool bulk_fault(const struct bulk *b, enum fault_kind kind, uint64_t at, enum ptx_space space,
                uint64_t bytes, bool store);
/* Adds, or whatever @op is, @bytes of elements. */
void bulk_reduce(enum ptx_atom op, enum ptx_type type, uint8_t *to, const uint8_t *from,
                 uint64_t bytes);
/* Shared memory has a value now; or is told not to have one where it is read. */
void bulk_follow(const struct bulk *b, uint64_t offset, uint64_t bytes);

/* --- tensor_copy.c --- */
/* The box of @arg (a tensor's), to or from one block. @bytes: what the box has. */
struct tensor_map;
bool tensor_box(struct bulk *b, const struct tensor_map *m, const int32_t at[5]);
uint64_t tensor_box_bytes(const struct tensor_map *m);
/* NULL, with a fault: there is no tensor map of @rank dimensions. */
const struct tensor_map *tensor_map_at(const struct bulk *b, uint64_t address);

#endif
