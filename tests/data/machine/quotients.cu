// Quotients that need not be exact (div.approx, div.full), their sums, and roots of float64: what PTX
// and machine code print of them is compared (tests/cli/machine-code-test.sh).
#include <cmath>
#include <cstdio>
#include <cstring>
enum { N = 256 };
__global__ void quotients(const float *a, float *o)
{
	const int i = threadIdx.x;
	const float x = a[i], y = a[i + N], z = a[i + 2 * N], q = __fdividef(x, z);
	float full, full_ftz, ftz;
	asm("div.full.f32 %0, %1, %2;" : "=f"(full) : "f"(x), "f"(y));
	asm("div.full.ftz.f32 %0, %1, %2;" : "=f"(full_ftz) : "f"(x), "f"(y));
	asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(ftz) : "f"(x), "f"(y));
	const float v[] = { __fdividef(x, y),
		                __fdividef(x, y) + z,
		                x - __fdividef(z, y),
		                __fdividef(x, 3.0f) + y,
		                __fdividef(1.0f, x),
		                __fdividef(x, y) * z + x,
		                q + 1.0f,
		                q,
		                full,
		                full + x,
		                full_ftz,
		                ftz,
		                fmaf(ftz, x, y) };
	for (int k = 0; k < 13; k++)
		o[k * N + i] = v[k];
}
__global__ void roots(const double *a, double *o)
{
	const int i = threadIdx.x;
	o[i] = rsqrt(a[i]);
	o[i + N] = 3 * rsqrt(a[i]) + a[i];
}
static void print(const char *name, const void *o, int words)
{
	printf("%s %s", name, cudaGetErrorString(cudaDeviceSynchronize()));
	for (int i = 0; i < words; i++)
		printf(" %x", ((const unsigned *)o)[i]);
	puts("");
}
int main()
{
	const float odd[] = { 0,    -0.0f,    1e-40f,    -1e-39f, 1e38f,  2e38f,
		                  3e38f, INFINITY, -INFINITY, NAN,     1e-38f, 5e-38f };
	float *a, *o;
	double *d, *r;
	cudaMallocManaged(&a, 3 * N * sizeof *a);
	cudaMallocManaged(&o, 13 * N * sizeof *o);
	cudaMallocManaged(&d, N * sizeof *d);
	cudaMallocManaged(&r, 2 * N * sizeof *r);
	for (int i = 0; i < 3 * N; i++)
		a[i] = (int)((i + 1) * 0x9e3779b1u) * 1e-8f;
	for (int i = 0; i < 144; i++) {
		a[i] = odd[i / 12];
		a[i + N] = odd[i % 12];
	}
	for (int i = 0; i < N; i++)
		d[i] = i < 12 ? odd[i] : ldexp(1.0 + i * 0.00390625, i * 8 - 1070);
	quotients<<<1, N>>>(a, o);
	print("quotients", o, 13 * N);
	roots<<<1, N>>>(d, r);
	print("roots", r, 4 * N);
	cudaFree(a);
	cudaFree(o);
	cudaFree(d);
	cudaFree(r);
}
