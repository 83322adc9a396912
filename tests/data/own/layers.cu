// Layers of a network, with the host functions that launch them.
#include "layers.h"
#include <algorithm>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>
namespace cg = cooperative_groups;

using floatX = float;

__global__ void gelu_forward(floatX *out, const floatX *inp, int N)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N) {
		float x = inp[i];
		out[i] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
	}
}

__global__ void layernorm_forward(float *__restrict__ out, const float *__restrict__ inp,
                                  const float *weight, const float *bias, int N, int C)
{
	cg::thread_block block = cg::this_thread_block();
	cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
	int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
	if (idx >= N)
		return;
	const float *x = inp + idx * C;
	float sum = 0.0f;
	for (int i = warp.thread_rank(); i < C; i += warp.size())
		sum += x[i];
	float m = cg::reduce(warp, sum, cg::plus<float>{}) / C;
	for (int i = warp.thread_rank(); i < C; i += warp.size())
		out[idx * C + i] = (x[i] - m) * weight[i] + bias[i];
}

template <typename T, int BLOCK_SIZE>
__global__ void __launch_bounds__(BLOCK_SIZE) row_max(const T *in, T *out, int rows, int cols)
{
	__shared__ T best[BLOCK_SIZE];
	int row = blockIdx.x;
	T mine = -FLT_MAX;
	for (int c = threadIdx.x; c < cols; c += BLOCK_SIZE)
		mine = max(mine, in[row * cols + c]);
	best[threadIdx.x] = mine;
	__syncthreads();
	for (int s = BLOCK_SIZE / 2; s > 0; s >>= 1) {
		if (threadIdx.x < s)
			best[threadIdx.x] = max(best[threadIdx.x], best[threadIdx.x + s]);
		__syncthreads();
	}
	if (threadIdx.x == 0)
		out[row] = best[0];
}

__global__ void residual(float *out, const float *a, const float *b, size_t count)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
	     i += (size_t)gridDim.x * blockDim.x)
		out[i] = a[i] + b[i];
}

__global__ void adamw(float *params, float *grads, float *m, float *v, long num, float lr,
                      float beta1, float beta2, float eps, float decay, int step)
{
	long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
	if (i >= num)
		return;
	float g = grads[i];
	m[i] = beta1 * m[i] + (1 - beta1) * g;
	v[i] = beta2 * v[i] + (1 - beta2) * g * g;
	params[i] -= lr * (m[i] / (sqrtf(v[i]) + eps) + decay * params[i]) / step;
}

__global__ void relu_backward(const float *out, const float *dout, float *din, const int n)
{
	const int i = threadIdx.x + blockIdx.x * blockDim.x;
	assert(n > 0);
	if (i < n)
		din[i] = out[i] > 0 ? dout[i] : 0;
}

static __global__ void fill(float *x, float value, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = value;
}

__global__ void dropout(float *x, const unsigned char *mask, bool training, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && training)
		x[i] = mask[i] & 1 ? 2 * x[i] : 0;
}

void forward(const std::vector<float> &host, int rows, int cols)
{
	float *in, *out;
	CUDA_CHECK(cudaMalloc(&in, host.size() * sizeof(float)));
	CUDA_CHECK(cudaMalloc(&out, rows * sizeof(float)));
	row_max<float, 128><<<rows, 128>>>(in, out, rows, cols);
	fill<<<div_up(rows, 256), 256>>>(out, 0.0f, rows);
	CUDA_CHECK(cudaGetLastError());
	CUDA_CHECK(cudaFree(in));
	CUDA_CHECK(cudaFree(out));
}
