// Cholesky, column by column, then the two triangular solves; one launch per column.
#include "check.h"

#define AT(r, c) ((size_t)(r) * n + (c))

__global__ void pivot(double *a, int n, int k)
{
	__shared__ double root;
	if (threadIdx.x == 0) {
		root = sqrt(a[AT(k, k)]);
		a[AT(k, k)] = root;
	}
	__syncthreads();
	for (int r = k + 1 + threadIdx.x; r < n; r += blockDim.x)
		a[AT(r, k)] /= root;
}

__global__ void update(double *a, int n, int k)
{
	const int r = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
	const int c = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
	if (r < n && c <= r)
		a[AT(r, c)] -= a[AT(r, k)] * a[AT(c, k)];
}

__global__ void solve(const double *l, double *b, int n)
{
	for (int k = 0; k < n; k++) {
		if (threadIdx.x == 0)
			b[k] /= l[AT(k, k)];
		__syncthreads();
		for (int r = k + 1 + threadIdx.x; r < n; r += blockDim.x)
			b[r] -= l[AT(r, k)] * b[k];
		__syncthreads();
	}
	for (int k = n - 1; k >= 0; k--) {
		if (threadIdx.x == 0)
			b[k] /= l[AT(k, k)];
		__syncthreads();
		for (int r = threadIdx.x; r < k; r += blockDim.x)
			b[r] -= l[AT(k, r)] * b[k];
		__syncthreads();
	}
}

int main()
{
	const int n = 96;
	std::vector<double> a(n * n), x(n), b(n);
	unsigned seed = 21;
	for (int r = 0; r < n; r++) {
		x[r] = next_random(seed) % 100 / 10.0;
		for (int c = 0; c <= r; c++)
			a[AT(r, c)] = a[AT(c, r)] = r == c ? n : next_random(seed) % 100 / 100.0;
	}
	for (int r = 0; r < n; r++)
		for (int c = 0; c < n; c++)
			b[r] += a[AT(r, c)] * x[c];
	double *da, *db;
	CHECK(cudaMalloc(&da, a.size() * sizeof(double)));
	CHECK(cudaMalloc(&db, n * sizeof(double)));
	CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(double), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b.data(), n * sizeof(double), cudaMemcpyHostToDevice));
	const dim3 block(16, 16);
	for (int k = 0; k < n; k++) {
		pivot<<<1, 128>>>(da, n, k);
		const unsigned tiles = (n - k - 1 + 15) / 16;
		if (tiles)
			update<<<dim3(tiles, tiles), block>>>(da, n, k);
	}
	solve<<<1, 128>>>(da, db, n);
	CHECK(cudaMemcpy(b.data(), db, n * sizeof(double), cudaMemcpyDeviceToHost));
	double worst = 0;
	for (int i = 0; i < n; i++)
		worst = fmax(worst, fabs(b[i] - x[i]));
	printf("error below 1e-9: %s\n", worst < 1e-9 ? "yes" : "no");
	CHECK(cudaFree(da));
	CHECK(cudaFree(db));
	return finish("cholesky", worst < 1e-9);
}
