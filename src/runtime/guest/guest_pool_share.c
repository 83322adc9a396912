#define _GNU_SOURCE /* memfd_create() */
/*
 * Pools of other processes, and their memory. A pool goes to another process as a file that says
 * whose it is; each allocation as a handle of the kind that cudaIpcGetMemHandle() gives. CUDA
 * Runtime API, stream-ordered memory allocator, interprocess communication: an imported pool
 * allocates nothing, and who has imported memory frees it before its owner does.
 */
#include "runtime/guest/guest_capture_rules.h"
#include "runtime/guest/guest_ipc.h"
#include "runtime/guest/guest_pool.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define POOL_MARK 0x4c4f4f50u /* what the file of a pool begins with */

struct pool_file {
	uint32_t mark;
	int32_t pid, id;
};
_Static_assert(sizeof(struct cudaMemPoolPtrExportData) >= sizeof(cudaIpcMemHandle_t),
               "holds a handle");

static cudaError_t export_pool(void *out, const struct guest_pool *p,
                               enum cudaMemAllocationHandleType type, unsigned flags)
{
	if (!out || !p || !p->shares || p->imported || flags ||
	    type != cudaMemHandleTypePosixFileDescriptor)
		return cudaErrorInvalidValue;
	const struct pool_file f = { POOL_MARK, p->pid, p->id };
	const int fd = memfd_create("gpu-pool", 0);
	if (fd < 0 || write(fd, &f, sizeof f) != (ssize_t)sizeof f)
		return cudaErrorOperatingSystem;
	memcpy(out, &fd, sizeof fd);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolExportToShareableHandle(
	void *out, cudaMemPool_t pool, enum cudaMemAllocationHandleType type, unsigned flags)
{
	GUEST_UNSAFE_CALL(export_pool(out, pool_of(pool), type, flags));
}

static cudaError_t import_pool(cudaMemPool_t *out, const void *handle,
                               enum cudaMemAllocationHandleType type, unsigned flags)
{
	struct pool_file f;
	if (!out || flags || type != cudaMemHandleTypePosixFileDescriptor ||
	    pread((int)(intptr_t)handle, &f, sizeof f, 0) != (ssize_t)sizeof f || f.mark != POOL_MARK)
		return cudaErrorInvalidValue;
	struct guest_pool *p = pool_add();
	p->imported = true;
	p->pid = f.pid;
	p->id = f.id;
	*out = (cudaMemPool_t)p;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolImportFromShareableHandle(
	cudaMemPool_t *out, void *handle, enum cudaMemAllocationHandleType type, unsigned flags)
{
	GUEST_UNSAFE_CALL(import_pool(out, handle, type, flags));
}

static cudaError_t export_memory(struct cudaMemPoolPtrExportData *out, void *p)
{
	const struct guest_pool *pool = pool_holding((uint64_t)(uintptr_t)p);
	if (!out || !pool || !pool->shares)
		return cudaErrorInvalidValue;
	memset(out, 0, sizeof *out);
	return ipc_give_memory((cudaIpcMemHandle_t *)out, p);
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *out,
                                                         void *p)
{
	GUEST_UNSAFE_CALL(export_memory(out, p));
}

static cudaError_t import_memory(void **out, struct guest_pool *pool,
                                 const struct cudaMemPoolPtrExportData *data, const void *caller)
{
	if (!data || !pool || !pool->imported)
		return cudaErrorInvalidValue;
	const cudaError_t e = ipc_open_memory(out, (const cudaIpcMemHandle_t *)data, caller);
	if (e == cudaSuccess)
		pool_took(pool, (uint64_t)(uintptr_t)*out, 0);
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolImportPointer(void **out, cudaMemPool_t pool,
                                                         struct cudaMemPoolPtrExportData *data)
{
	GUEST_UNSAFE_CALL(import_memory(out, pool_of(pool), data, GUEST_CALLER));
}
