/*
 * What comes first in a kernel, by the clock of its only warp, and how long the launch takes: a
 * barrier in shared memory that is made and shown to others, the first fetch of a texture and those
 * behind it, of the same and of another one, the first load of a surface and the first store to it,
 * a fence for the host. Each is launched four times in a row; prints a line per launch: the kernel,
 * and whether it is the first or "again"; on standard error the cycles between its places. Times by
 * `pmpp-explore launches --backend cuda` (before.py). Needs compute capability 9.0a.
 */
#include "micro.cuh"

#define TIMES 4
#define PLACES 8

static __device__ unsigned clocks[PLACES];

struct At {
	unsigned at[PLACES], n = 0;
	__device__ __forceinline__ void here()
	{
		asm volatile("mov.u32 %0, %%clock;" : "=r"(at[n]) : : "memory");
		n++;
	}
	__device__ __forceinline__ void tell()
	{
		if (threadIdx.x == 0)
			for (int i = 0; i < PLACES; i++)
				clocks[i] = i < (int)n ? at[i] - at[0] : 0;
	}
};

/* @PARTS: 1 made, 2 shown to the cluster, 3 to the copy engine. */
template <int PARTS, bool CLOCKED> static __global__ void barrier(unsigned *out)
{
	__shared__ uint64_t full;
	const unsigned where = (unsigned)__cvta_generic_to_shared(&full);
	At at;
	if (CLOCKED)
		at.here();
	if (threadIdx.x == 0) {
		if (PARTS > 0)
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(where) : "memory");
		if (CLOCKED)
			at.here();
		if (PARTS > 1)
			asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
		if (CLOCKED)
			at.here();
		if (PARTS > 2)
			asm volatile("fence.proxy.async;" ::: "memory");
		if (CLOCKED)
			at.here();
	}
	__syncthreads();
	if (CLOCKED)
		at.here();
	out[threadIdx.x] = threadIdx.x;
	if (CLOCKED)
		at.tell();
}

/* One after the other: of texture a, of it again, of b. */
template <int FETCHES, bool CLOCKED>
static __global__ void fetched(cudaTextureObject_t a, cudaTextureObject_t b, float *out)
{
	At at;
	float x = threadIdx.x * 0.03125f;
	if (CLOCKED)
		at.here();
	for (int i = 0; i < FETCHES; i++) {
		x = tex2D<float>(i < 2 ? a : b, x, 0.5f);
		if (CLOCKED) {
			if (x == 1234)
				out[1] = 0;
			at.here();
		}
	}
	out[threadIdx.x] = x;
	if (CLOCKED)
		at.tell();
}

template <int PARTS, bool CLOCKED> static __global__ void surface(cudaSurfaceObject_t s, float *out)
{
	At at;
	float x = threadIdx.x;
	if (CLOCKED)
		at.here();
	if (PARTS > 0) {
		x = surf2Dread<float>(s, threadIdx.x * 4, 0);
		if (CLOCKED) {
			if (x == 1234)
				out[1] = 0;
			at.here();
		}
	}
	if (PARTS > 1) {
		x += surf2Dread<float>(s, threadIdx.x * 4, 1);
		if (CLOCKED) {
			if (x == 1234)
				out[1] = 0;
			at.here();
		}
	}
	if (PARTS == 0 || PARTS > 2)
		surf2Dwrite(x, s, threadIdx.x * 4, 2);
	if (PARTS != 0)
		out[threadIdx.x] = x;
	if (CLOCKED)
		at.tell();
}

template <int PARTS, bool CLOCKED> static __global__ void fenced(unsigned *out)
{
	At at;
	if (CLOCKED)
		at.here();
	out[threadIdx.x] = threadIdx.x;
	if (PARTS == 1)
		__threadfence();
	if (PARTS == 2)
		__threadfence_system();
	if (CLOCKED) {
		at.here();
		at.tell();
	}
}

template <class F, class C> static void times(const char *name, int parts, F launch, C clocked)
{
	for (int i = 0; i < TIMES; i++) {
		launch();
		printf("%s/%d %s\n", name, parts, i ? "again" : "first");
	}
	unsigned seen[PLACES];
	for (int i = 0; i < 2; i++) {
		clocked();
		printf("other_%s/%d clocked\n", name, parts);
		micro_fail(name, cudaMemcpyFromSymbol(seen, clocks, sizeof seen));
	}
	fprintf(stderr, "%s/%d:", name, parts);
	for (int i = 1; i < PLACES && seen[i]; i++)
		fprintf(stderr, " %u", seen[i]);
	fprintf(stderr, "\n");
}

static cudaArray_t array()
{
	const cudaChannelFormatDesc word = cudaCreateChannelDesc<float>();
	cudaArray_t a;
	micro_fail("array", cudaMallocArray(&a, &word, 64, 64, cudaArraySurfaceLoadStore));
	return a;
}

static cudaTextureObject_t texture(cudaArray_t a)
{
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t;
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	micro_fail("texture", cudaCreateTextureObject(&t, &r, &d, nullptr));
	return t;
}

#define OF(NAME, PARTS, BLOCK, ...)                                           \
	times(                                                                    \
		#NAME, PARTS, [&] { NAME<PARTS, false><<<1, BLOCK>>>(__VA_ARGS__); }, \
		[&] { NAME<PARTS, true><<<1, BLOCK>>>(__VA_ARGS__); })

int main()
{
	unsigned *const out = micro_alloc<unsigned>(1024);
	OF(barrier, 0, 64, out);
	OF(barrier, 1, 64, out);
	OF(barrier, 2, 64, out);
	OF(barrier, 3, 64, out);
	const cudaArray_t in_a = array(), in_b = array();
	const cudaTextureObject_t a = texture(in_a), b = texture(in_b);
	OF(fetched, 0, 32, a, b, (float *)out);
	OF(fetched, 1, 32, a, b, (float *)out);
	OF(fetched, 2, 32, a, b, (float *)out);
	OF(fetched, 3, 32, a, b, (float *)out);
	OF(fetched, 4, 32, a, b, (float *)out);
	cudaResourceDesc r = {};
	cudaSurfaceObject_t s;
	r.resType = cudaResourceTypeArray;
	r.res.array.array = in_a;
	micro_fail("surface", cudaCreateSurfaceObject(&s, &r));
	OF(surface, 0, 32, s, (float *)out);
	OF(surface, 1, 32, s, (float *)out);
	OF(surface, 2, 32, s, (float *)out);
	OF(surface, 3, 32, s, (float *)out);
	OF(fenced, 0, 32, out);
	OF(fenced, 1, 32, out);
	OF(fenced, 2, 32, out);
	micro_fail("all", cudaDeviceSynchronize());
	return 0;
}
