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
	// what a query of the device shows, by structure and by attribute; per block is not per SM
	const struct {
		cudaDeviceAttr which;
		long shown;
	} fields[] = {
		{ cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock },
		{ cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0] },
		{ cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1] },
		{ cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2] },
		{ cudaDevAttrMaxGridDimX, p.maxGridSize[0] },
		{ cudaDevAttrMaxGridDimY, p.maxGridSize[1] },
		{ cudaDevAttrMaxGridDimZ, p.maxGridSize[2] },
		{ cudaDevAttrWarpSize, p.warpSize },
		{ cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock },
		{ cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor },
		{ cudaDevAttrMaxSharedMemoryPerBlock, (long)p.sharedMemPerBlock },
		{ cudaDevAttrMaxSharedMemoryPerMultiprocessor, (long)p.sharedMemPerMultiprocessor },
	};
	for (auto &f : fields) {
		CHECK(cudaDeviceGetAttribute(&value, f.which, 0));
		good = good && value == f.shown && value > 0;
	}
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0)); // kHz; gone from the structure
	good = good && value > 500000 && value < 4000000;
	good = good && p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[1] == 1024 &&
	       p.maxThreadsDim[2] == 64 && p.maxGridSize[0] == 0x7fffffff && p.maxGridSize[1] == 65535 &&
	       p.maxGridSize[2] == 65535 && p.sharedMemPerBlock == 48 << 10 &&
	       p.sharedMemPerBlock < p.sharedMemPerMultiprocessor &&
	       p.regsPerBlock <= p.regsPerMultiprocessor;
	cudaDeviceProp none; // devices are numbered 0 ... count - 1
	good = good && cudaGetDeviceProperties(&none, count) == cudaErrorInvalidDevice &&
	       cudaSetDevice(count) == cudaErrorInvalidDevice;
	cudaGetLastError();
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
// seeds: S-145
