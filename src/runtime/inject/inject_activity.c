/*
 * What the GPU did, by CUPTI's activity records: kernels, copies, sets, the calls behind them.
 *
 * Records come in buffers, on CUPTI's thread when one is full, or on the thread that flushes.
 * docs.nvidia.com/cupti, Activity API.
 */
#include "runtime/inject/inject.h"

#include "base/mem.h"
#include "base/text.h"
#include "cuda/cupti_host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define MAX_CALLS 2048 /* numbers of CUPTI's calls, of each domain */

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMCPY,  CUPTI_ACTIVITY_KIND_MEMCPY2,
	CUPTI_ACTIVITY_KIND_MEMSET,  CUPTI_ACTIVITY_KIND_RUNTIME,
	CUPTI_ACTIVITY_KIND_DRIVER,
};

struct batch {
	size_t n, cap;
	struct record_seen *s;
};

static struct record_seen *more(struct batch *b)
{
	MEM_ROOM(b->s, b->n, b->cap, 256);
	struct record_seen *s = &b->s[b->n++];
	memset(s, 0, sizeof *s);
	return s;
}

static void see_kernel(const CUpti_ActivityKernel10 *k, struct batch *b)
{
	const struct kernel_facts facts = {
		.name = k->name ? k->name : "?",
		.allocated = k->registersPerThread,
		.static_shared = (unsigned)k->staticSharedMemory,
		.local = k->localMemoryPerThread,
	};
	const unsigned kernel = kernel_number(&facts);
	*more(b) = (struct record_seen){
		.kind = RECORD_SEEN_LAUNCH,
		.by_kernel = k->isDeviceLaunched,
		.cooperative = k->launchType == CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE ||
		               k->launchType == CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE,
		.call = k->correlationId,
		.stream = k->streamId,
		.context = k->contextId,
		.device = k->deviceId,
		.start_ns = k->start,
		.end_ns = k->end,
		.kernel = kernel,
		.grid = { (unsigned)k->gridX, (unsigned)k->gridY, (unsigned)k->gridZ },
		.block = { (unsigned)k->blockX, (unsigned)k->blockY, (unsigned)k->blockZ },
		.dynamic_shared_bytes = (unsigned)k->dynamicSharedMemory,
	};
}

static bool on_device(unsigned kind)
{
	return kind != CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE && kind != CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
}

static enum record_direction direction_of(unsigned copy, unsigned from, unsigned to)
{
	switch (copy) {
	case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
	case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA: return RECORD_H2D;
	case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
	case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH: return RECORD_D2H;
	case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH: return RECORD_H2H;
	default: break;
	}
	/* named by no direction, as of managed memory: where its ends are */
	if (on_device(from) == on_device(to))
		return on_device(from) ? RECORD_D2D : RECORD_H2H;
	return on_device(to) ? RECORD_H2D : RECORD_D2H;
}

/* What all records of work have, under the same names. */
#define SEEN_OF(x)                                                                  \
	.call = (x)->correlationId, .stream = (x)->streamId, .context = (x)->contextId, \
	.device = (x)->deviceId, .start_ns = (x)->start, .end_ns = (x)->end, .bytes = (x)->bytes

