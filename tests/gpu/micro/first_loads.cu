/*
 * What a load from L2 takes by who wrote the line last: a warp of each block walks over lines that
 * were copied, set, stored by all SMs or by one, or read before; side by side or 4 KiB apart.
 * Cycles of each step, a mean over the blocks, with the few that looking at the clock takes.
 */
#include "micro.cuh"

#define STEPS 16

static __global__ void m_walk(const unsigned *in, unsigned words_apart, unsigned *cycles)
{
	__shared__ unsigned took[STEPS];
	const unsigned lane = threadIdx.x;
	unsigned v = 0;
	for (int i = 0; i < STEPS; i++) {
		const long long from = clock64();
		v = in[lane + v + i * words_apart]; /* all are 0 */
		v = __shfl_sync(~0u, v, 5);
		if (v == 77)
			took[0] = v;
		__syncwarp();
		const long long to = clock64();
		if (lane == 0)
			took[i] = (unsigned)(to - from);
	}
	if (lane < STEPS)
		cycles[blockIdx.x * STEPS + lane] = took[lane];
}

static __global__ void store(unsigned *p, size_t n)
{
	const size_t all = (size_t)gridDim.x * blockDim.x;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += all)
		p[i] = 0;
}

static __global__ void read(const unsigned *p, size_t n, unsigned *out)
{
	const size_t all = (size_t)gridDim.x * blockDim.x;
	unsigned sum = 0;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += all)
		sum += p[i];
	if (sum == 1)
		*out = sum;
}

static void walk(const char *after, const unsigned *p, unsigned words_apart, unsigned blocks)
{
	static unsigned host[64 * STEPS];
	m_walk<<<blocks, MICRO_WARP>>>(p, words_apart, micro_cycles());
	micro_fail("copy", cudaMemcpy(host, micro_cycles(), sizeof *host * blocks * STEPS,
	                              cudaMemcpyDeviceToHost));
	Line line("first_loads", after);
	line("blocks", blocks)("bytes_apart", words_apart * 4);
	for (unsigned i = 0; i < STEPS; i++) {
		double sum = 0;
		for (unsigned b = 0; b < blocks; b++)
			sum += host[b * STEPS + i];
		char key[32];
		snprintf(key, sizeof key, "step_%u", i);
		line(key, sum / blocks);
	}
}

int main()
{
	static unsigned zeros[STEPS * 1024 + MICRO_WARP];
	unsigned *const out = micro_alloc<unsigned>(1);
	micro_begin("first_loads");
	for (unsigned words_apart : { 32u, 1024u })
		for (unsigned blocks : { 1u, 8u, 64u }) {
			const size_t n = words_apart * STEPS + MICRO_WARP, bytes = n * sizeof *zeros;
			unsigned *p = nullptr;
			micro_fail("malloc", cudaMalloc(&p, bytes));
			const auto copy = [&] {
				micro_fail("copy", cudaMemcpy(p, zeros, bytes, cudaMemcpyHostToDevice));
			};
			copy();
			walk("new_and_copied", p, words_apart, blocks);
			copy();
			walk("copied", p, words_apart, blocks);
			walk("again", p, words_apart, blocks);
			micro_fail("set", cudaMemset(p, 0, bytes));
			walk("set", p, words_apart, blocks);
			store<<<64, 256>>>(p, n);
			walk("stored_by_all", p, words_apart, blocks);
			store<<<1, 256>>>(p, n);
			walk("stored_by_one", p, words_apart, blocks);
			read<<<micro_sms(), 1024>>>(p, n, out);
			walk("read_by_all", p, words_apart, blocks);
			micro_flush_l2();
			walk("from_memory", p, words_apart, blocks);
			micro_fail("free", cudaFree(p));
		}
	return 0;
}
