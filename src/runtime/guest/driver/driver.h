/*
 * The driver API of the guest: documented functions of libcuda, each by the handler of the runtime
 * API that means the same. Streams, events, arrays, graphs and pools are the same handles in both;
 * a module is a guest_module, a function what cudaGetFuncBySymbol() would give.
 */
#ifndef PMPP_RUNTIME_GUEST_DRIVER_H
#define PMPP_RUNTIME_GUEST_DRIVER_H

#include "runtime/guest/guest.h"

#include <cuda.h>

/* What must have happened before a call. */
enum driver_need {
	DRIVER_ANY,
	DRIVER_INIT,    /* cuInit() */
	DRIVER_CONTEXT, /* a context is current */
};

/* driver_context.c. Notes who called (see GUEST_CALLER); what is other than CUDA_SUCCESS is the
 * call's answer. */
CUresult driver_begin(enum driver_need need, const void *caller);
CUresult driver_end(cudaError_t e);
/* Most functions: DRIVER_CALL(need, call of a handler). */
#define DRIVER_CALL(need, ...)                                                 \
	do {                                                                       \
		const CUresult r_ = driver_begin((need), __builtin_return_address(0)); \
		return r_ != CUDA_SUCCESS ? r_ : driver_end(__VA_ARGS__);              \
	} while (0)

/* driver_error.c: the runtime's error as the driver names it. */
CUresult driver_result(cudaError_t e);

/* driver_copy.c: as the runtime describes the same copy. */
cudaError_t driver_copy_params(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *p);
/* driver_array.c: channels of a format; its width is 0 if there is no such. */
struct cudaChannelFormatDesc driver_channels(CUarray_format format, unsigned n);

/* Addresses and pointers are the same numbers. */
static inline void *driver_pointer(CUdeviceptr p)
{
	return (void *)(uintptr_t)p;
}

/* A launch as the runtime has it. Attributes are the same structures in both APIs. */
static inline cudaLaunchConfig_t driver_launch_config(const CUlaunchConfig *c)
{
	return (cudaLaunchConfig_t){
		.gridDim = { c->gridDimX, c->gridDimY, c->gridDimZ },
		.blockDim = { c->blockDimX, c->blockDimY, c->blockDimZ },
		.dynamicSmemBytes = c->sharedMemBytes,
		.stream = c->hStream,
		.attrs = (cudaLaunchAttribute *)c->attrs,
		.numAttrs = c->numAttrs,
	};
}

#endif
