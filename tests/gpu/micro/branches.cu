/*
 * Control flow: what a turn of a loop costs beside its body, a side that only some lanes take, a
 * switch of several ways, loops whose lanes leave at different times. Cycles of one warp alone, and
 * of 32 warps on an SM.
 */
#include "micro.cuh"

#define TURNS 512

template <int N> static __device__ float work(float x, float c)
{
#pragma unroll
	for (int i = 0; i < N; i++)
		asm volatile("fma.rn.f32 %0, %0, 0f3F000000, %1;" : "+f"(x) : "f"(c));
	return x;
}

/* A counting loop around N dependent multiply-adds. */
template <int N> static __global__ void m_loop(unsigned *cycles, int turns)
{
	float x = (float)threadIdx.x;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < turns; i++)
		x = work<N>(x, 1.0f);
	clock.stop(cycles);
	micro_use(x, cycles);
}

/* The first @lanes lanes of every warp take one side, the others the other one; without @BOTH
 * theirs is empty, and what follows is short. */
template <int N, bool BOTH> static __global__ void m_if_else(unsigned *cycles, int turns, int lanes)
{
	float x = (float)threadIdx.x;
	const bool first = (int)(threadIdx.x % 32) < lanes;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < turns; i++) {
		if (first)
			x = work<N>(x, 1.0f);
		else if (BOTH)
			x = work<N>(x, 2.0f);
		if (!BOTH)
			x = work<1>(x, 3.0f);
	}
	clock.stop(cycles);
	micro_use(x, cycles);
}

/* Lane l takes way l % ways of eight. */
template <int N> static __global__ void m_switch(unsigned *cycles, int turns, int ways)
{
	float x = (float)threadIdx.x;
	const int way = (int)(threadIdx.x % 32) % ways;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < turns; i++)
		switch (way) {
		case 0: x = work<N>(x, 1.0f); break;
		case 1: x = work<N>(x, 2.0f); break;
		case 2: x = work<N>(x, 3.0f); break;
		case 3: x = work<N>(x, 4.0f); break;
		case 4: x = work<N>(x, 5.0f); break;
		case 5: x = work<N>(x, 6.0f); break;
		case 6: x = work<N>(x, 7.0f); break;
		default: x = work<N>(x, 8.0f); break;
		}
	clock.stop(cycles);
	micro_use(x, cycles);
}

/* Lane l makes least + l % spread turns of an inner loop. */
template <int N>
static __global__ void m_lane_loop(unsigned *cycles, int turns, int least, int spread)
{
	float x = (float)threadIdx.x;
	const int mine = least + (int)(threadIdx.x % 32) % spread;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < turns; i++)
#pragma unroll 1
		for (int k = 0; k < mine; k++)
			x = work<N>(x, 1.0f);
	clock.stop(cycles);
	micro_use(x, cycles);
}

template <typename F> static void both(const char *name, int body, const char *key, int v, F launch)
{
	for (int threads = 32; threads <= 1024; threads *= 32) {
		const double c = median_cycles(1, [&] { launch(threads); });
		Line("branches", name)("body", body)(key, v)("threads", threads)("cycles_per_turn",
		                                                                 c / TURNS);
	}
}

template <int N> static void bodies()
{
	unsigned *const out = micro_cycles();
	both("loop", N, "ways", 1, [&](int t) { m_loop<N><<<1, t>>>(out, TURNS); });
	for (int lanes = 0; lanes <= 32; lanes += 8) {
		both("if_else", N, "lanes", lanes,
		     [&](int t) { m_if_else<N, true><<<1, t>>>(out, TURNS, lanes); });
		both("if", N, "lanes", lanes,
		     [&](int t) { m_if_else<N, false><<<1, t>>>(out, TURNS, lanes); });
	}
	for (int ways = 1; ways <= 8; ways *= 2)
		both("switch", N, "ways", ways, [&](int t) { m_switch<N><<<1, t>>>(out, TURNS, ways); });
	for (int spread = 1; spread <= 16; spread *= 4)
		both("lane_loop", N, "spread", spread,
		     [&](int t) { m_lane_loop<N><<<1, t>>>(out, TURNS, 4, spread); });
}

int main()
{
	micro_begin("branches");
	bodies<1>();
	bodies<4>();
	bodies<16>();
	bodies<64>();
	return 0;
}
