/*
 * Instructions that are done again for each different value that the lanes of a warp have: loads of
 * constants at places that lanes choose, by how many different words they ask for and how far these
 * lie apart; matches, by how many different values there are. Beside them reductions of a warp,
 * which are not. Each turn needs the result of the last: one warp tells how long it waits, many
 * what an SM delivers. Also words of a table of constants one after the other, by its size, of one
 * warp.
 */
#include "micro.cuh"

#define WORDS 16384 /* 64 KiB, all that there is */
#define TURNS 64

static __constant__ unsigned table[WORDS];

/* Lane l asks for word (l % different) * apart, plus what it found: 0. */
static __global__ void m_lanes(unsigned different, unsigned apart, unsigned *cycles)
{
	unsigned at = threadIdx.x % 32 % different * apart;
#pragma unroll 1
	for (unsigned i = 0; i < 4; i++)
		at += table[at];
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TURNS; i++)
		at += table[at];
	clock.stop(cycles);
	micro_use(at + 1, cycles);
}

enum Kind { ANY, ALL, ADD, OR };

template <Kind K>
static __global__ void m_exchange(unsigned different, unsigned zero, unsigned *cycles)
{
	const unsigned own = threadIdx.x % 32 % different;
	unsigned x = own;
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TURNS; i++) {
		int same;
		if (K == ANY)
			x = (__match_any_sync(~0u, x) & zero) | own;
		else if (K == ALL)
			x = (__match_all_sync(~0u, x, &same) & zero) | own;
		else if (K == ADD)
			x = (__reduce_add_sync(~0u, x) & zero) | own;
		else
			x = (__reduce_or_sync(~0u, x) & zero) | own;
	}
	clock.stop(cycles);
	micro_use(x + 1, cycles);
}

template <Kind K> static void exchanges(const char *name)
{
	for (unsigned threads = 32; threads <= 1024; threads *= threads == 32 ? 8 : 4)
		for (unsigned different = 1; different <= 32; different *= 2) {
			const double cycles = median_cycles(
				1, [&] { m_exchange<K><<<1, threads>>>(different, 0, micro_cycles()); });
			Line("replays", name)("threads", threads)("different", different)("turn_cycles",
			                                                                  cycles / TURNS);
		}
}

/* All lanes ask for one word, the next turn for one that lies @apart further, round @words of them;
 * the cycles of the second time round. */
static __global__ void m_round(unsigned words, unsigned apart, unsigned *cycles)
{
	unsigned at = 0, zero = 0;
#pragma unroll 1
	for (unsigned i = 0; i < words / apart; i++)
		zero += table[(at += apart) % words + zero];
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < words / apart; i++)
		zero += table[(at += apart) % words + zero];
	clock.stop(cycles);
	micro_use(zero + 1, cycles);
}

int main()
{
	micro_begin("replays");
	unsigned *const out = micro_cycles();
	for (unsigned threads = 32; threads <= 1024; threads *= threads == 32 ? 8 : 4)
		for (unsigned apart = 1; apart <= 64; apart *= 4)
			for (unsigned different = 1; different <= 32; different *= 2) {
				const double cycles =
					median_cycles(1, [&] { m_lanes<<<1, threads>>>(different, apart, out); });
				Line("replays", "constants")("threads", threads)("apart", apart)(
					"different", different)("turn_cycles", cycles / TURNS);
			}
	for (unsigned words = 256; words <= WORDS; words *= 4)
		for (unsigned apart = 1; apart <= 64; apart *= 8) {
			const double cycles = median_cycles(1, [&] { m_round<<<1, 32>>>(words, apart, out); });
			Line("replays", "round")("words", words)("apart", apart)("turn_cycles",
			                                                         cycles * apart / words);
		}
	exchanges<ANY>("match_any");
	exchanges<ALL>("match_all");
	exchanges<ADD>("reduce_add");
	exchanges<OR>("reduce_or");
	return 0;
}
