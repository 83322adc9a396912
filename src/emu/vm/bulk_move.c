/* Bytes of bulk copies between global and shared memory: moved or added, checked and counted. */
#include "emu/vm/access.h"
#include "emu/vm/bulk.h"

#include <string.h>

bool bulk_fault(const struct bulk *b, enum fault_kind kind, uint64_t at, enum ptx_space space,
                uint64_t bytes, bool store)
{
	vm_fault(b->w, b->u, kind, b->lane);
	struct emu_fault *f = &b->w->worker->fault;
	f->address = at;
	f->space = space;
	f->bytes = (unsigned)bytes;
	f->store = store;
	return false;
}

void bulk_race(const struct bulk *b, enum ptx_space space, uint64_t at, uint64_t bytes, bool write)
{
	const struct worker *wk = b->w->worker;
	const bool shared = space == SPACE_SHARED;
	if (!wk->race || !bytes || (shared && !b->owner->race))
		return;
	const struct race_bulk k = {
		.warp = b->w->number,
		.op = b->u->xop,
		.lane = b->lane,
		.shared = shared,
		.write = write,
		.adds = write && bulk_atom(b->how) != ATOM_NONE,
		.owner = shared && b->owner != wk ? b->owner->race : NULL,
		.at = at,
		.bytes = bytes,
		.barrier_owner = b->barrier_owner ? b->barrier_owner->race : NULL,
		.barrier = b->barrier & CLUSTER_OFFSET,
	};
	struct race_found found = { 0 };
	if (!race_bulk(wk->race, &k, &found))
		return;
	struct emu_fault *f = vm_note_race(b->w, b->u, &found, false);
	f->address = found.address;
	if (k.owner)
		f->address |= ((uint64_t)b->owner->cluster_rank + 1) << CLUSTER_SHIFT;
	f->space = space;
	f->bytes = 1;
	f->store = write;
	f->atomic = k.adds;
}

/* --- reductions --- */

#define ADD_WORD(T)                                                                          \
	do {                                                                                     \
		T *p = (T *)(void *)to, seen = __atomic_load_n(p, __ATOMIC_RELAXED), by;             \
		memcpy(&by, from, sizeof by);                                                        \
		while (!__atomic_compare_exchange_n(p, &seen, (T)lane_atomic(op, type, seen, by, 0), \
		                                    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))      \
			;                                                                                \
	} while (0)

GUEST_MEMORY void bulk_reduce(enum ptx_atom op, enum ptx_type type, uint8_t *to,
                              const uint8_t *from, uint64_t bytes)
{
	const unsigned each = ptx_type_bytes(type);
	for (uint64_t i = 0; i + each <= bytes; i += each, to += each, from += each) {
		if (each == 8)
			ADD_WORD(uint64_t);
		else if (each == 4)
			ADD_WORD(uint32_t);
		else
			ADD_WORD(uint16_t);
	}
}

/* --- global and shared memory --- */

void bulk_count(const struct bulk *b, uint64_t at, uint64_t bytes)
{
	struct warp *w = b->w;
	struct worker *wk = w->worker;
	const struct xop *x = &w->image->ir.ops[b->u->xop];
	if (wk->grid->quick || x->mem < 0)
		return;
	struct mem_count *shared = &w->mem[x->mem], *global = &w->mem[x->mem + 1];
	const uint64_t first = at >> 7, last = (at + bytes - 1) >> 7;
	const enum log_kind kind = b->to_shared                     ? LOG_LOAD_L2
	                           : bulk_atom(b->how) != ATOM_NONE ? LOG_ATOMIC
	                                                            : LOG_STORE;
	shared->requests++;
	shared->wavefronts += (bytes + 127) / 128;
	shared->ideal += (bytes + 127) / 128;
	global->requests += last - first + 1;
	global->lines += last - first + 1;
	global->sectors += ((at + bytes - 1) >> 5) - (at >> 5) + 1;
	global->bytes += bytes;
	const struct arena *ar = wk->grid->arena;
	for (uint64_t line = first; line <= last; line++) {
		const uint64_t word = *(const uint64_t *)(w->sampled + (line >> 6) * 8);
		if ((line << 7) + 127 < ar->base || line << 7 >= ar->end || !(word >> (line & 63) & 1))
			continue;
		unsigned sectors = 0;
		for (unsigned s = 0; s < 4; s++) {
			const uint64_t from = (line << 7) + 32 * s;
			sectors |= (unsigned)(from + 32 > at && from < at + bytes) << s;
		}
		log_line(w, line, sectors,
		         &(struct log_request){ .time = b->w->ticks,
		                                .who = (uint32_t)x->mem + 1,
		                                .lines = 1,
		                                .written = 32,
		                                .kind = kind });
	}
}

/* Shared memory has a value now; or has it one where it is read? */
void bulk_follow(const struct bulk *b, uint64_t offset, uint64_t bytes)
{
	if (!b->seen)
		return;
	for (uint64_t i = 0; i < bytes; i++)
		if (!shadow_touch(b->seen, b->offset + offset + i, 1, !b->to_shared, b->to_shared)) {
			struct emu_fault *f = vm_note(b->w, b->u, FAULT_UNINITIALISED, b->lane);
			f->address = b->offset + offset + i;
			f->space = SPACE_SHARED;
			f->bytes = 1;
			return;
		}
}

bool bulk_move(struct bulk *b, uint64_t at, uint64_t offset, uint64_t bytes)
{
	if (!bulk_move_piece(b, at, offset, bytes))
		return false;
	bulk_count(b, at, bytes);
	return true;
}

bool bulk_move_piece(struct bulk *b, uint64_t at, uint64_t offset, uint64_t bytes)
{
	const bool adds = bulk_atom(b->how) != ATOM_NONE;
	const enum global_span s =
		access_span(b->w->worker, at, bytes, b->to_shared || adds, !b->to_shared);
	if (s == SPAN_OUTSIDE || s == SPAN_READ_ONLY)
		return bulk_fault(b, s == SPAN_OUTSIDE ? FAULT_BOUNDS : FAULT_READ_ONLY, at, SPACE_GLOBAL,
		                  bytes, !b->to_shared);
	if (s == SPAN_UNWRITTEN) {
		struct emu_fault *f = vm_note(b->w, b->u, FAULT_UNINITIALISED, b->lane);
		f->address = at;
		f->space = SPACE_GLOBAL;
		f->bytes = (unsigned)bytes;
	}
	uint8_t *global = (uint8_t *)(at + b->w->host), *shared = b->shared + offset;
	bulk_follow(b, offset, bytes);
	bulk_race(b, SPACE_GLOBAL, at, bytes, !b->to_shared);
	if (b->to_shared)
		memcpy(shared, global, bytes);
	else if (adds)
		bulk_reduce(bulk_atom(b->how), bulk_type(b->how), global, shared, bytes);
	else
		memcpy(global, shared, bytes);
	return true;
}
