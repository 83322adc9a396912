/*
 * What every microbenchmark needs: a JSON line per measurement, and clocks.
 *
 * Kernels that are measured are named m_...; everything else that runs on the GPU prepares. With
 * MICRO_ONCE=1 in the environment each measured kernel is launched exactly once, so that a
 * profiler's n-th m_ kernel belongs to the n-th line (micro.sh): no time is taken then.
 */
#ifndef PMPP_MICRO_CUH
#define PMPP_MICRO_CUH

#include <cuda_runtime.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define MICRO_WARP 32

static inline void micro_fail(const char *what, cudaError_t e)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "micro: %s: %s\n", what, cudaGetErrorString(e));
	exit(1);
}

static inline bool micro_once()
{
	static const bool once = getenv("MICRO_ONCE") != nullptr;
	return once;
}

/* A line that is printed when it goes out of scope. */
class Line
{
	char text[1 << 16];
	size_t n = 0;

	void add(const char *fmt, ...)
	{
		va_list args;
		va_start(args, fmt);
		n += (size_t)vsnprintf(text + n, sizeof text - n, fmt, args);
		va_end(args);
	}

  public:
	Line(const char *bench, const char *name)
	{
		add("{\"bench\":\"%s\",\"case\":\"%s\"", bench, name);
	}
	Line &operator()(const char *key, double v)
	{
		add(",\"%s\":%.10g", key, v);
		return *this;
	}
	Line &operator()(const char *key, const char *v)
	{
		add(",\"%s\":\"%s\"", key, v);
		return *this;
	}
	Line(const Line &) = delete;
	~Line()
	{
		puts(strcat(text, "}"));
		fflush(stdout);
	}
};

static inline int micro_sms()
{
	static int sms = 0;
	if (!sms)
		micro_fail("attribute", cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
	return sms;
}

template <typename T> static inline T *micro_alloc(size_t n)
{
	T *p = nullptr;
	micro_fail("cudaMalloc", cudaMalloc(&p, n * sizeof(T)));
	micro_fail("cudaMemset", cudaMemset(p, 0, n * sizeof(T)));
	return p;
}

/* Leaves nothing of a benchmark's data in L2. */
static inline void micro_flush_l2()
{
	static char *p = nullptr;
	const size_t bytes = (size_t)192 << 20;
	if (!p)
		p = micro_alloc<char>(bytes);
	micro_fail("flush", cudaMemsetAsync(p, 1, bytes));
}

static inline int micro_by_time(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;
	return x < y ? -1 : x > y;
}

struct Times { /* nanoseconds by events */
	double least, median, most;
};

/* Of @runs launches, at most 31, after one that does not count. @before runs ahead of each,
 * untimed. */
template <typename F, typename G> static Times times_ns(F launch, G before, int runs = 7)
{
	cudaEvent_t from, to;
	float ms[32];
	if (micro_once()) {
		before();
		launch();
		micro_fail("launch", cudaDeviceSynchronize());
		return Times{ -1, -1, -1 };
	}
	cudaEventCreate(&from);
	cudaEventCreate(&to);
	for (int r = -1; r < runs; r++) {
		before();
		cudaEventRecord(from);
		launch();
		cudaEventRecord(to);
		micro_fail("launch", cudaEventSynchronize(to));
		micro_fail("launch", cudaGetLastError());
		cudaEventElapsedTime(&ms[r < 0 ? 0 : r], from, to);
	}
	cudaEventDestroy(from);
	cudaEventDestroy(to);
	qsort(ms, (size_t)runs, sizeof *ms, micro_by_time);
	return Times{ ms[0] * 1e6, ms[runs / 2] * 1e6, ms[runs - 1] * 1e6 };
}

/*
 * The shortest of them. Events add 2 to 3 us: measured kernels take a hundred at least, or the line
 * says what an empty one took.
 */
template <typename F, typename G> static double shortest_ns(F launch, G before, int runs = 7)
{
	return times_ns(launch, before, runs).least;
}
template <typename F> static double shortest_ns(F launch, int runs = 7)
{
	return shortest_ns(launch, [] {}, runs);
}

/* Where kernels put cycles: one word per block. The median block's, of the second launch. */
static inline unsigned *micro_cycles()
{
	static unsigned *p = nullptr;
	if (!p)
		p = micro_alloc<unsigned>(1 << 20);
	return p;
}

static inline int micro_by_value(const void *a, const void *b)
{
	const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return x < y ? -1 : x > y;
}

template <typename F> static double median_cycles(unsigned blocks, F launch)
{
	unsigned *const host = (unsigned *)malloc(blocks * sizeof *host);
	launch();
	if (!micro_once())
		launch();
	micro_fail("launch", cudaGetLastError());
	micro_fail("copy",
	           cudaMemcpy(host, micro_cycles(), blocks * sizeof *host, cudaMemcpyDeviceToHost));
	qsort(host, blocks, sizeof *host, micro_by_value);
	const double median = host[blocks / 2];
	free(host);
	return median;
}

/* From the first warp of a block that begins to the last that ends; every thread calls both. */
struct BlockClock {
	unsigned from;
	__device__ BlockClock()
	{
		__syncthreads();
		from = (unsigned)clock64();
	}
	__device__ void stop(unsigned *cycles) const
	{
		__syncthreads();
		const unsigned to = (unsigned)clock64();
		if (threadIdx.x == 0 && threadIdx.y == 0)
			cycles[blockIdx.x] = to - from;
	}
};

/* Past L1. */
static __device__ __forceinline__ uint4 micro_load_l2(const uint4 *p)
{
	uint4 v;
	asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
	             : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
	             : "l"(p));
	return v;
}

/* Mixes the bits of a number: addresses without a pattern. */
static __device__ __forceinline__ unsigned micro_hash(unsigned x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

/* Keeps @v from being optimised away; never stores. */
template <typename T> static __device__ void micro_use(T v, unsigned *cycles)
{
	if (v == (T)-123456789)
		cycles[0] = 1;
}

static __global__ void micro_spin(unsigned n)
{
	const long long from = clock64();
	while (clock64() - from < n)
		;
}

/* The first line of every program: the card, its clock as it runs now, an empty launch's time. */
static inline void micro_begin(const char *bench)
{
	cudaDeviceProp prop;
	if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess) {
		fprintf(stderr, "micro: no GPU here\n");
		exit(3);
	}
	const bool once = micro_once();
	const double ns = once ? -1 : shortest_ns([] { micro_spin<<<1, 32>>>(4000000); });
	const double empty = once ? -1 : shortest_ns([] { micro_spin<<<1, 32>>>(0); });
	Line(bench, "device")("gpu", prop.name)("sms", prop.multiProcessorCount)(
		"sm_mhz", once ? -1 : 4000000 / (ns - empty) * 1e3)("empty_ns", empty);
}

/* A cheap generator for data on the host. */
static inline uint32_t micro_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

#endif
