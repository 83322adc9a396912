// Cooperative groups: every block waits for all others between the steps, so each step sees the one before.
#include "check.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void steps(int *value, int n, int turns)
{
	cg::grid_group grid = cg::this_grid();
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	for (int t = 0; t < turns; t++) {
		const int *from = value + t * n;
		value[(t + 1) * n + i] = from[(i + 1) % n] + from[(i + n / 2) % n];
		grid.sync();
	}
}

int main()
{
	const int blocks = 24, threads = 96, turns = 5;
	int n = blocks * threads, t = turns;
	std::vector<int> want((turns + 1) * n);
	int *value;
	CHECK(cudaMallocManaged(&value, want.size() * sizeof *value));
	for (int i = 0; i < n; i++)
		want[i] = value[i] = i % 13;
	for (int s = 0; s < turns; s++)
		for (int i = 0; i < n; i++)
			want[(s + 1) * n + i] = want[s * n + (i + 1) % n] + want[s * n + (i + n / 2) % n];
	bool good = true;
	for (int run = 0; run < 2; run++) {
		void *arguments[] = { &value, &n, &t };
		CHECK(cudaLaunchCooperativeKernel((const void *)steps, dim3(blocks), dim3(threads), arguments, 0, 0));
		CHECK(cudaDeviceSynchronize());
		for (size_t i = 0; i < want.size(); i++)
			good &= value[i] == want[i];
		for (size_t i = n; i < want.size(); i++)
			value[i] = -1;
	}
	CHECK(cudaFree(value));
	return finish("grid_sync", good);
}
// seeds: S-544
