/* Whom an access races with: asks the room check, and notes what it says. */
#include "emu/vm/access.h"

static void lane_bytes(const void *context, unsigned lane, uint8_t *out)
{
	access_bytes(context, lane, out);
}

void access_race(struct access *a)
{
	const struct xop *x = a->m->x;
	if ((a->space != SPACE_SHARED && a->space != SPACE_GLOBAL) || !a->mask)
		return;
	access_set_hosts(a);
	const struct race_access r = {
		.warp = a->w->number,
		.mask = a->mask,
		.op = a->u->xop,
		.bytes = a->bytes,
		.shared = a->space == SPACE_SHARED,
		.read = a->read,
		.write = a->write,
		.in_loop = x->polls,
		.strength = a->atomic || x->sem > SEM_WEAK ? RACE_STRONG
		            : x->strong                    ? RACE_VOLATILE
		                                           : RACE_WEAK,
		.sem = x->sem,
		.scope = x->scope,
		.address = a->address,
		.host = a->host,
		.value = lane_bytes,
		.context = a,
	};
	struct race_found found = { 0 };
	if (!race_access(a->w->worker->race, &r, &found))
		return;
	struct emu_fault *f = access_note(a, FAULT_RACE, found.lane, found.other_op, found.address);
	f->other_block = found.other_block;
	f->other_thread = found.other_thread;
	f->other_store = found.other_writes;
	f->scope = found.scope;
}
