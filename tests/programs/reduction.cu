// Sums by four kernels, one after the other, as in chapter 10.
#include "check.h"

template <int VERSION>
__global__ void sum(const int *in, int *out, int n)
{
	extern __shared__ int s[];
	unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
	s[t] = i < (unsigned)n ? in[i] : 0;
	__syncthreads();
	if (VERSION == 0) {
		for (unsigned d = 1; d < blockDim.x; d *= 2) {
			if (t % (2 * d) == 0)
				s[t] += s[t + d];
			__syncthreads();
		}
	} else {
		for (unsigned d = blockDim.x / 2; d > (VERSION == 2 ? 32u : 0u); d /= 2) {
			if (t < d)
				s[t] += s[t + d];
			__syncthreads();
		}
	}
	if (VERSION == 2 && t < 32) {
		int v = s[t] + s[t + 32];
		for (int d = 16; d > 0; d /= 2)
			v += __shfl_down_sync(0xffffffff, v, d);
		if (t == 0)
			s[0] = v;
	}
	if (t == 0)
		atomicAdd(out, s[0]);
}

int main()
{
	const int n = 100000, block = 256, grid = (n + block - 1) / block;
	std::vector<int> in(n);
	unsigned seed = 7;
	long want = 0;
	for (int &v : in) {
		v = (int)(next_random(seed) % 1000) - 300;
		want += v;
	}
	int *din, *dout;
	CHECK(cudaMalloc(&din, n * sizeof(int)));
	CHECK(cudaMalloc(&dout, sizeof(int)));
	CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	bool good = true;
	for (int version = 0; version < 3; version++) {
		CHECK(cudaMemset(dout, 0, sizeof(int)));
		if (version == 0)
			sum<0><<<grid, block, block * sizeof(int)>>>(din, dout, n);
		else if (version == 1)
			sum<1><<<grid, block, block * sizeof(int)>>>(din, dout, n);
		else
			sum<2><<<grid, block, block * sizeof(int)>>>(din, dout, n);
		CHECK(cudaGetLastError());
		int got;
		CHECK(cudaMemcpy(&got, dout, sizeof got, cudaMemcpyDeviceToHost));
		printf("version %d: %d, should be %ld\n", version, got, want);
		good = good && got == want;
	}
	CHECK(cudaFree(din));
	CHECK(cudaFree(dout));
	return finish("reduction", good);
}
