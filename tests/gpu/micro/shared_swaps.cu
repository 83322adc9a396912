/*
 * Atomics on shared memory that machine code does by compare-and-swap: sums of floats and doubles,
 * minima of floats, beside those of integers that it has an instruction for. Cycles per atomic of a
 * warp, by how many words a warp's lanes want, how these lie among the lanes, and how many warps
 * want them.
 */
#include "micro.cuh"

static const unsigned TURNS = 32;

enum Layout { SPREAD, SORTED, MIXED }; /* lane % words; lane * words / 32; by chance each turn */
enum What { SUM_INT, SUM_FLOAT, SUM_DOUBLE, MIN_FLOAT, SWAP_INT };
static const char *const layouts[] = { "spread", "sorted", "mixed" };
static const char *const whats[] = { "sum_int", "sum_float", "sum_double", "min_float",
	                                 "swap_int" };

struct Shape {
	unsigned words;
	Layout layout;
	bool own; /* words of the warp alone; else of the block */
};

template <What W>
static __device__ __forceinline__ void change(double *all, unsigned at, unsigned i)
{
	if (W == SUM_INT)
		atomicAdd((int *)all + at, (int)i);
	else if (W == SUM_FLOAT)
		atomicAdd((float *)all + at, 1.5f);
	else if (W == SUM_DOUBLE)
		atomicAdd(all + at, 1.5);
	else if (W == MIN_FLOAT) { /* each turn smaller than what is there */
		int *const p = (int *)all + at;
		const float mine = -(float)(i * 1024 + threadIdx.x);
		int old = *(volatile int *)p, seen;
		do {
			seen = old;
			if (__int_as_float(seen) <= mine)
				break;
			old = atomicCAS(p, seen, __float_as_int(mine));
		} while (old != seen);
	} else {
		unsigned *const p = (unsigned *)all + at;
		unsigned old = *(volatile unsigned *)p, seen;
		do {
			seen = old;
			old = atomicCAS(p, seen, seen * 3 + 1);
		} while (old != seen);
	}
}

template <What W> static __global__ void m_swaps(Shape s, unsigned *cycles)
{
	__shared__ double all[1024];
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
		all[i] = 0;
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TURNS; i++) {
		unsigned at = s.layout == SPREAD   ? lane % s.words
		              : s.layout == SORTED ? lane * s.words / 32
		                                   : micro_hash(threadIdx.x * TURNS + i) % s.words;
		if (s.own)
			at += warp * 32;
		change<W>(all, at, i);
	}
	clock.stop(cycles);
}

template <What W> static void measure(Shape s, unsigned threads, unsigned per_sm)
{
	const unsigned blocks = per_sm * (unsigned)micro_sms();
	const double cycles =
		median_cycles(blocks, [&] { m_swaps<W><<<blocks, threads>>>(s, micro_cycles()); });
	Line("shared_swaps", whats[W])("layout", layouts[s.layout])("words", s.words)("own", s.own)(
		"warps", threads / 32)("blocks_per_sm", per_sm)("cycles", cycles / TURNS)(
		"cycles_per_warp", cycles / TURNS / (threads / 32 * per_sm));
}

template <What W> static void all()
{
	static const unsigned words[] = { 1, 2, 5, 8, 32 };
	static const unsigned warps[] = { 1, 2, 4, 8, 16, 32 };
	for (unsigned w : words)
		for (int l = SPREAD; l <= MIXED; l++)
			for (int own = 0; own < 2; own++)
				for (unsigned n : warps)
					if ((w > 1 && w < 32) || l == SPREAD) {
						measure<W>(Shape{ w, (Layout)l, own != 0 }, n * 32, 1);
						if (n <= 8 && l == SPREAD)
							measure<W>(Shape{ w, (Layout)l, own != 0 }, n * 32, 4);
					}
}

int main()
{
	micro_begin("shared_swaps");
	all<SUM_INT>();
	all<SUM_FLOAT>();
	all<SUM_DOUBLE>();
	all<MIN_FLOAT>();
	all<SWAP_INT>();
	return 0;
}
