// Reductions, scans, histograms, sorting, graphs, stencils.
#include <cuda.h>
#include <limits>
#define BLOCK_SIZE 128
#define NUM_BINS 256
#define RADIUS 3

__global__ void reduce_sum(float *g_idata, float *g_odata, unsigned int n)
{
	extern __shared__ float sdata[];
	unsigned int tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
	sdata[tid] = i < n ? g_idata[i] : 0;
	__syncthreads();
	for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
		if (tid < s)
			sdata[tid] += sdata[tid + s];
		__syncthreads();
	}
	if (tid == 0)
		g_odata[blockIdx.x] = sdata[0];
}
__global__ void warp_sum(const int *in, int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? in[i] : 0;
	for (int o = 16; o > 0; o /= 2)
		v += __shfl_down_sync(0xffffffff, v, o);
	if (threadIdx.x % 32 == 0)
		atomicAdd(out, v);
}
__global__ void scan_block(float *X, float *Y, int InputSize)
{
	__shared__ float XY[BLOCK_SIZE];
	int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
	if (threadIdx.x < BLOCK_SIZE)
		XY[threadIdx.x] = i < InputSize ? X[i] : 0;
	for (unsigned stride = 1; stride < BLOCK_SIZE; stride *= 2) {
		__syncthreads();
		float t = threadIdx.x >= stride && threadIdx.x < BLOCK_SIZE ? XY[threadIdx.x - stride] : 0;
		__syncthreads();
		if (threadIdx.x < BLOCK_SIZE)
			XY[threadIdx.x] += t;
	}
	if (i < InputSize && threadIdx.x < BLOCK_SIZE)
		Y[i] = XY[threadIdx.x];
}
__global__ void histogram(const unsigned char *buffer, long size, unsigned int *histo)
{
	__shared__ unsigned int temp[NUM_BINS];
	for (int b = threadIdx.x; b < NUM_BINS; b += blockDim.x)
		temp[b] = 0;
	__syncthreads();
	for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x; i < size;
	     i += (long)blockDim.x * gridDim.x)
		atomicAdd(&temp[buffer[i]], 1);
	__syncthreads();
	for (int b = threadIdx.x; b < NUM_BINS; b += blockDim.x)
		atomicAdd(&histo[b], temp[b]);
}
__global__ void bitonic_step(float *values, int j, int k, int length)
{
	unsigned int i = threadIdx.x + blockDim.x * blockIdx.x, other = i ^ j;
	if (other > i && other < length && i < length) {
		bool up = (i & k) == 0;
		if (up == (values[i] > values[other])) {
			float t = values[i];
			values[i] = values[other];
			values[other] = t;
		}
	}
}
__global__ void odd_even(int *data, int size, int phase)
{
	int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
	if (i + 1 < size && data[i] > data[i + 1]) {
		int t = data[i];
		data[i] = data[i + 1];
		data[i + 1] = t;
	}
}
__global__ void spmv(int num_rows, const int *row_ptr, const int *col_idx, const float *values,
                     const float *x, float *y)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	if (row < num_rows) {
		float dot = 0;
		for (int e = row_ptr[row]; e < row_ptr[row + 1]; e++)
			dot += values[e] * x[col_idx[e]];
		y[row] = dot;
	}
}
__global__ void bfs_level(const int *offsets, const int *edges, int *level, int *changed,
                          int current, int num_nodes)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v < num_nodes && level[v] == current - 1)
		for (int e = offsets[v]; e < offsets[v + 1]; e++)
			if (atomicCAS(&level[edges[e]], -1, current) == -1)
				*changed = 1;
}
__global__ void stencil_1d(const int *in, int *out, int n)
{
	__shared__ int temp[256 + 2 * RADIUS];
	int g = threadIdx.x + blockIdx.x * blockDim.x, l = threadIdx.x + RADIUS;
	temp[l] = g < n ? in[g] : 0;
	if (threadIdx.x < RADIUS) {
		temp[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0;
		temp[l + blockDim.x] = g + (int)blockDim.x < n ? in[g + blockDim.x] : 0;
	}
	__syncthreads();
	int r = 0;
	for (int o = -RADIUS; o <= RADIUS; o++)
		r += temp[l + o];
	if (g < n)
		out[g] = r;
}
__global__ void heat(const float *u, float *v, int nx, int ny, float alpha)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
		v[y * nx + x] = u[y * nx + x] + alpha * (u[y * nx + x - 1] + u[y * nx + x + 1] +
		                                         u[(y - 1) * nx + x] + u[(y + 1) * nx + x] -
		                                         4 * u[y * nx + x]);
}
__global__ void stencil_3d(const float *in, float *out, unsigned N)
{
	unsigned i = blockIdx.z * blockDim.z + threadIdx.z, j = blockIdx.y * blockDim.y + threadIdx.y,
	         k = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= 1 && i < N - 1 && j >= 1 && j < N - 1 && k >= 1 && k < N - 1)
		out[(i * N + j) * N + k] = 0.5f * in[(i * N + j) * N + k] +
		                           in[(i * N + j) * N + k - 1] + in[(i * N + j + 1) * N + k];
}
__global__ void nbody(const float4 *p, float4 *v, float dt, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float3 F = make_float3(0, 0, 0);
	for (int j = 0; j < n; j++) {
		float dx = p[j].x - p[i].x, dy = p[j].y - p[i].y, dz = p[j].z - p[i].z;
		float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-9f), inv3 = inv * inv * inv;
		F.x += dx * inv3;
		F.y += dy * inv3;
		F.z += dz * inv3;
	}
	v[i].x += dt * F.x;
	v[i].y += dt * F.y;
	v[i].z += dt * F.z;
}
__global__ void mandelbrot(unsigned char *image, int width, int height, float x0, float y0,
                           float step, int max_iter)
{
	int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
	if (px >= width || py >= height)
		return;
	float cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0;
	int i = 0;
	for (; i < max_iter && x * x + y * y < 4; i++) {
		float t = x * x - y * y + cx;
		y = 2 * x * y + cy;
		x = t;
	}
	image[py * width + px] = (unsigned char)i;
}
__global__ void rgb_to_gray(const unsigned char *rgb, unsigned char *gray, int rows, int cols)
{
	int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
	if (c < cols && r < rows) {
		int i = r * cols + c;
		gray[i] = (unsigned char)(0.3f * rgb[3 * i] + 0.59f * rgb[3 * i + 1] + 0.11f * rgb[3 * i + 2]);
	}
}
__global__ void kmeans(const float *points, const float *centroids, int *labels, int n, int dims,
                       int k)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float best = 1e30f;
	for (int c = 0; c < k; c++) {
		float d = 0;
		for (int j = 0; j < dims; j++) {
			float t = points[i * dims + j] - centroids[c * dims + j];
			d += t * t;
		}
		if (d < best) {
			best = d;
			labels[i] = c;
		}
	}
}
__global__ void monte_carlo(unsigned long long *hits, int samples_per_thread, unsigned int seed)
{
	unsigned s = seed + blockIdx.x * blockDim.x + threadIdx.x, in = 0;
	for (int i = 0; i < samples_per_thread; i++) {
		s = s * 1664525u + 1013904223u;
		float x = (s >> 8) * 0x1p-24f;
		s = s * 1664525u + 1013904223u;
		float y = (s >> 8) * 0x1p-24f;
		in += x * x + y * y < 1;
	}
	atomicAdd(hits, (unsigned long long)in);
}
