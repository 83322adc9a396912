/* Memory: device, managed, pinned and registered. */
#include "runtime/guest/guest_capture.h"
#include "runtime/guest/guest_ipc.h"
#include "runtime/guest/guest_clock.h"
#include "runtime/guest/guest_freed.h"
#include "runtime/guest/guest_graph.h"
#include "runtime/guest/guest_pool.h"
#include "runtime/guest/guest_wait.h"
#include "runtime/guest/guest_op.h"
#include "runtime/guest/guest_record.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define PITCH_ALIGN 512 /* of rows of cudaMallocPitch(), as devices from 3.0 on answer */

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static uint64_t address_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* --- allocation --- */

/* The GPU would have had the memory, and this machine has not: that is for the person to know. */
static void tell_shortage(size_t bytes)
{
	struct memory_left left;
	struct err err = { 0 };
	char want[32], have[32], used[32];
	const double all = (double)emu_device_used_bytes(guest.device);
	if (all + (double)bytes > guest.gpu.dram_bytes ||
	    emu_device_host_has(guest.device, bytes, &left))
		return;
	err_set(&err, ERR_UNAVAILABLE,
	        "%s of GPU memory are asked for, beside %s in use; %s are %s, which holds it here",
	        fmt_bytes(want, sizeof want, (double)bytes), fmt_bytes(used, sizeof used, all),
	        fmt_bytes(have, sizeof have, left.bytes), left.whose);
	err_remedy(&err, "choose a smaller problem size; the call returned cudaErrorMemoryAllocation");
	record_problem("memory", &err);
}

static cudaError_t allocate(void **out, size_t bytes, enum emu_memory kind, const void *caller)
{
	if (!out)
		return cudaErrorInvalidValue;
	*out = NULL;
	if (!bytes)
		return cudaSuccess;
	const uint64_t at = emu_device_alloc(guest.device, bytes, kind, guest_site(caller));
	if (!at) {
		tell_shortage(bytes);
		return cudaErrorMemoryAllocation;
	}
	*out = pointer(at);
	return cudaSuccess;
}

static void bad_free(const void *p, const char *kind, const char *what, const void *caller)
{
	struct record_finding f = { .error = true, .times = 1, .launch = record_launch_number() };
	char place[400];
	record_place(caller, place, sizeof place);
	snprintf(f.kind, sizeof f.kind, "%s", kind);
	snprintf(f.text, sizeof f.text, "%s of %p%s%s: %s", kind, p, place[0] ? " at " : "", place,
	         what);
	snprintf(f.remedy, sizeof f.remedy,
	         "free each allocation once, with the pointer that the allocating call gave");
	record_finding(&f);
}

static void free_again(const void *p, const void *caller)
{
	const struct guest_freed *f = freed_find(address_of(p));
	char place[400] = "", what[512];
	if (f)
		record_place(f->caller, place, sizeof place);
	if (f)
		snprintf(what, sizeof what, "it was freed before%s%s", place[0] ? " at " : "", place);
	else
		snprintf(what, sizeof what, "it is the host's own memory, or was freed long before");
	bad_free(p, f ? "double-free" : "invalid-free", what, caller);
}

static cudaError_t release(void *p, bool pinned, const void *caller)
{
	if (!p)
		return cudaSuccess;
	struct emu_allocation a;
	bool in_use;
	clock_known(clock_all_done_ns()); /* it waits for all launches */
	if (graph_heap_set(address_of(p), false, &in_use)) {
		if (!in_use)
			bad_free(p, "invalid-free", "it is a graph's memory, and the graph has not run since",
			         caller);
		return in_use ? cudaSuccess : cudaErrorInvalidValue;
	}
	if (!emu_device_find(guest.device, address_of(p), &a)) {
		free_again(p, caller);
		return cudaErrorInvalidValue;
	}
	if (ipc_is_open(a.address) && pool_holding(a.address)) {
		pool_lost(a.address);
		return ipc_close_memory(p);
	}
	if (ipc_is_open(a.address)) {
		bad_free(p, "invalid-free",
		         "it is another process's memory: cudaIpcCloseMemHandle() gives it back", caller);
		return cudaErrorInvalidValue;
	}
	if (a.address != address_of(p) || (a.kind == EMU_MEMORY_PINNED) != pinned ||
	    a.kind == EMU_MEMORY_VARIABLE || a.kind == EMU_MEMORY_REGISTERED) {
		bad_free(p, "invalid-free",
		         pinned ? "it is no pinned memory of cudaMallocHost()"
		                : "it is not where an allocation of device memory "
		                  "begins",
		         caller);
		return cudaErrorInvalidValue;
	}
	freed_note(&a, caller);
	pool_lost(a.address);
	return emu_device_release(guest.device, a.address) ? cudaSuccess : cudaErrorInvalidValue;
}

