// An inclusive scan of many blocks: each block, the sums of blocks, and the sums added.
#include "check.h"

__global__ void scan_blocks(const int *in, int *out, int *sums, int n)
{
	extern __shared__ int s[];
	int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
	s[t] = i < n ? in[i] : 0;
	for (unsigned d = 1; d < blockDim.x; d *= 2) {
		__syncthreads();
		int v = t >= (int)d ? s[t - d] : 0;
		__syncthreads();
		s[t] += v;
	}
	if (i < n)
		out[i] = s[t];
	if (sums && t == (int)blockDim.x - 1)
		sums[blockIdx.x] = s[t];
}

__global__ void add_sums(int *out, const int *sums, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (blockIdx.x && i < n)
		out[i] += sums[blockIdx.x - 1];
}

int main()
{
	const int n = 30000, block = 256, grid = (n + block - 1) / block;
	std::vector<int> in(n), out(n);
	unsigned seed = 11;
	for (int &v : in)
		v = (int)(next_random(seed) % 9);
	int *din, *dout, *dsums;
	CHECK(cudaMalloc(&din, n * 4));
	CHECK(cudaMalloc(&dout, n * 4));
	CHECK(cudaMalloc(&dsums, grid * 4));
	CHECK(cudaMemcpy(din, in.data(), n * 4, cudaMemcpyHostToDevice));
	scan_blocks<<<grid, block, block * 4>>>(din, dout, dsums, n);
	scan_blocks<<<1, 256, 256 * 4>>>(dsums, dsums, nullptr, grid);
	add_sums<<<grid, block>>>(dout, dsums, n);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(out.data(), dout, n * 4, cudaMemcpyDeviceToHost));
	long sum = 0;
	bool good = true;
	for (int i = 0; i < n; i++) {
		sum += in[i];
		good = good && out[i] == sum;
	}
	printf("last %d of %ld\n", out[n - 1], sum);
	free_all(din, dout, dsums);
	return finish("scan", good);
}
// seeds: S-083
