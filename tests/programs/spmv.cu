// A sparse matrix times a vector: one row per thread, and one row per warp.
#include "check.h"

__global__ void per_thread(const int *row, const int *col, const double *val, const double *x,
                           double *y, int n)
{
	int r = blockIdx.x * blockDim.x + threadIdx.x;
	if (r >= n)
		return;
	double s = 0;
	for (int e = row[r]; e < row[r + 1]; e++)
		s += val[e] * x[col[e]];
	y[r] = s;
}

__global__ void per_warp(const int *row, const int *col, const double *val, const double *x,
                         double *y, int n)
{
	int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	if (r >= n)
		return;
	double s = 0;
	for (int e = row[r] + lane; e < row[r + 1]; e += 32)
		s += val[e] * x[col[e]];
	for (int d = 16; d; d /= 2)
		s += __shfl_xor_sync(0xffffffff, s, d);
	if (lane == 0)
		y[r] = s;
}

int main()
{
	const int n = 700;
	std::vector<int> row(n + 1), col;
	std::vector<double> val, x(n), y(n), want(n);
	unsigned seed = 31;
	for (int r = 0; r < n; r++) {
		row[r] = (int)col.size();
		for (int k = next_random(seed) % 60; k >= 0; k--) {
			col.push_back(next_random(seed) % n);
			val.push_back((double)(next_random(seed) % 16) / 4 - 2);
		}
		x[r] = (double)(next_random(seed) % 8);
	}
	row[n] = (int)col.size();
	for (int r = 0; r < n; r++)
		for (int e = row[r]; e < row[r + 1]; e++)
			want[r] += val[e] * x[col[e]];
	int *drow, *dcol;
	double *dval, *dx, *dy;
	CHECK(cudaMalloc(&drow, row.size() * 4));
	CHECK(cudaMalloc(&dcol, col.size() * 4));
	CHECK(cudaMalloc(&dval, val.size() * 8));
	CHECK(cudaMalloc(&dx, n * 8));
	CHECK(cudaMalloc(&dy, n * 8));
	CHECK(cudaMemcpy(drow, row.data(), row.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dcol, col.data(), col.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dval, val.data(), val.size() * 8, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dx, x.data(), n * 8, cudaMemcpyHostToDevice));
	bool good = true;
	for (int v = 0; v < 2; v++) {
		if (v)
			per_warp<<<(n * 32 + 127) / 128, 128>>>(drow, dcol, dval, dx, dy, n);
		else
			per_thread<<<(n + 127) / 128, 128>>>(drow, dcol, dval, dx, dy, n);
		CHECK(cudaMemcpy(y.data(), dy, n * 8, cudaMemcpyDeviceToHost));
		good = good && y == want; /* small multiples of 1/4: exact in any order */
	}
	printf("%d rows, %zu values, y[0] %.2f\n", n, val.size(), y[0]);
	free_all(drow, dcol, dval, dx, dy);
	return finish("spmv", good);
}
// seeds: S-085
