/*
 * Ways cuBLAS multiplies matrices, as the ladder shows them. X(ID, "name", "what it is")
 */
#ifndef PMPP_CUDA_CUDA_GEMM_H
#define PMPP_CUDA_CUDA_GEMM_H

#include "base/enum_list.h"

#define CUDA_GEMM_MODES(X)                                                \
	X(GEMM_FP32, "cuBLAS FP32", "cublasSgemm, TF32 off")                  \
	X(GEMM_TF32, "cuBLAS TF32", "tensor cores on inputs rounded to TF32") \
	X(GEMM_FP16, "cuBLAS FP16", "tensor cores on FP16 inputs, FP32 sums")

enum cuda_gemm_mode { CUDA_GEMM_MODES(LIST_ID) GEMM_MODE_COUNT };

#endif
