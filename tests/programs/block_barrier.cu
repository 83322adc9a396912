// cuda::barrier in shared memory: arrive, wait for the token, phases, fewer arrivals than threads.
#include "check.h"

#include <cuda/barrier>
#include <utility>

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void rotate(int *y, int turns)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> all;
	__shared__ int s[256];
	if (threadIdx.x == 0)
		init(&all, blockDim.x);
	__syncthreads();
	for (int t = 0; t < turns; t++) {
		s[threadIdx.x] = y[threadIdx.x] + t;
		auto token = all.arrive();
		all.wait(std::move(token));
		y[threadIdx.x] = s[(threadIdx.x + 1) % blockDim.x];
		all.arrive_and_wait();
	}
}

// Half of the threads only produce, the others only consume.
__global__ void hand_over(int *y)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> full;
	__shared__ int s[64];
	if (threadIdx.x == 0)
		init(&full, blockDim.x);
	__syncthreads();
	if (threadIdx.x < 64) {
		s[threadIdx.x] = threadIdx.x * 3;
		(void)full.arrive();
	} else {
		full.arrive_and_wait();
		y[threadIdx.x - 64] = s[127 - threadIdx.x];
	}
}

int main()
{
	const int n = 160, turns = 7;
	int *y;
	bool good = true;
	CHECK(cudaMallocManaged(&y, n * sizeof *y));
	for (int i = 0; i < n; i++)
		y[i] = i;
	rotate<<<1, n>>>(y, turns);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++)
		good &= y[i] == (i + turns) % n + turns * (turns - 1) / 2;
	hand_over<<<1, 128>>>(y);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < 64; i++)
		good &= y[i] == (63 - i) * 3;
	CHECK(cudaFree(y));
	return finish("block_barrier", good);
}
