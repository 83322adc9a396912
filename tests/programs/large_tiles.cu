// Tiles of more than a warp (cooperative groups): they meet, add up and scan in shared memory that
// the system reserves, beside the block's own and dynamic shared memory.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

constexpr int THREADS = 256, BLOCKS = 8;

template <int SIZE>
__device__ void tile_sums(cg::thread_block block, const int *in, int *swapped, int *sums)
{
	extern __shared__ int row[];
	auto tile = cg::tiled_partition<SIZE>(block);
	const int i = blockIdx.x * THREADS + threadIdx.x, t = threadIdx.x;
	row[t] = in[i];
	tile.sync();
	swapped[i] = row[t ^ (SIZE / 2)];
	tile.sync();
	const int sum = cg::reduce(tile, in[i], cg::plus<int>());
	if (tile.thread_rank() == 0)
		sums[blockIdx.x * (THREADS / SIZE) + tile.meta_group_rank()] = sum;
}

__global__ void work(const int *in, int *swapped, int *sums, int *kept, int size)
{
	__shared__ cg::block_tile_memory<THREADS> memory;
	__shared__ int own[THREADS];
	const cg::thread_block block = cg::this_thread_block(memory);
	const int i = blockIdx.x * THREADS + threadIdx.x;
	own[threadIdx.x] = 3 * in[i];
	if (size == 64)
		tile_sums<64>(block, in, swapped, sums);
	else
		tile_sums<128>(block, in, swapped, sums);
	kept[i] = own[threadIdx.x];
}

static bool holds(const int *in, const int *swapped, const int *sums, const int *kept, int size)
{
	const int n = THREADS * BLOCKS;
	bool good = true;
	for (int i = 0; i < n; i++)
		good = good && swapped[i] == in[i ^ (size / 2)] && kept[i] == 3 * in[i];
	for (int tile = 0; tile < n / size; tile++) {
		int sum = 0;
		for (int k = 0; k < size; k++)
			sum += in[tile * size + k];
		good = good && sums[tile] == sum;
	}
	return good;
}

int main()
{
	const int n = THREADS * BLOCKS;
	int *in, *swapped, *sums, *kept;
	CHECK(cudaMallocManaged(&in, n * sizeof(int)));
	CHECK(cudaMallocManaged(&swapped, n * sizeof(int)));
	CHECK(cudaMallocManaged(&sums, n * sizeof(int)));
	CHECK(cudaMallocManaged(&kept, n * sizeof(int)));
	unsigned seed = 5;
	for (int i = 0; i < n; i++)
		in[i] = next_random(seed) % 1000;
	bool good = true;
	for (int size : { 64, 128 }) {
		work<<<BLOCKS, THREADS, THREADS * sizeof(int)>>>(in, swapped, sums, kept, size);
		CHECK(cudaDeviceSynchronize());
		const bool right = holds(in, swapped, sums, kept, size);
		printf("tiles of %d threads: %s\n", size, right ? "right" : "wrong");
		good = good && right;
	}
	free_all(in, swapped, sums, kept);
	return finish("large_tiles", good);
}