static void see_copy(const CUpti_ActivityMemcpy6 *c, struct batch *b)
{
	const bool pinned = c->srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED ||
	                    c->dstKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
	*more(b) = (struct record_seen){
		.kind = RECORD_SEEN_COPY,
		.direction = (uint8_t)direction_of(c->copyKind, c->srcKind, c->dstKind),
		.pinned = pinned,
		.async = (c->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0,
		SEEN_OF(c),
	};
}

static void see_peer_copy(const CUpti_ActivityMemcpyPtoP4 *c, struct batch *b)
{
	*more(b) = (struct record_seen){
		.kind = RECORD_SEEN_COPY,
		.direction = RECORD_D2D,
		.async = (c->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0,
		SEEN_OF(c),
	};
}

static void see_set(const CUpti_ActivityMemset4 *m, struct batch *b)
{
	*more(b) = (struct record_seen){
		.kind = RECORD_SEEN_SET,
		.direction = RECORD_D2D,
		.async = (m->flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC) != 0,
		SEEN_OF(m),
	};
}

/* Calls that put work on the GPU; what they are called is asked of CUPTI once. */
static bool starts_work(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
	static const char *const words[] = { "Launch", "Memcpy", "Memset", "memcpy", "memset" };
	static _Atomic signed char known[2][MAX_CALLS]; /* 1 does, -1 does not */
	const unsigned d = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
	*name = NULL;
	if (cbid < MAX_CALLS && known[d][cbid] < 0)
		return false;
	if (!inject.cupti.GetCallbackName ||
	    inject.cupti.GetCallbackName(domain, cbid, name) != CUPTI_SUCCESS || !*name)
		*name = "call";
	bool does = false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		does |= strstr(*name, words[i]) != NULL;
	if (cbid < MAX_CALLS)
		known[d][cbid] = does ? 1 : -1;
	return does;
}

/* Errors that a kernel leaves behind: illegal address, assertion, misaligned address ... */
static bool is_fault(uint32_t result)
{
	return result == 700 || result == 702 || result == 710 || (result >= 714 && result <= 719);
}

static void see_call(const CUpti_ActivityAPI *c, struct batch *b)
{
	const CUpti_CallbackDomain domain = c->kind == CUPTI_ACTIVITY_KIND_RUNTIME
	                                        ? CUPTI_CB_DOMAIN_RUNTIME_API
	                                        : CUPTI_CB_DOMAIN_DRIVER_API;
	const char *name;
	if (!starts_work(domain, c->cbid, &name) && !is_fault(c->returnValue))
		return;
	*more(b) = (struct record_seen){
		.kind = RECORD_SEEN_CALL,
		.call = c->correlationId,
		.start_ns = c->start,
		.end_ns = c->end,
		.result = c->returnValue,
		.fault = is_fault(c->returnValue),
		.launches = name && strstr(name, "Launch") != NULL,
		.runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API,
	};
}

static void see(const CUpti_Activity *a, struct batch *b)
{
	const void *record = a;
	switch (a->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: see_kernel(record, b); break;
	case CUPTI_ACTIVITY_KIND_MEMCPY: see_copy(record, b); break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2: see_peer_copy(record, b); break;
	case CUPTI_ACTIVITY_KIND_MEMSET: see_set(record, b); break;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER: see_call(record, b); break;
	case CUPTI_ACTIVITY_KIND_CONTEXT: {
		const CUpti_ActivityContext3 *c = record;
		*more(b) = (struct record_seen){ .kind = RECORD_SEEN_CONTEXT,
			                             .context = c->contextId,
			                             .stream = c->nullStreamId,
			                             .device = c->deviceId };
		break;
	}
	default: break;
	}
}

static void CUPTIAPI buffer_wanted(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = mem_aligned(16, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*max_records = 0;
}

static void CUPTIAPI buffer_full(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid)
{
	struct batch b = { 0 };
	CUpti_Activity *a = NULL;
	size_t dropped = 0;
	(void)size;
	while (valid && inject.cupti.ActivityNext(buffer, valid, &a) == CUPTI_SUCCESS && a)
		see(a, &b);
	free(buffer);
	send_seen(b.s, b.n);
	free(b.s);
	if (inject.cupti.ActivityDropped &&
	    inject.cupti.ActivityDropped(ctx, stream, &dropped) == CUPTI_SUCCESS && dropped) {
		struct cuda_fault why = { 0 };
		fault_set(&why, FAULT_OTHER, "CUPTI dropped %zu records", dropped);
		send_refusal(RECORD_REFUSED_SOME, &why);
	}
}

bool activity_start(struct cuda_fault *why)
{
	const struct cupti_fns *cupti = &inject.cupti;
	if (!cupti_ok(cupti, cupti->ActivityRegister(buffer_wanted, buffer_full),
	              "cuptiActivityRegisterCallbacks", why))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!cupti_ok(cupti, cupti->ActivityEnable(kinds[i]), "cuptiActivityEnable", why))
			return false;
	return true;
}

static struct {
	pthread_mutex_t lock;
	bool paused;
} flushing = { .lock = PTHREAD_MUTEX_INITIALIZER };

void activity_flush(bool all)
{
	pthread_mutex_lock(&flushing.lock);
	if (!flushing.paused)
		inject.cupti.ActivityFlushAll(all ? 1 : 0);
	pthread_mutex_unlock(&flushing.lock);
}

void activity_record(bool on)
{
	pthread_mutex_lock(&flushing.lock);
	flushing.paused = !on;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (on)
			inject.cupti.ActivityEnable(kinds[i]);
		else
			inject.cupti.ActivityDisable(kinds[i]);
	pthread_mutex_unlock(&flushing.lock);
}
