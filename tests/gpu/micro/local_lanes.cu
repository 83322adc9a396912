/*
 * What spilled values and arrays in local memory cost an SM: loads and stores of 4, 8 and 16 bytes
 * that all lanes make at one index, by how many lanes take part, on one SM and on all of them (L2
 * takes what all of them store), by warps; and mixed with arithmetic, as spills are.
 */
#include "micro.cuh"

enum { LOADS, STORES, BOTH, MIXED };

/* @step is not known to the compiler, so that the array lies in memory. */
template <typename T, int WORDS>
static __global__ void m_local_lanes(unsigned *cycles, int times, int step, unsigned lanes,
                                     int what)
{
	T a[WORDS];
	T value = {};
	unsigned sum = 0, at = 0;
	float x = (float)step;
#pragma unroll 1
	for (int i = 0; i < WORDS; i++)
		a[(i * step) % WORDS] = value;
	if (threadIdx.x % MICRO_WARP < lanes) {
#pragma unroll 1
		for (int i = 0; i < times; i += 4) {
#pragma unroll
			for (int k = 0; k < 4; k++) {
				T *const p = &a[at % WORDS];
				if (what != STORES) {
					const T got = *p;
#pragma unroll
					for (unsigned w = 0; w < sizeof(T) / 4; w++)
						sum += ((const unsigned *)&got)[w];
				}
				if (what != LOADS) {
					((unsigned *)&value)[0] = (unsigned)i + sum;
					*p = value;
				}
				if (what == MIXED)
#pragma unroll
					for (int j = 0; j < 24; j++)
						x = x * 1.0001f + 1.0f;
				at += (unsigned)step;
			}
		}
	}
#pragma unroll 1
	for (int i = 0; i < WORDS; i++)
		sum += ((const unsigned *)&a[(i * step) % WORDS])[0];
	micro_use(sum + (unsigned)x, cycles);
}

template <typename T> static void widths(const char *width)
{
	static const char *const names[] = { "loads", "stores", "both", "mixed" };
	static const unsigned lanes_of[] = { 1, 2, 4, 8, 16, 32 };
	const unsigned sms = (unsigned)micro_sms();
	for (unsigned blocks = 1; blocks <= sms; blocks += sms - 1)
		for (unsigned warps = 1; warps <= 32; warps *= warps < 16 ? 4 : 2)
			for (int what = LOADS; what <= MIXED; what++)
				for (unsigned lanes : lanes_of) {
					const int times = 2048;
					const auto launch = [&](int n) {
						m_local_lanes<T, 32>
							<<<blocks, warps * MICRO_WARP>>>(micro_cycles(), n, 1, lanes, what);
					};
					const double none = micro_once() ? -1 : shortest_ns([&] { launch(0); }, 3);
					const double ns = shortest_ns([&] { launch(times); }, 3);
					Line("local_lanes", names[what])("width", width)("blocks", blocks)(
						"warps", warps)("lanes", lanes)("ns_setup", none)("ns", ns)(
						"sm_ns_per_warp_access", (ns - none) / ((double)warps * times));
				}
}

int main()
{
	micro_begin("local_lanes");
	widths<unsigned>("4");
	widths<uint2>("8");
	widths<uint4>("16");
	return 0;
}
