/*
 * Stores that leave an SM: cycles of its port by the lines of a request, by how much of each line
 * it writes, and by how many SMs store at once. A request's lanes go to as many rows as it has
 * lines, each lane to a word of 4, 8 or 16 bytes beside its neighbour's, as fragments of a matrix
 * are stored. Each warp stores to places of its own, which lie in L2. "apart": words of 4 bytes,
 * every other of a row, those between them by the next request, as sums of products are stored.
 */
#include "micro.cuh"

#define STORES 64 /* of a thread */

struct Shape {
	unsigned lanes; /* of a row */
	unsigned pitch; /* from row to row, bytes */
};

template <typename T> static __device__ T made(unsigned from);
template <> __device__ unsigned made<unsigned>(unsigned from)
{
	return from;
}
template <> __device__ uint2 made<uint2>(unsigned from)
{
	return make_uint2(from, from);
}
template <> __device__ uint4 made<uint4>(unsigned from)
{
	return make_uint4(from, from, from, from);
}

/* A warp's rows from one request to the next: one piece further along them. */
template <typename T>
static __global__ void m_stores(char *p, unsigned *cycles, Shape s, size_t warp_bytes)
{
	const unsigned lane = threadIdx.x % MICRO_WARP, row = lane / s.lanes;
	const size_t warp = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / MICRO_WARP;
	char *at = p + warp * warp_bytes + (size_t)row * s.pitch + lane % s.lanes * sizeof(T);
	const unsigned step = s.lanes * sizeof(T);
	const T v = made<T>(lane);
	const BlockClock clock;
#pragma unroll 8
	for (unsigned i = 0; i < STORES; i++)
		*(T *)(at + i * step) = v;
	clock.stop(cycles);
}

static __global__ void m_apart(char *p, unsigned *cycles, Shape s, size_t warp_bytes)
{
	const unsigned lane = threadIdx.x % MICRO_WARP, row = lane / s.lanes;
	const size_t warp = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / MICRO_WARP;
	char *at = p + warp * warp_bytes + (size_t)row * s.pitch + lane % s.lanes * 8;
	const BlockClock clock;
#pragma unroll 8
	for (unsigned i = 0; i < STORES; i++)
		*(unsigned *)(at + i / 2 * s.lanes * 8 + i % 2 * 4) = lane;
	clock.stop(cycles);
}

static void apart(char *p, unsigned blocks, unsigned warps)
{
	for (unsigned lanes = 1; lanes <= MICRO_WARP; lanes *= 2) {
		const unsigned rows = MICRO_WARP / lanes, row_bytes = STORES * lanes * 4;
		const Shape s = { lanes, (row_bytes + 127) / 128 * 128 + 128 };
		const double cycles = median_cycles(blocks, [&] {
			m_apart<<<blocks, warps * MICRO_WARP>>>(p, micro_cycles(), s, (size_t)s.pitch * rows);
		});
		const double requests = (double)STORES * warps;
		Line("stores", "apart")("lanes", lanes)("rows", rows)("blocks", blocks)("warps", warps)(
			"cycles", cycles)("cycles_per_request", cycles / requests)("cycles_per_row",
		                                                               cycles / requests / rows);
	}
}

template <typename T> static void shapes(char *p, unsigned blocks, unsigned warps)
{
	for (unsigned lanes = 1; lanes <= MICRO_WARP; lanes *= 2) {
		const unsigned rows = MICRO_WARP / lanes, row_bytes = STORES * lanes * sizeof(T);
		const Shape s = { lanes, (row_bytes + 127) / 128 * 128 + 128 };
		const size_t warp_bytes = (size_t)s.pitch * rows;
		const double cycles = median_cycles(blocks, [&] {
			m_stores<T><<<blocks, warps * MICRO_WARP>>>(p, micro_cycles(), s, warp_bytes);
		});
		const double requests = (double)STORES * warps;
		Line("stores", "port")("word_bytes", sizeof(T))("lanes", lanes)("rows", rows)(
			"piece_bytes", lanes * sizeof(T))("blocks", blocks)("warps", warps)("cycles", cycles)(
			"cycles_per_request", cycles / requests)("cycles_per_row", cycles / requests / rows);
	}
}

int main()
{
	micro_begin("stores");
	char *const p = micro_alloc<char>((size_t)2 << 30);
	const unsigned grids[] = { 1, 16, 132 };
	for (unsigned blocks : grids)
		for (unsigned warps = 1; warps <= 32; warps *= 4) {
			shapes<unsigned>(p, blocks, warps);
			shapes<uint2>(p, blocks, warps);
			shapes<uint4>(p, blocks, warps);
			apart(p, blocks, warps);
		}
	return 0;
}
