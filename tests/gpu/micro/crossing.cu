/*
 * Where waits and work cross: loops whose warps each wait most of the time, by the number of warps
 * that share a scheduler. What fills the waits: nothing but additions that depend on each other,
 * products and integers in turn, short loops that branch, loads of shared memory. Cycles of an
 * iteration, and the instructions of it, tell how waits of one warp and work of all add up.
 */
#include "micro.cuh"

#define TURNS 512

enum { CHAIN, TURN, SHORT_LOOP, LONG_LOOP, SHARED, SHARED_LOOP, DIVIDE, TWO_CHAINS };

template <int WHAT> static __global__ void m_crossing(unsigned *cycles, int turns, float a, int k)
{
	__shared__ int next[1024];
	const int t = (int)threadIdx.x;
	float x = (float)t, y = a;
	int i = k, at = t;
	next[t] = t;
	const BlockClock clock;
	if (WHAT == SHORT_LOOP) {
#pragma unroll 1
		for (int n = 0; n < 16 * turns; n++)
			x = x * a + a;
	} else if (WHAT == LONG_LOOP) {
#pragma unroll 1
		for (int n = 0; n < 2 * turns; n++)
#pragma unroll
			for (int m = 0; m < 8; m++)
				x = x * a + a;
	} else if (WHAT == SHARED_LOOP) {
#pragma unroll 1
		for (int n = 0; n < 4 * turns; n++)
			at = next[at];
	} else {
#pragma unroll 1
		for (int n = 0; n < turns; n++)
#pragma unroll
			for (int m = 0; m < 16; m++) {
				if (WHAT == CHAIN)
					x = x * a + a;
				else if (WHAT == TWO_CHAINS) {
					x = x * a + a;
					y = y * a + x;
				} else if (WHAT == TURN) {
					x = x * a + a;
					i = (i ^ k) + m;
				} else if (WHAT == SHARED && m % 4 == 0)
					at = next[at];
				else if (WHAT == DIVIDE && m % 4 == 0)
					x = __fdividef(a, x);
			}
	}
	clock.stop(cycles);
	micro_use(x + y + (float)(i + at), cycles);
}

template <int WHAT> static void measure(const char *name, double iterations)
{
	const unsigned sms = (unsigned)micro_sms();
	static const unsigned warps[] = { 1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64 };
	for (const unsigned w : warps) {
		const unsigned blocks = w > 32 ? 2 : 1;
		const double c = median_cycles(blocks * sms, [&] {
			m_crossing<WHAT><<<blocks * sms, w / blocks * 32>>>(micro_cycles(), TURNS, 0.5f, 3);
		});
		Line("crossing", name)("warps", w)("cycles", c / iterations / TURNS);
	}
}

int main()
{
	micro_begin("crossing");
	measure<CHAIN>("chain", 16);
	measure<TWO_CHAINS>("two_chains", 16);
	measure<TURN>("turn", 16);
	measure<SHORT_LOOP>("short_loop", 16);
	measure<LONG_LOOP>("long_loop", 2);
	measure<SHARED>("shared", 4);
	measure<SHARED_LOOP>("shared_loop", 4);
	measure<DIVIDE>("divide", 4);
	return 0;
}
