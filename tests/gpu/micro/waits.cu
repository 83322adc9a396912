/*
 * Lanes and warps that wait for one another: locks whose number lies beside them or in a line of
 * its own, taken once or many times, in a function of their own or not; lanes of a warp that meet
 * in two arms of a branch; sums of a block by a tree; a word in shared memory that goes from lane
 * to lane. Nanoseconds by events, of a launch and of a turn; an empty launch is `nothing`. The
 * emulator's times of the same program: as for functions.cu.
 */
#include "micro.cuh"

struct Lock {
	unsigned taken, near, fill[30], far;
};

static __global__ void m_nothing() {}

template <bool FAR, bool FENCES> static __device__ void add_under(Lock *l, unsigned v)
{
	while (atomicCAS(&l->taken, 0, 1) != 0)
		;
	if (FENCES)
		__threadfence();
	*(volatile unsigned *)(FAR ? &l->far : &l->near) += v;
	if (FENCES)
		__threadfence();
	atomicExch(&l->taken, 0);
}

template <bool FAR, bool FENCES> static __global__ void m_lock(Lock *l, unsigned times)
{
#pragma unroll 1
	for (unsigned i = 0; i < times; i++)
		add_under<FAR, FENCES>(l, i);
}

static __device__ __noinline__ void called(Lock *l, unsigned v)
{
	add_under<true, true>(l, v);
}

static __global__ void m_called(Lock *l, unsigned times)
{
#pragma unroll 1
	for (unsigned i = 0; i < times; i++)
		called(l, i);
}

/* The lanes of one parity after those of the other, with an exchange between. */
static __global__ void m_exchanges(Lock *l, unsigned times)
{
	const unsigned lane = threadIdx.x % 32;
	unsigned other = 0;
#pragma unroll 1
	for (unsigned i = 0; i < 2 * times; i++) {
		if (lane % 2 == i % 2) {
			while (atomicExch(&l->taken, 1))
				while (*(volatile unsigned *)&l->taken)
					;
			__threadfence();
			l->far += lane;
			__threadfence();
			atomicExch(&l->taken, 0);
		}
		__syncwarp();
		other += __shfl_xor_sync(~0u, lane, 1 + i % 2);
	}
	if (other == 1)
		l->near = 1;
}

/* Both halves of a warp meet in loops of their own. */
static __global__ void m_meetings(unsigned times, unsigned *out)
{
	__shared__ volatile unsigned s[32];
	const unsigned lane = threadIdx.x;
	unsigned sum = 0;
	if (lane < 16) {
#pragma unroll 1
		for (unsigned i = 0; i < times; i++) {
			s[lane] = i + lane;
			__syncwarp();
			__syncwarp();
			sum += s[lane + 16];
		}
	} else {
#pragma unroll 1
		for (unsigned i = 0; i < times; i++) {
			__syncwarp();
			s[lane] = 2 * s[lane - 16];
			__syncwarp();
		}
	}
	micro_use(sum + 1, out);
}

/* A tree of sums, with a barrier for each level. */
static __global__ void m_tree(unsigned times, unsigned *out)
{
	__shared__ unsigned s[1024];
	const unsigned t = threadIdx.x;
	s[t] = t;
	__syncthreads();
#pragma unroll 1
	for (unsigned i = 0; i < times; i++) {
#pragma unroll 1
		for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
			if (t < half)
				s[t] += s[t + half];
			__syncthreads();
		}
		__syncthreads();
	}
	micro_use(s[t] + 1, out);
}

/* A word goes from lane to lane, forward or back. */
template <bool UP> static __global__ void m_lanes(unsigned times, unsigned *out)
{
	__shared__ volatile unsigned turn;
	const unsigned lane = threadIdx.x, mine = UP ? lane : 31 - lane;
	if (lane == 0)
		turn = 0;
	__syncwarp();
#pragma unroll 1
	for (unsigned i = 0; i < times; i++) {
		while (turn != 32 * i + mine)
			;
		turn = 32 * i + mine + 1;
	}
	micro_use(turn, out);
}

