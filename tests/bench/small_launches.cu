/* small_launches LAUNCHES MIB: so many small launches, while so much memory is reserved. Without
 * arguments: no call of CUDA at all. Launches change what they read: none repeats another. */
#include <cstdio>
#include <cstdlib>

__global__ void add(float *x, float by) { x[blockIdx.x * blockDim.x + threadIdx.x] += by; }

int main(int argc, char **argv)
{
	if (argc < 3)
		return 0;
	const int launches = atoi(argv[1]);
	float *x, first;
	void *reserved = NULL;
	cudaMalloc(&x, 1024 * sizeof *x);
	cudaMemset(x, 0, 1024 * sizeof *x);
	if (atoll(argv[2]) && cudaMalloc(&reserved, (size_t)atoll(argv[2]) << 20) != cudaSuccess)
		return 1;
	for (int i = 0; i < launches; i++)
		add<<<4, 256>>>(x, (float)(i % 100));
	cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
	float want = 0;
	for (int i = 0; i < launches; i++)
		want += (float)(i % 100);
	cudaFree(x);
	cudaFree(reserved);
	return first != want;
}
