/*
 * Small launches by what came before them: the same kernel again and again, one whose input another
 * kernel has just written, or the host, or nobody since it was allocated; with allocations and
 * copies of others in between, with the host waiting, with another kernel's code in between.
 *
 * Times are those that the driver's activity records give for each launch, so the program is run by
 * `pmpp-explore launches build/gpu/micro/bin/before --backend cuda --json`; what it prints names
 * the launches in order (before.py puts the two together).
 */
#include "micro.cuh"

#include <ctime>

#define BLOCKS 24
#define THREADS 256
#define N (BLOCKS * THREADS)
#define TURNS 12

static __constant__ float weight[3];

static __global__ void store(const float *, float *out)
{
	out[blockIdx.x * THREADS + threadIdx.x] = 1;
}

static __global__ void scale(const float *in, float *out)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	out[i] = in[i] * 2;
}

/* Two loads, of which the second needs the first. */
static __global__ void gather(const float *in, float *out)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x, at = (unsigned)in[i] + i;
	out[i] = in[at % N];
}

static __global__ void row(const float *in, float *out)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	if (i > 96 && i < N - 96)
		out[i] = weight[0] * in[i] + weight[1] * (in[i - 1] + in[i + 1]) +
		         weight[2] * (in[i - 96] + in[i + 96]);
}

/* The same in two dimensions, as most stencils are written. */
static __global__ void plate(const float *in, float *out)
{
	const int w = 96, h = 64;
	const int x = blockIdx.x * 16 + threadIdx.x % 16, y = blockIdx.y * 16 + threadIdx.x / 16;
	if (x <= 0 || y <= 0 || x >= w - 1 || y >= h - 1)
		return;
	const int i = y * w + x;
	out[i] = weight[0] * in[i] + weight[1] * (in[i - 1] + in[i + 1]) +
	         weight[2] * (in[i - w] + in[i + w]);
}

static __global__ void plate_2d(const float *in, float *out, int w, int h)
{
	const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x <= 0 || y <= 0 || x >= w - 1 || y >= h - 1)
		return;
	const int i = y * w + x;
	out[i] = weight[0] * in[i] + weight[1] * (in[i - 1] + in[i + 1]) +
	         weight[2] * (in[i - w] + in[i + w]);
}

static __global__ void scale_2d(const float *in, float *out, int w, int h)
{
	const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < w && y < h)
		out[y * w + x] = in[y * w + x] * 2;
}

static __global__ void scale_symbol(const float *in, float *out)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	out[i] = in[i] * weight[1];
}

/* A constant that the first one names: what a step from one to the next takes. */
static __constant__ unsigned places[4096];

template <int STEPS> static __global__ void constants(const float *in, float *out)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	unsigned at = 0;
#pragma unroll
	for (int s = 0; s < STEPS; s++)
		at = places[at];
	out[i] = in[i] * (float)at;
}

static __global__ void plate_numbers(const float *in, float *out, int w, int h)
{
	const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x <= 0 || y <= 0 || x >= w - 1 || y >= h - 1)
		return;
	const int i = y * w + x;
	out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1]) + 0.125f * (in[i - w] + in[i + w]);
}

static __global__ void nothing(const float *, float *) {}

/* By other SMs than those that read it. */
static __global__ void turned(float *p)
{
	p[(BLOCKS - 1 - blockIdx.x) * THREADS + threadIdx.x] = 0;
}

static __global__ void other(float *p, unsigned n)
{
	for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
		p[i] = p[i] * 0.5f;
}

typedef void launch(const float *, float *);

static void wait_us(double us)
{
	timespec from, now;
	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((double)(now.tv_sec - from.tv_sec) * 1e6 + (double)(now.tv_nsec - from.tv_nsec) * 1e-3 <
	       us);
}

static void name(const char *what, const char *before)
{
	printf("%s %s\n", what, before);
}

static void other_kernel(float *p, unsigned n, unsigned blocks)
{
	other<<<blocks, THREADS>>>(p, n);
	name("other", "-");
}

