/*
 * Copies from global into shared memory (cp.async) and the port of an SM: cycles for each of a
 * warp's, of 16 bytes past L1 and of 4 bytes through it, by how many of its lanes ask for nothing
 * and get zeros, and by how many rows the others read. What is read lies in L2.
 */
#include "micro.cuh"

#define COPIES 64 /* of a thread */

struct Shape {
	unsigned rows;  /* of a warp's request */
	unsigned pitch; /* from row to row, bytes */
	unsigned empty; /* lanes of each eight that get zeros */
};

template <unsigned BYTES>
static __global__ void m_copies(const char *p, unsigned *cycles, Shape s, size_t warp_bytes)
{
	extern __shared__ __align__(128) char to[];
	const unsigned lane = threadIdx.x % MICRO_WARP, lanes = MICRO_WARP / s.rows;
	const size_t warp = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / MICRO_WARP;
	const char *from = p + warp * warp_bytes + lane / lanes * s.pitch + lane % lanes * BYTES;
	const unsigned place = (unsigned)__cvta_generic_to_shared(to) + threadIdx.x * BYTES;
	const unsigned bytes = lane % 8 < s.empty ? 0 : BYTES;
	const BlockClock clock;
#pragma unroll 8
	for (unsigned i = 0; i < COPIES; i++) {
		const char *const at = from + i * lanes * BYTES;
		if (BYTES == 16)
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(at),
			             "r"(bytes)
			             : "memory");
		else
			asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place), "l"(at),
			             "r"(bytes)
			             : "memory");
	}
	asm volatile("cp.async.wait_all;" ::: "memory");
	clock.stop(cycles);
}

template <unsigned BYTES> static void shapes(const char *p, unsigned blocks, unsigned warps)
{
	for (unsigned rows = 1; rows <= MICRO_WARP; rows *= 2)
		for (unsigned empty = 0; empty <= 8; empty += 4) {
			const unsigned row_bytes = COPIES * MICRO_WARP / rows * BYTES;
			const Shape s = { rows, (row_bytes + 127) / 128 * 128 + 128, empty };
			const double cycles = median_cycles(blocks, [&] {
				m_copies<BYTES><<<blocks, warps * MICRO_WARP, warps * MICRO_WARP * BYTES>>>(
					p, micro_cycles(), s, (size_t)s.pitch * rows);
			});
			Line("copies_port", "port")("bytes", BYTES)("rows", rows)("empty_of_8", empty)(
				"blocks", blocks)("warps", warps)("cycles", cycles)("cycles_per_request",
			                                                        cycles / COPIES / warps);
		}
}

int main()
{
	micro_begin("copies_port");
	const char *const p = micro_alloc<char>((size_t)1 << 30);
	const unsigned grids[] = { 1, 132 };
	for (unsigned blocks : grids)
		for (unsigned warps = 4; warps <= 16; warps *= 2) {
			shapes<16>(p, blocks, warps);
			shapes<4>(p, blocks, warps);
		}
	return 0;
}
