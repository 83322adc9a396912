/*
 * What the time model's constants of an SM were read from: start of blocks, barriers, additions to one
 * address, scattered stores, copies by block size, loads of 32 lines under load.
 *
 *     nvcc -O3 -arch=sm_90 -o micro tests/gpu/micro.cu && ./micro
 *
 * Times by events, the shortest of 7 launches.
 */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

static __global__ void empty(int *p, int n)
{
	if (n == -1)
		p[threadIdx.x] = n;
}

static __global__ void store(int *p, int n)
{
	p[blockIdx.x * blockDim.x + threadIdx.x] = n;
}

static __global__ void barriers(int *p, int n)
{
	const long long from = clock64();
	for (int i = 0; i < n; i++)
		__syncthreads();
	const long long to = clock64();
	if (threadIdx.x == 0)
		p[blockIdx.x] = (int)(to - from);
}

/* A step of a tree: store, barrier, load a neighbour warp's word, barrier. */
static __global__ void steps(int *p, int n)
{
	__shared__ int s[1024];
	int v = (int)threadIdx.x;
	const long long from = clock64();
	for (int i = 0; i < n; i++) {
		s[threadIdx.x] = v;
		__syncthreads();
		v += s[(threadIdx.x + 32) & (blockDim.x - 1)];
		__syncthreads();
	}
	const long long to = clock64();
	if (threadIdx.x == 0 || v == -123456)
		p[blockIdx.x] = (int)(to - from);
}

template <typename T> static __global__ void add_one_lane(T *p, int apart)
{
	if (threadIdx.x == 0)
		atomicAdd(p + apart * blockIdx.x, (T)1);
}

template <typename T> static __global__ void add_warps(T *p, int n)
{
	for (int i = 0; i < n; i++)
		atomicAdd(p + i, (T)(2 + threadIdx.x));
}

/* Every lane of a store writes a word of its own line; the next warp the words beside them. */
static __global__ void columns(float *p, int stride, int words)
{
	const long warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
	p[(warp / words * 32 + lane) * stride + warp % words] = 1.0f;
}

template <typename T> static __global__ void copy(const T *a, T *b)
{
	const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
	b[i] = a[i];
}

static __global__ void chase(const int *p, int hops, int *out, int spread)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * spread;
	for (int k = 0; k < hops; k++)
		i = p[i];
	if (i == -1)
		*out = i;
}

template <typename F> static float shortest_us(F launch)
{
	cudaEvent_t from, to;
	float best = 1e30f;
	cudaEventCreate(&from);
	cudaEventCreate(&to);
	for (int r = 0; r < 7; r++) {
		float ms = 0;
		cudaEventRecord(from);
		launch();
		cudaEventRecord(to);
		if (cudaEventSynchronize(to) != cudaSuccess) {
			fprintf(stderr, "micro: %s\n", cudaGetErrorString(cudaGetLastError()));
			exit(1);
		}
		cudaEventElapsedTime(&ms, from, to);
		best = ms < best ? ms : best;
	}
	return best * 1e3f;
}

static void blocks_start(int sms, int *p)
{
	for (int t = 32; t <= 1024; t *= 2) {
		const float a = shortest_us([&] { empty<<<sms * 1024, t>>>(p, 1); });
		const float b = shortest_us([&] { store<<<sms * 512, t>>>(p, 1); });
		printf("block of %d: empty %.3f ns each, one store %.3f ns each\n", t,
		       a * 1e3 / (sms * 1024), b * 1e3 / (sms * 512));
	}
}

static void blocks_meet(int sms, int *p)
{
	for (int t = 32; t <= 1024; t *= 2)
		for (int n = 1; n * t <= 2048 && n <= 8; n *= 2) {
			int one = 0, tree = 0;
			barriers<<<sms * n, t>>>(p, 1000);
			cudaMemcpy(&one, p, sizeof one, cudaMemcpyDeviceToHost);
			steps<<<sms * n, t>>>(p, 1000);
			cudaMemcpy(&tree, p, sizeof tree, cudaMemcpyDeviceToHost);
			printf("block of %d, %d per SM: barrier %.1f cycles, step of a tree %.1f\n", t, n,
			       one / 1e3, tree / 1e3);
		}
}

