/*
 * Atomics by how they collide: lanes of a warp on one word, words of one sector, sectors of one
 * request, and how many sectors the whole grid works on. Global and shared memory; and histograms
 * of random, skewed and sorted data, which mix them all.
 */
#include "micro.cuh"

#define TIMES 32

struct Collide {
	int multiplicity; /* lanes on one word */
	int words;        /* of one sector, side by side */
	unsigned hot;     /* sectors that the whole grid works on, a power of two */
};

/* What is done: X(name, type, statement) */
#define ATOMICS(X)                                                    \
	X(red_add_u32, unsigned,                                          \
	  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(3u)   \
	               : "memory"))                                       \
	X(red_add_f32, float,                                             \
	  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(1.0f) \
	               : "memory"))                                       \
	X(red_max_u32, unsigned,                                          \
	  asm volatile("red.global.max.u32 [%0], %1;" ::"l"(p), "r"(3u)   \
	               : "memory"))                                       \
	X(red_add_u64, unsigned long long,                                \
	  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(3ull) \
	               : "memory"))                                       \
	X(red_add_f64, double,                                            \
	  asm volatile("red.global.add.f64 [%0], %1;" ::"l"(p), "d"(1.0)  \
	               : "memory"))                                       \
	X(atom_add_u32, unsigned, sum += atomicAdd(p, 3u))                \
	X(atom_add_f32, float, sum += (unsigned)atomicAdd(p, 1.0f))       \
	X(atom_exch_u32, unsigned, sum += atomicExch(p, 3u))

#define X(name, type, statement)                                                            \
	static __global__ void m_##name(unsigned *cycles, void *data, Collide c)                \
	{                                                                                       \
		const unsigned lane = threadIdx.x % 32;                                             \
		const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;                 \
		const unsigned group = lane / (unsigned)(c.multiplicity * c.words);                 \
		const unsigned word = lane / (unsigned)c.multiplicity % (unsigned)c.words;          \
		unsigned sum = 0;                                                                   \
		for (unsigned i = 0; i < TIMES; i++) {                                              \
			const unsigned sector = micro_hash(warp * 4096 + i * 32 + group) & (c.hot - 1); \
			type *const p = (type *)data + (size_t)sector * (32 / sizeof(type)) + word;     \
			statement;                                                                      \
		}                                                                                   \
		micro_use(sum, cycles);                                                             \
	}
ATOMICS(X)
#undef X

static void global_atomics(void *data)
{
	unsigned *const out = micro_cycles();
	const int sms = micro_sms();
	for (unsigned hot = 1; hot <= 1u << 18; hot *= hot < 1024 ? 32 : 256)
		for (int words = 1; words <= 8; words *= 2)
			for (int m = 1; m * words <= 32; m *= 2)
				for (int all = 0; all <= 1; all++) {
					const Collide c = { m, words, hot };
					const unsigned blocks = all ? 2u * (unsigned)sms : 1;
					const double requests = blocks * 8.0 * TIMES;
#define X(name, type, statement)                                                            \
	if (words * sizeof(type) <= 32) {                                                       \
		const double ns = shortest_ns([&] { m_##name<<<blocks, 256>>>(out, data, c); }, 3); \
		Line("atomics", #name)("lanes_per_word", m)("words_per_sector", words)(             \
			"sectors_per_request", 32 / (m * words))("hot_sectors", hot)("blocks", blocks)( \
			"ns", ns)("ns_per_request", ns / requests);                                     \
	}
					ATOMICS(X)
#undef X
				}
}

/* --- shared memory --- */

#define SHARED_ATOMICS(X)                                                                         \
	X(shared_add_u32, unsigned,                                                                   \
	  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(add)                             \
	               : "memory"))                                                                   \
	X(shared_inc_u32, unsigned, asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(at) : "memory")) \
	X(shared_max_u32, unsigned,                                                                   \
	  asm volatile("red.shared.max.u32 [%0], %1;" ::"r"(at), "r"(add)                             \
	               : "memory"))                                                                   \
	X(shared_atom_add_u32, unsigned, sum += atomicAdd(s + word, add))                             \
	X(shared_add_f32, float, atomicAdd((float *)s + word, 1.0f))                                  \
	X(shared_add_u64, unsigned long long, atomicAdd((unsigned long long *)s + word, 3ull))        \
	X(shared_exch_u32, unsigned, sum += atomicExch(s + word, add))                                \
	X(shared_cas_u32, unsigned, sum += atomicCAS(s + word, add, sum))

#define X(name, type, statement)                                                                  \
	static __global__ void m_##name(unsigned *cycles, int multiplicity, int stride, unsigned add) \
	{                                                                                             \
		__shared__ __align__(8) unsigned s[8192];                                                 \
		for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x)                                 \
			s[i] = 0;                                                                             \
		const unsigned word = threadIdx.x % 32 / (unsigned)multiplicity * (unsigned)stride;       \
		const unsigned at = (unsigned)__cvta_generic_to_shared((type *)s + word);                 \
		unsigned sum = 0;                                                                         \
		const BlockClock clock;                                                                   \
		_Pragma("unroll 1") for (int i = 0; i < TIMES; i++) statement;                            \
		clock.stop(cycles);                                                                       \
		micro_use(sum + at, cycles);                                                              \
	}
