// What blocks and grids wait for in machine code, and numbers of 128 bits: barriers in shared memory as the runtime of
// C++ makes them (before sm_90 the kernel's own code keeps their words), a grid of two dimensions that meets, and sums
// with a carry.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>

namespace cg = cooperative_groups;

__global__ void turned(const int *in, int *out, int rounds)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> ready, taken;
	__shared__ int tile[256];
	auto block = cg::this_thread_block();
	if (!block.thread_rank()) {
		init(&ready, block.size());
		init(&taken, block.size());
	}
	block.sync();
	int sum = 0;
	for (int r = 0; r < rounds; r++) {
		cuda::memcpy_async(block, tile, in + 256 * r, sizeof tile, ready);
		ready.arrive_and_wait();
		sum = 3 * sum + tile[255 - threadIdx.x];
		auto state = taken.arrive();
		taken.wait(std::move(state));
	}
	out[threadIdx.x] = sum;
}

__global__ void meets(int *x)
{
	auto grid = cg::this_grid();
	const int i = (int)grid.thread_rank(), n = (int)grid.size();
	x[i] = i;
	grid.sync();
	const int next = x[(i + n / 2 + 1) % n];
	grid.sync();
	x[i] += 5 * next;
}

__global__ void long_numbers(unsigned long long *x)
{
	const unsigned __int128 a = (unsigned __int128)x[0] << 64 | x[1], b = x[2];
	const unsigned __int128 product = a * b + (a >> 3) - b;
	x[3] = (unsigned long long)product;
	x[4] = (unsigned long long)(product >> 64);
}

int main()
{
	int *in, *out, host[1024];
	unsigned long long numbers[5] = { 0x123456789abcdef0, 0xfedcba9876543210, 0x9e3779b97f4a7c15 }, *x;
	for (int i = 0; i < 1024; i++)
		host[i] = 7 * i * i % 1013;
	cudaMalloc(&in, sizeof host);
	cudaMalloc(&out, sizeof host);
	cudaMalloc(&x, sizeof numbers);
	cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
	cudaMemset(out, 0, sizeof host);
	cudaMemcpy(x, numbers, sizeof numbers, cudaMemcpyHostToDevice);
	turned<<<1, 256>>>(in, out, 4);
	cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
	for (int i = 0; i < 256; i += 17)
		printf("%d ", host[i]);
	void *args[] = { &out };
	cudaLaunchCooperativeKernel((const void *)meets, dim3(2, 3), dim3(16, 4), args, 0, 0);
	cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
	for (int i = 0; i < 384; i += 31)
		printf("%d ", host[i]);
	long_numbers<<<1, 1>>>(x);
	cudaMemcpy(numbers, x, sizeof numbers, cudaMemcpyDeviceToHost);
	for (int i = 3; i < 5; i++)
		printf("%016llx ", numbers[i]);
	printf("\n");
	return cudaDeviceSynchronize();
}