static void all(const char *what, launch *start)
{
	const size_t bytes = N * sizeof(float);
	float *const host = (float *)calloc(N, sizeof *host);
	float *in = micro_alloc<float>(N), *out = micro_alloc<float>(N), *aside = nullptr;
	float *const far = micro_alloc<float>(1 << 20);
	static const char *const befores[] = { "same",   "swapped",    "written",      "other_kernel",
		                                   "set",    "copied",     "waits",        "waits_long",
		                                   "copies", "allocation", "freed_before", "new_memory",
		                                   "turned" };
	for (unsigned b = 0; b < sizeof befores / sizeof *befores; b++)
		for (int t = 0; t < TURNS; t++) {
			switch (b) {
			case 1: {
				float *const was = in;
				in = out;
				out = was;
				break;
			}
			case 2: other_kernel(in, N, BLOCKS); break;
			case 3: other_kernel(far, 1 << 20, 132 * 8); break;
			case 4: cudaMemsetAsync(in, 0, bytes); break;
			case 5: cudaMemcpy(in, host, bytes, cudaMemcpyHostToDevice); break;
			case 6: cudaDeviceSynchronize(); break;
			case 7:
				cudaDeviceSynchronize();
				wait_us(500);
				break;
			case 8: cudaMemcpy(host, far, 4, cudaMemcpyDeviceToHost); break;
			case 9: micro_fail("cudaMalloc", cudaMalloc(&aside, bytes)); break;
			case 10:
				micro_fail("cudaMalloc", cudaMalloc(&aside, 4 << 20));
				cudaFree(aside);
				break;
			case 11:
				cudaFree(in);
				cudaFree(out);
				micro_fail("cudaMalloc", cudaMalloc(&in, 4 << 20));
				micro_fail("cudaMalloc", cudaMalloc(&out, 4 << 20));
				cudaMemsetAsync(in, 0, bytes);
				break;
			case 12:
				turned<<<BLOCKS, THREADS>>>(in);
				name("other", "-");
				break;
			default: break;
			}
			start(in, out);
			micro_fail("launch", cudaGetLastError());
			name(what, befores[b]);
			if (b == 9)
				cudaFree(aside);
		}
	cudaDeviceSynchronize();
	free(host);
}

/* --- textures: the same again, another object of the same array, another array --- */

static __global__ void fetch(cudaTextureObject_t from, float *out)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	out[i] = tex2D<float>(from, (float)(i % 96) + 0.5f, (float)(i / 96) + 0.5f);
}

static __global__ void put(cudaSurfaceObject_t to, float v)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	surf2Dwrite(v, to, (int)(i % 96 * 4), (int)(i / 96));
}

static cudaResourceDesc of_array(cudaArray_t a)
{
	cudaResourceDesc from = {};
	from.resType = cudaResourceTypeArray;
	from.res.array.array = a;
	return from;
}

static cudaTextureObject_t texture_of(cudaArray_t a)
{
	cudaTextureDesc how = {};
	cudaTextureObject_t t;
	const cudaResourceDesc from = of_array(a);
	micro_fail("texture", cudaCreateTextureObject(&t, &from, &how, nullptr));
	return t;
}

static cudaArray_t new_array(const float *host)
{
	cudaArray_t a;
	const cudaChannelFormatDesc form = cudaCreateChannelDesc<float>();
	micro_fail("array", cudaMallocArray(&a, &form, 96, 64, cudaArraySurfaceLoadStore));
	micro_fail("copy", cudaMemcpy2DToArray(a, 0, 0, host, 384, 384, 64, cudaMemcpyHostToDevice));
	return a;
}

static void textures()
{
	float *const out = micro_alloc<float>(N), *const host = (float *)calloc(N, sizeof *host);
	static const char *const befores[] = { "same", "copied", "new_object", "new_array" };
	cudaArray_t a = new_array(host);
	cudaTextureObject_t t = texture_of(a);
	cudaSurfaceObject_t to;
	cudaResourceDesc from = of_array(a);
	micro_fail("surface", cudaCreateSurfaceObject(&to, &from));
	for (unsigned b = 0; b < sizeof befores / sizeof *befores; b++)
		for (int turn = 0; turn < TURNS; turn++) {
			if (b == 1)
				cudaMemcpy2DToArray(a, 0, 0, host, 384, 384, 64, cudaMemcpyHostToDevice);
			if (b == 3)
				a = new_array(host);
			if (b >= 2) {
				from = of_array(a);
				t = texture_of(a);
				micro_fail("surface", cudaCreateSurfaceObject(&to, &from));
			}
			fetch<<<BLOCKS, THREADS>>>(t, out);
			name("fetch", befores[b]);
			put<<<BLOCKS, THREADS>>>(to, 2);
			name("put", befores[b]);
		}
	free(host);
}

