/*
 * What device code asks of the system: printf, assert, malloc and free (CUDA C++ Programming Guide,
 * 10.34 formatted output, 10.16 assertion, 10.35 dynamic memory). Lane by lane, in lane order.
 */
#include "emu/vm/handler.h"

#include "base/mem.h"
#include "base/value_flags.h"
#include "emu/vm/bulk.h"
#include "emu/vm/cluster.h"
#include "emu/vm/device_runtime.h"
#include "emu/vm/guest_print.h"
#include "emu/vm/matrix.h"
#include "emu/vm/mbarrier.h"

#include <stdio.h>
#include <string.h>

static bool bad_pointer(struct warp *w, const struct uop *u, unsigned lane, uint64_t address)
{
	vm_fault(w, u, FAULT_BOUNDS, lane);
	struct emu_fault *f = &w->worker->fault;
	f->address = address;
	f->space = SPACE_GLOBAL;
	f->bytes = 1;
	return false;
}

static bool bad_shared(struct warp *w, const struct uop *u, unsigned lane, uint64_t address)
{
	bad_pointer(w, u, lane, address);
	w->worker->fault.space = SPACE_SHARED;
	w->worker->fault.bytes = 8;
	return false;
}

/* A call that comes to nothing: no memory, nothing to print. It takes a card less time. */
static void note_in_vain(struct warp *w, const struct uop *u)
{
	const int32_t mem = w->image->ir.ops[u->xop].mem;
	if (mem >= 0 && !w->worker->grid->quick)
		w->mem[mem].passes++;
}

static bool print_lane(struct warp *w, const struct uop *u, unsigned lane, const uint64_t *arg,
                       uint64_t *result)
{
	struct worker *wk = w->worker;
	struct guest_string format;
	uint64_t bad = arg[0];
	if (!vm_guest_string(w, lane, arg[0], &format) ||
	    !guest_print(w, lane, &format, arg[1], &wk->printed, result, &bad))
		return bad_pointer(w, u, lane, bad);
	if (!format.text[0])
		note_in_vain(w, u);
	return true;
}

static bool assert_lane(struct warp *w, const struct uop *u, unsigned lane, const uint64_t *arg)
{
	struct emu_fault *f = &w->worker->fault;
	struct guest_string what = { "?", 1 }, file = { "?", 1 }, function = { "?", 1 };
	vm_guest_string(w, lane, arg[0], &what);
	vm_guest_string(w, lane, arg[1], &file);
	vm_guest_string(w, lane, arg[3], &function);
	vm_fault(w, u, FAULT_ASSERT, lane);
	const struct launch_plan *p = w->worker->grid->plan;
	const uint64_t b = w->worker->block;
	snprintf(f->waiting, sizeof f->waiting,
	         "%.80s:%u: %.60s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%.80s` failed.",
	         file.text, (unsigned)arg[2], function.text, (unsigned)(b % p->grid.x),
	         (unsigned)(b / p->grid.x % p->grid.y), (unsigned)(b / p->grid.x / p->grid.y),
	         w->tid[0][lane], w->tid[1][lane], w->tid[2][lane], what.text);
	return false;
}

static bool free_lane(struct warp *w, const struct uop *u, unsigned lane, uint64_t address)
{
	if (!address || (w->worker->grid->heap && heap_give_back(w->worker->grid->heap, address)))
		return true;
	vm_fault(w, u, FAULT_FREE, lane);
	w->worker->fault.address = address;
	return false;
}

/* What malloc() gave has no value yet. */
static void forget_written(const struct arena *a, uint64_t address, uint64_t bytes)
{
	const struct arena_region *r = address ? arena_find(a, address) : NULL;
	if (r && r->written)
		value_flags_clear(r->written, address - r->base, bytes);
}