SHARED_ATOMICS(X)
#undef X

static void shared_atomics()
{
	unsigned *const out = micro_cycles();
	for (int stride = 1; stride <= 32; stride *= stride < 4 ? 2 : 8)
		for (int m = 1; m <= 32; m *= 2)
			for (int threads = 32; threads <= 1024; threads *= 32) {
				const double requests = threads / 32.0 * TIMES;
#define X(name, type, statement)                                                       \
	Line("atomics", #name)("lanes_per_word", m)("stride", stride)("threads", threads)( \
		"cycles_per_request",                                                          \
		median_cycles(1, [&] { m_##name<<<1, threads>>>(out, m, stride, 5); }) / requests);
				SHARED_ATOMICS(X)
#undef X
			}
}

/* --- histograms --- */

#define ITEMS (1u << 22)

template <typename T>
static __global__ void m_histogram_global(const unsigned *bin_of, T *bins, unsigned n)
{
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(bins + bin_of[i], (T)1);
}

template <typename T>
static __global__ void m_histogram_shared(const unsigned *bin_of, T *bins, unsigned n,
                                          unsigned n_bins)
{
	extern __shared__ unsigned s_bytes[];
	T *const s = (T *)s_bytes;
	for (unsigned b = threadIdx.x; b < n_bins; b += blockDim.x)
		s[b] = 0;
	__syncthreads();
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(s + bin_of[i], (T)1);
	__syncthreads();
	for (unsigned b = threadIdx.x; b < n_bins; b += blockDim.x)
		if (s[b] != (T)0)
			atomicAdd(bins + b, s[b]);
}

/* Random; 3/4 in an eighth of the bins, again and again; in runs; all one. */
static unsigned draw_bin(int data, unsigned i, unsigned n_bins, uint64_t *state)
{
	unsigned wide = n_bins;
	switch (data) {
	case 0: return micro_random(state) % n_bins;
	case 1:
		while (wide > 1 && micro_random(state) % 4)
			wide = (wide + 7) / 8;
		return micro_random(state) % wide;
	case 2: return (unsigned)((uint64_t)i * n_bins / ITEMS);
	default: return 0;
	}
}

static void histograms(void *bins)
{
	static const char *const names[] = { "random", "skewed", "sorted", "one" };
	unsigned *const bin_of = micro_alloc<unsigned>(ITEMS);
	unsigned *const host = (unsigned *)malloc(ITEMS * sizeof *host);
	const unsigned blocks = 8u * (unsigned)micro_sms();
	for (int data = 0; data < 4; data++)
		for (unsigned n = 1; n <= 1u << 20; n *= 4) {
			uint64_t state = 7;
			for (unsigned i = 0; i < ITEMS; i++)
				host[i] = draw_bin(data, i, n, &state);
			micro_fail("copy",
			           cudaMemcpy(bin_of, host, ITEMS * sizeof *host, cudaMemcpyHostToDevice));
			const double u = shortest_ns(
				[&] {
					m_histogram_global<unsigned><<<blocks, 256>>>(bin_of, (unsigned *)bins, ITEMS);
				},
				3);
			Line("atomics", "histogram_global_u32")("data", names[data])("bins", n)("ns", u)(
				"ns_per_item", u / ITEMS);
			const double f = shortest_ns(
				[&] { m_histogram_global<float><<<blocks, 256>>>(bin_of, (float *)bins, ITEMS); },
				3);
			Line("atomics", "histogram_global_f32")("data", names[data])("bins", n)("ns", f)(
				"ns_per_item", f / ITEMS);
			if (n > 8192)
				continue;
			const double su = shortest_ns(
				[&] {
					m_histogram_shared<unsigned>
						<<<blocks, 256, n * 4>>>(bin_of, (unsigned *)bins, ITEMS, n);
				},
				3);
			Line("atomics", "histogram_shared_u32")("data", names[data])("bins", n)("ns", su)(
				"ns_per_item", su / ITEMS);
			const double sf = shortest_ns(
				[&] {
					m_histogram_shared<float>
						<<<blocks, 256, n * 4>>>(bin_of, (float *)bins, ITEMS, n);
				},
				3);
			Line("atomics", "histogram_shared_f32")("data", names[data])("bins", n)("ns", sf)(
				"ns_per_item", sf / ITEMS);
		}
	free(host);
}

int main()
{
	micro_begin("atomics");
	char *const data = micro_alloc<char>((size_t)32 << 20);
	global_atomics(data);
	shared_atomics();
	histograms(data);
	return 0;
}
