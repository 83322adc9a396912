// Conjugate gradients on the five-point Laplacian, with dot products by shuffles and host control.
#include "check.h"

#define SIDE 48
#define N (SIDE * SIDE)

__global__ void laplacian(const double *x, double *y)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= N)
		return;
	const int r = i / SIDE, c = i % SIDE;
	double v = 4.0 * x[i];
	if (r > 0)
		v -= x[i - SIDE];
	if (r < SIDE - 1)
		v -= x[i + SIDE];
	if (c > 0)
		v -= x[i - 1];
	if (c < SIDE - 1)
		v -= x[i + 1];
	y[i] = v;
}

__global__ void dot(const double *a, const double *b, double *out)
{
	__shared__ double part[8];
	double v = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)
		v += a[i] * b[i];
	for (int d = 16; d; d >>= 1)
		v += __shfl_down_sync(~0u, v, d);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int w = 1; w < (int)blockDim.x / 32; w++)
			v += part[w];
		atomicAdd(out, v);
	}
}

__global__ void axpy(double a, const double *x, double *y)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N)
		y[i] += a * x[i];
}

__global__ void direction(double b, const double *r, double *p)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N)
		p[i] = r[i] + b * p[i];
}

static double dot_product(const double *a, const double *b, double *scratch)
{
	double v;
	CHECK(cudaMemset(scratch, 0, sizeof v));
	dot<<<4, 256>>>(a, b, scratch);
	CHECK(cudaMemcpy(&v, scratch, sizeof v, cudaMemcpyDeviceToHost));
	return v;
}

int main()
{
	std::vector<double> truth(N), b(N), x(N);
	unsigned seed = 17;
	for (auto &v : truth)
		v = next_random(seed) % 1000 / 1000.0;
	double *dx, *db, *dr, *dp, *dq, *scratch;
	const size_t bytes = N * sizeof(double);
	CHECK(cudaMalloc(&dx, bytes));
	CHECK(cudaMalloc(&db, bytes));
	CHECK(cudaMalloc(&dr, bytes));
	CHECK(cudaMalloc(&dp, bytes));
	CHECK(cudaMalloc(&dq, bytes));
	CHECK(cudaMalloc(&scratch, sizeof(double)));
	const int blocks = (N + 127) / 128;
	CHECK(cudaMemcpy(dx, truth.data(), bytes, cudaMemcpyHostToDevice));
	laplacian<<<blocks, 128>>>(dx, db);
	CHECK(cudaMemset(dx, 0, bytes));
	CHECK(cudaMemcpy(dr, db, bytes, cudaMemcpyDeviceToDevice));
	CHECK(cudaMemcpy(dp, db, bytes, cudaMemcpyDeviceToDevice));
	double rr = dot_product(dr, dr, scratch);
	const double start = rr;
	int steps = 0;
	while (rr > 1e-18 * start && steps < 400) {
		laplacian<<<blocks, 128>>>(dp, dq);
		const double alpha = rr / dot_product(dp, dq, scratch);
		axpy<<<blocks, 128>>>(alpha, dp, dx);
		axpy<<<blocks, 128>>>(-alpha, dq, dr);
		const double next = dot_product(dr, dr, scratch);
		direction<<<blocks, 128>>>(next / rr, dr, dp);
		rr = next;
		steps++;
	}
	CHECK(cudaMemcpy(x.data(), dx, bytes, cudaMemcpyDeviceToHost));
	double worst = 0;
	for (int i = 0; i < N; i++)
		worst = fmax(worst, fabs(x[i] - truth[i]));
	printf("converged: %s, error below 1e-6: %s\n", steps < 400 ? "yes" : "no", worst < 1e-6 ? "yes" : "no");
	for (double *p : { dx, db, dr, dp, dq, scratch })
		CHECK(cudaFree(p));
	return finish("conjugate_gradient", steps < 400 && worst < 1e-6);
}
