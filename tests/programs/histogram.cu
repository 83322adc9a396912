// Letters of a text, counted in global memory and in shared memory.
#include "check.h"
#include <cstring>

__global__ void direct(const unsigned char *text, int n, unsigned *bins)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&bins[text[i]], 1u);
}

__global__ void private_bins(const unsigned char *text, int n, unsigned *bins)
{
	__shared__ unsigned mine[256];
	for (int b = threadIdx.x; b < 256; b += blockDim.x)
		mine[b] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&mine[text[i]], 1u);
	__syncthreads();
	for (int b = threadIdx.x; b < 256; b += blockDim.x)
		if (mine[b])
			atomicAdd(&bins[b], mine[b]);
}

int main()
{
	const int n = 40000;
	std::vector<unsigned char> text(n);
	unsigned seed = 3, want[256] = { 0 }, got[256];
	for (auto &c : text) {
		c = (unsigned char)('a' + next_random(seed) % 26);
		want[c]++;
	}
	unsigned char *dtext;
	unsigned *dbins;
	CHECK(cudaMalloc(&dtext, n));
	CHECK(cudaMalloc(&dbins, sizeof want));
	CHECK(cudaMemcpy(dtext, text.data(), n, cudaMemcpyHostToDevice));
	bool good = true;
	for (int v = 0; v < 2; v++) {
		CHECK(cudaMemset(dbins, 0, sizeof want));
		if (v)
			private_bins<<<16, 256>>>(dtext, n, dbins);
		else
			direct<<<16, 256>>>(dtext, n, dbins);
		CHECK(cudaGetLastError());
		CHECK(cudaMemcpy(got, dbins, sizeof got, cudaMemcpyDeviceToHost));
		printf("version %d: %u a, %u z\n", v, got['a'], got['z']);
		good = good && !memcmp(got, want, sizeof got);
	}
	CHECK(cudaFree(dtext));
	CHECK(cudaFree(dbins));
	return finish("histogram", good);
}
// seeds: S-082
