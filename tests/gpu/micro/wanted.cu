/*
 * What a warp's lanes want of L2, by how many lines a request asks for, how many different ones
 * there are on the whole chip and how many blocks ask: one load a thread behind one that all find
 * near, loads of 1 to 32 lines among 1 to 4096; and whole lines, by one block. Each is launched
 * four times in a row; prints a line per launch: the kernel, and whether it is the first or
 * "again". Times are taken by `pmpp-explore launches --backend cuda` (before.py).
 */
#include "micro.cuh"

#define TIMES 4
#define LINE_WORDS 32

/* Lanes of a request go to @lines lines, chosen anew by each warp and turn among @among. */
template <int TURNS>
static __global__ void wanted(const unsigned *in, unsigned *out, unsigned lines, unsigned among)
{
	const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, warp = t / 32, lane = t % 32;
	unsigned sum = 0;
#pragma unroll
	for (unsigned i = 0; i < TURNS; i++) {
		const unsigned which = ((warp * TURNS + i) * 32 + lane / (32 / lines)) * 2654435761u;
		sum += in[(which >> 8) % among * LINE_WORDS + lane];
	}
	out[t] = sum;
}

/* Whole lines, four of a request: each warp its own. */
template <int TURNS> static __global__ void whole(const uint4 *in, uint4 *out)
{
	const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
	uint4 sum = {};
#pragma unroll
	for (unsigned i = 0; i < TURNS; i++) {
		const uint4 v = in[t + i * n];
		sum.x += v.x + v.y + v.z + v.w;
	}
	if (sum.x == 1)
		out[t] = sum;
}

template <int TURNS> static void lines(const unsigned *in, unsigned *out)
{
	for (unsigned threads : { 32u, 128u, 512u, 1024u })
		for (int i = 0; i < TIMES; i++) {
			whole<TURNS><<<1, threads>>>((const uint4 *)in, (uint4 *)out);
			printf("whole_%d/1/%u %s\n", TURNS, threads, i ? "again" : "first");
		}
	micro_fail("whole", cudaDeviceSynchronize());
}

template <int TURNS> static void all(const unsigned *in, unsigned *out)
{
	const unsigned many[] = { 1, 4, 16, 44, 256, 4096 };
	for (unsigned blocks : { 1u, 33u, 175u })
		for (unsigned threads : { 32u, 128u, 512u })
			for (unsigned lines : { 1u, 4u, 32u })
				for (unsigned among : many)
					for (int i = 0; i < TIMES; i++) {
						wanted<TURNS><<<blocks, threads>>>(in, out, lines, among);
						printf("turns_%d/%u/%u/%u/%u %s\n", TURNS, blocks, threads, lines, among,
						       i ? "again" : "first");
					}
	micro_fail("wanted", cudaDeviceSynchronize());
}

int main()
{
	unsigned *const in = micro_alloc<unsigned>(4096 * LINE_WORDS);
	unsigned *const out = micro_alloc<unsigned>(1 << 17);
	cudaMemset(in, 0, 4096 * LINE_WORDS * 4);
	all<1>(in, out);
	all<4>(in, out);
	lines<1>(in, out);
	lines<4>(in, out);
	lines<16>(in, out);
	return 0;
}
