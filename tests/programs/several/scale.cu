#include "scale.cuh"

__global__ void scale(int *x, int value)
{
	x[threadIdx.x] = times_factor(value + 1);
}

int scaled_sum(int value, int n)
{
	int *x, sum = 0, host[64];
	cudaMalloc(&x, n * sizeof *x);
	scale<<<1, n>>>(x, value);
	cudaMemcpy(host, x, n * sizeof *x, cudaMemcpyDeviceToHost);
	cudaFree(x);
	for (int i = 0; i < n; i++)
		sum += host[i];
	return sum;
}
