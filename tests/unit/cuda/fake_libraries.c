/* The stand-in's NVML and cuBLAS. */
#define _GNU_SOURCE
#include "fake_nvidia.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int nvmlInit_v2(void)
{
	return fake_result("nvmlInit_v2");
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, nvml_device *device)
{
	(void)bus_id;
	*device = &fake_state.sticky;
	return 0;
}

int nvmlDeviceGetClockInfo(nvml_device device, int type, unsigned *mhz)
{
	(void)device;
	*mhz = type == NVML_CLOCK_MEM ? 3201 : 1755;
	return 0;
}

int nvmlDeviceGetMaxClockInfo(nvml_device device, int type, unsigned *mhz)
{
	(void)device;
	*mhz = type == NVML_CLOCK_MEM ? 3201 : 1980;
	return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned length)
{
	snprintf(version, length, "580.159.04");
	return 0;
}

int nvmlDeviceGetMaxPcieLinkGeneration(nvml_device device, unsigned *gen)
{
	(void)device;
	*gen = 5;
	return 0;
}

int nvmlDeviceGetMaxPcieLinkWidth(nvml_device device, unsigned *width)
{
	(void)device;
	*width = 16;
	return 0;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *h)
{
	*h = (cublasHandle_t)&fake_state.sticky;
	return (cublasStatus_t)fake_result("cublasCreate_v2");
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t h)
{
	(void)h;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t h, cudaStream_t s)
{
	(void)h;
	(void)s;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t h, cublasMath_t m)
{
	(void)h;
	(void)m;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t h, int *v)
{
	(void)h;
	*v = 130100;
	return CUBLAS_STATUS_SUCCESS;
}

/* Two kernels in one call, as split-K products are. */
static cublasStatus_t product(const char *name)
{
	uint64_t start = fake_now_ns();
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
	fake_record(-1, 0, start, name);
	fake_record(-1, 0, fake_now_ns(), "splitK");
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                              int n, int k, const float *alpha, const float *a, int lda,
                              const float *b, int ldb, const float *beta, float *c, int ldc)
{
	(void)h, (void)ta, (void)tb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda;
	(void)b, (void)ldb, (void)beta, (void)c, (void)ldc;
	return product("sgemm");
}

cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                            int n, int k, const void *alpha, const void *a, cudaDataType at,
                            int lda, const void *b, cudaDataType bt, int ldb, const void *beta,
                            void *c, cudaDataType ct, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algo)
{
	(void)h, (void)ta, (void)tb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)at,
		(void)lda;
	(void)b, (void)bt, (void)ldb, (void)beta, (void)c, (void)ct, (void)ldc, (void)compute,
		(void)algo;
	return product("hgemm");
}
