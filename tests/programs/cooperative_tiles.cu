// Cooperative groups: tiles of a warp, their reductions, scans and votes, and groups of what is active.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void tile_sums(const int *in, int *out, int n)
{
	cg::thread_block block = cg::this_thread_block();
	auto tile = cg::tiled_partition<16>(block);
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	const int v = i < n ? in[i] : 0;
	const int sum = cg::reduce(tile, v, cg::plus<int>());
	const int most = cg::reduce(tile, v, cg::greater<int>());
	if (tile.thread_rank() == 0) {
		out[2 * (i / 16)] = sum;
		out[2 * (i / 16) + 1] = most;
	}
}

__global__ void tile_scan(const int *in, int *out, int n)
{
	auto warp = cg::tiled_partition<32>(cg::this_thread_block());
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = cg::exclusive_scan(warp, in[i]);
}

// Only some lanes get here; one of them adds for all.
__device__ int grouped_increment(int *counter)
{
	cg::coalesced_group active = cg::coalesced_threads();
	int before = 0;
	if (active.thread_rank() == 0)
		before = atomicAdd(counter, active.size());
	before = active.shfl(before, 0);
	return before + active.thread_rank();
}

__global__ void compact(const int *in, int *out, int *counter, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && in[i] % 3 == 0)
		out[grouped_increment(counter)] = in[i];
}

__global__ void block_sum(const int *in, int *out)
{
	__shared__ int partial[8];
	cg::thread_block block = cg::this_thread_block();
	auto warp = cg::tiled_partition<32>(block);
	int v = in[block.group_index().x * block.size() + block.thread_rank()];
	for (int d = warp.size() / 2; d > 0; d /= 2)
		v += warp.shfl_down(v, d);
	if (warp.thread_rank() == 0)
		partial[warp.meta_group_rank()] = v;
	block.sync();
	if (block.thread_rank() == 0) {
		int sum = 0;
		for (unsigned w = 0; w < warp.meta_group_size(); w++)
			sum += partial[w];
		out[blockIdx.x] = sum;
	}
}

int main()
{
	const int n = 1024;
	int host[n], result[n], *in, *out, *counter;
	unsigned seed = 5;
	for (int i = 0; i < n; i++)
		host[i] = next_random(seed) % 1000;
	CHECK(cudaMalloc(&in, sizeof host));
	CHECK(cudaMalloc(&out, sizeof host));
	CHECK(cudaMalloc(&counter, sizeof(int)));
	CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
	bool good = true;

	tile_sums<<<n / 128, 128>>>(in, out, n);
	CHECK(cudaMemcpy(result, out, n / 16 * 2 * sizeof(int), cudaMemcpyDeviceToHost));
	for (int t = 0; t < n / 16; t++) {
		int sum = 0, most = 0;
		for (int i = 0; i < 16; i++) {
			sum += host[16 * t + i];
			most = host[16 * t + i] > most ? host[16 * t + i] : most;
		}
		good = good && result[2 * t] == sum && result[2 * t + 1] == most;
	}
	tile_scan<<<n / 256, 256>>>(in, out, n);
	CHECK(cudaMemcpy(result, out, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0, sum = 0; i < n; i++) {
		sum = i % 32 ? sum : 0;
		good = good && result[i] == sum;
		sum += host[i];
	}
	CHECK(cudaMemset(counter, 0, sizeof(int)));
	compact<<<n / 256, 256>>>(in, out, counter, n);
	int kept = 0, want = 0;
	long long sum = 0, want_sum = 0;
	CHECK(cudaMemcpy(&kept, counter, sizeof(int), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(result, out, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < kept; i++)
		sum += result[i];
	for (int i = 0; i < n; i++)
		if (host[i] % 3 == 0) {
			want++;
			want_sum += host[i];
		}
	good = good && kept == want && sum == want_sum;
	printf("%d of %d are multiples of 3\n", kept, n);
	block_sum<<<4, 256>>>(in, out);
	CHECK(cudaMemcpy(result, out, 4 * sizeof(int), cudaMemcpyDeviceToHost));
	for (int b = 0; b < 4; b++) {
		int total = 0;
		for (int i = 0; i < 256; i++)
			total += host[256 * b + i];
		good = good && result[b] == total;
		printf("block %d: %d\n", b, result[b]);
	}
	free_all(in, out, counter);
	return finish("cooperative_tiles", good);
}