/* A graph of @n launches, one behind the other. */
static void graphs(const char *what, void *kernel, unsigned n)
{
	float *const in = micro_alloc<float>(N), *const out = micro_alloc<float>(N);
	cudaStream_t s;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	const float *from = in;
	float *to = out;
	cudaGraphCreate(&graph, 0);
	cudaGraphNode_t last = nullptr, node;
	void *args[] = { &from, &to };
	cudaKernelNodeParams k = {};
	k.func = kernel;
	k.gridDim = BLOCKS;
	k.blockDim = THREADS;
	k.kernelParams = args;
	for (unsigned i = 0; i < n; i++) {
		micro_fail("node",
		           cudaGraphAddKernelNode(&node, graph, last ? &last : nullptr, last ? 1 : 0, &k));
		last = node;
	}
	micro_fail("graph", cudaGraphInstantiate(&exec, graph, 0));
	cudaStreamCreate(&s);
	for (int t = 0; t < TURNS; t++) {
		micro_fail("launch", cudaGraphLaunch(exec, s));
		cudaStreamSynchronize(s);
		for (unsigned i = 0; i < n; i++)
			name(what, i ? "graph_behind" : "graph");
	}
}

int main()
{
	const float three[3] = { 0.5f, 0.125f, 0.125f };
	static unsigned far[4096];
	micro_fail("symbol", cudaMemcpyToSymbol(weight, three, sizeof three));
	for (unsigned i = 0; i < 4096; i++)
		far[i] = (i + 1024) % 4096;
	micro_fail("symbol", cudaMemcpyToSymbol(places, far, sizeof far));
	graphs("scale", (void *)scale, 1);
	graphs("scale", (void *)scale, 3);
	graphs("store", (void *)store, 3);
	textures();
	all("nothing", [](const float *in, float *out) { nothing<<<BLOCKS, THREADS>>>(in, out); });
	all("store", [](const float *in, float *out) { store<<<BLOCKS, THREADS>>>(in, out); });
	all("scale", [](const float *in, float *out) { scale<<<BLOCKS, THREADS>>>(in, out); });
	all("gather", [](const float *in, float *out) { gather<<<BLOCKS, THREADS>>>(in, out); });
	all("row", [](const float *in, float *out) { row<<<BLOCKS, THREADS>>>(in, out); });
	all("plate", [](const float *in, float *out) { plate<<<dim3(6, 4), THREADS>>>(in, out); });
	all("plate_2d", [](const float *in, float *out) {
		plate_2d<<<dim3(6, 4), dim3(16, 16)>>>(in, out, 96, 64);
	});
	all("scale_2d", [](const float *in, float *out) {
		scale_2d<<<dim3(6, 4), dim3(16, 16)>>>(in, out, 96, 64);
	});
	all("scale_symbol",
	    [](const float *in, float *out) { scale_symbol<<<BLOCKS, THREADS>>>(in, out); });
	all("constants_1",
	    [](const float *in, float *out) { constants<1><<<BLOCKS, THREADS>>>(in, out); });
	all("constants_2",
	    [](const float *in, float *out) { constants<2><<<BLOCKS, THREADS>>>(in, out); });
	all("constants_4",
	    [](const float *in, float *out) { constants<4><<<BLOCKS, THREADS>>>(in, out); });
	all("plate_numbers", [](const float *in, float *out) {
		plate_numbers<<<dim3(6, 4), dim3(16, 16)>>>(in, out, 96, 64);
	});
	all("scale_1", [](const float *in, float *out) { scale<<<1, THREADS>>>(in, out); });
	all("scale_1x32", [](const float *in, float *out) { scale<<<1, 32>>>(in, out); });
	return 0;
}
