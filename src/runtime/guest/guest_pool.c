/* Pools of memory: handles of one heap. */
#include "runtime/guest/guest_capture_rules.h"

#include <string.h>

static struct {
	uint64_t threshold;
} pool;

static cudaError_t the_pool(cudaMemPool_t *out)
{
	*out = (cudaMemPool_t)&pool;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device)
{
	GUEST_ANY_CALL(device ? cudaErrorInvalidDevice : the_pool(out));
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t *out, int device)
{
	GUEST_CALL(device ? cudaErrorInvalidDevice : the_pool(out));
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceSetMemPool(int device, cudaMemPool_t p)
{
	(void)p;
	GUEST_CALL(device ? cudaErrorInvalidDevice : cudaSuccess);
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t *out,
                                                  const struct cudaMemPoolProps *properties)
{
	(void)properties;
	GUEST_UNSAFE_CALL_FOR(GUEST_NEEDS_NOTHING, the_pool(out));
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t p)
{
	(void)p;
	GUEST_UNSAFE_CALL(cudaSuccess);
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t p, size_t keep_bytes)
{
	(void)p, (void)keep_bytes;
	GUEST_UNSAFE_CALL(cudaSuccess);
}

static cudaError_t pool_attribute(enum cudaMemPoolAttr attribute, void *value, bool set)
{
	switch (attribute) {
	case cudaMemPoolAttrReleaseThreshold:
		memcpy(set ? (void *)&pool.threshold : value, set ? value : (void *)&pool.threshold,
		       sizeof pool.threshold);
		return cudaSuccess;
	case cudaMemPoolAttrUsedMemCurrent:
	case cudaMemPoolAttrReservedMemCurrent:
	case cudaMemPoolAttrUsedMemHigh:
	case cudaMemPoolAttrReservedMemHigh: {
		const bool high =
			attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh;
		const uint64_t bytes =
			high ? emu_device_most_bytes(guest.device, set) : emu_device_used_bytes(guest.device);
		if (!set)
			memcpy(value, &bytes, sizeof bytes);
		return cudaSuccess;
	}
	default: /* reuse policies: nothing to choose between here */
		if (!set)
			memset(value, 0, sizeof(int));
		return cudaSuccess;
	}
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t p,
                                                        enum cudaMemPoolAttr attribute, void *value)
{
	(void)p;
	GUEST_UNSAFE_CALL(pool_attribute(attribute, value, true));
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t p,
                                                        enum cudaMemPoolAttr attribute, void *value)
{
	(void)p;
	GUEST_CALL(pool_attribute(attribute, value, false));
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolSetAccess(cudaMemPool_t p,
                                                     const struct cudaMemAccessDesc *list, size_t n)
{
	(void)p, (void)list, (void)n;
	GUEST_CALL(cudaSuccess);
}

static cudaError_t pool_access(enum cudaMemAccessFlags *flags, const struct cudaMemLocation *where)
{
	if (!flags || !where || where->type != cudaMemLocationTypeDevice || where->id)
		return cudaErrorInvalidValue;
	*flags = cudaMemAccessFlagsProtReadWrite;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags,
                                                     cudaMemPool_t p, struct cudaMemLocation *where)
{
	(void)p;
	GUEST_CALL(pool_access(flags, where));
}

GUEST_API cudaError_t CUDARTAPI cudaMemGetDefaultMemPool(cudaMemPool_t *out,
                                                         struct cudaMemLocation *where,
                                                         enum cudaMemAllocationType type)
{
	(void)where, (void)type;
	GUEST_CALL(the_pool(out));
}

GUEST_API cudaError_t CUDARTAPI cudaMemGetMemPool(cudaMemPool_t *out, struct cudaMemLocation *where,
                                                  enum cudaMemAllocationType type)
{
	(void)where, (void)type;
	GUEST_CALL(the_pool(out));
}

GUEST_API cudaError_t CUDARTAPI cudaMemSetMemPool(struct cudaMemLocation *where,
                                                  enum cudaMemAllocationType type, cudaMemPool_t p)
{
	(void)where, (void)type, (void)p;
	GUEST_CALL(cudaSuccess);
}
