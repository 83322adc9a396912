/*
 * What compare-and-swaps of a warp take at a unit of L2, by how its lanes lie: some of them want
 * one word, the rest other words of the same sector or of others. None of them changes a word: the
 * value that they compare with is never there (fails), or they put there what stands there (holds).
 * The same of additions whose result nobody wants (adds), and of those that return it (gets).
 * Nanoseconds for each warp's request, of many warps that all want the same words.
 */
#include "micro.cuh"

#define BLOCKS 264
#define THREADS 256
#define EACH 32

struct Layout {
	unsigned hot;          /* lanes that want word 0 */
	unsigned words, apart; /* the others: so many words, so many words from one to the next */
};

static __device__ unsigned word_of(const Layout &c)
{
	const unsigned lane = threadIdx.x % MICRO_WARP;
	return lane < c.hot ? 0 : (1 + (lane - c.hot) % c.words) * c.apart;
}

enum Operation { FAILS, HOLDS, ADDS, GETS };

template <Operation O> static __global__ void m_swaps(unsigned *words, Layout c, unsigned *cycles)
{
	unsigned *const p = words + word_of(c);
	unsigned seen = 0;
	for (unsigned i = 0; i < EACH; i++) {
		if (O == FAILS)
			seen |= atomicCAS(p, 77 + i + seen, 1);
		else if (O == HOLDS)
			seen |= atomicCAS(p, seen, seen);
		else if (O == ADDS)
			atomicAdd(p, 0u);
		else
			seen |= atomicAdd(p, seen);
	}
	micro_use((int)seen + 1, cycles);
}

template <Operation O> static void measure(const char *name, unsigned *words, const Layout &c)
{
	unsigned *const out = micro_cycles();
	const double ns = shortest_ns([&] { m_swaps<O><<<BLOCKS, THREADS>>>(words, c, out); }, 3);
	Line("swaps", name)("hot", c.hot)("words", c.words)("apart", c.apart)(
		"warp_ns", ns / ((double)BLOCKS * THREADS / MICRO_WARP * EACH));
}

int main()
{
	micro_begin("swaps");
	unsigned *const words = micro_alloc<unsigned>(1 << 16);
	const unsigned hots[] = { 0, 8, 16, 24, 32 };
	const unsigned others[][2] = { { 1, 1 }, { 4, 1 },  { 7, 1 }, { 16, 1 },  { 31, 1 },  { 3, 8 },
		                           { 6, 8 }, { 31, 8 }, { 1, 8 }, { 7, 128 }, { 31, 128 } };
	for (const auto &o : others)
		for (unsigned hot : hots) {
			const Layout c = { hot, o[0], o[1] };
			measure<FAILS>("fails", words, c);
			measure<HOLDS>("holds", words, c);
			measure<ADDS>("adds", words, c);
			measure<GETS>("gets", words, c);
			if (hot == 32)
				break;
		}
	return 0;
}
