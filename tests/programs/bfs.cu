// Breadth-first search by levels over a graph in compressed rows: data-dependent launches.
#include "check.h"

__global__ void expand(const int *row, const int *edge, volatile int *level, int n, int depth,
                       int *more)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v >= n || level[v] != depth)
		return;
	for (int e = row[v]; e < row[v + 1]; e++)
		if (level[edge[e]] < 0) {
			level[edge[e]] = depth + 1;
			*more = 1;
		}
}

int main()
{
	const int n = 2000;
	std::vector<int> row(n + 1), edge, level(n, -1), want(n, -1);
	unsigned seed = 21;
	for (int v = 0; v < n; v++) {
		row[v] = (int)edge.size();
		int degree = 1 + next_random(seed) % 4;
		for (int i = 0; i < degree; i++)
			edge.push_back(next_random(seed) % n);
	}
	row[n] = (int)edge.size();
	std::vector<int> queue = { 0 };
	want[0] = 0;
	for (size_t q = 0; q < queue.size(); q++)
		for (int e = row[queue[q]]; e < row[queue[q] + 1]; e++)
			if (want[edge[e]] < 0) {
				want[edge[e]] = want[queue[q]] + 1;
				queue.push_back(edge[e]);
			}
	level[0] = 0;
	int *drow, *dedge, *dlevel, *dmore;
	CHECK(cudaMalloc(&drow, row.size() * 4));
	CHECK(cudaMalloc(&dedge, edge.size() * 4));
	CHECK(cudaMalloc(&dlevel, n * 4));
	CHECK(cudaMalloc(&dmore, 4));
	CHECK(cudaMemcpy(drow, row.data(), row.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dedge, edge.data(), edge.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dlevel, level.data(), n * 4, cudaMemcpyHostToDevice));
	int more = 1, depth = 0;
	for (; more; depth++) {
		CHECK(cudaMemset(dmore, 0, 4));
		expand<<<(n + 127) / 128, 128>>>(drow, dedge, dlevel, n, depth, dmore);
		CHECK(cudaMemcpy(&more, dmore, 4, cudaMemcpyDeviceToHost));
	}
	CHECK(cudaMemcpy(level.data(), dlevel, n * 4, cudaMemcpyDeviceToHost));
	printf("%zu of %d reached in %d levels\n", queue.size(), n, depth);
	free_all(drow, dedge, dlevel, dmore);
	return finish("bfs", level == want);
}
// seeds: S-086
