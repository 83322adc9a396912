// Pi by dice, a generator of one's own per thread; the answer is the same on every machine.
#include "check.h"

__global__ void throw_dice(unsigned long long *hits, int rounds)
{
	unsigned s = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 2891336453u;
	unsigned mine = 0;
	for (int i = 0; i < rounds; i++) {
		s = s * 1664525u + 1013904223u;
		float x = (s >> 8) * (1.0f / (1 << 24));
		s = s * 1664525u + 1013904223u;
		float y = (s >> 8) * (1.0f / (1 << 24));
		mine += x * x + y * y < 1;
	}
	for (int d = 16; d; d >>= 1)
		mine += __shfl_down_sync(~0u, mine, d);
	if (threadIdx.x % 32 == 0)
		atomicAdd(hits, (unsigned long long)mine);
}

int main()
{
	const int grid = 32, block = 128, rounds = 50;
	unsigned long long *d, hits = 0;
	CHECK(cudaMalloc(&d, sizeof *d));
	CHECK(cudaMemset(d, 0, sizeof *d));
	throw_dice<<<grid, block>>>(d, rounds);
	CHECK(cudaMemcpy(&hits, d, sizeof hits, cudaMemcpyDeviceToHost));
	double pi = 4.0 * hits / ((double)grid * block * rounds);
	printf("%llu hits, pi is about %.4f\n", hits, pi);
	CHECK(cudaFree(d));
	return finish("monte_carlo", fabs(pi - 3.14159) < 0.02);
}
