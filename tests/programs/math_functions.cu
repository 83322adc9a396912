// Mathematics as the device does it, held to the host's within a few units of the last place.
#include "check.h"

__global__ void evaluate(const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float v = x[i];
	y[i] = sqrtf(v);
	y[i + n] = expf(-v);
	y[i + 2 * n] = logf(v);
	y[i + 3 * n] = fmaf(v, v, 1.0f) / (1.0f + v);
	y[i + 4 * n] = floorf(v * 10) + fminf(v, 0.5f);
	y[i + 5 * n] = cosf(v);
}

int main()
{
	const int n = 500;
	std::vector<float> x(n), y(6 * n);
	for (int i = 0; i < n; i++)
		x[i] = 0.01f + i * 0.013f;
	float *dx, *dy;
	CHECK(cudaMalloc(&dx, n * 4));
	CHECK(cudaMalloc(&dy, 6 * n * 4));
	CHECK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
	evaluate<<<(n + 63) / 64, 64>>>(dx, dy, n);
	CHECK(cudaMemcpy(y.data(), dy, 6 * n * 4, cudaMemcpyDeviceToHost));
	double worst = 0;
	for (int i = 0; i < n; i++) {
		double v = x[i];
		double want[6] = { sqrt(v), exp(-v), log(v), (v * v + 1) / (1 + v),
			               floor((float)(x[i] * 10)) + fmin(v, 0.5), cos(v) };
		for (int k = 0; k < 6; k++)
			worst = fmax(worst, fabs(y[i + k * n] - want[k]) / (fabs(want[k]) + 1e-3));
	}
	printf("within %s\n", worst < 1e-4 ? "1e-4" : "more than 1e-4");
	CHECK(cudaFree(dx));
	CHECK(cudaFree(dy));
	return finish("math_functions", worst < 1e-4);
}
