/*
 * Read, change, compare-and-swap until it holds: sums, products of floats and the like. Time and
 * tries per update by how many threads want how many words. Every update makes another value: a
 * product that settles down holds by chance.
 */
#include "micro.cuh"

struct Contest {
	unsigned words, apart; /* so many, so many 4-byte words from one to the next */
	unsigned lanes;        /* of each warp that take part */
	unsigned updates;      /* of each thread */
};

/* Tries it took. */
static __device__ unsigned add(unsigned *p, unsigned by)
{
	unsigned old = *(volatile unsigned *)p, seen, tries = 0;
	do {
		seen = old;
		old = atomicCAS(p, seen, seen + by);
		tries++;
	} while (old != seen);
	return tries;
}

static __global__ void m_cas_global(unsigned *words, unsigned long long *tries, Contest c)
{
	unsigned long long n = 0;
	if (threadIdx.x % 32 < c.lanes)
		for (unsigned i = 0; i < c.updates; i++) {
			const unsigned w =
				micro_hash((blockIdx.x * blockDim.x + threadIdx.x) * 64 + i) & (c.words - 1);
			n += add(words + (size_t)w * c.apart, 3);
		}
	if (tries)
		atomicAdd(tries, n);
}

static __global__ void m_cas_shared(unsigned *cycles, unsigned long long *tries, Contest c)
{
	__shared__ unsigned s[8192];
	unsigned long long n = 0;
	for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x)
		s[i] = 0;
	const BlockClock clock;
	if (threadIdx.x % 32 < c.lanes)
		for (unsigned i = 0; i < c.updates; i++)
			n += add(s + (micro_hash(threadIdx.x * 64 + i) & (c.words - 1)) * c.apart, 3);
	clock.stop(cycles);
	atomicAdd(tries, n);
}

/* A minimum by the same loop, which needs no store once the value is small enough. */
static __global__ void m_cas_min(unsigned *words, unsigned long long *tries, Contest c)
{
	unsigned long long n = 0;
	if (threadIdx.x % 32 < c.lanes)
		for (unsigned i = 0; i < c.updates; i++) {
			const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
			unsigned *const p = words + (size_t)(micro_hash(id * 64 + i) & (c.words - 1)) * c.apart;
			const float mine = (float)(micro_hash(id * 64 + i + 77) >> 8);
			unsigned old = *(volatile unsigned *)p, seen = ~old;
			while (__uint_as_float(old) > mine && old != seen) {
				seen = old;
				old = atomicCAS(p, seen, __float_as_uint(mine));
				n++;
			}
		}
	if (tries)
		atomicAdd(tries, n);
}

static __global__ void fill(unsigned *words, size_t n, float v)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		words[i] = __float_as_uint(v);
}

template <typename K>
static void contest(const char *name, K kernel, unsigned *words, unsigned long long *tries,
                    unsigned blocks, unsigned threads, Contest c)
{
	const double updates = (double)blocks * threads / 32 * c.lanes * c.updates;
	unsigned long long n = 0;
	const size_t all = (size_t)c.words * c.apart;
	const auto reset = [&] { fill<<<264, 256>>>(words, all, 1e30f); };
	const double ns =
		shortest_ns([&] { kernel<<<blocks, threads>>>(words, nullptr, c); }, reset, 3);
	if (!micro_once()) {
		micro_fail("memset", cudaMemset(tries, 0, sizeof n));
		reset();
		kernel<<<blocks, threads>>>(words, tries, c);
		micro_fail("copy", cudaMemcpy(&n, tries, sizeof n, cudaMemcpyDeviceToHost));
	}
	Line("cas", name)("words", c.words)("apart", c.apart)("lanes", c.lanes)("blocks", blocks)(
		"threads", threads)("updates", updates)("each", c.updates)("ns", ns)(
		"ns_per_update", ns / updates)(
		"tries_per_update", (double)n / updates);
}

int main()
{
	const unsigned sms = (unsigned)micro_sms();
	micro_begin("cas");
	unsigned *const words = micro_alloc<unsigned>((size_t)1 << 25);
	unsigned long long *const tries = micro_alloc<unsigned long long>(1);
	static const unsigned counts[] = { 1, 4, 32, 256, 4096, 65536, 1u << 20 };
	static const unsigned lanes[] = { 1, 4, 8, 16, 32 };
	const unsigned grids[] = { 1, 8, sms, 8 * sms };
	for (unsigned w : counts)
		for (unsigned l : lanes)
			for (unsigned g : grids)
				for (unsigned updates = 1; updates <= 16; updates *= 4)
					for (unsigned apart = 1; apart <= 8; apart *= 8) {
						/* a word changes once in a round of all that want it: 60 ms at most */
						const double of_word = g * 8.0 * l * updates / w;
						if (of_word * (250 + 5 * g * 8.0 / w) > 6e7 || (w == 1 && apart > 1))
							continue;
						const Contest c = { w, apart, l, updates };
						contest("global_sum", m_cas_global, words, tries, g, 256, c);
						contest("global_min", m_cas_min, words, tries, g, 256, c);
					}
	for (unsigned w = 1; w <= 1024; w *= 4)
		for (unsigned l : lanes)
			for (unsigned threads = 32; threads <= 1024; threads *= 4) {
				const Contest c = { w, 1, l, 8 };
				const double updates = threads / 32.0 * l * c.updates;
				unsigned long long n = 0;
				micro_fail("memset", cudaMemset(tries, 0, sizeof n));
				const double cycles = median_cycles(
					1, [&] { m_cas_shared<<<1, threads>>>(micro_cycles(), tries, c); });
				micro_fail("copy", cudaMemcpy(&n, tries, sizeof n, cudaMemcpyDeviceToHost));
				Line("cas", "shared_sum")("words", w)("lanes", l)("threads", threads)(
					"cycles_per_update", cycles / updates)("tries_per_update",
				                                           (double)n / 2 / updates);
			}
	return 0;
}
