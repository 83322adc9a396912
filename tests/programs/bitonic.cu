// A bitonic sort: one small launch per step, the step in the parameters.
#include "check.h"
#include <algorithm>

__global__ void compare(unsigned *a, unsigned j, unsigned k)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, p = i ^ j;
	if (p <= i)
		return;
	bool up = !(i & k);
	if ((a[i] > a[p]) == up) {
		unsigned t = a[i];
		a[i] = a[p];
		a[p] = t;
	}
}

int main()
{
	const unsigned n = 4096;
	std::vector<unsigned> a(n), b;
	unsigned seed = 77;
	for (unsigned &v : a)
		v = next_random(seed);
	unsigned *d;
	CHECK(cudaMalloc(&d, n * 4));
	CHECK(cudaMemcpy(d, a.data(), n * 4, cudaMemcpyHostToDevice));
	int launches = 0;
	for (unsigned k = 2; k <= n; k *= 2)
		for (unsigned j = k / 2; j; j /= 2, launches++)
			compare<<<n / 256, 256>>>(d, j, k);
	CHECK(cudaGetLastError());
	b.resize(n);
	CHECK(cudaMemcpy(b.data(), d, n * 4, cudaMemcpyDeviceToHost));
	std::sort(a.begin(), a.end());
	printf("%u numbers in %d launches, %u ... %u\n", n, launches, b.front(), b.back());
	CHECK(cudaFree(d));
	return finish("bitonic", a == b);
}
// seeds: S-084
