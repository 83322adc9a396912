/*
 * Blocks that wait for each other: grid.sync(), cluster.sync(), shared memory of other blocks of a
 * cluster, flags that one block sets and another polls, sleeping, barriers in shared memory; and
 * what launches of clusters and cooperative launches take to begin. Cycles, or nanoseconds by
 * events.
 */
#include "micro.cuh"

#include <cooperative_groups.h>
#include <cuda/barrier>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

static const unsigned TIMES = 64;

static __global__ void m_grid_sync(unsigned *cycles)
{
	cg::grid_group grid = cg::this_grid();
	grid.sync();
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TIMES; i++)
		grid.sync();
	clock.stop(cycles);
}

static __global__ void m_nothing(unsigned *cycles)
{
	if (cycles[0] == 123456789)
		cycles[0] = 1;
}

static __global__ void m_cluster_sync(unsigned *cycles)
{
	cg::cluster_group cluster = cg::this_cluster();
	cluster.sync();
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TIMES; i++)
		cluster.sync();
	clock.stop(cycles);
	cluster.sync();
}

/* A chain of loads from the next block's shared memory (@step 0: from the own block's). */
static __global__ void m_remote_chain(unsigned step, unsigned *cycles)
{
	__shared__ unsigned box[1024];
	cg::cluster_group cluster = cg::this_cluster();
	for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
		box[i] = (i + 32) % 1024;
	volatile unsigned *const there =
		cluster.map_shared_rank(box, (cluster.block_rank() + step) % cluster.num_blocks());
	unsigned at = threadIdx.x;
	cluster.sync();
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TIMES; i++)
		at = there[at];
	clock.stop(cycles);
	micro_use((int)at, cycles);
	cluster.sync();
}

/* Independent loads, stores or sums there; @words = how many words a warp's lanes want. */
enum Access { LOAD, STORE, ATOMIC };
template <Access A> static __global__ void m_remote(unsigned step, unsigned words, unsigned *cycles)
{
	__shared__ unsigned box[2048];
	cg::cluster_group cluster = cg::this_cluster();
	for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x)
		box[i] = i;
	volatile unsigned *const there =
		cluster.map_shared_rank(box, (cluster.block_rank() + step) % cluster.num_blocks());
	unsigned sum = 0;
	const unsigned mine = threadIdx.x % words;
	cluster.sync();
	const BlockClock clock;
#pragma unroll 8
	for (unsigned i = 0; i < TIMES; i++) {
		const unsigned at = mine + i * 16;
		if (A == LOAD)
			sum += there[at];
		else if (A == STORE)
			there[at] = i;
		else
			atomicAdd((unsigned *)there + at, 1);
	}
	cluster.sync();
	clock.stop(cycles);
	micro_use((int)sum, cycles);
	cluster.sync();
}

/* Two blocks hand a number to and fro: volatile accesses and fences, or acquire and release. */
static __global__ void m_ping_pong(volatile unsigned *flag, bool ordered, unsigned sleep,
                                   unsigned *cycles)
{
	if (blockIdx.x && blockIdx.x != gridDim.x - 1)
		return; /* the others do nothing */
	const unsigned me = blockIdx.x != 0;
	const BlockClock clock;
	for (unsigned i = 0; i < TIMES; i++) {
		unsigned seen;
		do {
			if (ordered)
				asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
				             : "=r"(seen)
				             : "l"((unsigned *)flag)
				             : "memory");
			else
				seen = *flag;
			if (sleep && seen != 2 * i + me)
				__nanosleep(sleep);
		} while (seen != 2 * i + me);
		if (ordered) {
			asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"((unsigned *)flag),
			             "r"(2 * i + me + 1)
			             : "memory");
		} else {
			__threadfence();
			*flag = 2 * i + me + 1;
		}
	}
	clock.stop(cycles);
}

/* Each block waits for the one before it. */
static __global__ void m_relay(volatile unsigned *flags, unsigned *cycles)
{
	const BlockClock clock;
	if (threadIdx.x == 0) {
		while (blockIdx.x && flags[blockIdx.x - 1] == 0)
			;
		__threadfence();
		flags[blockIdx.x] = 1;
	}
	clock.stop(cycles);
}

/* How long it sleeps that is told to sleep @ns. */
static __global__ void m_sleep(unsigned ns, unsigned *cycles)
{
	const BlockClock clock;
	for (unsigned i = 0; i < 8; i++)
		__nanosleep(ns);
	clock.stop(cycles);
}

