/*
 * Scattered accesses: what comes from or goes to L2 and DRAM when lanes touch random sectors, both
 * sectors of a pair, whole lines, or words a stride apart; loads and stores, whole sectors and
 * parts of them. Buffers of 16 MiB lie in L2, of 1 GiB they do not.
 */
#include "micro.cuh"

struct Touch {
	unsigned lanes_together; /* neighbouring lanes that share a place */
	unsigned lane_bytes;     /* from one of them to the next inside it */
	unsigned place_bytes;    /* places lie at random multiples of this */
};

/* @places, lanes_together: powers of two. */
static __device__ size_t place_of(unsigned index, const Touch &t, unsigned places)
{
	unsigned x = index >> (__ffs((int)t.lanes_together) - 1);
	x ^= x >> 17;
	x *= 0xed5ad4bbu;
	x ^= x >> 11;
	x *= 0xac4c1b51u;
	x ^= x >> 15;
	return (size_t)(x & (places - 1)) * t.place_bytes +
	       (index & (t.lanes_together - 1)) * t.lane_bytes;
}

static __global__ void m_random_load(const char *p, unsigned *cycles, Touch t, unsigned places,
                                     int each)
{
	const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
	const unsigned all = gridDim.x * blockDim.x;
	unsigned sum = 0;
#pragma unroll 4
	for (int i = 0; i < each; i++)
		sum ^= *(const unsigned *)(p + place_of(me + i * all, t, places));
	micro_use(sum, cycles);
}

static __global__ void m_random_store(char *p, Touch t, unsigned places, int each)
{
	const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
	const unsigned all = gridDim.x * blockDim.x;
#pragma unroll 4
	for (int i = 0; i < each; i++)
		*(unsigned *)(p + place_of(me + i * all, t, places)) = (unsigned)i;
}

static __global__ void m_random_red(char *p, Touch t, unsigned places, int each)
{
	const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
	const unsigned all = gridDim.x * blockDim.x;
#pragma unroll 4
	for (int i = 0; i < each; i++)
		atomicAdd((unsigned *)(p + place_of(me + i * all, t, places)), 1u);
}

static __global__ void m_strided_load(const char *p, unsigned *cycles, size_t stride, size_t n)
{
	const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	unsigned sum = 0;
	if (i < n)
		sum = *(const unsigned *)(p + i * stride);
	micro_use(sum, cycles);
}

static __global__ void m_strided_store(char *p, size_t stride, size_t n)
{
	const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	if (i < n)
		*(unsigned *)(p + i * stride) = (unsigned)i;
}

int main()
{
	micro_begin("scatter");
	const size_t most = (size_t)1 << 30;
	char *const p = micro_alloc<char>(most);
	size_t granularity = 0;
	cudaDeviceGetLimit(&granularity, cudaLimitMaxL2FetchGranularity);
	Line("scatter", "limit")("l2_fetch_granularity", (double)granularity);
	static const struct {
		const char *name;
		Touch t;
	} touches[] = {
		{ "word", { 1, 0, 32 } },
		{ "word_of_pair", { 1, 0, 64 } },
		{ "word_of_line", { 1, 0, 128 } },
		{ "half_sector", { 4, 4, 32 } },
		{ "sector", { 8, 4, 32 } },
		{ "sector_of_pair", { 8, 4, 64 } },
		{ "sector_of_line", { 8, 4, 128 } },
		{ "word_in_both_of_pair", { 2, 32, 64 } },
		{ "word_in_all_of_line", { 4, 32, 128 } },
		{ "pair", { 16, 4, 64 } },
		{ "line", { 32, 4, 128 } },
		{ "word_in_first_and_third", { 2, 64, 128 } },
	};
	for (size_t bytes = (size_t)16 << 20; bytes <= most; bytes *= 64)
		for (const auto &k : touches) {
			const unsigned blocks = 16384;
			const int each = 8;
			const double accesses = blocks * 256.0 * each;
			const unsigned places = (unsigned)(bytes / k.t.place_bytes);
			const auto flush = [&] {
				if (bytes == most)
					micro_flush_l2();
			};
			const double loads = shortest_ns(
				[&] { m_random_load<<<blocks, 256>>>(p, micro_cycles(), k.t, places, each); },
				flush, 3);
			Line("scatter", "random_load")("touch", k.name)("mib", (double)(bytes >> 20))(
				"accesses", accesses)("places", accesses / k.t.lanes_together)("ns", loads)(
				"places_per_ns", accesses / k.t.lanes_together / loads);
			const double stores = shortest_ns(
				[&] { m_random_store<<<blocks, 256>>>(p, k.t, places, each); }, flush, 3);
			Line("scatter", "random_store")("touch", k.name)("mib", (double)(bytes >> 20))(
				"accesses", accesses)("places", accesses / k.t.lanes_together)("ns", stores)(
				"places_per_ns", accesses / k.t.lanes_together / stores);
			const double reds =
				shortest_ns([&] { m_random_red<<<blocks, 256>>>(p, k.t, places, each); }, flush, 3);
			Line("scatter", "random_red")("touch", k.name)("mib", (double)(bytes >> 20))(
				"accesses", accesses)("places", accesses / k.t.lanes_together)("ns", reds)(
				"places_per_ns", accesses / k.t.lanes_together / reds);
		}
	for (size_t stride = 4; stride <= 1024; stride *= 2) {
		const size_t n = most / stride > 1u << 24 ? 1u << 24 : most / stride;
		const double loads = shortest_ns(
			[&] { m_strided_load<<<(unsigned)(n / 256), 256>>>(p, micro_cycles(), stride, n); },
			micro_flush_l2, 3);
		Line("scatter", "strided_load")("stride", (double)stride)("n", (double)n)("ns", loads)(
			"gbs_of_touched_sectors", (double)n * (stride < 32 ? stride : 32) / loads);
		const double stores =
			shortest_ns([&] { m_strided_store<<<(unsigned)(n / 256), 256>>>(p, stride, n); },
		                micro_flush_l2, 3);
		Line("scatter", "strided_store")("stride", (double)stride)("n", (double)n)("ns", stores)(
			"gbs_of_touched_sectors", (double)n * (stride < 32 ? stride : 32) / stores);
	}
	return 0;
}
