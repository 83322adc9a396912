// Memory in stream order, from the default pool, freed and taken again.
#include "check.h"
__global__ void fill(int *p, int n, int v)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		p[i] = v + i;
}

int main()
{
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	bool good = true;
	long sum = 0;
	for (int round = 0; round < 5; round++) {
		int n = 1000 * (round + 1), *p;
		std::vector<int> h(n);
		CHECK(cudaMallocAsync(&p, n * sizeof(int), s));
		fill<<<(n + 255) / 256, 256, 0, s>>>(p, n, round);
		CHECK(cudaMemcpyAsync(h.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost, s));
		CHECK(cudaFreeAsync(p, s));
		CHECK(cudaStreamSynchronize(s));
		for (int i = 0; i < n; i++) {
			good = good && h[i] == round + i;
			sum += h[i];
		}
	}
	cudaMemPool_t pool;
	unsigned long long keep = 1 << 20, got = 0;
	CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
	CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
	CHECK(cudaStreamDestroy(s));
	printf("sum %ld, threshold %llu\n", sum, got);
	return finish("pools", good && got == keep);
}
// seeds: S-434
