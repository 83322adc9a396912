/* Streams, events, callbacks. */
#include "runtime/guest/guest_capture.h"
#include "runtime/guest/guest_ipc.h"
#include "runtime/guest/guest_clock.h"
#include "runtime/guest/guest_wait.h"
#include "runtime/guest/guest_op.h"

#include "base/mem.h"

#include <stdlib.h>

/* --- streams --- */

static cudaError_t create(cudaStream_t *out, unsigned flags, int priority)
{
	if (!out || flags & ~(unsigned)cudaStreamNonBlocking)
		return cudaErrorInvalidValue;
	struct guest_stream *s = mem_zalloc(sizeof *s);
	s->id = ++guest.n_streams;
	s->flags = flags;
	s->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
	struct guest_stream *last = guest.streams;
	while (last->next)
		last = last->next;
	last->next = s;
	*out = (cudaStream_t)s;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t *out)
{
	GUEST_CALL(create(out, cudaStreamDefault, 0));
}

GUEST_API cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
	GUEST_CALL(create(out, flags, 0));
}

GUEST_API cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags,
                                                             int priority)
{
	GUEST_CALL(create(out, flags, priority));
}

static cudaError_t destroy(cudaStream_t handle)
{
	struct guest_stream *s = guest_stream_of(handle);
	if (!s || s == guest.streams || s == guest.streams->next)
		return cudaErrorInvalidResourceHandle;
	struct guest_stream *before = guest.streams;
	while (before->next != s)
		before = before->next;
	before->next = s->next;
	guest_capture_drop(s);
	if (wait_blocks(s, NULL))
		return cudaSuccess; /* it ends with its work, which still names it */
	free(s->front.node);
	free(s->front_handles);
	free(s);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream)
{
	GUEST_CALL(destroy(stream));
}

static cudaError_t synchronize(cudaStream_t handle)
{
	struct guest_stream *s = guest_stream_of(handle);
	if (!s)
		return cudaErrorInvalidResourceHandle;
	const cudaError_t e = guest_capture_await(s);
	if (e != cudaSuccess)
		return e;
	wait_stream(s);
	clock_wait_until(clock_stream_done_ns(s));
	return guest.sticky;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream)
{
	GUEST_CALL(synchronize(stream));
}

/* A program that asks again and again waits: its clock goes on to what it waits for. */
static cudaError_t query_until(double done_ns)
{
	if (clock_host_ns() < done_ns)
		clock_pass(2000);
	if (clock_host_ns() < done_ns)
		return cudaErrorNotReady;
	clock_known(done_ns);
	return cudaSuccess;
}

static cudaError_t query(cudaStream_t handle)
{
	struct guest_stream *s = guest_stream_of(handle);
	const cudaError_t e = s ? guest_capture_await(s) : cudaErrorInvalidResourceHandle;
	if (e != cudaSuccess)
		return e;
	return wait_blocks(s, NULL) ? cudaErrorNotReady : query_until(clock_stream_done_ns(s));
}

GUEST_API cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream)
{
	GUEST_CALL(query(stream));
}

static cudaError_t ask(cudaStream_t handle, int *priority, unsigned *flags, unsigned long long *id,
                       int *device)
{
	const struct guest_stream *s = guest_stream_of(handle);
	if (!s)
		return cudaErrorInvalidResourceHandle;
	if (priority)
		*priority = s->priority;
	if (flags)
		*flags = s->flags;
	if (id)
		*id = s->id;
	if (device)
		*device = 0;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	GUEST_CALL(ask(stream, priority, NULL, NULL, NULL));
}

GUEST_API cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
	GUEST_CALL(ask(stream, NULL, flags, NULL, NULL));
}

GUEST_API cudaError_t CUDARTAPI cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
	GUEST_CALL(ask(stream, NULL, NULL, id, NULL));
}

GUEST_API cudaError_t CUDARTAPI cudaStreamGetDevice(cudaStream_t stream, int *device)
{
	GUEST_CALL(ask(stream, NULL, NULL, NULL, device));
}

GUEST_API cudaError_t CUDARTAPI cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t bytes,
                                                         unsigned flags)
{
	(void)p, (void)bytes, (void)flags;
	GUEST_CALL(guest_capture_no_node(guest_stream_of(stream)));
}

/* --- the host in a stream --- */