static bool system_lane(struct warp *w, const struct uop *u, unsigned lane, const uint64_t *arg,
                        uint64_t *result)
{
	switch (u->system->call) {
	case SYSTEM_PRINT: return print_lane(w, u, lane, arg, result);
	case SYSTEM_ASSERT: return assert_lane(w, u, lane, arg);
	case SYSTEM_MALLOC:
		*result = w->worker->grid->heap ? heap_take(w->worker->grid->heap, arg[0]) : 0;
		forget_written(w->worker->grid->arena, *result, arg[0]);
		if (!*result)
			note_in_vain(w, u);
		if (*result && w->worker->race)
			races_forget(w->worker->grid->races, *result, arg[0]);
		return true;
	case SYSTEM_FREE: return free_lane(w, u, lane, arg[0]);
	default: break;
	}
	uint64_t bad = arg[0];
	if (u->system->call >= SYSTEM_RUNTIME)
		return device_call(w, lane, u->system->call, arg, result, &bad) ||
		       bad_pointer(w, u, lane, bad);
	if (u->system->call == SYSTEM_MATRIX)
		return matrix_lane(w, lane, arg, result, &bad) || bad_shared(w, u, lane, bad);
	if (u->system->call >= SYSTEM_BULK_LOAD)
		return bulk_lane(w, u, lane, arg);
	if (mbarrier_lane(w, u, lane, arg, result))
		return true;
	return bad_shared(w, u, lane, arg[0]);
}

/* What all lanes do as one. */
enum outcome { GOES_ON, STOPS, ASKS_AGAIN };
static enum outcome wait_for_groups(struct warp *w, uint32_t mask, uint64_t left)
{
	if (!group_done(w, left))
		return ASKS_AGAIN;
	if (w->worker->race && w->groups > left)
		race_product_wait(w->worker->race, w->number, mask, w->groups - (uint32_t)left);
	return GOES_ON;
}
static enum outcome warp_call(struct warp *w, const struct uop *u, uint32_t mask)
{
	const struct system_operands *s = u->system;
	switch (s->call) {
	case SYSTEM_CLUSTER_ARRIVE:
		cluster_arrive(w, mask, w->image->ir.ops[u->xop].offset);
		return GOES_ON;
	case SYSTEM_CLUSTER_WAIT: return cluster_wait(w, mask) ? GOES_ON : ASKS_AGAIN;
	case SYSTEM_GROUP_COMMIT: w->groups++; return GOES_ON;
	default: /* GROUP_WAIT */
		return wait_for_groups(w, mask,
		                       ((const mem_u64 *)frame(w, s->arg[0]))[__builtin_ctz(mask)]);
	}
}

COLD static enum outcome run_system(struct warp *w, const struct uop *u, uint32_t mask)
{
	const struct system_operands *s = u->system;
	if (s->call >= SYSTEM_WARP && s->call < SYSTEM_RUNTIME)
		return warp_call(w, u, mask);
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned i = (unsigned)__builtin_ctz(m);
		uint64_t arg[SYSTEM_ARGS] = { 0 }, result = 0;
		for (unsigned k = 0; k < s->n; k++)
			arg[k] = ((const mem_u64 *)frame(w, s->arg[k]))[i];
		if (s->call == SYSTEM_MATRIX && m == mask && w->worker->race)
			matrix_race(w, u, mask, arg);
		if (!system_lane(w, u, i, arg, &result))
			return STOPS;
		if (s->d)
			((mem_u64 *)frame(w, s->d))[i] = result;
	}
	return GOES_ON;
}

/* SYSTEM: what and where its operands are in u->system */
HANDLER(system_any)
{
	const enum outcome o = run_system(w, u, mask);
	if (o == ASKS_AGAIN) {
		w->at = u;
		w->state = WARP_WAIT;
	}
	if (o != GOES_ON)
		return NULL;
	if (mask == 0xffffffffu)
		NEXT_full(u + 1);
	NEXT_masked(u + 1);
}

const struct handler vm_system = { system_any, system_any };
