/*
 * Ways cuBLAS multiplies matrices, as the ladder shows them. X(ID, "name", "what it is")
 */
#ifndef PMPP_CUDA_CUDA_GEMM_H
#define PMPP_CUDA_CUDA_GEMM_H

#define CUDA_GEMM_MODES(X)                                                              \
	X(FP32, "cuBLAS FP32", "cublasSgemm, TF32 off: comparable with our kernels")        \
	X(TF32, "cuBLAS TF32", "tensor cores on inputs rounded to TF32: another precision") \
	X(FP16, "cuBLAS FP16", "tensor cores on FP16 inputs, FP32 sums: another precision")

enum cuda_gemm_mode {
#define X(id, name, about) GEMM_##id,
	CUDA_GEMM_MODES(X)
#undef X
		GEMM_MODE_COUNT
};

#endif
