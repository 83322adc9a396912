// The device runtime's own functions of a grid: it waits for itself, and says how many threads it has.
// nvcc: -rdc=true
#include "check.h"

__global__ void mixed(unsigned *value, unsigned *numbers, int turns)
{
	const unsigned long long grid = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
	unsigned n = 0, me = 0, grids = 0, number = 0;
	cudaCGGetSize(&n, &grids, grid);
	cudaCGGetRank(&me, &number, grid);
	numbers[me] = n + me;
	unsigned mine = me;
	for (int t = 0; t < turns; t++) {
		value[me] = mine;
		if (cudaCGSynchronize(grid, 0) != cudaSuccess)
			return;
		mine = 3 * mine + value[(me + 97) % n];
		if (cudaCGSynchronizeGrid(grid, 0) != cudaSuccess)
			return;
	}
	value[me] = mine;
}

int main()
{
	const dim3 blocks(5, 2, 2), threads(16, 4, 2);
	const int n = 20 * 128;
	int turns = 4;
	std::vector<unsigned> want(n), before(n);
	unsigned *value, *numbers;
	CHECK(cudaMallocManaged(&value, n * sizeof *value));
	CHECK(cudaMallocManaged(&numbers, n * sizeof *numbers));
	void *arguments[] = { &value, &numbers, &turns };
	CHECK(cudaLaunchCooperativeKernel((const void *)mixed, blocks, threads, arguments, 0, 0));
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++)
		want[i] = i;
	for (int t = 0; t < turns; t++) {
		before = want;
		for (int i = 0; i < n; i++)
			want[i] = 3 * before[i] + before[(i + 97) % n];
	}
	bool good = true;
	for (int i = 0; i < n; i++)
		good &= value[i] == want[i] && numbers[i] == unsigned(n + i);
	free_all(value, numbers);
	return finish("grid_functions", good);
}
