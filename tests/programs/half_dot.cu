// Half precision: pairs in one register, conversions both ways, and bfloat16 beside it.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void dot_half2(const half2 *a, const half2 *b, float *out, int n)
{
	half2 sum = __float2half2_rn(0.0f);
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		sum = __hfma2(a[i], b[i], sum);
	float v = __low2float(sum) + __high2float(sum);
	for (int d = 16; d > 0; d /= 2)
		v += __shfl_down_sync(0xffffffff, v, d);
	if (threadIdx.x % 32 == 0)
		atomicAdd(out, v);
}

__global__ void to_half(const float *in, half *out, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = __float2half(in[i]);
}

__global__ void brain(const float *in, __nv_bfloat16 *out, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = __hadd(__float2bfloat16(in[i]), __float2bfloat16(1.0f));
}

__global__ void compare(const half *a, int *out, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = __hgt(a[i], __float2half(2.0f)) + (__heq(a[i], a[i]) << 1) +
		         (__hlt(hsqrt(a[i]), a[i]) << 2) + (a[i] * a[i] + a[i] > __float2half(6.0f) ? 8 : 0);
}

int main()
{
	const int n = 512;
	float host[n], *f, *sum;
	half *a;
	__nv_bfloat16 *bf;
	int *flags;
	for (int i = 0; i < n; i++)
		host[i] = (float)(i % 8) * 0.5f;
	CHECK(cudaMalloc(&f, sizeof host));
	CHECK(cudaMalloc(&a, n * sizeof *a));
	CHECK(cudaMalloc(&bf, n * sizeof *bf));
	CHECK(cudaMalloc(&flags, n * sizeof *flags));
	CHECK(cudaMalloc(&sum, sizeof *sum));
	CHECK(cudaMemset(sum, 0, sizeof *sum));
	CHECK(cudaMemcpy(f, host, sizeof host, cudaMemcpyHostToDevice));
	to_half<<<n / 128, 128>>>(f, a, n);
	dot_half2<<<1, 64>>>((const half2 *)a, (const half2 *)a, sum, n / 2);
	brain<<<n / 128, 128>>>(f, bf, n);
	compare<<<n / 128, 128>>>(a, flags, n);
	float dot;
	std::vector<__nv_bfloat16> b(n);
	std::vector<int> c(n);
	CHECK(cudaMemcpy(&dot, sum, sizeof dot, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(b.data(), bf, n * sizeof *bf, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(c.data(), flags, n * sizeof *flags, cudaMemcpyDeviceToHost));
	float want = 0;
	bool good = true;
	for (int i = 0; i < n; i++) {
		const float v = host[i];
		want += v * v;
		good = good && __bfloat162float(b[i]) == v + 1.0f;
		good = good && c[i] == (v > 2) + 2 + 4 * (sqrtf(v) < v && v > 1) + 8 * (v * v + v > 6);
	}
	printf("dot product %.2f\n", dot);
	good = good && dot == want;
	free_all(f, a, bf, flags, sum);
	return finish("half_dot", good);
}
