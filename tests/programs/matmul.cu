// Naive and tiled products of matrices that are no multiples of the tile.
#include "check.h"
#define T 16

__global__ void naive(const float *a, const float *b, float *c, int m, int n, int k)
{
	int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
	if (x >= n || y >= m)
		return;
	float s = 0;
	for (int i = 0; i < k; i++)
		s += a[y * k + i] * b[i * n + x];
	c[y * n + x] = s;
}

__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
	__shared__ float as[T][T], bs[T][T];
	int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
	float s = 0;
	for (int p = 0; p < (k + T - 1) / T; p++) {
		int ka = p * T + threadIdx.x, kb = p * T + threadIdx.y;
		as[threadIdx.y][threadIdx.x] = y < m && ka < k ? a[y * k + ka] : 0;
		bs[threadIdx.y][threadIdx.x] = x < n && kb < k ? b[kb * n + x] : 0;
		__syncthreads();
		for (int i = 0; i < T; i++)
			s += as[threadIdx.y][i] * bs[i][threadIdx.x];
		__syncthreads();
	}
	if (x < n && y < m)
		c[y * n + x] = s;
}

int main()
{
	const int m = 70, n = 90, k = 50;
	std::vector<float> a(m * k), b(k * n), c(m * n), d(m * n);
	unsigned seed = 5;
	for (float &v : a)
		v = (float)(next_random(seed) % 7) - 3;
	for (float &v : b)
		v = (float)(next_random(seed) % 5) - 2;
	float *da, *db, *dc;
	CHECK(cudaMalloc((void **)&da, a.size() * 4));
	CHECK(cudaMalloc((void **)&db, b.size() * 4));
	CHECK(cudaMalloc((void **)&dc, c.size() * 4));
	CHECK(cudaMemcpy(da, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b.data(), b.size() * 4, cudaMemcpyHostToDevice));
	dim3 block(T, T), grid((n + T - 1) / T, (m + T - 1) / T);
	naive<<<grid, block>>>(da, db, dc, m, n, k);
	CHECK(cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
	tiled<<<grid, block>>>(da, db, dc, m, n, k);
	CHECK(cudaMemcpy(d.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
	bool good = true;
	double sum = 0;
	for (int y = 0; y < m; y++)
		for (int x = 0; x < n; x++) {
			float s = 0;
			for (int i = 0; i < k; i++)
				s += a[y * k + i] * b[i * n + x];
			good = good && c[y * n + x] == s && d[y * n + x] == s;
			sum += s;
		}
	printf("sum of the product %.0f\n", sum);
	free_all(da, db, dc);
	return finish("matmul", good);
}
