// Reads a few elements past the end of an array, as programs do unnoticed: the result is right.
#include "check.h"

__global__ void smooth(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float next = in[i + 1]; // i + 1 == n for the last thread
	if (i < n)
		out[i] = i + 1 < n ? (in[i] + next) / 2 : in[i];
}

int main()
{
	const int n = 256;
	std::vector<float> a(n), b(n);
	for (int i = 0; i < n; i++)
		a[i] = (float)i;
	float *da, *db;
	CHECK(cudaMalloc(&da, n * 4));
	CHECK(cudaMalloc(&db, n * 4));
	CHECK(cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice));
	smooth<<<n / 64, 64>>>(da, db, n);
	CHECK(cudaMemcpy(b.data(), db, n * 4, cudaMemcpyDeviceToHost));
	printf("b[0] %.1f, b[%d] %.1f\n", b[0], n - 1, b[n - 1]);
	CHECK(cudaFree(da));
	CHECK(cudaFree(db));
	return finish("out_of_bounds", b[0] == 0.5f && b[n - 1] == n - 1);
}
