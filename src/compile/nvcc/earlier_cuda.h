/*
 * What CUDA 12 and 13 took out of the runtime API, for programs that still use it: nvcc includes
 * this in front of their sources once such a name has stopped a compilation (program_repair.c).
 * Behind CUDA's own headers, and harmless where nothing of it is used.
 */
#ifndef PMPP_EARLIER_CUDA_H
#define PMPP_EARLIER_CUDA_H

#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000

/* --- threads of a device became the device (removed in 13) --- */

#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset
#define cudaThreadSetLimit cudaDeviceSetLimit
#define cudaThreadGetLimit cudaDeviceGetLimit
#define cudaThreadSetCacheConfig cudaDeviceSetCacheConfig
#define cudaThreadGetCacheConfig cudaDeviceGetCacheConfig

#ifdef __cplusplus

/* --- the device's properties (fields removed in 13) --- */

struct earlier_device_properties : cudaDeviceProp {
	int clockRate, memoryClockRate; /* kHz */
	int deviceOverlap, kernelExecTimeoutEnabled, computeMode;
	int maxTexture1DLinear;
	int singleToDoublePrecisionPerfRatio;
	int cooperativeMultiDeviceLaunch;
};

static inline cudaError_t cudaGetDeviceProperties(earlier_device_properties *p, int device)
{
	const cudaError_t e = ::cudaGetDeviceProperties(static_cast<cudaDeviceProp *>(p), device);
	if (e != cudaSuccess)
		return e;
	cudaDeviceGetAttribute(&p->clockRate, cudaDevAttrClockRate, device);
	cudaDeviceGetAttribute(&p->memoryClockRate, cudaDevAttrMemoryClockRate, device);
	cudaDeviceGetAttribute(&p->deviceOverlap, cudaDevAttrGpuOverlap, device);
	cudaDeviceGetAttribute(&p->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout, device);
	cudaDeviceGetAttribute(&p->computeMode, cudaDevAttrComputeMode, device);
	cudaDeviceGetAttribute(&p->maxTexture1DLinear, cudaDevAttrMaxTexture1DWidth, device);
	cudaDeviceGetAttribute(&p->singleToDoublePrecisionPerfRatio,
	                       cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
	p->cooperativeMultiDeviceLaunch = 0;
	return cudaSuccess;
}
#define cudaDeviceProp earlier_device_properties

/* --- a place is a device's number (cudaMemLocation since 13) --- */

static inline cudaMemLocation earlier_location(int device)
{
	cudaMemLocation at = {};
	at.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
	at.id = device == cudaCpuDeviceId ? 0 : device;
	return at;
}

static inline cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, int device,
                                               cudaStream_t stream = 0)
{
	return cudaMemPrefetchAsync(p, bytes, earlier_location(device), 0u, stream);
}

static inline cudaError_t cudaMemAdvise(const void *p, size_t bytes, cudaMemoryAdvise advice,
                                        int device)
{
	return cudaMemAdvise(p, bytes, advice, earlier_location(device));
}

/* --- edges of graphs without data --- */

static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to, size_t n)
{
	return cudaGraphAddDependencies(graph, from, to, nullptr, n);
}

static inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                      const cudaGraphNode_t *from,
                                                      const cudaGraphNode_t *to, size_t n)
{
	return cudaGraphRemoveDependencies(graph, from, to, nullptr, n);
}

static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                                            cudaGraphNode_t *to, size_t *n)
{
	return cudaGraphGetEdges(graph, from, to, nullptr, n);
}

static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *on,
                                                       size_t *n)
{
	return cudaGraphNodeGetDependencies(node, on, nullptr, n);
}

static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                         cudaGraphNode_t *behind, size_t *n)
{
	return cudaGraphNodeGetDependentNodes(node, behind, nullptr, n);
}

static inline cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *on, size_t n,
                                           cudaGraphNodeParams *params)
{
	return cudaGraphAddNode(node, graph, on, nullptr, n, params);
}

/* Templates, as they shall not take nullptr, which is an array of edges for today's. */
template <class count, class = decltype(count() + 0)>
static inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                              cudaGraphNode_t *on, count n,
                                                              unsigned flags = 0)
{
	return cudaStreamUpdateCaptureDependencies(stream, on, nullptr, (size_t)n, flags);
}

template <class count>
static inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                                   cudaStreamCaptureStatus *status,
                                                   unsigned long long *id, cudaGraph_t *graph,
                                                   const cudaGraphNode_t **on, count *n)
{
	return cudaStreamGetCaptureInfo(stream, status, id, graph, on, nullptr, n);
}

static inline cudaError_t cudaStreamGetCaptureInfo_v2(
	cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id = nullptr,
	cudaGraph_t *graph = nullptr, const cudaGraphNode_t **on = nullptr, size_t *n = nullptr)
{
	return cudaStreamGetCaptureInfo(stream, status, id, graph, on, nullptr, n);
}

/* With data, which had a name of its own. */
#define cudaGraphAddNode_v2 cudaGraphAddNode
#define cudaGraphAddDependencies_v2 cudaGraphAddDependencies
#define cudaGraphRemoveDependencies_v2 cudaGraphRemoveDependencies
#define cudaGraphGetEdges_v2 cudaGraphGetEdges
#define cudaGraphNodeGetDependencies_v2 cudaGraphNodeGetDependencies
#define cudaGraphNodeGetDependentNodes_v2 cudaGraphNodeGetDependentNodes
#define cudaStreamGetCaptureInfo_v3 cudaStreamGetCaptureInfo
#define cudaStreamUpdateCaptureDependencies_v2 cudaStreamUpdateCaptureDependencies

#ifdef __CUDACC__

/* --- warp functions without a mask: the lanes that are there --- */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define PMPP_SHUFFLE(name, parameter)                                            \
	template <class T>                                                           \
	static __device__ __forceinline__ T name(T value, parameter, int width = 32) \
	{                                                                            \
		return name##_sync(__activemask(), value, by, width);                    \
	}
PMPP_SHUFFLE(__shfl, int by)
PMPP_SHUFFLE(__shfl_up, unsigned by)
PMPP_SHUFFLE(__shfl_down, unsigned by)
PMPP_SHUFFLE(__shfl_xor, int by)
#undef PMPP_SHUFFLE
#endif

/* CUDA still declares these, and its assembler refuses them. */
#ifdef PMPP_VOTES
#define __any(predicate) __any_sync(__activemask(), predicate)
#define __all(predicate) __all_sync(__activemask(), predicate)
#define __ballot(predicate) __ballot_sync(__activemask(), predicate)
#endif

#ifdef PMPP_TEXTURE_REFERENCES
#include "texture_references.h"
#endif
#ifdef PMPP_SURFACE_REFERENCES
#include "surface_references.h"
#endif

/* --- an atomicAdd() of doubles of the program's own, which CUDA has since compute capability 6 ---
 */

#ifdef PMPP_OWN_ATOMIC_ADD
template <class T, class V> static __device__ __forceinline__ T earlier_atomicAdd(T *to, V value)
{
	return atomicAdd(to, value);
}
#define atomicAdd earlier_atomicAdd
#endif
#endif /* __CUDACC__ */

/* --- function objects of Thrust and CUB that C++ has under other names --- */

#ifdef PMPP_EARLIER_LIBRARIES
#include "earlier_libraries.h"
#endif

#ifdef PMPP_EARLIER_DRIVER
#include <cuda.h>
static inline CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device)
{
	return cuCtxCreate(context, nullptr, flags, device);
}
#endif

#endif /* __cplusplus */
#endif /* CUDA 13 */
#endif
