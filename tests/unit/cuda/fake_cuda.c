/* The stand-in's libcuda: device memory is host memory, kernels are functions. */
#define _GNU_SOURCE
#include "fake_nvidia.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As the real driver does: once, what CUDA_INJECTION64_PATH names. */
static void inject(void)
{
	static int done;
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && !done++ ? dlopen(path, RTLD_NOW) : NULL;
	int (*start)(void) = NULL;
	if (library)
		*(void **)(void *)&start = dlsym(library, "InitializeInjection");
	if (start)
		start();
}

CUresult cuInit(unsigned flags)
{
	(void)flags;
	CU(cuInit);
	inject();
	return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *v)
{
	const char *s = getenv("FAKE_DRIVER");
	*v = s ? atoi(s) : 13000;
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult r, const char **name)
{
	static char text[32];
	snprintf(text, sizeof text, "CUDA_ERROR_FAKE_%d", (int)r);
	*name = text;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *n)
{
	const char *s = getenv("FAKE_DEVICES");
	CU(cuDeviceGetCount);
	*n = s ? atoi(s) : 1;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *d, int i)
{
	*d = i;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int n, CUdevice d)
{
	snprintf(name, (size_t)n, d ? "NVIDIA Fake 200 #%d" : "NVIDIA H200", d);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d)
{
	static const int rows[][2] = {
		{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9 },
		{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0 },
		{ CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132 },
		{ CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 },
		{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
		{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 },
		{ CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32 },
		{ CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536 },
		{ CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536 },
		{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472 },
		{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152 },
		{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448 },
		{ CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024 },
		{ CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 65536 },
		{ CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144 },
		{ CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3 },
	};
	(void)d;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i][0] == (int)a) {
			*v = rows[i][1];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice d)
{
	(void)d;
	*bytes = (size_t)150754820096;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int n, CUdevice d)
{
	snprintf(id, (size_t)n, "0000:%02d:00.0", d + 1);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d)
{
	(void)d;
	CU(cuDevicePrimaryCtxRetain);
	*c = (CUcontext)&fake_state.sticky;
	return CUDA_SUCCESS;
}

/* A call of one argument that has nothing to do. */
#define SUCCEEDS(call, type)   \
	CUresult call(type object) \
	{                          \
		(void)object;          \
		return CUDA_SUCCESS;   \
	}
SUCCEEDS(cuDevicePrimaryCtxRelease_v2, CUdevice)

SUCCEEDS(cuCtxSetCurrent, CUcontext)

CUresult cuCtxSynchronize(void)
{
	CU(cuCtxSynchronize);
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	*free_bytes = (size_t)1 << 30;
	*total = (size_t)2 << 30;
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n)
{
	CU(cuMemAlloc_v2);
	if (n > (size_t)1 << 30)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*p = (CUdeviceptr)(uintptr_t)malloc(n);
	return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr p)
{
	free((void *)(uintptr_t)p);
	return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **p, size_t n, unsigned flags)
{
	(void)flags;
	CU(cuMemHostAlloc);
	*p = malloc(n);
	return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *p)
{
	free(p);
	return CUDA_SUCCESS;
}

