/*
 * What a real GPU offers beyond the common back-end interface: its sheet, cuBLAS times, a report
 * of driver and tools. backend_cuda itself is declared in backend/backend.h.
 *
 * All of it happens in the worker process (cuda_worker.h: main() must give it a start) and may take
 * seconds the first time: never call it on the thread that draws. Thread-safe.
 */
#ifndef PMPP_CUDA_CUDA_H
#define PMPP_CUDA_CUDA_H

#include "backend/backend.h"
#include "cuda/cuda_gemm.h"
#include "cuda/cuda_msg.h"

/* The device that --gpu cudaN, else PMPP_CUDA_DEVICE names; 0 without either. */
unsigned cuda_device_wanted(void);
/* A sheet of the live device: queried where it answers, else from the nearest sheet; sources say.
 */
bool cuda_gpu_spec(unsigned device, const struct gpu_spec **out, struct err *err);
/* Driver, CUPTI, devices and why a capability is missing, for `doctor`. */
bool cuda_probe(unsigned device, struct cuda_info *out, struct err *err);
/* Time of C = A * B, m x k by k x n, in cuBLAS; GFLOPS = 2 m n k / ns. @cancel may be NULL. */
bool cuda_gemm_time(unsigned device, enum cuda_gemm_mode mode, unsigned m, unsigned n, unsigned k,
                    const atomic_bool *cancel, struct run_timing *out, struct err *err);
const char *cuda_gemm_name(enum cuda_gemm_mode mode);
const char *cuda_gemm_about(enum cuda_gemm_mode mode);
/* Kinds and meanings of stall reasons, for a view: "long_scoreboard" -> words; NULL = unknown. */
const char *cuda_stall_title(const char *reason);
const char *cuda_stall_about(const char *reason);

#endif
