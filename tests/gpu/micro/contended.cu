/*
 * Words that many lanes change at the same time, by how their keys lie: time, tries and rounds.
 *
 * Item i belongs to word (i / run) % words, or to a hash of it: a warp's lanes and the warps beside
 * it meet at a word while others wait for other words, as in histograms of sorted keys. cas.cu has
 * words that all want alike. Each operation is changed by a compare-and-swap loop (sum, max) or by
 * one instruction (red of integers, of floats). Of the loops, a second launch counts: tries by
 * lanes, rounds by warps, and the most rounds of one warp.
 */
#include "micro.cuh"

struct Layout {
	unsigned words, apart; /* so many, so many 4-byte words from one to the next */
	unsigned run;          /* items that follow each other with the same word */
	unsigned hashed;       /* 1: runs go anywhere */
	unsigned each;         /* items of a thread, a grid apart */
};

struct Tally {
	unsigned long long tries, rounds, changes, most;
};

static __device__ unsigned word_of(const Layout &c, unsigned item)
{
	const unsigned r = item / c.run;
	return (c.hashed ? micro_hash(r) : r) % c.words;
}

/* What one thread adds up while it counts, and its warp's rounds; stays in registers. */
struct Count {
	unsigned tries, rounds, changes;

	__device__ void item(unsigned tried, unsigned changed)
	{
		unsigned most = tried;
		for (unsigned o = MICRO_WARP / 2; o; o /= 2)
			most = max(most, __shfl_xor_sync(~0u, most, o));
		tries += tried;
		changes += changed;
		rounds += most;
	}
	__device__ void keep(Tally *t) const
	{
		atomicAdd(&t->tries, tries);
		atomicAdd(&t->changes, changes);
		if (threadIdx.x % MICRO_WARP == 0) {
			atomicAdd(&t->rounds, rounds);
			atomicMax(&t->most, rounds);
		}
	}
};

#define EACH_ITEM(c, k, i)                                                        \
	for (unsigned k = 0, i = blockIdx.x * blockDim.x + threadIdx.x; k < (c).each; \
	     k++, i += gridDim.x * blockDim.x)

static __global__ void m_sum(unsigned *words, Tally *t, Layout c)
{
	Count count = {};
	EACH_ITEM(c, k, i)
	{
		unsigned *const p = words + (size_t)word_of(c, i) * c.apart;
		unsigned old = *(volatile unsigned *)p, seen, tries = 0;
		do {
			seen = old;
			old = atomicCAS(p, seen, seen + 3);
			tries++;
		} while (old != seen);
		if (t)
			count.item(tries, 1);
	}
	if (t)
		count.keep(t);
}

static __global__ void m_max(unsigned *words, Tally *t, Layout c)
{
	Count count = {};
	EACH_ITEM(c, k, i)
	{
		unsigned *const p = words + (size_t)word_of(c, i) * c.apart;
		const float mine = (float)(micro_hash(i + 77) >> 12);
		unsigned old = *(volatile unsigned *)p, seen, tries = 0, changes = 0;
		do {
			seen = old;
			if (__uint_as_float(seen) >= mine)
				break;
			old = atomicCAS(p, seen, __float_as_uint(mine));
			tries++;
			changes = old == seen;
		} while (old != seen);
		if (t)
			count.item(tries, changes);
	}
	if (t)
		count.keep(t);
}

static __global__ void m_red_int(unsigned *words, Tally *, Layout c)
{
	EACH_ITEM(c, k, i)
	atomicAdd(words + (size_t)word_of(c, i) * c.apart, 1u);
}

static __global__ void m_red_float(unsigned *words, Tally *, Layout c)
{
	EACH_ITEM(c, k, i)
	atomicAdd((float *)words + (size_t)word_of(c, i) * c.apart, 1.0f);
}

static __global__ void clear(unsigned *words, size_t n)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		words[i] = 0;
}

typedef void Kernel(unsigned *, Tally *, Layout);

struct Operation {
	const char *name;
	Kernel *kernel;
	bool loop;
};

static const Operation operations[] = {
	{ "sum", m_sum, true },
	{ "max", m_max, true },
	{ "red_int", m_red_int, false },
	{ "red_float", m_red_float, false },
};

/* Nanoseconds. */
static double contest(const Operation &o, unsigned *words, Tally *tally, unsigned blocks,
                      unsigned threads, const Layout &c)
{
	const double items = (double)blocks * threads * c.each;
	const size_t all = (size_t)c.words * c.apart;
	const auto reset = [&] { clear<<<264, 256>>>(words, all); };
	const Times t = times_ns([&] { o.kernel<<<blocks, threads>>>(words, nullptr, c); }, reset, 3);
	Tally n = {};
	if (o.loop && !micro_once()) {
		micro_fail("memset", cudaMemset(tally, 0, sizeof n));
		reset();
		o.kernel<<<blocks, threads>>>(words, tally, c);
		micro_fail("copy", cudaMemcpy(&n, tally, sizeof n, cudaMemcpyDeviceToHost));
	}
	Line("contended", o.name)("words", c.words)("apart", c.apart)("run", c.run)("hashed", c.hashed)(
		"each", c.each)("blocks", blocks)("threads", threads)("items", items)("ns", t.least)(
		"median_ns", t.median)("tries", (double)n.tries)("changes", (double)n.changes)(
		"rounds", (double)n.rounds)("most_rounds", (double)n.most);
	return t.least;
}

/* One layout in grids of all sizes, as long as they do not take too long. */
static void layout(unsigned *words, Tally *tally, Layout c)
{
	static const unsigned eaches[] = { 1, 8 };
	const unsigned sms = (unsigned)micro_sms();
	const unsigned blocks[] = { 1, 16, sms, sms, 4 * sms };
	const unsigned threads[] = { 256, 256, 64, 256, 256 };
	for (const Operation &o : operations)
		for (unsigned each : eaches) {
			c.each = each;
			double ns = 0;
			for (unsigned g = 0; g < sizeof blocks / sizeof *blocks && ns < 1.5e6; g++)
				if (c.run == 1 || (double)blocks[g] * threads[g] * each > c.run)
					ns = contest(o, words, tally, blocks[g], threads[g], c);
		}
}

int main()
{
	static const unsigned runs[] = { 1, 8, 32, 128, 1024, 8192 };
	static const unsigned counts[] = { 8, 128, 4096 };
	micro_begin("contended");
	unsigned *const words = micro_alloc<unsigned>((size_t)1 << 20);
	Tally *const tally = micro_alloc<Tally>(1);
	layout(words, tally, Layout{ 1, 1, 1, 0, 1 });
	for (unsigned run : runs)
		for (unsigned n : counts) {
			layout(words, tally, Layout{ n, 1, run, 0, 1 });
			if (run == 1 || run == 128)
				layout(words, tally, Layout{ n, 1, run, 1, 1 });
			/* each word in a unit of L2 of its own */
			if (run == 8 || run == 1024)
				layout(words, tally, Layout{ n, 128, run, 0, 1 });
		}
	return 0;
}
