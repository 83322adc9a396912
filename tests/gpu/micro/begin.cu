/*
 * When the blocks of a grid begin: by the GPU's clock, which steps every 32 ns, as a mean over
 * launches; from the first block's begin to that of each further quarter and of the last. Every
 * block stays until all have begun, if there is room for all. By the size of grid and block; with
 * L2 emptied before, and again.
 */
#include "micro.cuh"

#define RUNS 40
#define STAYS_NS 8000

static __device__ __forceinline__ unsigned long long now()
{
	unsigned long long t;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

static __global__ void m_begin(unsigned long long *begun, unsigned *sm, unsigned stays_ns)
{
	const unsigned long long from = now();
	if (threadIdx.x == 0) {
		begun[blockIdx.x] = from;
		asm volatile("mov.u32 %0, %%smid;" : "=r"(sm[blockIdx.x]));
	}
	while (now() - from < stays_ns)
		;
}

static int by_time(const void *a, const void *b)
{
	const unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;
	return x < y ? -1 : x > y;
}

/* Of SMs, how many have none, one, two, three and more blocks: a mean over launches. */
static void count(const unsigned *sm_of, unsigned blocks, double *on)
{
	static unsigned has[1024];
	memset(has, 0, sizeof has);
	for (unsigned b = 0; b < blocks; b++)
		has[sm_of[b] % 1024]++;
	for (int i = 0; on && i < micro_sms(); i++)
		on[has[i] < 4 ? has[i] : 4] += 1.0 / RUNS;
}

static void measure(unsigned blocks, unsigned threads, bool cold, unsigned stays_ns)
{
	static unsigned long long *begun = micro_alloc<unsigned long long>(1 << 16);
	static unsigned *sm = micro_alloc<unsigned>(1 << 16), on_sm[1 << 16];
	static unsigned long long host[1 << 16];
	double quarter[5] = {}, on[5] = {};
	for (int r = -1; r < RUNS; r++) {
		if (cold)
			micro_flush_l2();
		micro_fail("wait", cudaDeviceSynchronize());
		m_begin<<<blocks, threads>>>(begun, sm, stays_ns);
		micro_fail("copy", cudaMemcpy(host, begun, blocks * sizeof *host, cudaMemcpyDeviceToHost));
		micro_fail("copy", cudaMemcpy(on_sm, sm, blocks * sizeof *on_sm, cudaMemcpyDeviceToHost));
		count(on_sm, blocks, r >= 0 ? on : NULL);
		qsort(host, blocks, sizeof *host, by_time);
		for (unsigned q = 0; r >= 0 && q < 5; q++)
			quarter[q] += (double)(host[(blocks - 1) * q / 4] - host[0]) / RUNS;
	}
	Line("begin", cold ? "cold" : "again")("blocks", blocks)("threads", threads)(
		"stays_ns", stays_ns)("quarter_ns", quarter[1])("half_ns", quarter[2])(
		"three_ns", quarter[3])("last_ns", quarter[4])("on_0", on[0])("on_1", on[1])("on_2", on[2])(
		"on_3", on[3])("on_more", on[4]);
}

int main()
{
	micro_begin("begin");
	const unsigned sizes[] = { 32, 128, 512, 1024 };
	const unsigned grids[] = { 8, 16, 33, 66, 99, 132, 165, 198, 264, 396, 528, 792, 1056, 2112 };
	for (unsigned cold = 0; cold < 2; cold++)
		for (unsigned threads : sizes)
			for (unsigned blocks : grids)
				if (blocks <= 132 * min(32u, 2048 / threads))
					measure(blocks, threads, cold, STAYS_NS);
	return 0;
}