GUEST_API cudaError_t CUDARTAPI cudaMalloc(void **p, size_t bytes)
{
	GUEST_UNSAFE_CALL(allocate(p, bytes, EMU_MEMORY_DEVICE, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMallocManaged(void **p, size_t bytes, unsigned flags)
{
	(void)flags;
	GUEST_UNSAFE_CALL(bytes ? allocate(p, bytes, EMU_MEMORY_MANAGED, GUEST_CALLER)
	                        : cudaErrorInvalidValue);
}

GUEST_API cudaError_t CUDARTAPI cudaMallocHost(void **p, size_t bytes)
{
	GUEST_UNSAFE_CALL(allocate(p, bytes, EMU_MEMORY_PINNED, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
	(void)flags;
	GUEST_UNSAFE_CALL(allocate(p, bytes, EMU_MEMORY_PINNED, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaFree(void *p)
{
	GUEST_UNSAFE_CALL(wait_all(), release(p, false, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaFreeHost(void *p)
{
	GUEST_UNSAFE_CALL(wait_all(), release(p, true, GUEST_CALLER));
}

/* Rows of @width bytes, @rows of them: the pitch and all bytes. False: no size is that large. */
static bool pitched(size_t width, size_t rows, size_t *pitch, size_t *bytes)
{
	size_t w;
	if (__builtin_add_overflow(width, PITCH_ALIGN - 1, &w))
		return false;
	*pitch = w / PITCH_ALIGN * PITCH_ALIGN;
	return !__builtin_mul_overflow(*pitch, rows, bytes);
}

static cudaError_t allocate_rows(void **p, size_t *pitch, size_t width, size_t rows,
                                 const void *caller)
{
	size_t bytes, w;
	if (!p || !pitch)
		return cudaErrorInvalidValue;
	if (!pitched(width, rows, &w, &bytes))
		return cudaErrorMemoryAllocation;
	*pitch = w;
	return allocate(p, bytes, EMU_MEMORY_DEVICE, caller);
}

static cudaError_t allocate_slices(struct cudaPitchedPtr *p, struct cudaExtent extent,
                                   const void *caller)
{
	size_t rows;
	if (!p)
		return cudaErrorInvalidValue;
	if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
		return cudaErrorMemoryAllocation;
	p->xsize = extent.width;
	p->ysize = extent.height;
	return allocate_rows(&p->ptr, &p->pitch, extent.width, rows, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaMallocPitch(void **p, size_t *pitch, size_t width,
                                                size_t height)
{
	GUEST_UNSAFE_CALL(allocate_rows(p, pitch, width, height, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent extent)
{
	GUEST_UNSAFE_CALL(allocate_slices(p, extent, GUEST_CALLER));
}

/* --- in stream order --- */

/* Allocating in a stream that is not captured may meet captures as cudaMalloc() does. */
static cudaError_t may_allocate(struct guest_stream *s)
{
	if (!s)
		return cudaErrorInvalidResourceHandle;
	if (s->capture)
		return s->capture->spoiled ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
	return guest_capture_await(s);
}

static cudaError_t allocate_in_stream(void **p, size_t bytes, struct guest_pool *pool,
                                      cudaStream_t stream, const void *caller)
{
	struct guest_stream *s = guest_stream_of(stream);
	cudaError_t e = pool && !pool->imported ? may_allocate(s) : cudaErrorInvalidValue;
	if (e == cudaSuccess)
		e = allocate(p, bytes, EMU_MEMORY_DEVICE, caller);
	if (e != cudaSuccess)
		return e;
	if (s->capture)
		graph_heap_add(address_of(*p));
	else if (*p)
		pool_took(pool, address_of(*p), bytes);
	const struct guest_op op = { .kind = GUEST_OP_ALLOC, .u.memory = { address_of(*p), bytes } };
	return guest_submit(s, &op, GUEST_ASYNC, caller);
}

/* In a graph the memory stays, for the graph may run again: it is a graph's, and given back once.
 */
static cudaError_t release_in_graph(struct guest_stream *s, void *p, const void *caller)
{
	const struct guest_op op = { .kind = GUEST_OP_FREE, .u.memory = { address_of(p), 0 } };
	if (p && (!graph_heap_has(op.u.memory.address) ||
	          graph_gives_back(s->capture->graph, op.u.memory.address)))
		return cudaErrorInvalidValue;
	return p ? guest_submit(s, &op, GUEST_ASYNC, caller) : cudaSuccess;
}

static cudaError_t release_in_stream(void *p, cudaStream_t stream, const void *caller)
{
	struct guest_stream *s = guest_stream_of(stream);
	const cudaError_t e = may_allocate(s);
	if (e != cudaSuccess)
		return e;
	if (s->capture)
		return release_in_graph(s, p, caller);
	wait_stream(s);
	return release(p, false, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream)
{
	GUEST_CALL(allocate_in_stream(p, bytes, pool_current(), stream, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t pool,
                                                        cudaStream_t stream)
{
	GUEST_CALL(allocate_in_stream(p, bytes, pool_of(pool), stream, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaFreeAsync(void *p, cudaStream_t stream)
{
	GUEST_CALL(release_in_stream(p, stream, GUEST_CALLER));
}

/* --- the host's own memory --- */

static cudaError_t register_host(void *p, size_t bytes, const void *caller)
{
	if (!p || !bytes)
		return cudaErrorInvalidValue;
	return emu_device_register(guest.device, address_of(p), bytes, caller)
	           ? cudaSuccess
	           : cudaErrorHostMemoryAlreadyRegistered;
}

static cudaError_t unregister_host(void *p)
{
	struct emu_allocation a;
	if (!emu_device_find(guest.device, address_of(p), &a) || a.address != address_of(p) ||
	    a.kind != EMU_MEMORY_REGISTERED)
		return cudaErrorHostMemoryNotRegistered;
	wait_all();
	return emu_device_release(guest.device, a.address) ? cudaSuccess : cudaErrorInvalidValue;
}

GUEST_API cudaError_t CUDARTAPI cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
	(void)flags;
	GUEST_UNSAFE_CALL(register_host(p, bytes, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaHostUnregister(void *p)
{
	GUEST_UNSAFE_CALL(unregister_host(p));
}

static bool is_host_kind(enum emu_memory kind)
{
	return kind == EMU_MEMORY_PINNED || kind == EMU_MEMORY_REGISTERED;
}

static bool is_host_memory(const void *p)
{
	struct emu_allocation a;
	return emu_device_find(guest.device, address_of(p), &a) && is_host_kind(a.kind);
}

static cudaError_t device_pointer(void **device, void *host)
{
	if (!is_host_memory(host))
		return cudaErrorInvalidValue;
	*device = host;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	(void)flags;
	GUEST_CALL(device_pointer(device, host));
}

static cudaError_t host_flags(unsigned *flags, void *host)
{
	if (!is_host_memory(host))
		return cudaErrorInvalidValue;
	*flags = cudaHostAllocMapped;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaHostGetFlags(unsigned *flags, void *host)
{
	GUEST_CALL(host_flags(flags, host));
}

/* --- questions --- */

static cudaError_t memory_info(size_t *free_bytes, size_t *total)
{
	const uint64_t all = (uint64_t)guest.gpu.dram_bytes, used = emu_device_used_bytes(guest.device);
	*total = all;
	struct memory_left left;
	emu_device_host_has(guest.device, 0, &left);
	*free_bytes = used < all ? all - used : 0;
	if ((double)*free_bytes > left.bytes)
		*free_bytes = (size_t)left.bytes;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
	GUEST_CALL(memory_info(free_bytes, total));
}

static cudaError_t attributes(struct cudaPointerAttributes *out, const void *p)
{
	if (!out)
		return cudaErrorInvalidValue;
	struct emu_allocation a;
	memset(out, 0, sizeof *out);
	out->device = -2;
	out->type = cudaMemoryTypeUnregistered;
	if (!emu_device_find(guest.device, address_of(p), &a))
		return cudaSuccess;
	out->device = 0;
	out->type = is_host_kind(a.kind)           ? cudaMemoryTypeHost
	            : a.kind == EMU_MEMORY_MANAGED ? cudaMemoryTypeManaged
	                                           : cudaMemoryTypeDevice;
	out->devicePointer = pointer(address_of(p));
	if (out->type != cudaMemoryTypeDevice)
		out->hostPointer = pointer(address_of(p));
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaPointerGetAttributes(struct cudaPointerAttributes *out,
                                                         const void *p)
{
	GUEST_ANY_CALL(attributes(out, p));
}
