/* See guest_limit.h. Bounds and steps are as an H200 answered. */
#include "runtime/guest/guest_limit.h"

#define STACK_MOST 523264
#define PENDING_LEAST 32
#define PENDING_MOST 599186
#define FIFO_LEAST ((size_t)512 << 10)
#define HEAP_LEAST ((size_t)4 << 20)

/* Beside those of enum cudaLimit: shared memory of a block, and what only the driver names. */
enum { LIMIT_SHARED = 7, LIMIT_DRIVER = 8 };

static struct {
	bool heap, fifo;
} in_use; /* by a launch */

int guest_persisting_bytes(void)
{
	const uint64_t eighth = (uint64_t)guest.gpu.l2_bytes / 8;
	return (int)(guest.gpu.cc_major >= 9 ? 5 * eighth : guest.gpu.cc_major == 8 ? 6 * eighth : 0);
}

void guest_limits_begin(void)
{
	guest.limits[cudaLimitStackSize] = 1024;
	guest.limits[cudaLimitPrintfFifoSize] = (size_t)guest.gpu.sm_count << 16;
	guest.limits[cudaLimitMallocHeapSize] = 8 << 20;
	guest.limits[cudaLimitDevRuntimeSyncDepth] = 2;
	guest.limits[cudaLimitDevRuntimePendingLaunchCount] = 2048;
	guest.limits[cudaLimitMaxL2FetchGranularity] = 64;
	guest.limits[cudaLimitPersistingL2CacheSize] =
		guest.gpu.cc_major >= 9 ? (size_t)guest_persisting_bytes() / 10 * 3 : 0;
	in_use.heap = in_use.fifo = false;
}

void guest_limits_use(struct guest_function *f)
{
	if (!f->needs_known) {
		f->needs_known = true;
		f->allocates = emu_function_allocates(f->loaded);
		f->prints = emu_function_prints(f->loaded);
	}
	in_use.heap |= f->allocates;
	in_use.fifo |= f->prints;
}

static size_t up_to(size_t value, size_t step)
{
	return step ? value / step * step + (value % step ? step : 0) : value;
}

static size_t at_least(size_t value, size_t least)
{
	return value > least ? value : least;
}

static size_t at_most(size_t value, size_t most)
{
	return value < most ? value : most;
}

/* What becomes of @value. False: it is refused. */
static bool settle(enum cudaLimit which, size_t value, size_t *out)
{
	const size_t persisting = (size_t)guest_persisting_bytes();
	switch (which) {
	case cudaLimitStackSize: *out = up_to(value, 16); return value <= STACK_MOST;
	case cudaLimitPrintfFifoSize:
		*out = at_least(up_to(at_most(value, SIZE_MAX / 2), 256), FIFO_LEAST);
		return !in_use.fifo;
	case cudaLimitMallocHeapSize:
		value = at_most(value, (size_t)(guest.gpu.dram_bytes / 8));
		*out = at_least(up_to(value, 1 << 16), HEAP_LEAST);
		return !in_use.heap;
	case cudaLimitDevRuntimePendingLaunchCount:
		*out = at_most(at_least(value, PENDING_LEAST), PENDING_MOST);
		return true;
	case cudaLimitMaxL2FetchGranularity: *out = value; return value <= 128;
	case cudaLimitPersistingL2CacheSize:
		*out = value ? at_most(up_to(value, persisting / 10), persisting) : 0;
		return value <= persisting;
	case cudaLimitDevRuntimeSyncDepth: *out = value; return true;
	}
	return false;
}

static cudaError_t may_ask(enum cudaLimit which, bool set)
{
	if ((int)which < 0 || (int)which > LIMIT_DRIVER)
		return cudaErrorInvalidValue;
	if ((int)which >= LIMIT_SHARED)
		return set ? cudaErrorNotPermitted : cudaSuccess;
	return which == cudaLimitDevRuntimeSyncDepth && guest.gpu.cc_major >= 9
	           ? cudaErrorUnsupportedLimit
	           : cudaSuccess;
}

cudaError_t guest_limit(enum cudaLimit which, const size_t *set, size_t *get)
{
	const cudaError_t e = !set && !get ? cudaErrorInvalidValue : may_ask(which, set != NULL);
	size_t value;
	if (e != cudaSuccess)
		return e;
	if (set && !settle(which, *set, &value))
		return cudaErrorInvalidValue;
	if (set)
		guest.limits[which] = value;
	if (get)
		*get = (int)which == LIMIT_SHARED   ? (size_t)guest.gpu.smem_per_block_optin_bytes
		       : (int)which == LIMIT_DRIVER ? 0
		                                    : guest.limits[which];
	return cudaSuccess;
}
