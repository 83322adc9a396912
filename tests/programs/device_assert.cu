// assert in device code: the launch fails with cudaErrorAssert, and so does what follows.
#include "check.h"

#include <cassert>

__global__ void positive(const int *x, int n)
{
	int i = threadIdx.x;
	assert(x[i] > 0);
}

int main()
{
	int *x;
	CHECK(cudaMallocManaged(&x, 64 * sizeof *x));
	for (int i = 0; i < 64; i++)
		x[i] = i + 1;
	positive<<<1, 64>>>(x, 64);
	bool good = cudaDeviceSynchronize() == cudaSuccess;
	x[40] = 0;
	positive<<<1, 64>>>(x, 64);
	cudaError_t e = cudaDeviceSynchronize();
	good &= e == cudaErrorAssert;
	printf("%s\n", cudaGetErrorString(e));
	void *p;
	good &= cudaMalloc(&p, 4) == cudaErrorAssert;
	return finish("device_assert", good);
}
