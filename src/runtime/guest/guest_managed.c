/* Advice about managed memory: here it lies in both places at once; what the program advised is
 * kept for its questions, and a prefetch takes the time of a copy and spares launches their page
 * faults.
 */
#include "runtime/guest/guest_capture_rules.h"
#include "runtime/guest/guest_clock.h"

#include "base/mem.h"
#include "timemodel/stream_time.h"

#include <string.h>

struct advice {
	uint64_t serial; /* of the allocation */
	bool read_mostly, accessed_by;
	struct cudaMemLocation preferred, prefetched; /* type 0 = none */
};
static struct {
	struct advice *of;
	size_t n, cap;
} all;

/* NULL: @p is no memory that can be advised about. */
static struct advice *advice_of(const void *p)
{
	struct emu_allocation a;
	if (!emu_device_find(guest.device, (uint64_t)(uintptr_t)p, &a) || a.kind == EMU_MEMORY_DEVICE)
		return NULL;
	for (size_t i = 0; i < all.n; i++)
		if (all.of[i].serial == a.serial)
			return &all.of[i];
	MEM_ROOM(all.of, all.n, all.cap, 16);
	all.of[all.n] = (struct advice){ .serial = a.serial };
	return &all.of[all.n++];
}

/* An older program passes a device's number alone, -1 for the host. */
static struct cudaMemLocation location(struct cudaMemLocation where)
{
	if ((int)where.type == cudaCpuDeviceId)
		where.type = cudaMemLocationTypeHost;
	return where;
}

