/* Streams, events and callbacks of the driver API. */
#include "runtime/guest/driver/driver.h"

GUEST_API CUresult CUDAAPI cuStreamCreate(CUstream *out, unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamCreateWithFlags(out, flags));
}

GUEST_API CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamCreateWithPriority(out, flags, priority));
}

GUEST_API CUresult CUDAAPI cuStreamDestroy(CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamDestroy(stream));
}

GUEST_API CUresult CUDAAPI cuStreamSynchronize(CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamSynchronize(stream));
}

GUEST_API CUresult CUDAAPI cuStreamQuery(CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamQuery(stream));
}

GUEST_API CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamWaitEvent(stream, event, flags));
}

GUEST_API CUresult CUDAAPI cuStreamGetPriority(CUstream stream, int *priority)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamGetPriority(stream, priority));
}

GUEST_API CUresult CUDAAPI cuStreamGetFlags(CUstream stream, unsigned *flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamGetFlags(stream, flags));
}

GUEST_API CUresult CUDAAPI cuStreamGetId(CUstream stream, unsigned long long *id)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamGetId(stream, id));
}

GUEST_API CUresult CUDAAPI cuStreamGetCtx(CUstream stream, CUcontext *out)
{
	(void)stream;
	return cuCtxGetCurrent(out);
}

GUEST_API CUresult CUDAAPI cuStreamAttachMemAsync(CUstream stream, CUdeviceptr p, size_t bytes,
                                                  unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamAttachMemAsync(stream, driver_pointer(p), bytes, flags));
}

/* Both kinds of function take the same arguments: an error is a number in either. */
GUEST_API CUresult CUDAAPI cuStreamAddCallback(CUstream stream, CUstreamCallback function,
                                               void *data, unsigned flags)
{
	DRIVER_CALL(
		DRIVER_CONTEXT,
		cudaStreamAddCallback(stream, (cudaStreamCallback_t)(void (*)(void))function, data, flags));
}

GUEST_API CUresult CUDAAPI cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaLaunchHostFunc(stream, function, data));
}

/* --- captured into graphs --- */

GUEST_API CUresult CUDAAPI cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode));
}

GUEST_API CUresult CUDAAPI cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaStreamEndCapture(stream, graph));
}

GUEST_API CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaStreamIsCapturing(stream, (enum cudaStreamCaptureStatus *)status));
}

GUEST_API CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaThreadExchangeStreamCaptureMode((enum cudaStreamCaptureMode *)mode));
}

/* --- events --- */

GUEST_API CUresult CUDAAPI cuEventCreate(CUevent *out, unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaEventCreateWithFlags(out, flags));
}

GUEST_API CUresult CUDAAPI cuEventDestroy(CUevent event)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaEventDestroy(event));
}

GUEST_API CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaEventRecord(event, stream));
}

GUEST_API CUresult CUDAAPI cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaEventRecordWithFlags(event, stream, flags));
}

GUEST_API CUresult CUDAAPI cuEventSynchronize(CUevent event)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaEventSynchronize(event));
}

GUEST_API CUresult CUDAAPI cuEventQuery(CUevent event)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaEventQuery(event));
}

GUEST_API CUresult CUDAAPI cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaEventElapsedTime(ms, start, end));
}
