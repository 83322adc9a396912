// cudaDeviceReset() gives all memory back, and variables begin anew, but for managed ones; behind
// an illegal access it does not help.
#include "check.h"

__managed__ int managed = 5;
__constant__ float constants[2] = { 1, 2 };
__device__ int counter = 3;

__global__ void wild(int *p)
{
	p[threadIdx.x + (1 << 26)] = 1;
}

__global__ void use(int *p)
{
	if (!threadIdx.x)
		counter++;
	__syncthreads();
	p[threadIdx.x] = managed + constants[1] + counter;
}

static void say(const char *what, cudaError_t e)
{
	printf("%s: %s\n", what, cudaGetErrorName(e));
}

static int result()
{
	int *p, host = 0;
	say("allocated", cudaMalloc(&p, 32 * sizeof *p));
	use<<<1, 32>>>(p);
	say("used", cudaDeviceSynchronize());
	say("copied", cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
	return host;
}

int main()
{
	int *p;
	managed = 9; // the first thing that the program does with the GPU
	const int first = result();
	say("reset", cudaDeviceReset());
	const int second = result();
	printf("%d, then %d\n", first, second);
	CHECK(cudaMalloc(&p, 32 * sizeof *p));
	wild<<<1, 32>>>(p);
	say("wild", cudaDeviceSynchronize());
	say("behind it", cudaMalloc(&p, 128));
	say("reset", cudaDeviceReset());
	say("behind that", cudaMalloc(&p, 128));
	use<<<1, 32>>>(p);
	say("launch", cudaGetLastError());
	say("used", cudaDeviceSynchronize());
	say("reset", cudaDeviceReset());
	return finish("device_reset", first == 15 && second == 15);
}