static cudaError_t advise(const void *p, enum cudaMemoryAdvise advice, struct cudaMemLocation where)
{
	struct advice *a = advice_of(p);
	if (!a)
		return cudaErrorInvalidValue;
	switch (advice) {
	case cudaMemAdviseSetReadMostly: a->read_mostly = true; break;
	case cudaMemAdviseUnsetReadMostly: a->read_mostly = false; break;
	case cudaMemAdviseSetPreferredLocation: a->preferred = location(where); break;
	case cudaMemAdviseUnsetPreferredLocation: memset(&a->preferred, 0, sizeof a->preferred); break;
	case cudaMemAdviseSetAccessedBy: a->accessed_by = true; break;
	case cudaMemAdviseUnsetAccessedBy: a->accessed_by = false; break;
	default: return cudaErrorInvalidValue;
	}
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemAdvise(const void *p, size_t bytes,
                                              enum cudaMemoryAdvise advice,
                                              struct cudaMemLocation where)
{
	(void)bytes;
	GUEST_UNSAFE_CALL(advise(p, advice, where));
}

static cudaError_t prefetch(const void *p, struct cudaMemLocation where, cudaStream_t stream)
{
	struct guest_stream *s = guest_stream_of(stream);
	struct advice *a = advice_of(p);
	const cudaError_t e = guest_capture_no_node(s);
	if (e != cudaSuccess)
		return e;
	if (!a)
		return cudaErrorInvalidValue;
	a->prefetched = location(where);
	const bool to_gpu = a->prefetched.type == cudaMemLocationTypeDevice;
	const double bytes = emu_device_prefetch(guest.device, (uint64_t)(uintptr_t)p, to_gpu);
	const struct stream_rates r = stream_rates_of(&guest.gpu);
	if (bytes > 0)
		clock_place(s, to_gpu ? GUEST_ENGINE_H2D : GUEST_ENGINE_D2H,
		            r.copy_latency_ns + bytes / r.pinned_gbs, 1, r.copy_call_ns);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void *p, size_t bytes,
                                                     struct cudaMemLocation where, unsigned flags,
                                                     cudaStream_t stream)
{
	(void)bytes, (void)flags;
	GUEST_CALL(prefetch(p, where, stream));
}

static cudaError_t prefetch_batch(void **p, size_t n, const struct cudaMemLocation *where,
                                  const size_t *first, size_t n_where, cudaStream_t stream)
{
	for (size_t i = 0, k = 0; i < n; i++) {
		while (k + 1 < n_where && first[k + 1] <= i)
			k++;
		const cudaError_t e = n_where ? prefetch(p[i], where[k], stream) : cudaErrorInvalidValue;
		if (e != cudaSuccess)
			return e;
	}
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemPrefetchBatchAsync(void **p, size_t *sizes, size_t n,
                                                          struct cudaMemLocation *where,
                                                          size_t *first, size_t n_where,
                                                          unsigned long long flags,
                                                          cudaStream_t stream)
{
	(void)sizes, (void)flags;
	GUEST_CALL(prefetch_batch(p, n, where, first, n_where, stream));
}

/* What is discarded may hold anything: it stays as it is. */
static cudaError_t discard(void **p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!advice_of(p[i]))
			return cudaErrorInvalidValue;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemDiscardBatchAsync(void **p, size_t *sizes, size_t n,
                                                         unsigned long long flags,
                                                         cudaStream_t stream)
{
	(void)sizes, (void)flags, (void)stream;
	GUEST_CALL(discard(p, n));
}

GUEST_API cudaError_t CUDARTAPI cudaMemDiscardAndPrefetchBatchAsync(
	void **p, size_t *sizes, size_t n, struct cudaMemLocation *where, size_t *first, size_t n_where,
	unsigned long long flags, cudaStream_t stream)
{
	(void)sizes, (void)flags;
	GUEST_CALL(prefetch_batch(p, n, where, first, n_where, stream));
}

/* --- questions --- */

/* A place as one number: a device, the host, or none. */
static int number_of(struct cudaMemLocation where)
{
	return where.type == cudaMemLocationTypeDevice ? where.id
	       : where.type == 0                       ? cudaInvalidDeviceId
	                                               : cudaCpuDeviceId;
}

static cudaError_t range_attribute(int *out, size_t bytes, enum cudaMemRangeAttribute which,
                                   const void *p)
{
	const struct advice *a = advice_of(p);
	if (!a || !out || bytes < sizeof *out)
		return cudaErrorInvalidValue;
	switch (which) {
	case cudaMemRangeAttributeReadMostly: *out = a->read_mostly; break;
	case cudaMemRangeAttributePreferredLocation: *out = number_of(a->preferred); break;
	case cudaMemRangeAttributeAccessedBy:
		for (size_t i = 0; i < bytes / sizeof *out; i++)
			out[i] = i || !a->accessed_by ? cudaInvalidDeviceId : 0;
		break;
	case cudaMemRangeAttributeLastPrefetchLocation: *out = number_of(a->prefetched); break;
	case cudaMemRangeAttributePreferredLocationType: *out = (int)a->preferred.type; break;
	case cudaMemRangeAttributePreferredLocationId: *out = a->preferred.id; break;
	case cudaMemRangeAttributeLastPrefetchLocationType: *out = (int)a->prefetched.type; break;
	case cudaMemRangeAttributeLastPrefetchLocationId: *out = a->prefetched.id; break;
	default: return cudaErrorInvalidValue;
	}
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemRangeGetAttribute(void *out, size_t bytes,
                                                         enum cudaMemRangeAttribute which,
                                                         const void *p, size_t count)
{
	(void)count;
	GUEST_CALL(range_attribute(out, bytes, which, p));
}

static cudaError_t range_attributes(void **out, const size_t *bytes,
                                    const enum cudaMemRangeAttribute *which, size_t n,
                                    const void *p)
{
	cudaError_t e = cudaSuccess;
	for (size_t i = 0; i < n && e == cudaSuccess; i++)
		e = range_attribute(out[i], bytes[i], which[i], p);
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaMemRangeGetAttributes(void **out, size_t *bytes,
                                                          enum cudaMemRangeAttribute *which,
                                                          size_t n, const void *p, size_t count)
{
	(void)count;
	GUEST_CALL(range_attributes(out, bytes, which, n, p));
}
