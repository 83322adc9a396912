/*
 * Virtual memory management: address ranges, physical memory, and which lies where.
 *
 * A reserved range gets its memory at once. What a physical allocation holds while it lies nowhere
 * is kept aside, and goes to where it is mapped next.
 */
#include "runtime/guest/driver/driver.h"
#include "runtime/guest/guest_record.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define GRANULARITY ((size_t)2 << 20)

struct physical {
	size_t bytes;
	CUdeviceptr at;           /* 0 = lies nowhere */
	void *kept;               /* contents meanwhile; NULL = never written */
	unsigned holders;         /* handles that are not given back; 0 = goes when it is unmapped */
	CUmemAccess_flags access; /* while it is mapped */
	CUmemAllocationProp properties;
	struct physical *next;
};
static struct physical *all;

static struct physical *find_at(CUdeviceptr p)
{
	struct physical *m = all;
	while (m && m->at != p)
		m = m->next;
	return m;
}

static struct physical *find(CUmemGenericAllocationHandle handle)
{
	struct physical *m = all;
	while (m && (uint64_t)(uintptr_t)m != handle)
		m = m->next;
	return m;
}

static void drop(struct physical *m)
{
	struct physical **link = &all;
	while (*link != m)
		link = &(*link)->next;
	*link = m->next;
	free(m->kept);
	free(m);
}