static void additions(float *f)
{
	const int n = 262144;
	int *const i = (int *)f;
	printf("one lane a block, one address: float %.3f ns each, int %.3f; own sector %.3f\n",
	       shortest_us([&] { add_one_lane<float><<<n, 32>>>(f, 0); }) * 1e3 / n,
	       shortest_us([&] { add_one_lane<int><<<n, 32>>>(i, 0); }) * 1e3 / n,
	       shortest_us([&] { add_one_lane<float><<<n, 32>>>(f, 8); }) * 1e3 / n);
	for (int t = 32; t <= 1024; t *= 2)
		printf("one block of %d, all lanes one address: float %.2f ns a lane, int %.2f a warp\n", t,
		       shortest_us([&] { add_warps<float><<<1, t>>>(f, 16384); }) * 1e3 / 16384 / t,
		       shortest_us([&] { add_warps<int><<<1, t>>>(i, 16384); }) * 1e3 / 16384 / (t / 32));
}

static void memory(float *a, float *b, size_t bytes)
{
	for (long s = 1024; s <= 65536; s *= 4) {
		long groups = ((long)bytes / 4 - 1024) / s / 32;
		groups = groups > 1024 ? 1024 : groups;
		const float us =
			shortest_us([&] { columns<<<(unsigned)(groups * 128), 256>>>(a, (int)s, 1024); });
		printf("stores %ld words apart: %.1f a ns\n", s, groups * 32 * 1024 / (us * 1e3));
	}
	for (unsigned t = 64; t <= 1024; t *= 2)
		printf("copy of 1 GiB, block of %u: float %.0f us, float4 %.0f us\n", t,
		       shortest_us([&] { copy<<<(1u << 28) / t, t>>>(a, b); }),
		       shortest_us([&] { copy<<<(1u << 26) / t, t>>>((float4 *)a, (float4 *)b); }));
}

static void loads_of_32_lines(int sms, int *p, int *out, size_t bytes)
{
	int *const host = (int *)malloc(bytes);
	for (unsigned n = (unsigned)(bytes / 4); n >= 1u << 22; n = n == 1u << 22 ? 0 : 1u << 22) {
		unsigned x = 1;
		for (unsigned i = 0; i < n; i++) {
			x = x * 1664525u + 1013904223u;
			host[i] = (int)((x >> 4) & (n - 1) & ~7u);
		}
		cudaMemcpy(p, host, (size_t)n * 4, cudaMemcpyHostToDevice);
		for (int blocks = sms; blocks <= 16 * sms; blocks *= 4)
			printf("chase in %u MiB, %d blocks of 128: %.1f ns a hop\n", n >> 18, blocks,
			       shortest_us([&] {
				       chase<<<blocks, 128>>>(p, 64, out, n > 1u << 22 ? 1024 : 16);
			       }) * 1e3 / 64);
	}
	free(host);
}

int main()
{
	const size_t bytes = (size_t)1 << 30;
	float *a = nullptr, *b = nullptr;
	cudaDeviceProp prop;
	if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess || cudaMalloc(&a, bytes) != cudaSuccess ||
	    cudaMalloc(&b, bytes) != cudaSuccess) {
		fprintf(stderr, "micro: no GPU, or no room for 2 GiB on it\n");
		return 3;
	}
	cudaMemset(a, 0, bytes);
	cudaMemset(b, 0, bytes);
	const int sms = prop.multiProcessorCount;
	printf("%s, %d SMs\n", prop.name, sms);
	blocks_start(sms, (int *)a);
	blocks_meet(sms, (int *)a);
	additions(a);
	memory(a, b, bytes);
	loads_of_32_lines(sms, (int *)a, (int *)b, bytes);
	return 0;
}