/* One lane sets what the others wait for. */
static __global__ void m_flag(unsigned times, unsigned *out)
{
	__shared__ volatile unsigned flag;
	const unsigned lane = threadIdx.x;
	if (lane == 0)
		flag = 0;
	__syncwarp();
#pragma unroll 1
	for (unsigned i = 1; i <= times; i++) {
		if (lane == 5)
			flag = i;
		else
			while (flag != i)
				;
		__syncwarp();
	}
	micro_use(flag, out);
}

template <typename L>
static void line(const char *name, unsigned blocks, unsigned threads, unsigned times, double turns,
                 L launch)
{
	const double ns = shortest_ns([&] { launch(blocks, threads, times); }, 3);
	Line("waits", name)("blocks", blocks)("threads", threads)("times", times)("ns", ns)("turn_ns",
	                                                                                    ns / turns);
}

template <typename L> static void lock(const char *name, L launch)
{
	static const unsigned shapes[][3] = {
		{ 1, 1, 32 },  { 8, 1, 1 },  { 8, 1, 32 },  { 1, 32, 1 },
		{ 1, 32, 32 }, { 2, 64, 1 }, { 2, 64, 32 }, { 1, 64, 1 }
	};
	for (const auto &s : shapes)
		line(name, s[0], s[1], s[2], (double)s[0] * s[1] * s[2], launch);
}

int main()
{
	micro_begin("waits");
	Lock *const l = micro_alloc<Lock>(1);
	unsigned *const out = micro_alloc<unsigned>(1);
	line("nothing", 1, 32, 1, 1, [](unsigned b, unsigned t, unsigned) { m_nothing<<<b, t>>>(); });
	lock("near", [=](unsigned b, unsigned t, unsigned n) { m_lock<false, true><<<b, t>>>(l, n); });
	lock("far", [=](unsigned b, unsigned t, unsigned n) { m_lock<true, true><<<b, t>>>(l, n); });
	lock("near_unfenced",
	     [=](unsigned b, unsigned t, unsigned n) { m_lock<false, false><<<b, t>>>(l, n); });
	lock("far_unfenced",
	     [=](unsigned b, unsigned t, unsigned n) { m_lock<true, false><<<b, t>>>(l, n); });
	lock("called", [=](unsigned b, unsigned t, unsigned n) { m_called<<<b, t>>>(l, n); });
	for (unsigned threads = 32; threads <= 64; threads *= 2)
		for (unsigned times = 1; times <= 16; times *= 16)
			line("exchanges", 1, threads, times, (double)threads * times,
			     [=](unsigned b, unsigned t, unsigned n) { m_exchanges<<<b, t>>>(l, n); });
	for (unsigned times = 8; times <= 512; times *= 8)
		line("meetings", 1, 32, times, 2 * times,
		     [=](unsigned b, unsigned t, unsigned n) { m_meetings<<<b, t>>>(n, out); });
	for (unsigned threads = 64; threads <= 1024; threads *= 2)
		for (unsigned times = 1; times <= 64; times *= 64)
			line("tree", 1, threads, times, times,
			     [=](unsigned b, unsigned t, unsigned n) { m_tree<<<b, t>>>(n, out); });
	for (unsigned times = 1; times <= 64; times *= 64) {
		line("lanes_up", 1, 32, times, 32 * times,
		     [=](unsigned b, unsigned t, unsigned n) { m_lanes<true><<<b, t>>>(n, out); });
		line("lanes_down", 1, 32, times, 32 * times,
		     [=](unsigned b, unsigned t, unsigned n) { m_lanes<false><<<b, t>>>(n, out); });
		line("flag", 1, 32, times, times,
		     [=](unsigned b, unsigned t, unsigned n) { m_flag<<<b, t>>>(n, out); });
	}
	return 0;
}
