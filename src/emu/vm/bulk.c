/*
 * Bulk copies (PTX ISA 9.0, 9.7.9.25): by cp.async.bulk and its like a thread has the copy engine
 * move bytes between global and shared memory, or from one block of a cluster to another. Here they
 * are moved at once, which is one of the orders that hardware may choose; the barrier in shared
 * memory hears of the bytes at once, too. The check for races knows what may come otherwise.
 *
 * What is counted: launch/tally.c, add_bulk().
 */
#include "emu/vm/bulk.h"

#include "emu/tensor_map.h"
#include "emu/vm/cluster.h"
#include "emu/vm/mbarrier.h"

#include <string.h>

/* A place of @bytes in shared memory, 16-byte aligned; false, with a fault: there is none. */
static bool place_shared(struct bulk *b, uint64_t at, uint64_t bytes)
{
	struct worker *owner;
	b->shared = cluster_bytes_at(b->w->worker, at, bytes, &owner);
	if (!b->shared)
		return bulk_fault(b, FAULT_BOUNDS, at, SPACE_SHARED, bytes, b->to_shared);
	if (at % 16)
		return bulk_fault(b, FAULT_ALIGN, at, SPACE_SHARED, 16, b->to_shared);
	b->offset = at & CLUSTER_OFFSET;
	b->seen = owner->shadow;
	b->owner = owner;
	return true;
}

/* The copy signals the mbarrier at @barrier, if there is one. */
static void name_barrier(struct bulk *b, uint64_t barrier)
{
	struct worker *owner;
	if (!cluster_bytes_at(b->w->worker, barrier, 8, &owner))
		return;
	b->barrier_owner = owner;
	b->barrier = barrier;
}

static bool tell_barrier(const struct bulk *b, uint64_t barrier, uint64_t bytes)
{
	return mbarrier_copied(b->w, b->lane, barrier, bytes) ||
	       bulk_fault(b, FAULT_BOUNDS, barrier, SPACE_SHARED, 8, true);
}

/* What is copied, by arguments of SYSTEM_BULK_LOAD, or a tensor's. */
struct what {
	uint64_t shared, global, bytes, barrier, blocks;
	const struct tensor_map *map;
	int32_t at[TENSOR_MAP_DIMS];
};

static bool copy_to(struct bulk *b, const struct what *c, uint64_t shared)
{
	if (!place_shared(b, shared, c->bytes))
		return false;
	bulk_race(b, SPACE_SHARED, b->offset, c->bytes, b->to_shared);
	return c->map ? tensor_box(b, c->map, c->at) : bulk_move(b, c->global, 0, c->bytes);
}

/* Into the named blocks of the cluster, at the same place of each; each has its barrier. */
static bool multicast(struct bulk *b, const struct what *c)
{
	const uint64_t own = CLUSTER_OFFSET;
	for (uint64_t m = c->blocks & 0xffff; m; m &= m - 1) {
		const uint64_t top = ((uint64_t)__builtin_ctzll(m) + 1) << CLUSTER_SHIFT;
		name_barrier(b, top | (c->barrier & own));
		if (!copy_to(b, c, top | (c->shared & own)) ||
		    !tell_barrier(b, top | (c->barrier & own), c->bytes))
			return false;
	}
	return true;
}

static bool run(struct bulk *b, const struct what *c)
{
	if (b->to_shared && (b->how & BULK_MULTICAST))
		return multicast(b, c);
	if (b->to_shared)
		name_barrier(b, c->barrier);
	return copy_to(b, c, c->shared) && (!b->to_shared || tell_barrier(b, c->barrier, c->bytes));
}

/* From one block's shared memory to another's, or added to what is there. */
static bool between_blocks(struct bulk *b, const uint64_t *arg)
{
	struct bulk from = *b;
	from.to_shared = false;
	name_barrier(b, arg[3]);
	name_barrier(&from, arg[3]);
	if (!place_shared(&from, arg[1], arg[2]) || !place_shared(b, arg[0], arg[2]))
		return false;
	bulk_follow(&from, 0, arg[2]);
	bulk_follow(b, 0, arg[2]);
	bulk_race(&from, SPACE_SHARED, from.offset, arg[2], false);
	bulk_race(b, SPACE_SHARED, b->offset, arg[2], true);
	if (bulk_atom(b->how) != ATOM_NONE)
		bulk_reduce(bulk_atom(b->how), bulk_type(b->how), b->shared, from.shared, arg[2]);
	else
		memmove(b->shared, from.shared, arg[2]);
	return tell_barrier(b, arg[3], arg[2]);
}

