/*
 * Operations done: bytes move, kernels run, the clock goes on, a record is written. All streams
 * run in the order of the host's calls, which satisfies every dependence that CUDA defines; only
 * behind a launch that waits for the host they are put off (guest_later.h).
 */
#include "runtime/guest/guest_capture.h"
#include "runtime/guest/guest_clock.h"
#include "runtime/guest/guest_early.h"
#include "runtime/guest/guest_flight.h"
#include "runtime/guest/guest_graph.h"
#include "runtime/guest/guest_wait.h"
#include "runtime/guest/guest_record.h"

#include "base/mem.h"
#include "timemodel/constants.h"
#include "timemodel/stream_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- where memory lies --- */

struct side {
	bool device, pinned, known;
};

static struct side side_of(uint64_t address)
{
	struct emu_allocation a;
	if (!emu_device_find(guest.device, address, &a))
		return (struct side){ 0 };
	return (struct side){
		.known = true,
		.device = a.kind == EMU_MEMORY_DEVICE || a.kind == EMU_MEMORY_VARIABLE ||
		          a.kind == EMU_MEMORY_MANAGED,
		.pinned = a.kind != EMU_MEMORY_DEVICE && a.kind != EMU_MEMORY_VARIABLE,
	};
}

static enum record_direction direction_of(struct side from, struct side to)
{
	if (from.device)
		return to.device ? RECORD_D2D : RECORD_D2H;
	return to.device ? RECORD_H2D : RECORD_H2H;
}

