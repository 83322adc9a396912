// Heat in a plate: many small launches, two buffers that change places, a constant symbol.
#include "check.h"
__constant__ float weight[3];

__global__ void step(const float *in, float *out, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x <= 0 || y <= 0 || x >= w - 1 || y >= h - 1)
		return;
	int i = y * w + x;
	out[i] = weight[0] * in[i] + weight[1] * (in[i - 1] + in[i + 1]) +
	         weight[2] * (in[i - w] + in[i + w]);
}

int main()
{
	const int w = 96, h = 64, steps = 40;
	float host_weight[3] = { 0.5f, 0.125f, 0.125f };
	std::vector<float> a(w * h, 0), b, c(w * h);
	for (int x = 0; x < w; x++)
		a[x] = 100;
	b = a;
	float *da, *db;
	CHECK(cudaMalloc(&da, a.size() * 4));
	CHECK(cudaMalloc(&db, a.size() * 4));
	CHECK(cudaMemcpy(da, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyToSymbol(weight, host_weight, sizeof host_weight));
	dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
	for (int s = 0; s < steps; s++) {
		step<<<grid, block>>>(da, db, w, h);
		std::swap(da, db);
		for (int y = 1; y < h - 1; y++)
			for (int x = 1; x < w - 1; x++) {
				int i = y * w + x;
				b[i] = 0.5f * a[i] + 0.125f * (a[i - 1] + a[i + 1]) +
				       0.125f * (a[i - w] + a[i + w]);
			}
		std::swap(a, b);
	}
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(c.data(), da, c.size() * 4, cudaMemcpyDeviceToHost));
	double worst = 0, sum = 0;
	for (int i = 0; i < w * h; i++) {
		worst = fmax(worst, fabs(c[i] - a[i]));
		sum += c[i];
	}
	printf("heat %.3f\n", sum);
	CHECK(cudaFree(da));
	CHECK(cudaFree(db));
	return finish("stencil", worst < 1e-4);
}
// seeds: S-081
