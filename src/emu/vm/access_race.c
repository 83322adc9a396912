/* Whom an access races with: asks the room check, and notes what it says. */
#include "emu/vm/access.h"
#include "emu/vm/cluster.h"

static void lane_bytes(const void *context, unsigned lane, uint8_t *out)
{
	access_bytes(context, lane, out);
}

static const uint8_t *lane_before(const void *context, unsigned lane)
{
	const struct access *a = context;
	/* a lane's address may lie before the first one's */
	return a->base ? a->base + (int64_t)(a->address[lane] - a->first) : a->host[lane];
}

/* Do several lanes store to this address? */
static bool stored_by_many(const struct access *a, uint64_t address)
{
	unsigned lanes = 0;
	for (uint32_t m = a->write ? a->mask : 0; m; m &= m - 1) {
		const uint64_t from = a->address[__builtin_ctz(m)];
		lanes += address >= from && address - from < a->bytes;
	}
	return lanes > 1;
}

/* The access of @lanes, at @address in the shared memory of @owner; NULL = of their own block, or
 * in global memory. */
static void look_at(struct access *a, uint32_t lanes, const uint64_t *address, struct worker *owner)
{
	const struct xop *x = a->m->x;
	const struct race_access r = {
		.warp = a->w->number,
		.mask = lanes,
		.op = a->u->xop,
		.bytes = a->bytes,
		.shared = a->space == SPACE_SHARED,
		.read = a->read,
		.write = a->write,
		.async = x->kind == X_ASYNC && a->write,
		.in_loop = x->polls || (x->hands_on && x->looks),
		.decides = x->decides && (x->kind == X_ATOM || x->strong || x->hands_on),
		.unread = x->kind == X_RED || x->unread,
		.takes = x->kind == X_ATOM && x->polls && x->decides &&
		         (x->op == ATOM_CAS || x->op == ATOM_EXCH),
		.strength = a->atomic || x->sem > SEM_WEAK ? RACE_STRONG
		            : x->strong || x->hands_on     ? RACE_VOLATILE
		                                           : RACE_WEAK,
		.sem = x->sem,
		.scope = x->scope,
		.address = address,
		.owner = owner ? owner->race : NULL,
		.lanes = a->remote                  ? RACE_ANYWHERE
		         : a->layout == LAYOUT_ROW  ? RACE_IN_A_ROW
		         : a->layout == LAYOUT_SAME ? RACE_ONE_PLACE
		                                    : RACE_ANYWHERE,
		.value = lane_bytes,
		.before = lane_before,
		.context = a,
	};
	struct race_found found = { 0 };
	if (!race_access(a->w->worker->race, &r, &found))
		return;
	const bool many = stored_by_many(a, a->address[found.lane]);
	if (owner)
		found.address = a->address[found.lane]; /* which names the block */
	access_note_race(a, &found, many);
}

/* Lanes that use shared memory of other blocks of the cluster, those of one block at a time. */
static void look_at_others(struct access *a)
{
	uint64_t offset[32];
	for (uint32_t left = a->remote & a->mask; left;) {
		struct worker *owner = NULL;
		uint32_t lanes = 0;
		for (uint32_t m = left; m; m &= m - 1) {
			const unsigned i = lowest_lane(m);
			struct worker *one = cluster_block_at(a->w->worker, a->address[i], &offset[i]);
			owner = owner ? owner : one;
			lanes |= one == owner ? 1u << i : 0;
		}
		left &= ~lanes;
		if (owner->race)
			look_at(a, lanes, offset, owner);
	}
}

void access_race(struct access *a)
{
	const uint32_t own = a->mask & ~a->remote;
	if (a->space != SPACE_SHARED && a->space != SPACE_GLOBAL)
		return;
	if (own)
		look_at(a, own, a->address, NULL);
	if (a->remote)
		look_at_others(a);
}