/* st.async and red.async: up to four values into the cluster's shared memory. */
static bool remote_store(struct bulk *b, const uint64_t *arg)
{
	const unsigned each = ptx_type_bytes(bulk_type(b->how)), n = (unsigned)arg[3];
	struct worker *owner;
	if (!b->w->worker->grid->order.cluster[0])
		return bulk_fault(b, FAULT_NO_CLUSTER, arg[0], SPACE_SHARED, n * each, true);
	uint8_t *to = cluster_bytes_at(b->w->worker, arg[0], n * each, &owner);
	if (!to)
		return bulk_fault(b, FAULT_BOUNDS, arg[0], SPACE_SHARED, n * each, true);
	if (arg[0] % (n * each))
		return bulk_fault(b, FAULT_ALIGN, arg[0], SPACE_SHARED, n * each, true);
	if (owner->shadow)
		shadow_touch(owner->shadow, arg[0] & CLUSTER_OFFSET, n * each, false, true);
	b->owner = owner;
	name_barrier(b, arg[1]);
	bulk_race(b, SPACE_SHARED, arg[0] & CLUSTER_OFFSET, n * each, true);
	for (unsigned i = 0; i < n; i++) {
		uint8_t v[8];
		memcpy(v, &arg[4 + i], sizeof v);
		if (bulk_atom(b->how) != ATOM_NONE)
			bulk_reduce(bulk_atom(b->how), bulk_type(b->how), to + i * each, v, each);
		else
			memcpy(to + i * each, v, each);
	}
	return tell_barrier(b, arg[1], n * each);
}

static bool plain_copy(struct bulk *b, const uint64_t *arg)
{
	const struct what c = { arg[0], arg[1], arg[2], arg[3], arg[4], NULL, { 0 } };
	if (c.global % 16 || c.bytes % 16)
		return bulk_fault(b, FAULT_ALIGN, c.global | c.bytes, SPACE_GLOBAL, 16, !b->to_shared);
	return !c.bytes || run(b, &c);
}

static bool tensor_copy(struct bulk *b, const uint64_t *arg)
{
	struct what c = { .shared = arg[0], .barrier = arg[2], .blocks = arg[3] };
	c.map = tensor_map_at(b, arg[1]);
	if (!c.map)
		return false;
	c.bytes = tensor_box_bytes(c.map);
	for (unsigned k = 0; k < c.map->rank; k++)
		c.at[k] = (int32_t)(uint32_t)arg[5 + k];
	if (bulk_atom(b->how) != ATOM_NONE)
		b->how |= BULK_OP(ATOM_NONE, c.map->type);
	return run(b, &c);
}

bool bulk_lane(struct warp *w, const struct uop *u, unsigned lane, const uint64_t *arg)
{
	const enum system_call call = u->system->call;
	const bool tensor = call >= SYSTEM_TENSOR_LOAD && call <= SYSTEM_TENSOR_REDUCE;
	struct bulk b = {
		.w = w,
		.u = u,
		.lane = lane,
		.how = call == SYSTEM_REMOTE_STORE ? arg[2]
		       : tensor                    ? arg[4]
		                                   : arg[5],
		.to_shared = call != SYSTEM_BULK_STORE && call != SYSTEM_BULK_REDUCE &&
		             call != SYSTEM_TENSOR_STORE && call != SYSTEM_TENSOR_REDUCE,
	};
	if (call == SYSTEM_REMOTE_STORE)
		return remote_store(&b, arg);
	if (call == SYSTEM_BULK_SHARED)
		return between_blocks(&b, arg);
	return tensor ? tensor_copy(&b, arg) : plain_copy(&b, arg);
}
