// Calls in machine code: functions in the caller's code, recursion, pointers to functions in variables,
// constants, arguments and tables of virtual functions, addresses of local variables. What PTX and
// machine code print is compared (tests/cli/machine-code-test.sh).
#include <cstdio>
struct shape {
	__device__ virtual float area(float) const = 0;
	__device__ virtual ~shape() {}
};
struct square : shape {
	float a;
	__device__ square(float x) : a(x) {}
	__device__ float area(float k) const override { return a * a * k; }
};
struct circle : shape {
	float a;
	__device__ circle(float x) : a(x) {}
	__device__ float area(float k) const override { return a * k / 3.0f; }
};
__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ int ways(int n) // not a loop in disguise
{
	return n < 3 ? n : ways(n - 1) + ways(n - 2) * 3 + ways(n - 3);
}
__device__ __noinline__ float half_of(float x) { return x * 0.5f + 1; }
__device__ __noinline__ float third(float x, float *p)
{
	*p += x;
	return half_of(x) / 3.0f;
}
typedef float (*step)(float);
__device__ __noinline__ float more(float x) { return x + 1; }
__device__ __noinline__ float twice(float x) { return x * 2; }
__device__ step table[2] = { more, twice }, chosen;
__constant__ step fixed_table[2] = { twice, more };

__global__ void calls(float *out, int k)
{
	const int t = threadIdx.x;
	float s = t;
	float r = third(t, &s);
	if (t & 1)
		r += half_of(r);
	out[t] += factorial(t % 7 + k) + ways(t % 5 + k) + r + s;
}
__global__ void pointers(float *out, int k)
{
	const int t = threadIdx.x;
	out[t] += table[(t / 3 + k) & 1](t) + fixed_table[(t + k) & 1](t);
}
__global__ void choose(int k) { chosen = k ? more : twice; }
__global__ void picked(float *out, step given, int k)
{
	step here = (threadIdx.x + k) & 2 ? more : twice;
	out[threadIdx.x] = here(chosen(given(out[threadIdx.x])));
}
__global__ void virtual_functions(float *out, int k)
{
	const shape *s = threadIdx.x & 1 ? (shape *)new square(threadIdx.x) : (shape *)new circle(k);
	out[threadIdx.x] += s->area(2.0f);
	delete s;
}
int main()
{
	float *out;
	step given;
	cudaMallocManaged(&out, 64 * sizeof *out);
	for (int i = 0; i < 64; i++)
		out[i] = i % 5;
	calls<<<1, 64>>>(out, 2);
	pointers<<<1, 64>>>(out, 1);
	choose<<<1, 1>>>(1);
	cudaMemcpyFromSymbol(&given, table, sizeof given, sizeof given);
	picked<<<1, 64>>>(out, given, 1);
	virtual_functions<<<1, 64>>>(out, 3);
	cudaDeviceSynchronize();
	for (int i = 0; i < 64; i++)
		printf("%g%c", out[i], i % 8 == 7 ? '\n' : ' ');
	printf("%s\n", cudaGetErrorString(cudaGetLastError()));
	cudaFree(out);
}
