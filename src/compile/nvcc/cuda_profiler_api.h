/* The two functions of the toolkit's header, which the pinned wheels have not. */
#ifndef PMPP_CUDA_PROFILER_API_H
#define PMPP_CUDA_PROFILER_API_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif
extern __host__ cudaError_t CUDARTAPI cudaProfilerStart(void);
extern __host__ cudaError_t CUDARTAPI cudaProfilerStop(void);
#ifdef __cplusplus
}
#endif

#endif
