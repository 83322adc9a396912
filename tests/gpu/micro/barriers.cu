/*
 * Meeting points: barriers of a block, a step of a tree in shared memory, __syncwarp, by block size
 * and blocks that share an SM. Cycles each.
 */
#include "micro.cuh"

#define TIMES 512

static __global__ void m_barrier(unsigned *cycles, int n)
{
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < n; i++)
		__syncthreads();
	clock.stop(cycles);
}

/* A step of a tree: store, barrier, load a neighbour warp's word, barrier. */
static __global__ void m_tree_step(unsigned *cycles, int n)
{
	__shared__ int s[1024];
	int v = (int)threadIdx.x;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		s[threadIdx.x] = v;
		__syncthreads();
		v += s[(threadIdx.x + 32) & (blockDim.x - 1)];
		__syncthreads();
	}
	clock.stop(cycles);
	micro_use(v, cycles);
}

static __global__ void m_syncwarp(unsigned *cycles, int n)
{
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < n; i++)
		__syncwarp();
	clock.stop(cycles);
}

/* One warp of the block works, the others wait for it at the barrier. */
static __global__ void m_one_warp_late(unsigned *cycles, int n, int late)
{
	float x = (float)threadIdx.x;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		if (threadIdx.x < 32)
#pragma unroll 1
			for (int k = 0; k < late; k++)
				asm volatile("fma.rn.f32 %0, %0, 0f3F000000, %0;" : "+f"(x));
		__syncthreads();
	}
	clock.stop(cycles);
	micro_use(x, cycles);
}

int main()
{
	unsigned *const out = micro_cycles();
	const int sms = micro_sms();
	micro_begin("barriers");
	for (int t = 32; t <= 1024; t *= 2)
		for (int per_sm = 1; per_sm * t <= 2048 && per_sm <= 8; per_sm *= 2) {
			const unsigned b = (unsigned)(sms * per_sm);
			const double barrier = median_cycles(b, [&] { m_barrier<<<b, t>>>(out, TIMES); });
			const double step = median_cycles(b, [&] { m_tree_step<<<b, t>>>(out, TIMES); });
			const double warp = median_cycles(b, [&] { m_syncwarp<<<b, t>>>(out, TIMES); });
			Line("barriers", "meet")("threads", t)("blocks_per_sm", per_sm)(
				"barrier_cycles", barrier / TIMES)("tree_step_cycles",
			                                       step / TIMES)("syncwarp_cycles", warp / TIMES);
		}
	for (int late = 0; late <= 64; late = late ? late * 4 : 1)
		for (int t = 64; t <= 1024; t *= 4) {
			const double c = median_cycles(1, [&] { m_one_warp_late<<<1, t>>>(out, TIMES, late); });
			Line("barriers", "one_warp_late")("threads", t)("late_turns", late)("cycles",
			                                                                    c / TIMES);
		}
	return 0;
}
