// The first program of every course: two vectors, one sum.
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 50000;
	size_t bytes = n * sizeof(float);
	std::vector<float> a(n), b(n), c(n);
	for (int i = 0; i < n; i++) {
		a[i] = i * 0.5f;
		b[i] = 2.0f * i;
	}
	float *da, *db, *dc;
	CHECK(cudaMalloc(&da, bytes));
	CHECK(cudaMalloc(&db, bytes));
	CHECK(cudaMalloc(&dc, bytes));
	CHECK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
	int block = 256, grid = (n + block - 1) / block;
	printf("launch of %d blocks of %d threads\n", grid, block);
	add<<<grid, block>>>(da, db, dc, n);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
	bool good = true;
	for (int i = 0; i < n; i++)
		good = good && c[i] == a[i] + b[i];
	free_all(da, db, dc);
	return finish("vector_add", good);
}
