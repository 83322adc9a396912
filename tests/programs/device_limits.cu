// What the host may set of a device, what becomes of it, and from when on it stays: the stack, what
// kernels print, their heap and how many blocks it holds, hints for L2.
#include "check.h"

__global__ void nothing() {}

__global__ void print()
{
	printf("a kernel prints\n");
}

// Each thread takes a block if there is one, and all are held until the last has asked.
__global__ void take(int *taken, size_t bytes)
{
	char *p = (char *)malloc(bytes);
	if (p) {
		p[bytes - 1] = 1;
		atomicAdd(taken, 1);
	}
	__syncthreads();
	free(p);
}

// One thread takes all that there are, and keeps them.
__global__ void take_all(int *taken, size_t bytes)
{
	int n = 0;
	while (malloc(bytes))
		n++;
	*taken = n;
}

static bool good = true;
static const size_t mib = 1 << 20;

static size_t now(cudaLimit which)
{
	size_t value = 0;
	CHECK(cudaDeviceGetLimit(&value, which));
	return value;
}

static void set(const char *what, cudaLimit which, size_t value, size_t becomes,
                cudaError_t wanted = cudaSuccess)
{
	const cudaError_t e = cudaDeviceSetLimit(which, value);
	printf("%s %zu: %s, then %zu\n", what, value, cudaGetErrorName(e), now(which));
	good = good && e == wanted && now(which) == becomes;
}

static void by_threads(size_t bytes, int wanted)
{
	int *taken, n = 0;
	CHECK(cudaMalloc(&taken, sizeof *taken));
	for (int turn = 0; turn < 2; turn++) {
		CHECK(cudaMemset(taken, 0, sizeof *taken));
		take<<<1, 40>>>(taken, bytes);
		CHECK(cudaMemcpy(&n, taken, sizeof n, cudaMemcpyDeviceToHost));
		printf("%d of 40 threads get %zu bytes\n", n, bytes);
		good = good && n == wanted;
	}
	CHECK(cudaFree(taken));
}

static void by_one(size_t heap, size_t bytes, int wanted)
{
	int *taken, n = 0;
	CHECK(cudaDeviceReset());
	CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, heap));
	CHECK(cudaMalloc(&taken, sizeof *taken));
	take_all<<<1, 1>>>(taken, bytes);
	CHECK(cudaMemcpy(&n, taken, sizeof n, cudaMemcpyDeviceToHost));
	printf("%zu MiB hold %d blocks of %zu bytes\n", heap / mib, n, bytes);
	good = good && n == wanted;
	CHECK(cudaFree(taken));
}

int main()
{
	size_t value = 0;
	const cudaError_t unsupported = cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4);
	printf("depth: %s\n", cudaGetErrorName(unsupported));
	const cudaError_t unknown = cudaDeviceGetLimit(&value, (cudaLimit)77);
	printf("no limit: %s\n", cudaGetErrorName(unknown));
	good = unsupported == cudaErrorUnsupportedLimit && unknown == cudaErrorInvalidValue;
	set("stack", cudaLimitStackSize, 1000, 1008);
	set("stack", cudaLimitStackSize, mib, 1008, cudaErrorInvalidValue);
	set("fetches", cudaLimitMaxL2FetchGranularity, 128, 128);
	set("fetches", cudaLimitMaxL2FetchGranularity, 4096, 128, cudaErrorInvalidValue);
	set("launches", cudaLimitDevRuntimePendingLaunchCount, 1, 32);
	set("printed", cudaLimitPrintfFifoSize, 1, mib / 2);
	set("printed", cudaLimitPrintfFifoSize, 2 * mib + 1, 2 * mib + 256);
	set("heap", cudaLimitMallocHeapSize, 1, 4 * mib);
	nothing<<<1, 1>>>();
	print<<<1, 1>>>();
	CHECK(cudaDeviceSynchronize());
	set("printed", cudaLimitPrintfFifoSize, 4 * mib, 2 * mib + 256, cudaErrorInvalidValue);
	set("heap", cudaLimitMallocHeapSize, 32 * mib, 32 * mib);
	by_threads(mib, 26);
	set("heap", cudaLimitMallocHeapSize, 64 * mib, 32 * mib, cudaErrorInvalidValue);
	CHECK(cudaDeviceReset());
	printf("reset: %zu and %zu\n", now(cudaLimitStackSize), now(cudaLimitMallocHeapSize));
	good = good && now(cudaLimitStackSize) == 1024 && now(cudaLimitMallocHeapSize) == 8 * mib;
	by_one(32 * mib, mib, 26);
	by_one(32 * mib, 2 * mib, 13);
	by_one(32 * mib, mib / 2, 52);
	by_one(8 * mib, mib, 6);
	return finish("device_limits", good);
}
