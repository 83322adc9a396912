/*
 * Local memory: arrays that do not fit in registers. Time per access of a warp by array size and
 * resident threads (what fits in L1, in L2, in neither), by lanes at one index or each at its own,
 * loads and stores.
 */
#include "micro.cuh"

enum { LOADS, STORES, BOTH };

/* @step and @spread are not known to the compiler, so that the array lies in memory. */
template <int WORDS>
static __global__ void m_local(unsigned *cycles, int times, int step, int spread, int what)
{
	unsigned a[WORDS];
	unsigned sum = 0;
	unsigned at = threadIdx.x * (unsigned)spread;
#pragma unroll 1
	for (int i = 0; i < WORDS; i++)
		a[(i * step + (int)at) % WORDS] = (unsigned)i;
#pragma unroll 1
	for (int i = 0; i < times; i += 4) {
#pragma unroll
		for (int k = 0; k < 4; k++) {
			unsigned *const p = &a[at % WORDS];
			if (what == LOADS)
				sum += *p;
			else if (what == STORES)
				*p = (unsigned)i;
			else
				*p += 1;
			at += (unsigned)step;
		}
	}
#pragma unroll 1
	for (int i = 0; i < WORDS; i++)
		sum += a[(i * step) % WORDS];
	micro_use(sum, cycles);
}

template <int WORDS> static void sizes()
{
	static const char *const names[] = { "loads", "stores", "both" };
	const unsigned sms = (unsigned)micro_sms();
	for (unsigned blocks_per_sm = 1; blocks_per_sm <= 8; blocks_per_sm *= 2)
		for (int spread = 0; spread <= 1; spread++)
			for (int what = LOADS; what <= BOTH; what++) {
				/* one wave, so that so many arrays live at a time */
				const unsigned blocks = sms * blocks_per_sm;
				const int times = 8192;
				const auto launch = [&](int n) {
					m_local<WORDS><<<blocks, 256>>>(micro_cycles(), n, 1, spread, what);
				};
				const double none = micro_once() ? -1 : shortest_ns([&] { launch(0); }, 3);
				const double ns = shortest_ns([&] { launch(times); }, 3);
				Line("local", names[what])("words", WORDS)("blocks_per_sm", blocks_per_sm)(
					"lanes_differ", spread)("ns_setup", none)("ns", ns)(
					"sm_ns_per_warp_access", (ns - none) / (8.0 * blocks_per_sm * times));
			}
}

int main()
{
	micro_begin("local");
	sizes<8>();
	sizes<16>();
	sizes<32>();
	sizes<64>();
	sizes<256>();
	sizes<1024>();
	return 0;
}
