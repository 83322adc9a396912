// What programs ask before they start. Values differ between GPUs; their sense does not.
#include "check.h"
__global__ void work(float *x) { x[threadIdx.x] *= 2; }

int main()
{
	int count = 0, device = -1, value = 0, blocks = 0, driver = 0, runtime = 0;
	CHECK(cudaGetDeviceCount(&count));
	CHECK(cudaSetDevice(0));
	CHECK(cudaGetDevice(&device));
	cudaDeviceProp p;
	CHECK(cudaGetDeviceProperties(&p, 0));
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
	bool good = count >= 1 && device == 0 && value == p.multiProcessorCount && p.warpSize == 32 &&
	            p.maxThreadsPerBlock == 1024 && p.major >= 7 && p.totalGlobalMem > (1u << 30);
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, work, 256, 0));
	good = good && blocks * 256 <= p.maxThreadsPerMultiProcessor && blocks > 0;
	int min_grid = 0, best = 0;
	CHECK(cudaOccupancyMaxPotentialBlockSize(&min_grid, &best, work));
	good = good && best >= 32 && best <= 1024 && min_grid >= p.multiProcessorCount;
	cudaFuncAttributes a;
	CHECK(cudaFuncGetAttributes(&a, work));
	good = good && a.numRegs > 0 && a.maxThreadsPerBlock == 1024;
	size_t free_bytes, total;
	CHECK(cudaMemGetInfo(&free_bytes, &total));
	good = good && free_bytes <= total && total > (1u << 30);
	CHECK(cudaDriverGetVersion(&driver));
	CHECK(cudaRuntimeGetVersion(&runtime));
	good = good && driver >= runtime && runtime >= 12000;
	CHECK(cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
	int least, greatest;
	CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	printf("warps of %d threads, blocks of %d\n", p.warpSize, p.maxThreadsPerBlock);
	return finish("device_query", good && greatest <= least);
}
