// Parameters of every kind.
#include <climits>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
#include <math_constants.h>
typedef unsigned int uint;
typedef struct {
	float x, y, z;
	int id;
} Body;
struct Settings {
	int n;
	float alpha;
	double beta;
};
enum class Mode { PLAIN, TWICE };
template <typename T> struct Pair {
	T first, second;
};
__constant__ float weights[9];
__device__ unsigned total;

__global__ void bodies(Body *bodies, float dt, int num_bodies)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < num_bodies) {
		bodies[i].x += bodies[i].y * dt;
		bodies[i].id = i;
	}
}
__global__ void by_value(float *x, Settings s, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = s.alpha * x[i] + (float)s.beta + s.n;
}
__global__ void enums(int *x, Mode mode, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] *= mode == Mode::TWICE ? 2 : 1;
}
__global__ void small(const int8_t *a, uint8_t *b, const int16_t *c, uint16_t *d, char e, short f,
                      int64_t n)
{
	int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
	if (i < n) {
		b[i] = a[i] + e;
		d[i] = c[i] + f;
	}
}
__global__ void wide(uint64_t *a, const long long *b, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	if (i < n)
		a[i] += b[i];
}
__global__ void halves(const __half *a, half2 *b, half s, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (2 * i + 1 < n)
		b[i] = __halves2half2(__hmul(a[2 * i], s), a[2 * i + 1]);
}
__global__ void brains(const __nv_bfloat16 *a, __nv_bfloat16 *b, __nv_bfloat16 s, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		b[i] = __float2bfloat16(__bfloat162float(a[i]) * __bfloat162float(s));
}
__global__ void vectors(const float4 *a, float2 *b, int2 shift, float3 scale, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		b[i] = make_float2(a[i].x * scale.x + shift.x, a[i].w + shift.y);
}
__global__ void pairs(Pair<float> *p, const Pair<int> *q, uint n)
{
	uint i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		p[i].first += q[i].second;
}
__global__ void generators(curandState *states, float *out, unsigned long long seed, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		curand_init(seed, i, 0, &states[i]);
		out[i] = curand_uniform(&states[i]) * CUDART_PI_F;
	}
}
__global__ void many(float *a, float *b, float *c, float *d, float *e, float *f, float *g, float *h,
                     float *p, float *q, float *r, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i] + p[i] + q[i] + r[i];
}
__global__ void constants(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
		float s = 0;
		for (int j = 0; j < 3; j++)
			for (int i = 0; i < 3; i++)
				s += weights[j * 3 + i] * in[(y + j - 1) * width + x + i - 1];
		out[y * width + x] = s;
		atomicAdd(&total, 1u);
	}
}
extern "C" __global__ void linked(Body *list, const Mode *modes, double gain, bool on, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count && on)
		list[i].z = (float)gain * (int)modes[i];
}
template <class T, int ITEMS, bool CHECK>
__global__ void items(const T *in, T *out, unsigned n)
{
	for (int k = 0; k < ITEMS; k++) {
		unsigned i = (blockIdx.x * ITEMS + k) * blockDim.x + threadIdx.x;
		if (!CHECK || i < n)
			out[i] = in[i] + T(1);
	}
}