static cudaError_t granularity(size_t *out, const CUmemAllocationProp *properties)
{
	if (!out || !properties)
		return cudaErrorInvalidValue;
	*out = GRANULARITY;
	return properties->location.id ? cudaErrorInvalidDevice : cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuMemGetAllocationGranularity(size_t *out,
                                                         const CUmemAllocationProp *properties,
                                                         CUmemAllocationGranularity_flags which)
{
	(void)which;
	DRIVER_CALL(DRIVER_INIT, granularity(out, properties));
}

static cudaError_t create(CUmemGenericAllocationHandle *out, size_t bytes,
                          const CUmemAllocationProp *properties)
{
	if (!out || !properties || !bytes || bytes % GRANULARITY)
		return cudaErrorInvalidValue;
	struct physical *m = mem_zalloc(sizeof *m);
	*m = (struct physical){ .bytes = bytes, .holders = 1, .properties = *properties, .next = all };
	all = m;
	*out = (uint64_t)(uintptr_t)m;
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
                                       const CUmemAllocationProp *properties,
                                       unsigned long long flags)
{
	(void)flags;
	DRIVER_CALL(DRIVER_INIT, create(out, bytes, properties));
}

static cudaError_t release(CUmemGenericAllocationHandle handle)
{
	struct physical *m = find(handle);
	if (!m || !m->holders)
		return cudaErrorInvalidValue;
	if (!--m->holders && !m->at)
		drop(m);
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle)
{
	DRIVER_CALL(DRIVER_INIT, release(handle));
}

static struct physical *find_around(CUdeviceptr p)
{
	struct physical *m = all;
	while (m && !(m->at && p >= m->at && p - m->at < m->bytes))
		m = m->next;
	return m;
}

static cudaError_t retain(CUmemGenericAllocationHandle *out, const void *p)
{
	struct physical *m = find_around((CUdeviceptr)(uintptr_t)p);
	if (!m || !out)
		return cudaErrorInvalidValue;
	m->holders++;
	*out = (uint64_t)(uintptr_t)m;
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *p)
{
	DRIVER_CALL(DRIVER_INIT, retain(out, p));
}

static cudaError_t properties_of(CUmemAllocationProp *out, CUmemGenericAllocationHandle handle)
{
	const struct physical *m = find(handle);
	if (!m || !out)
		return cudaErrorInvalidValue;
	*out = m->properties;
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuMemGetAllocationPropertiesFromHandle(
	CUmemAllocationProp *out, CUmemGenericAllocationHandle handle)
{
	DRIVER_CALL(DRIVER_INIT, properties_of(out, handle));
}

static cudaError_t reserve(CUdeviceptr *out, size_t bytes)
{
	if (!out || !bytes || bytes % GRANULARITY)
		return cudaErrorInvalidValue;
	*out = emu_device_alloc(guest.device, bytes, EMU_MEMORY_DEVICE, guest_caller);
	return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* The wanted address is a wish: programs look at what they got. */
GUEST_API CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t alignment,
                                               CUdeviceptr wanted, unsigned long long flags)
{
	(void)alignment, (void)wanted, (void)flags;
	DRIVER_CALL(DRIVER_INIT, reserve(out, bytes));
}

static cudaError_t give_back(CUdeviceptr p)
{
	return emu_device_release(guest.device, p) ? cudaSuccess : cudaErrorInvalidValue;
}

GUEST_API CUresult CUDAAPI cuMemAddressFree(CUdeviceptr p, size_t bytes)
{
	(void)bytes;
	DRIVER_CALL(DRIVER_INIT, give_back(p));
}

static cudaError_t twice_mapped(void)
{
	struct err err = { 0 };
	err_set(&err, ERR_UNSUPPORTED,
	        "cuMemMap(): memory that is mapped elsewhere too is not emulated");
	err_remedy(&err, "unmap it first, with cuMemUnmap()");
	record_problem("not-served", &err);
	return cudaErrorNotSupported;
}

static cudaError_t map(CUdeviceptr p, size_t bytes, size_t offset,
                       CUmemGenericAllocationHandle handle)
{
	struct physical *m = find(handle);
	struct emu_allocation a;
	if (!m || offset || bytes != m->bytes || p % 512 || !emu_device_find(guest.device, p, &a) ||
	    p + bytes > a.address + a.bytes)
		return cudaErrorInvalidValue;
	if (m->at)
		return twice_mapped();
	m->at = p;
	m->access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
	if (m->kept) {
		memcpy(driver_pointer(p), m->kept, bytes);
		emu_device_mark_written(guest.device, p, bytes);
	}
	free(m->kept);
	m->kept = NULL;
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuMemMap(CUdeviceptr p, size_t bytes, size_t offset,
                                    CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	(void)flags;
	DRIVER_CALL(DRIVER_INIT, map(p, bytes, offset, handle));
}

static cudaError_t unmap(CUdeviceptr p, size_t bytes)
{
	while (bytes) {
		struct physical *m = find_at(p);
		if (!m || m->bytes > bytes)
			return cudaErrorInvalidValue;
		p += m->bytes;
		bytes -= m->bytes;
		if (!m->holders) {
			drop(m);
			continue;
		}
		m->kept = mem_alloc(m->bytes);
		memcpy(m->kept, driver_pointer(m->at), m->bytes);
		m->at = 0;
	}
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuMemUnmap(CUdeviceptr p, size_t bytes)
{
	DRIVER_CALL(DRIVER_INIT, unmap(p, bytes));
}

static cudaError_t set_access(CUdeviceptr p, size_t bytes, const CUmemAccessDesc *access, size_t n)
{
	if (!access || !n)
		return cudaErrorInvalidValue;
	for (struct physical *m = all; m; m = m->next)
		if (m->at && m->at >= p && m->at - p < bytes)
			m->access = access[n - 1].flags; /* of the one device that there is */
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuMemSetAccess(CUdeviceptr p, size_t bytes,
                                          const CUmemAccessDesc *access, size_t n)
{
	DRIVER_CALL(DRIVER_INIT, set_access(p, bytes, access, n));
}

static cudaError_t get_access(unsigned long long *flags, const CUmemLocation *where, CUdeviceptr p)
{
	const struct physical *m = find_around(p);
	if (!flags || !where || !m)
		return cudaErrorInvalidValue;
	*flags = m->access;
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuMemGetAccess(unsigned long long *flags, const CUmemLocation *where,
                                          CUdeviceptr p)
{
	DRIVER_CALL(DRIVER_INIT, get_access(flags, where, p));
}