static __global__ void m_fence(unsigned *cycles, unsigned stores)
{
	volatile unsigned *const p = cycles + 4096 + (blockIdx.x * blockDim.x + threadIdx.x) * 8;
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TIMES; i++) {
		if (stores)
			*p = i;
		__threadfence();
	}
	clock.stop(cycles);
}

/* A barrier object in shared memory; @late: turns that its first warp works before it arrives. */
static __global__ void m_barrier_object(unsigned late, unsigned *cycles)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> all;
	float x = (float)threadIdx.x;
	if (threadIdx.x == 0)
		init(&all, blockDim.x);
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TIMES; i++) {
		if (threadIdx.x < 32)
#pragma unroll 1
			for (unsigned k = 0; k < late; k++)
				asm volatile("fma.rn.f32 %0, %0, 0f3F000000, %0;" : "+f"(x));
		all.arrive_and_wait();
	}
	clock.stop(cycles);
	micro_use(x, cycles);
}

/* Half of the threads arrive and go on, the others wait: one time, as the block begins. */
static __global__ void m_hand_over(unsigned *cycles)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> full;
	const BlockClock clock;
	if (threadIdx.x == 0)
		init(&full, blockDim.x);
	__syncthreads();
	if (threadIdx.x < blockDim.x / 2)
		(void)full.arrive();
	else
		full.arrive_and_wait();
	clock.stop(cycles);
}

/* The same by the instructions. */
static __global__ void m_mbarrier(unsigned *cycles)
{
	__shared__ uint64_t all;
	const uint32_t at = (uint32_t)__cvta_generic_to_shared(&all);
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x)
		             : "memory");
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TIMES; i++) {
		asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
		asm volatile("{\n .reg .pred p;\n"
		             "again:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
		             " @!p bra again;\n}" ::"r"(at),
		             "r"(i % 2)
		             : "memory");
	}
	clock.stop(cycles);
}

template <typename... P, typename... A>
static void launch(unsigned blocks, unsigned threads, unsigned cluster, bool cooperative,
                   void (*kernel)(P...), A... arguments)
{
	cudaLaunchConfig_t c = {};
	cudaLaunchAttribute a[2];
	c.gridDim = blocks;
	c.blockDim = threads;
	c.attrs = a;
	if (cluster) {
		a[c.numAttrs].id = cudaLaunchAttributeClusterDimension;
		a[c.numAttrs].val.clusterDim = { cluster, 1, 1 };
		c.numAttrs++;
	}
	if (cooperative) {
		a[c.numAttrs].id = cudaLaunchAttributeCooperative;
		a[c.numAttrs++].val.cooperative = 1;
	}
	micro_fail("cudaLaunchKernelEx", cudaLaunchKernelEx(&c, kernel, P(arguments)...));
}

static void grids(unsigned *out)
{
	const unsigned sms = (unsigned)micro_sms();
	const unsigned blocks[] = { 1, 2, 8, 24, sms / 2, sms, 2 * sms, 4 * sms, 8 * sms };
	for (unsigned b : blocks)
		for (unsigned t = 32; t <= 1024; t *= 2) {
			if (b > sms * (2048 / t) || (t != 64 && t != 256 && t != 1024 && b != sms))
				continue;
			const double c = median_cycles(b, [&] { launch(b, t, 0, true, m_grid_sync, out); });
			Line("together_sync", "grid_sync")("blocks", b)("threads", t)("cycles", c / TIMES);
		}
	for (unsigned b : blocks) {
		const Times plain = times_ns([&] { launch(b, 128, 0, false, m_nothing, out); }, [] {}, 15);
		const Times whole = times_ns([&] { launch(b, 128, 0, true, m_nothing, out); }, [] {}, 15);
		Line("together_sync", "cooperative_launch")("blocks", b)("plain_ns", plain.least)(
			"ns", whole.least)("plain_median_ns", plain.median)("median_ns", whole.median);
	}
}

