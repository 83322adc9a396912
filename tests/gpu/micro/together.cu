/*
 * Loads that depend on the loads before: by lines that a warp asks for together, by warps of an SM
 * and by SMs; of lines of its own, or of those that all others ask for at the same time; from L2
 * and from memory. And chains of single words, each in a line of its own: by lanes, chains of a
 * thread and size of what they walk through.
 */
#include "micro.cuh"

#define STEPS 128
#define LINE_WORDS 32

/* Steps of K lines, @next words apart. */
template <int K>
static __global__ void m_steps(unsigned *cycles, const unsigned *a, size_t own, size_t next)
{
	const unsigned *p =
		a + (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * own + threadIdx.x % LINE_WORDS;
	unsigned all = 0;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < STEPS; i++) {
		unsigned v[K], sum = 0;
#pragma unroll
		for (int k = 0; k < K; k++)
			v[k] = __ldcg(p + k * LINE_WORDS);
#pragma unroll
		for (int k = 0; k < K; k++)
			sum |= v[k];
		p += next + sum; /* all words are 0 */
		all += sum;
	}
	clock.stop(cycles);
	micro_use((int)all, cycles);
}

template <int K> static void steps(const unsigned *a, size_t words)
{
	unsigned *const out = micro_cycles();
	static const unsigned grids[] = { 1, 16, 66, 132 };
	for (const unsigned blocks : grids)
		for (unsigned threads = 32; threads <= 512; threads *= 4)
			for (int same = 0; same <= 1; same++) {
				const size_t piece = (size_t)STEPS * K * LINE_WORDS;
				const size_t own = same ? 0 : piece;
				double cycles[2];
				if (piece * (same ? 1 : blocks * threads / 32) > words)
					continue;
				for (int cold = 0; cold <= 1; cold++) {
					double sum = 0;
					for (int r = 0; r < 3; r++) {
						if (cold)
							micro_flush_l2();
						m_steps<K><<<blocks, threads>>>(out, a, own, K * LINE_WORDS);
						if (r) {
							unsigned host[132], longest = 0;
							micro_fail("copy",
							           cudaMemcpy(host, out, 4 * blocks, cudaMemcpyDeviceToHost));
							for (unsigned b = 0; b < blocks; b++)
								longest = host[b] > longest ? host[b] : longest;
							sum += longest / 2.0;
						}
					}
					cycles[cold] = sum / STEPS;
				}
				Line("together", same ? "same_lines" : "own_lines")("lines", K)("blocks", blocks)(
					"threads", threads)("bytes",
				                        (double)(piece * 4 * (same ? 1 : blocks * threads / 32)))(
					"cycles_again", cycles[0])("cycles_cold", cycles[1]);
			}
}

/* A walk of @hops from place to place of @words, a power of two, in C chains for each lane. */
template <int C>
static __global__ void m_walk(unsigned *cycles, const unsigned *next, unsigned words,
                              unsigned lanes, int hops)
{
	unsigned at[C], sum = 0;
	const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
	for (int c = 0; c < C; c++)
		at[c] = micro_hash(t * 8 + (unsigned)c) & (words - 1);
	const BlockClock clock;
	if (threadIdx.x % 32 < lanes)
#pragma unroll 1
		for (int h = 0; h < hops; h++)
#pragma unroll
			for (int c = 0; c < C; c++)
				at[c] = next[at[c]];
	clock.stop(cycles);
	for (int c = 0; c < C; c++)
		sum += at[c];
	micro_use((int)sum, cycles);
}

static __global__ void fill(unsigned *next, unsigned words)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
		next[i] = micro_hash((unsigned)i * 2654435761u + 12345u) & (words - 1);
}

static void walks(unsigned *next, unsigned words)
{
	unsigned *const out = micro_cycles();
	static const unsigned lane_counts[] = { 1, 8, 32 };
	const int hops = 64;
	fill<<<1056, 256>>>(next, words);
	for (const unsigned lanes : lane_counts)
		for (unsigned blocks = 1; blocks <= 132; blocks += 131)
			for (unsigned threads = 32; threads <= 1024; threads *= 4) {
				Line line("together", "walk");
				line("bytes", words * 4.0)("lanes", lanes)("blocks", blocks)("threads", threads);
#define CASE(n)                                                                           \
	line("chains_" #n, median_cycles(blocks, [&] {                                        \
						   m_walk<n><<<blocks, threads>>>(out, next, words, lanes, hops); \
					   }) / hops)
				CASE(1);
				CASE(2);
				CASE(4);
				CASE(8);
			}
}

int main()
{
	micro_begin("together");
	const size_t words = (size_t)1 << 28;
	unsigned *const a = micro_alloc<unsigned>(words);
	steps<1>(a, words);
	steps<4>(a, words);
	steps<8>(a, words);
	steps<16>(a, words);
	for (unsigned bits = 14; bits <= 28; bits += 2)
		walks(a, 1u << bits);
	return 0;
}
