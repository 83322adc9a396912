/*
 * Which shared-memory size the driver sets for a kernel (the carve-out), as CUPTI's kernel records
 * report it: by registers, threads and shared memory of a block, size of the grid, and preference.
 *
 *   nvcc -arch=sm_90 -I$CUPTI/include -L$CUPTI/lib64 -o carveout_sizes carveout_sizes.cu -lcupti
 *   ./carveout_sizes > carveout.csv          (CUPTI: extras/CUPTI of the toolkit)
 *
 * One line a launch: preference (percent, -1 = the driver's), registers, threads, shared bytes,
 * grid, blocks per SM by the runtime's calculator, bytes set.
 */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned executed;

static void wanted(uint8_t **buffer, size_t *size, size_t *records)
{
	*size = 1 << 20;
	*records = 0;
	*buffer = (uint8_t *)aligned_alloc(16, *size);
}

static void full(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
	CUpti_Activity *r = NULL;
	while (cuptiActivityGetNextRecord(buffer, valid, &r) == CUPTI_SUCCESS)
		executed = ((CUpti_ActivityKernel10 *)r)->sharedMemoryExecuted;
	free(buffer);
}

/* @R values per thread live at once, so that registers differ; shared memory only has a size. */
template <int R> static __global__ void holder(float *p, int n)
{
	extern __shared__ float s[];
	float v[R], sum = 0;
	for (int i = 0; i < R; i++)
		v[i] = p[i * n + threadIdx.x];
	for (int j = 0; j < n; j++)
		for (int i = 0; i < R; i++)
			v[i] = v[i] * v[(i + 1) % R] + j;
	for (int i = 0; i < R; i++)
		sum += v[i] * (i + 1);
	if (n < 0)
		s[threadIdx.x] = sum;
	p[threadIdx.x] = sum;
}

template <int R> static void one(float *p, int preference, int threads, int shared, int grid)
{
	cudaFuncAttributes a;
	int blocks = 0;
	cudaFuncGetAttributes(&a, holder<R>);
	cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, holder<R>, threads, shared);
	holder<R><<<grid, threads, shared>>>(p, 0);
	cudaDeviceSynchronize();
	executed = ~0u;
	cuptiActivityFlushAll(1);
	printf("%d,%d,%d,%d,%d,%d,%u\n", preference, a.numRegs, threads, shared, grid, blocks,
	       executed);
}

template <int R> static void all(float *p)
{
	static const int preferences[] = { -1, 0, 25, 50, 100 };
	static const int block_sizes[] = { 32, 64, 128, 256, 512, 1024 };
	static const int shared[] = { 0,     1024,  2048,  3072,  4096,   8192,   12288, 16384,
		                          24576, 32768, 49152, 65536, 102400, 131072, 232448 };
	cudaFuncSetAttribute(holder<R>, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448);
	for (int preference : preferences) {
		cudaFuncSetAttribute(holder<R>, cudaFuncAttributePreferredSharedMemoryCarveout, preference);
		for (int threads : block_sizes)
			for (int bytes : shared)
				if (preference < 0 || threads == 256)
					one<R>(p, preference, threads, bytes, 4096);
	}
}

int main()
{
	float *p;
	cudaMalloc(&p, 1 << 24);
	cuptiActivityRegisterCallbacks(wanted, full);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	all<2>(p);
	all<30>(p);
	all<80>(p);
	return 0;
}
