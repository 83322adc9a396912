/*
 * NVIDIA's libraries by dlopen, one table of functions each; only the GPU worker calls this.
 *
 * Nothing of them is linked, so that the program starts on any machine. For tests and for odd
 * installations PMPP_LIBCUDA, PMPP_LIBCUPTI, PMPP_LIBCUBLAS and PMPP_LIBNVML name a file to open.
 */
#ifndef PMPP_CUDA_CUDA_DL_H
#define PMPP_CUDA_CUDA_DL_H

#include "cuda/cublas_decl.h"
#include "cuda/cuda_fault.h"

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <stddef.h>

/* NVML's header is not in every toolkit; these are its stable C prototypes. */
typedef void *nvml_device;
int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, nvml_device *device);
int nvmlDeviceGetClockInfo(nvml_device device, int type, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(nvml_device device, int type, unsigned *mhz);
int nvmlSystemGetDriverVersion(char *version, unsigned length);
int nvmlDeviceGetMaxPcieLinkGeneration(nvml_device device, unsigned *gen);
int nvmlDeviceGetMaxPcieLinkWidth(nvml_device device, unsigned *width);
enum { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };

#define FN(field, symbol, older, need) __typeof__(symbol) *field;
struct cuda_fns {
#include "cuda/cuda_fn.def"
};
struct cupti_fns {
#include "cuda/cupti_fn.def"
};
struct cublas_fns {
#include "cuda/cublas_fn.def"
};
struct nvml_fns {
#include "cuda/nvml_fn.def"
};
#undef FN

/* Each fills @fns or says why not; @path is the file that was opened (may be NULL with 0). */
bool dl_cuda(struct cuda_fns *fns, char *path, size_t path_size, struct cuda_fault *why);
bool dl_cupti(struct cupti_fns *fns, char *path, size_t path_size, struct cuda_fault *why);
bool dl_cublas(struct cublas_fns *fns, char *path, size_t path_size, struct cuda_fault *why);
bool dl_nvml(struct nvml_fns *fns, struct cuda_fault *why);

#endif