static void finding(const char *kind, const char *remedy, const void *caller, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void finding(const char *kind, const char *remedy, const void *caller, const char *fmt, ...)
{
	struct record_finding f = { .error = true, .times = 1, .launch = record_launch_number() };
	char place[400], text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	record_place(caller, place, sizeof place);
	snprintf(f.kind, sizeof f.kind, "%s", kind);
	snprintf(f.text, sizeof f.text, "%s%s%s", text, place[0] ? "; called at " : "", place);
	snprintf(f.remedy, sizeof f.remedy, "%s", remedy);
	record_finding(&f);
}

/* From the box's first byte to behind its last one; UINT64_MAX: farther than addresses go. */
static uint64_t box_bytes(const struct guest_box *b, size_t width, size_t height, size_t depth)
{
	uint64_t slices, rows, bytes;
	return __builtin_mul_overflow(depth - 1, b->slice, &slices) ||
	               __builtin_mul_overflow(height - 1, b->pitch, &rows) ||
	               __builtin_add_overflow(slices, rows, &bytes) ||
	               __builtin_add_overflow(bytes, width, &bytes) ||
	               (height > 1 && b->pitch < width) || (depth > 1 && b->slice < width)
	           ? UINT64_MAX
	           : bytes;
}

/* [address, address + bytes) of the box lies in one allocation, or is the host's own memory. */
static bool box_fits(const struct guest_box *b, size_t width, size_t height, size_t depth,
                     const char *what, const void *caller)
{
	struct emu_allocation a;
	const uint64_t bytes = box_bytes(b, width, height, depth);
	if (bytes <= UINT64_MAX - b->address && !emu_device_find(guest.device, b->address, &a))
		return true;
	if (bytes == UINT64_MAX || bytes > UINT64_MAX - b->address) {
		finding("out-of-bounds", "give sizes and a pitch that memory can have", caller,
		        "%s of %zu x %zu x %zu bytes in rows %zu bytes apart: no memory is like that", what,
		        width, height, depth, b->pitch);
		return false;
	}
	if (bytes <= a.bytes - (b->address - a.address))
		return true;
	finding("out-of-bounds", "compare the size of the copy with that of the allocation", caller,
	        "%s of %llu bytes at offset %llu of an allocation of %llu bytes", what,
	        (unsigned long long)bytes, (unsigned long long)(b->address - a.address),
	        (unsigned long long)a.bytes);
	return false;
}

/* Device memory that was freed or never was: the range of device addresses, but no allocation. */
static bool is_lost(uint64_t address, struct side s)
{
	return !s.known && emu_device_covers(guest.device, address);
}

static const char *const kind_names[] = { "host to host", "host to device", "device to host",
	                                      "device to device", "default" };

static cudaError_t check_direction(const struct guest_op *op, struct side from, struct side to,
                                   const void *caller)
{
	const enum cudaMemcpyKind kind = op->u.copy.direction;
	if (!op->u.copy.from.address || !op->u.copy.to.address) {
		finding("null-pointer", "look at what the call that should have given it returned", caller,
		        "a copy %s a null pointer", op->u.copy.to.address ? "from" : "to");
		return cudaErrorInvalidValue;
	}
	if (is_lost(op->u.copy.from.address, from) || is_lost(op->u.copy.to.address, to)) {
		finding("use-after-free", "keep the memory until its last use", caller,
		        "a copy %s memory that is freed or was never allocated",
		        is_lost(op->u.copy.to.address, to) ? "to" : "from");
		return cudaErrorInvalidValue;
	}
	if (kind == cudaMemcpyDefault || op->u.copy.from_symbol || op->u.copy.to_symbol)
		return cudaSuccess;
	const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
	const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
	/* pinned and managed memory is good for both sides */
	const bool bad = (from_device ? !from.known : from.device && !from.pinned) ||
	                 (to_device ? !to.known : to.device && !to.pinned);
	if (!bad)
		return cudaSuccess;
	finding("wrong-direction", "give the direction of the pointers, or cudaMemcpyDefault", caller,
	        "a copy says %s, but its pointers are of %s and go to %s memory", kind_names[kind],
	        from.device ? "device" : "host", to.device ? "device" : "host");
	return cudaErrorInvalidValue;
}

/* --- copies and sets --- */

/* Pageable memory of up to so many bytes is sent along with the command, and stays in L2: of 16 and
 * 64 KiB nothing was read from DRAM, of 256 KiB a half (tests/gpu/micro/kept.cu, on an H200). */
#define SENT_BYTES (64 << 10)

/* What L2 holds of both sides afterwards. */
static void tell_traffic(const struct guest_op *op, enum record_direction direction, bool pinned)
{
	const struct guest_box *to = &op->u.copy.to, *from = &op->u.copy.from;
	const size_t w = op->u.copy.width, h = op->u.copy.height, d = op->u.copy.depth;
	const bool sent = !pinned && (uint64_t)w * h * d <= SENT_BYTES;
	if (direction == RECORD_D2D || direction == RECORD_D2H)
		emu_device_traffic(guest.device, direction == RECORD_D2D ? EMU_COPY_FROM : EMU_TO_HOST,
		                   from->address, box_bytes(from, w, h, d));
	if (direction == RECORD_D2D || direction == RECORD_H2D)
		emu_device_traffic(guest.device,
		                   direction == RECORD_D2D ? EMU_COPY_TO
		                   : sent                  ? EMU_SENT
		                                           : EMU_FROM_HOST,
		                   to->address, box_bytes(to, w, h, d));
}

static void move_bytes(const struct guest_op *op)
{
	for (size_t z = 0; z < op->u.copy.depth; z++)
		for (size_t y = 0; y < op->u.copy.height; y++) {
			const struct guest_box *t = &op->u.copy.to, *f = &op->u.copy.from;
			void *to = (void *)(uintptr_t)(t->address + z * t->slice + y * t->pitch);
			memmove(to, (const void *)(uintptr_t)(f->address + z * f->slice + y * f->pitch),
			        op->u.copy.width);
			emu_device_mark_written(guest.device, (uint64_t)(uintptr_t)to, op->u.copy.width);
		}
}

static double copy_ns(enum record_direction d, uint64_t bytes, bool pinned)
{
	const struct stream_rates r = stream_rates_of(&guest.gpu);
	switch (d) {
	case RECORD_D2D: return timing.device_copy_ns + 2 * (double)bytes / guest.gpu.dram_gbs;
	case RECORD_H2D:
		return r.copy_latency_ns + (double)bytes / (pinned ? r.pinned_gbs : r.pageable_gbs[0]);
	case RECORD_D2H:
		return r.copy_latency_ns + (double)bytes / (pinned ? r.pinned_gbs : r.pageable_gbs[1]);
	case RECORD_H2H: break;
	}
	return 0;
}

static enum guest_engine copy_engine(enum record_direction d)
{
	switch (d) {
	case RECORD_H2D: return GUEST_ENGINE_H2D;
	case RECORD_D2H: return GUEST_ENGINE_D2H;
	case RECORD_D2D: return GUEST_ENGINE_SM;
	case RECORD_H2H: break;
	}
	return GUEST_ENGINE_NONE;
}

static struct record_span as_span(struct clock_span s)
{
	return (struct record_span){ s.call_ns, s.start_ns, s.end_ns };
}

static cudaError_t do_copy(struct guest_stream *s, const struct guest_op *op, enum guest_wait wait,
                           const void *caller)
{
	const struct side from = side_of(op->u.copy.from.address), to = side_of(op->u.copy.to.address);
	const cudaError_t e = check_direction(op, from, to, caller);
	if (e != cudaSuccess)
		return e;
	const size_t width = op->u.copy.width, height = op->u.copy.height, depth = op->u.copy.depth;
	if (!box_fits(&op->u.copy.from, width, height, depth, "a copy from device memory", caller) ||
	    !box_fits(&op->u.copy.to, width, height, depth, "a copy to device memory", caller))
		return cudaErrorInvalidValue;
	move_bytes(op);
	const struct stream_rates rates = stream_rates_of(&guest.gpu);
	struct record_copy r = {
		.direction = direction_of(from, to),
		.stream = s->id,
		.bytes = (uint64_t)width * height * depth,
		.pinned = from.device ? to.pinned : from.pinned,
		.async = wait == GUEST_ASYNC,
	};
	const struct clock_span span =
		clock_place(s, copy_engine(r.direction), copy_ns(r.direction, r.bytes, r.pinned), 1,
	                rates.copy_call_ns);
	/* the host stages pageable memory, so its call holds the caller whatever it was asked */
	const bool staged = r.direction != RECORD_D2D && !r.pinned;
	if (wait == GUEST_SYNC && r.direction != RECORD_D2D)
		clock_wait_until(span.end_ns + rates.held_ns);
	else if (staged)
		clock_wait_until(span.end_ns);
	r.span = as_span(span);
	tell_traffic(op, r.direction, r.pinned);
	if (r.direction == RECORD_D2D)
		emu_device_copied(guest.device, op->u.copy.from.address, op->u.copy.to.address);
	record_copy(&r);
	if (wait == GUEST_ASYNC && height * depth == 1 && r.direction == RECORD_D2H)
		early_copied(op->u.copy.to.address, width, true, span.end_ns, r.number);
	if (wait == GUEST_ASYNC && height * depth == 1 && r.direction == RECORD_H2D)
		early_copied(op->u.copy.from.address, width, false, span.end_ns, r.number);
	return cudaSuccess;
}

static void set_row(uint8_t *to, size_t bytes, uint32_t value, unsigned element_bytes)
{
	if (element_bytes == 1)
		memset(to, (int)value, bytes);
	else
		for (size_t i = 0; i + element_bytes <= bytes; i += element_bytes)
			memcpy(to + i, &value, element_bytes);
	emu_device_mark_written(guest.device, (uint64_t)(uintptr_t)to, bytes);
}

static cudaError_t do_set(struct guest_stream *s, const struct guest_op *op, const void *caller)
{
	const struct guest_box *to = &op->u.set.to;
	const size_t width = op->u.set.width, height = op->u.set.height, depth = op->u.set.depth;
	const unsigned element = op->u.set.element_bytes;
	if (element != 1 && element != 2 && element != 4)
		return cudaErrorInvalidValue;
	if (!side_of(to->address).known) {
		finding("invalid-memset", "give a pointer to device memory", caller,
		        "memory is to be set that is no device memory");
		return cudaErrorInvalidValue;
	}
	if (!box_fits(to, width, height, depth, "a set", caller))
		return cudaErrorInvalidValue;
	for (size_t z = 0; z < depth; z++)
		for (size_t y = 0; y < height; y++)
			set_row((uint8_t *)(uintptr_t)(to->address + z * to->slice + y * to->pitch), width,
			        op->u.set.value, element);
	emu_device_traffic(guest.device, EMU_SET, to->address, box_bytes(to, width, height, depth));
	struct record_copy r = { .direction = RECORD_D2D,
		                     .stream = s->id,
		                     .async = true,
		                     .set = true,
		                     .bytes = (uint64_t)width * height * depth };
	const struct stream_rates rates = stream_rates_of(&guest.gpu);
	r.span = as_span(clock_place(s, GUEST_ENGINE_SM,
	                             timing.memset_ns + (double)r.bytes / guest.gpu.dram_gbs, 1,
	                             rates.launch_call_ns));
	record_copy(&r);
	return cudaSuccess;
}

/* --- the rest --- */

static cudaError_t do_host(struct guest_stream *s, const struct guest_op *op)
{
	clock_wait_until(clock_stream_done_ns(s));
	clock_leave(); /* what it does is the program's own time */
	op->u.host.function(op->u.host.data);
	clock_enter();
	const double now = clock_host_ns();
	if (s->ready_ns < now)
		s->ready_ns = now;
	return cudaSuccess;
}

static cudaError_t do_record(struct guest_stream *s, struct guest_event *event)
{
	const struct clock_span span = clock_place(s, GUEST_ENGINE_NONE, 0, 0, timing.event_call_ns);
	event->recorded = true;
	event->at_ns = span.end_ns;
	event->capture_number = 0;
	const struct record_event r = { .event = event->id, .stream = s->id, .at_ns = event->at_ns };
	record_event(&r);
	return cudaSuccess;
}

static cudaError_t do_wait(struct guest_stream *s, const struct guest_event *event)
{
	if (!event->recorded)
		return cudaSuccess;
	if (s->ready_ns < event->at_ns)
		s->ready_ns = event->at_ns;
	const struct record_event r = {
		.event = event->id, .stream = s->id, .wait = true, .at_ns = event->at_ns
	};
	record_event(&r);
	return cudaSuccess;
}

static cudaError_t do_launch(const struct guest_op *op, struct guest_stream *s)
{
	static const struct flight_calls calls = { guest_execute, do_launch };
	return flight_launch(op, s, &calls);
}

/* One after the other in one stream, dependences first. @of_larger: the graph that was launched
 * has other nodes beside. */
static cudaError_t do_graph(struct guest_stream *s, struct guest_graph *g, bool of_larger,
                            const void *caller)
{
	if (!g->order && !graph_sort(g))
		return cudaErrorInvalidValue;
	for (unsigned i = 0; i < g->n_order; i++) {
		const struct guest_node *node = g->node[g->order[i]];
		struct guest_op op = node->op;
		if (op.kind == GUEST_OP_LAUNCH)
			op.u.launch.in_graph = of_larger || g->n_order > 1;
		const cudaError_t e =
			node->disabled ? cudaSuccess : guest_execute(s, &op, GUEST_ASYNC, caller);
		if (e != cudaSuccess || guest.sticky != cudaSuccess)
			return e;
	}
	return cudaSuccess;
}

static cudaError_t do_conditional(struct guest_stream *s, const struct guest_op *op,
                                  const void *caller)
{
	struct guest_graph *body;
	cudaError_t e = cudaSuccess;
	do {
		wait_stream(s); /* whoever sets the number has run */
		body = graph_conditional_body(op);
		if (body)
			e = do_graph(s, body, true, caller);
	} while (body && op->u.conditional.type == cudaGraphCondTypeWhile && e == cudaSuccess &&
	         guest.sticky == cudaSuccess);
	return e;
}

/* The call returns when it is done: the host asked for that, or its pageable memory is written. */
static bool is_for_now(const struct guest_op *op, enum guest_wait wait)
{
	return wait == GUEST_SYNC ||
	       (op->kind == GUEST_OP_COPY && !side_of(op->u.copy.to.address).known);
}

cudaError_t guest_execute(struct guest_stream *s, const struct guest_op *op, enum guest_wait wait,
                          const void *caller)
{
	bool was;
	if (op->kind != GUEST_OP_GRAPH && op->kind != GUEST_OP_CONDITIONAL && wait_blocks(s, op)) {
		if (!is_for_now(op, wait)) {
			guest_waits->add(s, op, caller);
			return cudaSuccess;
		}
		wait_stream(s);
		if (guest.sticky != cudaSuccess)
			return guest.sticky;
	}
	switch (op->kind) {
	case GUEST_OP_LAUNCH: return do_launch(op, s);
	case GUEST_OP_COPY: return do_copy(s, op, wait, caller);
	case GUEST_OP_SET: return do_set(s, op, caller);
	case GUEST_OP_HOST: return do_host(s, op);
	case GUEST_OP_RECORD: return do_record(s, op->u.event);
	case GUEST_OP_WAIT: return do_wait(s, op->u.event);
	case GUEST_OP_GRAPH: return do_graph(s, op->u.graph, false, caller);
	case GUEST_OP_CONDITIONAL: return do_conditional(s, op, caller);
	case GUEST_OP_ALLOC: graph_heap_set(op->u.memory.address, true, &was); break;
	case GUEST_OP_FREE: graph_heap_set(op->u.memory.address, false, &was); break;
	case GUEST_OP_EMPTY: break;
	}
	return cudaSuccess;
}

cudaError_t guest_submit(struct guest_stream *s, const struct guest_op *op, enum guest_wait wait,
                         const void *caller)
{
	if (s->capture) /* a call that waits for the device can be no node */
		return wait == GUEST_SYNC ? guest_capture_spoil(s) : guest_capture(s, op);
	cudaError_t e = guest_capture_implicit(s);
	if (e != cudaSuccess)
		return e;
	const bool now = guest.launch_blocking || is_for_now(op, wait);
	if (guest.sticky != cudaSuccess) /* nothing is done any more */
		return now ? guest.sticky : cudaSuccess;
	early_open();
	e = guest_execute(s, op, wait, caller);
	early_shut();
	return e == cudaSuccess && now ? guest.sticky : e;
}