static cudaError_t host_function(cudaStream_t handle, cudaHostFn_t function, void *data,
                                 const void *caller)
{
	struct guest_stream *s = guest_stream_of(handle);
	if (!s)
		return cudaErrorInvalidResourceHandle;
	const struct guest_op op = { .kind = GUEST_OP_HOST, .u.host = { function, data } };
	return guest_submit(s, &op, GUEST_ASYNC, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                                                   void *data)
{
	GUEST_STREAM_CALL(host_function(stream, function, data, GUEST_CALLER));
}

static cudaError_t callback(cudaStream_t stream, cudaStreamCallback_t function, void *data)
{
	struct guest_stream *s = guest_stream_of(stream);
	const cudaError_t e = guest_capture_no_node(s);
	if (e != cudaSuccess)
		return e;
	wait_stream(s);
	clock_wait_until(clock_stream_done_ns(s));
	clock_leave();
	function(stream, guest.sticky, data);
	clock_enter();
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t stream,
                                                      cudaStreamCallback_t function, void *data,
                                                      unsigned flags)
{
	(void)flags;
	GUEST_CALL(callback(stream, function, data));
}

/* --- events --- */

static cudaError_t create_event(cudaEvent_t *out, unsigned flags)
{
	if (!out)
		return cudaErrorInvalidValue;
	struct guest_event *e = guest.spare_events;
	if (e)
		guest.spare_events = e->next;
	else
		e = mem_alloc(sizeof *e);
	*e = (struct guest_event){ .front = { 0 } };
	e->id = ++guest.n_events;
	e->flags = flags;
	*out = (cudaEvent_t)e;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t *out)
{
	GUEST_CALL(create_event(out, cudaEventDefault));
}

GUEST_API cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
	GUEST_CALL(create_event(out, flags));
}

static cudaError_t destroy_event(cudaEvent_t handle)
{
	if (!handle)
		return cudaErrorInvalidResourceHandle;
	struct guest_event *e = (struct guest_event *)handle;
	if (guest_waits)
		guest_waits->drop_event(e);
	free(e->front.node);
	*e = (struct guest_event){ .next = guest.spare_events };
	guest.spare_events = e;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event)
{
	GUEST_CALL(destroy_event(event));
}

/* @external: cudaEventRecordExternal or cudaEventWaitExternal, by which a capture makes it a node.
 */
static cudaError_t in_stream(enum guest_op_kind kind, cudaEvent_t event, cudaStream_t stream,
                             unsigned external, const void *caller)
{
	struct guest_stream *s = guest_stream_of(stream);
	struct guest_event *e = (struct guest_event *)event;
	if (!s || !e)
		return cudaErrorInvalidResourceHandle;
	if (external & ~(unsigned)cudaEventRecordExternal)
		return cudaErrorInvalidValue;
	if (external && !s->capture)
		return cudaErrorIllegalState;
	if (external && kind == GUEST_OP_WAIT && e->capture_number && !capture_of_event(e))
		return cudaErrorInvalidValue; /* it was recorded last in a capture that has ended */
	if (s->capture && !external)
		return kind == GUEST_OP_WAIT ? guest_capture_join(s, e) : guest_capture_mark(s, e);
	if (kind == GUEST_OP_WAIT && e->capture_number && !s->capture)
		return guest_capture_join(s, e);
	if (kind == GUEST_OP_WAIT && !s->capture)
		ipc_wait(e);
	if (kind == GUEST_OP_RECORD && !s->capture)
		e->capture_number = 0;
	const struct guest_op op = { .kind = kind, .u.event = e };
	return guest_submit(s, &op, GUEST_ASYNC, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	GUEST_STREAM_CALL(
		in_stream(GUEST_OP_RECORD, event, stream, cudaEventRecordDefault, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                         unsigned flags)
{
	GUEST_STREAM_CALL(in_stream(GUEST_OP_RECORD, event, stream, flags, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                                    unsigned flags)
{
	GUEST_STREAM_CALL(in_stream(GUEST_OP_WAIT, event, stream, flags, GUEST_CALLER));
}

static cudaError_t wait_for(cudaEvent_t handle)
{
	const struct guest_event *e = (const struct guest_event *)handle;
	const cudaError_t error = e ? guest_capture_ask(e) : cudaErrorInvalidResourceHandle;
	if (error != cudaSuccess)
		return error;
	wait_event(e);
	ipc_wait(e);
	if (e->recorded)
		clock_wait_until(e->at_ns);
	return guest.sticky;
}

GUEST_API cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event)
{
	GUEST_CALL(wait_for(event));
}

static cudaError_t query_event(cudaEvent_t handle)
{
	const struct guest_event *e = (const struct guest_event *)handle;
	const cudaError_t error = e ? guest_capture_ask(e) : cudaErrorInvalidResourceHandle;
	if (error != cudaSuccess)
		return error;
	if (e->pending || ipc_pending(e))
		return cudaErrorNotReady;
	return e->recorded ? query_until(e->at_ns) : cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event)
{
	GUEST_CALL(query_event(event));
}

static cudaError_t elapsed(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	const struct guest_event *a = (const struct guest_event *)start,
							 *b = (const struct guest_event *)end;
	if (!ms || (a && a->capture_number) || (b && b->capture_number))
		return cudaErrorInvalidValue;
	if (a && b && (a->pending || b->pending))
		return cudaErrorNotReady;
	if (!a || !b || !a->recorded || !b->recorded || (a->flags | b->flags) & cudaEventDisableTiming)
		return cudaErrorInvalidResourceHandle;
	if (clock_host_ns() < b->at_ns)
		return cudaErrorNotReady;
	*ms = (float)((b->at_ns - a->at_ns) / 1e6);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	GUEST_CALL(elapsed(ms, start, end));
}
