/*
 * The part of cuBLAS that is used, declared here: its header comes with the library only, several
 * hundred MB that nobody needs to build this program.
 *
 * Names, types and values are the stable C interface of the cuBLAS 12 and 13 documentation
 * (docs.nvidia.com/cuda/cublas, "Using the cuBLAS API"). Where the compiler finds NVIDIA's
 * cublas_v2.h, tests/cli/cuda-headers-test.sh compares both; included after it, this file only
 * repeats the prototypes.
 */
#ifndef PMPP_CUBLAS_DECL_H
#define PMPP_CUBLAS_DECL_H

#include <cuda.h>
#include <library_types.h>

/* The enumerators that are used: X(TYPE, NAME, VALUE) */
#define CUBLAS_ENUMERATORS(X)                        \
	X(cublasStatus_t, CUBLAS_STATUS_SUCCESS, 0)      \
	X(cublasStatus_t, CUBLAS_STATUS_ALLOC_FAILED, 3) \
	X(cublasOperation_t, CUBLAS_OP_N, 0)             \
	X(cublasMath_t, CUBLAS_DEFAULT_MATH, 0)          \
	X(cublasMath_t, CUBLAS_TF32_TENSOR_OP_MATH, 3)   \
	X(cublasComputeType_t, CUBLAS_COMPUTE_32F, 68)   \
	X(cublasGemmAlgo_t, CUBLAS_GEMM_DEFAULT, -1)

#ifndef CUBLAS_V2_H_
/* C passes an enumeration as an int (unsigned where no value is negative): the same register. */
enum {
#define X(type, name, value) name = value,
	CUBLAS_ENUMERATORS(X)
#undef X
};
typedef int cublasStatus_t, cublasOperation_t, cublasMath_t, cublasComputeType_t, cublasGemmAlgo_t;
typedef struct cublasContext *cublasHandle_t;
typedef CUstream cudaStream_t; /* the runtime's stream is the driver's */
#endif

/* Matrices are column-major; lda, ldb, ldc in elements; alpha and beta on the host. */
cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float *alpha,
                              const float *a, int lda, const float *b, int ldb, const float *beta,
                              float *c, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void *alpha,
                            const void *a, cudaDataType atype, int lda, const void *b,
                            cudaDataType btype, int ldb, const void *beta, void *c,
                            cudaDataType ctype, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algo);

#endif
