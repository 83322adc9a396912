/*
 * cuBLAS as the ladder's top line: C = A * B of row-major matrices, timed like our own kernels.
 *
 * FP32 is asked for with TF32 off; the other modes are another precision and are labelled so.
 * cuBLAS is column-major: the row-major product is computed as C^T = B^T * A^T.
 */
#include "cuda/cuda_work.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct gemm {
	const struct cuda_gemm_job *j;
	struct cublas_fns blas;
	cublasHandle_t handle;
	CUdeviceptr a, b, c;
};

static bool blas_ok(cublasStatus_t s, const char *what, struct cuda_fault *why)
{
	return s == CUBLAS_STATUS_SUCCESS ||
	       fault_set(why, s == CUBLAS_STATUS_ALLOC_FAILED ? FAULT_OUT_OF_MEMORY : FAULT_OTHER,
	                 "%s: %d", what, (int)s);
}

static bool multiply(struct gpu_worker *w, void *ctx, struct cuda_fault *why)
{
	(void)w;
	const struct gemm *g = ctx;
	const struct cuda_gemm_job *j = g->j;
	const float one = 1, zero = 0;
	const int m = (int)j->m, n = (int)j->n, k = (int)j->k;
	if (j->mode == GEMM_FP16)
		return blas_ok(g->blas.GemmEx(g->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one,
		                              (const void *)(uintptr_t)g->b, CUDA_R_16F, n,
		                              (const void *)(uintptr_t)g->a, CUDA_R_16F, k, &zero,
		                              (void *)(uintptr_t)g->c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F,
		                              CUBLAS_GEMM_DEFAULT),
		               "cublasGemmEx", why);
	return blas_ok(g->blas.Sgemm(g->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one,
	                             (const float *)(uintptr_t)g->b, n, (const float *)(uintptr_t)g->a,
	                             k, &zero, (float *)(uintptr_t)g->c, n),
	               "cublasSgemm", why);
}

/*
 * Random contents: a matrix product on constants draws less power and so runs at higher clocks.
 * FP32 in [-1, 1); FP16 bit patterns of magnitude 0.5 to 1. One block of them is repeated.
 */
static bool fill_random(struct gpu_worker *w, CUdeviceptr to, size_t bytes, bool half,
                        struct cuda_fault *why)
{
	const size_t block = 4u << 20;
	uint32_t *host = mem_alloc(block);
	uint64_t seed = bytes;
	for (size_t i = 0; i < block / sizeof *host; i++) {
		uint32_t r = (uint32_t)(rand_next(&seed) >> 32);
		float f = (float)(int32_t)r * 0x1p-31f;
		if (half)
			host[i] = (r & 0x83ff83ffu) | 0x38003800u;
		else
			memcpy(&host[i], &f, sizeof f);
	}
	bool ok = true;
	for (size_t at = 0; ok && at < bytes; at += block)
		ok = cu_ok(w, w->cu.MemcpyHtoD(to + at, host, bytes - at < block ? bytes - at : block),
		           "cuMemcpyHtoD", why);
	free(host);
	return ok;
}

bool gemm_time(struct gpu_worker *w, const struct cuda_gemm_job *j, struct run_timing *out,
               struct cuda_fault *why)
{
	if (!work_context(w, j->device, why))
		return false;
	struct gemm g = { .j = j };
	work_step(w, "opening cuBLAS");
	if (!dl_cublas(&g.blas, NULL, 0, why) ||
	    !blas_ok(g.blas.Create(&g.handle), "cublasCreate", why))
		return false;
	const size_t in = j->mode == GEMM_FP16 ? 2 : 4;
	const size_t bytes[3] = { in * j->m * j->k, in * j->k * j->n, sizeof(float) * j->m * j->n };
	CUdeviceptr *const to[3] = { &g.a, &g.b, &g.c };
	bool ok = blas_ok(g.blas.SetStream(g.handle, w->stream), "cublasSetStream", why) &&
	          blas_ok(g.blas.SetMathMode(g.handle, j->mode == GEMM_TF32 ? CUBLAS_TF32_TENSOR_OP_MATH
	                                                                    : CUBLAS_DEFAULT_MATH),
	                  "cublasSetMathMode", why);
	for (int i = 0; ok && i < 3; i++)
		ok = cu_ok(w, w->cu.MemAlloc(to[i], bytes[i]), "cuMemAlloc", why) &&
		     fill_random(w, *to[i], bytes[i], j->mode == GEMM_FP16 && i < 2, why);
	if (ok) {
		const struct timed t = {
			.launch = multiply,
			.ctx = &g,
			.repeat = j->repeat,
			.warm_l2 = j->warm_l2,
		};
		ok = time_median(w, &t, out, why);
	}
	if (!w->poisoned) {
		for (int i = 0; i < 3; i++)
			if (*to[i])
				w->cu.MemFree(*to[i]);
		g.blas.Destroy(g.handle);
	}
	return ok;
}
