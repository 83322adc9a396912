// What the PTX test data was compiled from. To make it again, in this folder:
//   for a in 75 90 120; do nvcc -ptx -lineinfo -arch=compute_$a -o sm_$a.ptx sources.cu; done
//   sed -i -E 's,^(.*\.file.*)"[^"]*/,\1",' sm_*.ptx       (leaves the file names, no folders)
// tests/unit/ptx/test_ptx_data.c knows the line numbers of this file.
#include <cstdio>

extern "C" __global__ void vec_add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] = a[i] + b[i];
}

#define TILE 16
extern "C" __global__ void __launch_bounds__(256, 2)
tiled(const float *A, const float *B, float *C, int n)
{
	__shared__ float As[TILE][TILE];
	__shared__ char odd[3];
	__shared__ float Bs[TILE][TILE + 1];
	int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
	float sum = 0;
	odd[threadIdx.x % 3] = 1;
	for (int t = 0; t < n / TILE; t++) {
		As[threadIdx.y][threadIdx.x] = A[row * n + t * TILE + threadIdx.x];
		Bs[threadIdx.y][threadIdx.x] = B[(t * TILE + threadIdx.y) * n + col];
		__syncthreads();
		for (int k = 0; k < TILE; k++)
			sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
		__syncthreads();
	}
	C[row * n + col] = sum + odd[threadIdx.y % 3];
}

extern __shared__ float dynamic[];
__shared__ int common[5];
extern "C" __global__ void reduce(const float *in, float *out)
{
	unsigned t = threadIdx.x;
	dynamic[t] = in[t];
	common[t % 5] = t;
	for (unsigned s = blockDim.x / 2; s >= 1; s /= 2) {
		__syncthreads();
		if (t < s)
			dynamic[t] += dynamic[t + s];
	}
	if (t == 0)
		atomicAdd(out, dynamic[0] + common[1]);
}

extern "C" __global__ void reduce_two(const double *in, double *out)
{
	__shared__ double first[3];
	first[threadIdx.x % 3] = in[threadIdx.x];
	dynamic[threadIdx.x] = in[threadIdx.x];
	common[threadIdx.x % 5] = 1;
	__syncthreads();
	out[threadIdx.x] = dynamic[31 - threadIdx.x] + first[1] + common[2];
}

__device__ float square(float x)
{
	return x * x;
}

__device__ float norm(float x, float y)
{
	return square(x) + square(y);
}

struct point {
	int tag;
	float at[3];
	double weight;
};

__device__ __noinline__ float weigh(float x, struct point p)
{
	return x * p.at[1] + (float)p.weight;
}

extern "C" __global__ void helpers(float *out, struct point p)
{
	float r = norm(out[0], out[1]);
	out[threadIdx.x] = weigh(r, p);
	if (threadIdx.x == 0)
		printf("%d %f\n", p.tag, r);
}

__constant__ float filter[9] = { 1, 2, 3 };
__device__ int numbers[4] = { 7, -1, 0, 2 };
__device__ const char *word = "word";
__device__ double scale = 0.5;

extern "C" __global__ void warp(int *out, unsigned long long *big)
{
	int v = out[threadIdx.x], p;
	v += __shfl_down_sync(0xffffffff, v, 4);
	v += __shfl_xor_sync(0xffffffff, v, 2);
	v += __popc(__ballot_sync(0xffffffff, v > 3));
	v += __match_all_sync(0xffffffff, v, &p) + p;
	if (__any_sync(0xffffffff, v == 9))
		v++;
	v += __syncthreads_count(v & 1);
	atomicCAS(&out[1], v, 2);
	atomicMax(&big[0], (unsigned long long)v);
	__threadfence();
	out[threadIdx.x] = v + numbers[v & 3] + word[v & 3] + (int)(filter[v & 7] * scale);
}

extern "C" __global__ void tensor(const unsigned *in, float4 *out)
{
	__shared__ __align__(16) unsigned tile[256];
	tile[threadIdx.x] = in[threadIdx.x];
	__syncthreads();
	unsigned a[4], at = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x * 4]);
	float c[4] = { 0, 0, 0, 0 };
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
	             : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at));
#if __CUDA_ARCH__ >= 80
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3},"
	             "{%4, %5, %6, %7}, {%4, %5}, {%0, %1, %2, %3};"
	             : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
#endif
	asm volatile("{\n\t.reg .pred p;\n\tsetp.eq.u32 p, %0, 0;\n\t@p bra SKIP;\n\t"
	             "nanosleep.u32 20;\nSKIP:\n\t}" : : "r"(a[0]));
	out[threadIdx.x] = make_float4(c[0], c[1], c[2], c[3]);
}