static CUresult copy(void *to, const void *from, size_t n, int kind)
{
	uint64_t start = fake_now_ns();
	memcpy(to, from, n);
	if (kind)
		fake_record(kind, n, start, NULL);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t n)
{
	for (size_t at = 0; at < n; at += (size_t)16 << 20) /* a large copy dozes for longer */
		CU(cuMemcpyHtoD_v2);
	return copy((void *)(uintptr_t)to, from, n, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n)
{
	CU(cuMemcpyDtoH_v2);
	return copy(to, (const void *)(uintptr_t)from, n, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s)
{
	(void)s;
	CU(cuMemcpyHtoDAsync_v2);
	return copy((void *)(uintptr_t)to, from, n, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s)
{
	(void)s;
	CU(cuMemcpyDtoHAsync_v2);
	return copy(to, (const void *)(uintptr_t)from, n, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s)
{
	(void)s;
	CU(cuMemcpyDtoDAsync_v2);
	return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n,
	            CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
}

CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream s)
{
	(void)s;
	uint64_t start = fake_now_ns();
	memset((void *)(uintptr_t)p, v, n);
	fake_record(FAKE_SET, n, start, NULL);
	return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr p, unsigned v, size_t n, CUstream s)
{
	(void)s;
	for (size_t i = 0; i < n; i++)
		memcpy((char *)(uintptr_t)p + i * sizeof v, &v, sizeof v);
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *m, const void *image)
{
	(void)image;
	CU(cuModuleLoadData);
	*m = (CUmodule)&fake_state.sticky;
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned n, CUjit_option *o, void **v)
{
	(void)image;
	if (fake_result("cuModuleLoadDataEx") && n && o[0] == CU_JIT_ERROR_LOG_BUFFER)
		strcpy(v[0], "ptxas fatal: fake");
	CU(cuModuleLoadDataEx);
	*m = (CUmodule)&fake_state.sticky;
	return CUDA_SUCCESS;
}

SUCCEEDS(cuModuleUnload, CUmodule)

static const char *const kernels[] = {
	"fake_vecadd", "fake_increment", "fake_fault",
	"fake_hang",   "pmpp_flush_l2",  "vec_add_v3_per_element",
};

CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name)
{
	(void)m;
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		if (!strcmp(kernels[i], name)) {
			*f = (CUfunction)(uintptr_t)&kernels[i];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f)
{
	(void)f;
	*v = a == CU_FUNC_ATTRIBUTE_NUM_REGS                ? 10
	     : a == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
	                                                    : 0;
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v)
{
	(void)f;
	(void)a;
	(void)v;
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream s, void **args,
                        void **extra)
{
	(void)extra;
	uint64_t start = fake_now_ns();
	const struct fake_launch l = {
		.stream = s, .grid = { gx, gy, gz }, .block = { bx, by, bz }, .shared = shared
	};
	if (fake_state.sticky || bx * by * bz > 1024) {
		const int result = fake_state.sticky ? fake_state.sticky : 1;
		fake_refused(result, start);
		return (CUresult)result;
	}
	CU(cuLaunchKernel);
	const char *name = *(const char *const *)(uintptr_t)f;
	const struct {
		CUfunction f;
		unsigned grid[3], block[3], shared;
		CUstream stream;
	} parameters = { f, { gx, gy, gz }, { bx, by, bz }, shared, s };
	const CUresult done = CUDA_SUCCESS;
	fake_call(name, &parameters, NULL);
	if (!strcmp(name, "fake_vecadd") || !strcmp(name, "vec_add_v3_per_element")) {
		const float *a = *(float **)args[0], *b = *(float **)args[1];
		float *c = *(float **)args[2];
		for (int i = 0; i < *(int *)args[3]; i++)
			c[i] = a[i] + b[i];
	} else if (!strcmp(name, "fake_increment")) {
		int *x = *(int **)args[0];
		for (int i = 0; i < *(int *)args[1]; i++)
			x[i]++;
	} else if (!strcmp(name, "fake_fault")) {
		fake_state.sticky = 700;
	} else if (!strcmp(name, "fake_hang")) {
		for (;;)
			pause();
	}
	fake_next(&l);
	fake_record(-1, 0, start, name);
	fake_call(name, &parameters, &done);
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *s, unsigned flags)
{
	static unsigned made;
	(void)flags;
	*s = (CUstream)(uintptr_t)(16 * ++made);
	return CUDA_SUCCESS;
}

SUCCEEDS(cuStreamDestroy_v2, CUstream)

CUresult cuStreamSynchronize(CUstream s)
{
	(void)s;
	CU(cuStreamSynchronize);
	return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *e, unsigned flags)
{
	(void)flags;
	*e = (CUevent)(uintptr_t)calloc(1, sizeof(uint64_t));
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent e)
{
	free((void *)e);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent e, CUstream s)
{
	(void)s;
	CU(cuEventRecord);
	*(uint64_t *)(void *)e = fake_now_ns();
	return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
	(void)s;
	(void)flags;
	CU(cuStreamWaitEvent);
	if (!*(uint64_t *)(void *)e)
		return CUDA_ERROR_INVALID_VALUE; /* nothing was recorded */
	return CUDA_SUCCESS;
}

SUCCEEDS(cuEventSynchronize, CUevent)

CUresult cuEventElapsedTime_v2(float *ms, CUevent a, CUevent b)
{
	*ms = (float)(*(uint64_t *)(void *)b - *(uint64_t *)(void *)a) * 1e-6f;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads,
                                                     size_t shared)
{
	(void)f;
	(void)shared;
	*n = 2048 / threads;
	return CUDA_SUCCESS;
}