static void clusters(unsigned *out)
{
	const unsigned sms = (unsigned)micro_sms();
	for (unsigned size = 0; size <= 8; size = size ? 2 * size : 1)
		for (unsigned b = 16; b <= 16384; b *= 4)
			for (unsigned t = 32; t <= 512; t *= 4) {
				const Times ns =
					times_ns([&] { launch(b, t, size, false, m_nothing, out); }, [] {}, 15);
				Line("together_sync", "cluster_launch")("cluster", size)("blocks", b)("threads", t)(
					"ns", ns.least)("median_ns", ns.median);
			}
	for (unsigned size = 1; size <= 8; size *= 2)
		for (unsigned t = 32; t <= 1024; t *= 2)
			for (unsigned b = size; b <= sms; b = b == size ? sms / size * size : sms + 1) {
				const double sync =
					median_cycles(b, [&] { launch(b, t, size, false, m_cluster_sync, out); });
				const double own =
					median_cycles(b, [&] { launch(b, t, size, false, m_remote_chain, 0, out); });
				const double next =
					median_cycles(b, [&] { launch(b, t, size, false, m_remote_chain, 1, out); });
				Line("together_sync", "cluster")("cluster", size)("blocks", b)("threads", t)(
					"sync_cycles", sync / TIMES)("own_load_cycles", own / TIMES)("next_load_cycles",
				                                                                 next / TIMES);
				if (b == sms)
					break;
			}
	for (unsigned size = 1; size <= 8; size *= 2)
		for (unsigned t = 32; t <= 1024; t *= 4)
			for (unsigned words = 1; words <= 32; words *= words == 1 ? 4 : 8) {
				const unsigned b = sms / size * size;
				const double load = median_cycles(
					b, [&] { launch(b, t, size, false, m_remote<LOAD>, 1, words, out); });
				const double store = median_cycles(
					b, [&] { launch(b, t, size, false, m_remote<STORE>, 1, words, out); });
				const double atomic = median_cycles(
					b, [&] { launch(b, t, size, false, m_remote<ATOMIC>, 1, words, out); });
				Line("together_sync", "remote")("cluster", size)("threads", t)("words", words)(
					"load_cycles", load / TIMES)("store_cycles", store / TIMES)("atomic_cycles",
				                                                                atomic / TIMES);
			}
}

static void flags(unsigned *out)
{
	unsigned *const flag = micro_alloc<unsigned>(4096);
	const unsigned sms = (unsigned)micro_sms();
	static const unsigned sleeps[] = { 0, 20, 100, 1000 };
	for (int ordered = 0; ordered < 2; ordered++)
		for (unsigned sleep : sleeps)
			for (unsigned b = 2; b <= sms; b += sms - 2) {
				unsigned first = 0;
				median_cycles(b, [&] {
					cudaMemset(flag, 0, 4096 * 4);
					m_ping_pong<<<b, 1>>>(flag, ordered != 0, sleep, out);
				});
				micro_fail("copy", cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost));
				Line("together_sync", "ping_pong")("ordered", ordered)("sleep_ns", sleep)(
					"blocks", b)("cycles", first / 2.0 / TIMES);
			}
	for (unsigned b = 1; b <= 8 * sms; b = b == 1 ? 8 : b == 8 ? sms : 8 * b)
		for (unsigned t = 32; t <= 256; t *= 8) {
			const double ns = shortest_ns([&] { m_relay<<<b, t>>>(flag, out); },
			                              [&] { cudaMemset(flag, 0, 4096 * 4); });
			Line("together_sync", "relay")("blocks", b)("threads", t)("ns", ns);
		}
	for (unsigned ns = 1; ns <= 10000; ns *= 10)
		for (unsigned t = 1; t <= 256; t *= 256)
			Line("together_sync", "sleep")("asked_ns", ns)("threads", t)(
				"cycles", median_cycles(1, [&] { m_sleep<<<1, t>>>(ns, out); }) / 8);
	for (unsigned stores = 0; stores < 2; stores++)
		for (unsigned b = 1; b <= sms; b += sms - 1)
			for (unsigned t = 1; t <= 512; t *= 8)
				Line("together_sync", "fence")("stores", stores)("blocks", b)("threads", t)(
					"cycles", median_cycles(b, [&] { m_fence<<<b, t>>>(out, stores); }) / TIMES);
}

static void barriers(unsigned *out)
{
	for (unsigned t = 32; t <= 1024; t *= 2) {
		const double own = median_cycles(1, [&] { m_mbarrier<<<1, t>>>(out); });
		const double once = median_cycles(1, [&] { m_hand_over<<<1, t>>>(out); });
		Line("together_sync", "mbarrier")("threads", t)("cycles", own / TIMES)("once_cycles", once);
		for (unsigned late = 0; late <= 4096; late = late ? late * 8 : 1)
			Line("together_sync", "barrier_object")("threads", t)("late_turns", late)(
				"cycles", median_cycles(1, [&] { m_barrier_object<<<1, t>>>(late, out); }) / TIMES);
	}
}

int main()
{
	unsigned *const out = micro_cycles();
	micro_begin("together_sync");
	grids(out);
	clusters(out);
	flags(out);
	barriers(out);
	return 0;
}
