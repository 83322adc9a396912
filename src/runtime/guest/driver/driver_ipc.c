/* Memory and events of other processes: the runtime's, whose handles have the same sizes. */
#include "runtime/guest/driver/driver.h"

#include <string.h>

_Static_assert(sizeof(CUipcMemHandle) == sizeof(cudaIpcMemHandle_t) &&
                   sizeof(CUipcEventHandle) == sizeof(cudaIpcEventHandle_t),
               "handles of both APIs are the same bytes");

GUEST_API CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr p)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaIpcGetMemHandle((cudaIpcMemHandle_t *)(void *)out, driver_pointer(p)));
}

static cudaError_t open_memory(CUdeviceptr *out, const CUipcMemHandle *handle, unsigned flags)
{
	cudaIpcMemHandle_t h;
	void *p;
	memcpy(&h, handle, sizeof h);
	const cudaError_t e = out ? cudaIpcOpenMemHandle(&p, h, flags) : cudaErrorInvalidValue;
	if (e == cudaSuccess)
		*out = (CUdeviceptr)(uintptr_t)p;
	return e;
}

GUEST_API CUresult CUDAAPI cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle,
                                                 unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, open_memory(out, &handle, flags));
}

GUEST_API CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr p)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaIpcCloseMemHandle(driver_pointer(p)));
}

GUEST_API CUresult CUDAAPI cuIpcGetEventHandle(CUipcEventHandle *out, CUevent event)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaIpcGetEventHandle((cudaIpcEventHandle_t *)(void *)out, event));
}

static cudaError_t open_event(CUevent *out, const CUipcEventHandle *handle)
{
	cudaIpcEventHandle_t h;
	memcpy(&h, handle, sizeof h);
	return cudaIpcOpenEventHandle(out, h);
}

GUEST_API CUresult CUDAAPI cuIpcOpenEventHandle(CUevent *out, CUipcEventHandle handle)
{
	DRIVER_CALL(DRIVER_CONTEXT, open_event(out, &handle));
}
