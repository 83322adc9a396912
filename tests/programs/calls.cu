// Functions that are not inlined: by value, recursive, through tables and virtual; slow paths of sin and pow.
#include "check.h"

struct item {
	int a[5];
	double d;
	char c;
};

__device__ __noinline__ item changed(item s, int k)
{
	s.a[k] += 7;
	s.d *= 2;
	s.c++;
	return s;
}
__device__ __noinline__ int weighted(int a, int b) { return a * 3 + b; }
__host__ __device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__host__ __device__ int ackermann(int m, int n)
{
	return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

typedef float (*binary)(float, float);
__device__ float plus(float a, float b) { return a + b; }
__device__ float times(float a, float b) { return a * b; }
__device__ binary operations[2] = { plus, times };

struct shape {
	__device__ virtual int area(int x) { return x + 1; }
};
struct square : shape {
	int side;
	__device__ square(int side) : side(side) {}
	__device__ int area(int x) override { return x * side; }
};
__device__ shape *choose(shape *a, shape *b, int i) { return i & 1 ? a : b; }

__global__ void everything(int *y, float *z, double *d, int n, item s)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	y[i] = weighted(i, n) + fib(i % 8) + ackermann(2, i % 3);
	z[i] = operations[i & 1](i, 2.5f);
	item t = changed(s, i % 5);
	y[i] += t.a[2] + t.c;
	shape a;
	square b(i);
	y[i] += choose(&a, &b, i)->area(10);
	d[i] = pow(d[i], 1.5) + sin(d[i]) + cos(d[i] * 1e8);
}

int main()
{
	const int n = 256;
	int *y;
	float *z;
	double *d;
	item s = { { 1, 2, 3, 4, 5 }, 1.5, 'a' };
	CHECK(cudaMallocManaged(&y, n * sizeof *y));
	CHECK(cudaMallocManaged(&z, n * sizeof *z));
	CHECK(cudaMallocManaged(&d, n * sizeof *d));
	for (int i = 0; i < n; i++)
		d[i] = i * 0.37 + 0.1;
	everything<<<2, n / 2>>>(y, z, d, 5, s);
	CHECK(cudaDeviceSynchronize());
	bool good = true;
	for (int i = 0; i < n; i++) {
		double x = i * 0.37 + 0.1, want = pow(x, 1.5) + sin(x) + cos(x * 1e8);
		int sum = i * 3 + 5 + fib(i % 8) + ackermann(2, i % 3) + (3 + (i % 5 == 2 ? 7 : 0)) + 'b';
		good &= y[i] == sum + (i & 1 ? 11 : 10 * i);
		good &= z[i] == (i & 1 ? i * 2.5f : i + 2.5f);
		good &= fabs(d[i] - want) <= 1e-12 * fabs(want);
	}
	free_all(y, z, d);
	return finish("calls", good);
}
