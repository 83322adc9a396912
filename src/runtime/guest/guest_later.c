/* See guest_later.h. */
#include "runtime/guest/guest_ipc.h"
#include "runtime/guest/guest_later.h"
#include "runtime/guest/guest_lock.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct later {
	uint64_t number, after; /* 1, 2 ...; also behind this one; 0 = none */
	struct guest_op op;     /* owned */
	struct guest_stream *stream;
	const void *caller;
	void *staged; /* what it copies, where that was the host's pageable memory */
	bool running; /* a launch that waits */
	struct later *next;
};
static struct later *first;
static struct later *doing; /* by later_run() */
static uint64_t numbers;

/* --- what waits for what --- */

static bool is_blocking(const struct guest_stream *s)
{
	return !(s->flags & cudaStreamNonBlocking);
}

static bool is_behind(const struct later *l, const struct guest_stream *s, uint64_t after)
{
	return l->stream == s || l->number == after || (l->stream->id == 0 && is_blocking(s)) ||
	       (s->id == 0 && is_blocking(l->stream));
}

static bool any_before(const struct later *end, const struct guest_stream *s, uint64_t after)
{
	for (const struct later *l = first; l != end; l = l->next)
		if (is_behind(l, s, after))
			return true;
	return false;
}

/* The last of @event's records that is still to come; 0 = none. */
static uint64_t record_of(const struct guest_event *event)
{
	uint64_t number = 0;
	for (const struct later *l = first; l; l = l->next)
		if (l->op.kind == GUEST_OP_RECORD && l->op.u.event == event)
			number = l->number;
	return number;
}

bool later_blocks(const struct guest_stream *s, const struct guest_op *op)
{
	if (!first || doing)
		return false;
	return (op && op->kind == GUEST_OP_WAIT && record_of(op->u.event)) || any_before(NULL, s, 0);
}

/* --- the list --- */

static struct later *append(struct guest_stream *s)
{
	struct later **end = &first;
	struct later *l = mem_zalloc(sizeof *l);
	while (*end)
		end = &(*end)->next;
	l->number = ++numbers;
	l->stream = s;
	return *end = l;
}

static void take_out(struct later *l)
{
	struct later **at = &first;
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	guest_op_drop(&l->op);
	free(l->staged);
	free(l);
}

/* The host may change its pageable memory behind the call. */
static void stage(struct later *l)
{
	struct emu_allocation a;
	struct guest_box *from = &l->op.u.copy.from;
	const size_t width = l->op.u.copy.width, height = l->op.u.copy.height;
	if (l->op.kind != GUEST_OP_COPY || emu_device_find(guest.device, from->address, &a))
		return;
	uint8_t *to = l->staged = mem_alloc(width * height * l->op.u.copy.depth);
	for (size_t z = 0; z < l->op.u.copy.depth; z++)
		for (size_t y = 0; y < height; y++, to += width)
			memcpy(to, (const void *)(uintptr_t)(from->address + z * from->slice + y * from->pitch),
			       width);
	*from = (struct guest_box){ (uint64_t)(uintptr_t)l->staged, width, width * height };
}

void later_add(struct guest_stream *s, const struct guest_op *op, const void *caller)
{
	const uint64_t after = op->kind == GUEST_OP_WAIT ? record_of(op->u.event) : 0;
	struct later *l = append(s);
	guest_op_keep(&l->op, op);
	l->after = after;
	l->caller = caller;
	if (op->kind == GUEST_OP_RECORD)
		event_pending(op->u.event, true);
	stage(l);
}

struct later *later_flight(struct guest_stream *s)
{
	struct later *l = doing ? doing : append(s);
	doing = NULL;
	l->running = true;
	return l;
}

void later_flight_ended(struct later *l)
{
	take_out(l);
}

static struct later *ready(void)
{
	for (struct later *l = first; l; l = l->next)
		if (!l->running && !any_before(l, l->stream, l->after))
			return l;
	return NULL;
}

void later_run(guest_execution *execute)
{
	for (struct later *l; (l = ready());) {
		doing = l;
		if (l->op.kind == GUEST_OP_RECORD)
			event_pending(l->op.u.event, false);
		if (guest.sticky == cudaSuccess && !guest.ends)
			execute(l->stream, &l->op, GUEST_ASYNC, l->caller);
		if (doing)
			take_out(l);
		doing = NULL;
	}
	guest_lock_signal();
}

void later_forget(void)
{
	first = doing = NULL;
}

bool later_any(void)
{
	return first != NULL;
}

void later_drop_event(const struct guest_event *e)
{
	for (struct later *l = first; l; l = l->next)
		if ((l->op.kind == GUEST_OP_RECORD || l->op.kind == GUEST_OP_WAIT) && l->op.u.event == e)
			l->op.kind = GUEST_OP_EMPTY;
}
