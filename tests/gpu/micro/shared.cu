/*
 * Shared memory: cycles per request of a busy SM, by bytes per lane, by the lanes that take part
 * and by where they point. 32 masks x 14 patterns say how wide accesses are merged; strides say
 * what bank conflicts cost.
 */
#include "micro.cuh"

#define TIMES 8
#define LOOPS 32

static const unsigned masks[] = {
	0xffffffff, 0x0000ffff, 0xffff0000, 0x000000ff, 0x0000ff00, 0x00ffffff, 0x55555555, 0xaaaaaaaa,
	0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0xff0000ff, 0x00000001, 0x80000000, 0x00010001, 0x80000001,
	0x11111111, 0x01010101, 0x0000fffe, 0xfffffffe, 0x7fffffff, 0x00ffff00, 0xf000000f, 0x0000f00f,
	0x0f0ff0f0, 0xc3c3c3c3, 0x9d2c5680, 0xefc60000, 0x1b873593, 0x6c078965, 0x00042d3b, 0xb5026f5a,
};

/* Units of the access's own width. */
static const struct {
	const char *name;
	int (*unit)(int lane);
} patterns[] = {
	{ "row", [](int l) { return l; } },
	{ "one", [](int) { return 0; } },
	{ "halves_alike", [](int l) { return l % 16; } },
	{ "quarters_alike", [](int l) { return l % 8; } },
	{ "one_per_half", [](int l) { return l / 16; } },
	{ "one_per_quarter", [](int l) { return l / 8; } },
	{ "one_per_pair", [](int l) { return l / 2; } },
	{ "column", [](int l) { return l * 8; } },
	{ "every_second", [](int l) { return l * 2; } },
	{ "every_third", [](int l) { return l * 3; } },
	{ "reversed", [](int l) { return 31 - l; } },
	{ "rotated", [](int l) { return (l + 8) % 32; } },
	{ "tile_4x8", [](int l) { return l % 4 + l / 4 * 9; } },
	{ "alternating", [](int l) { return l % 2; } },
};

struct Lanes {
	unsigned short offset[32]; /* bytes */
	unsigned mask;
};

template <int BYTES> static __device__ unsigned load(unsigned at)
{
	uint4 v = {};
	if (BYTES == 4)
		asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v.x) : "r"(at));
	else if (BYTES == 8)
		asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(at));
	else
		asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
		             : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
		             : "r"(at));
	return v.x ^ v.y ^ v.z ^ v.w;
}

template <int BYTES> static __device__ void store(unsigned at, unsigned v)
{
	if (BYTES == 4)
		asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v) : "memory");
	else if (BYTES == 8)
		asm volatile("st.shared.v2.u32 [%0], {%1, %1};" ::"r"(at), "r"(v) : "memory");
	else
		asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(v) : "memory");
}

template <int BYTES, bool STORES>
static __global__ void m_shared(unsigned *cycles, const __grid_constant__ Lanes lanes)
{
	__shared__ __align__(16) char s[32768];
	const int lane = (int)threadIdx.x % 32;
	const unsigned at = (unsigned)__cvta_generic_to_shared(s) + lanes.offset[lane];
	unsigned sum = threadIdx.x;
	for (int i = (int)threadIdx.x; i < 8192; i += (int)blockDim.x)
		((unsigned *)s)[i] = sum;
	const BlockClock clock;
	if (lanes.mask >> lane & 1)
#pragma unroll 1
		for (int i = 0; i < LOOPS; i++)
#pragma unroll
			for (int k = 0; k < TIMES; k++)
				if (STORES)
					store<BYTES>(at, sum);
				else
					sum ^= load<BYTES>(at);
	clock.stop(cycles);
	micro_use(sum, cycles);
}

/* A load whose address is the word before it: latency, with its conflict. */
static __global__ void m_shared_chase(unsigned *cycles, int stride)
{
	__shared__ unsigned s[8192];
	for (int i = (int)threadIdx.x; i < 8192; i += (int)blockDim.x)
		s[i] = (unsigned)i;
	__syncthreads();
	unsigned at = (threadIdx.x % 32 * (unsigned)stride) & 8191;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < LOOPS; i++)
#pragma unroll
		for (int k = 0; k < TIMES; k++)
			at = s[at];
	clock.stop(cycles);
	micro_use(at, cycles);
}

template <int BYTES, bool STORES> static double sm_cycles(const Lanes &lanes)
{
	unsigned *const out = micro_cycles();
	return median_cycles(1, [&] { m_shared<BYTES, STORES><<<1, 1024>>>(out, lanes); }) /
	       (TIMES * LOOPS) / 32;
}

template <int BYTES> static void by_mask()
{
	for (const auto &p : patterns)
		for (unsigned mask : masks) {
			Lanes lanes = { {}, mask };
			char hex[16];
			for (int l = 0; l < 32; l++)
				lanes.offset[l] = (unsigned short)(p.unit(l) * BYTES);
			snprintf(hex, sizeof hex, "%08x", mask);
			const double loads = sm_cycles<BYTES, false>(lanes);
			const double stores = sm_cycles<BYTES, true>(lanes);
			Line("shared", "mask")("bytes_per_lane", BYTES)("pattern", p.name)("mask", hex)(
				"load_cycles", loads)("store_cycles", stores);
		}
}

template <int BYTES> static void by_stride()
{
	for (int stride = 1; stride <= 33; stride++) {
		Lanes lanes = { {}, 0xffffffff };
		for (int l = 0; l < 32; l++)
			lanes.offset[l] = (unsigned short)(l * stride * BYTES % 32768);
		const double loads = sm_cycles<BYTES, false>(lanes);
		const double stores = sm_cycles<BYTES, true>(lanes);
		Line("shared", "stride")("bytes_per_lane", BYTES)("stride", stride)("load_cycles", loads)(
			"store_cycles", stores);
	}
}

int main()
{
	unsigned *const out = micro_cycles();
	micro_begin("shared");
	by_mask<4>();
	by_mask<8>();
	by_mask<16>();
	by_stride<4>();
	by_stride<8>();
	by_stride<16>();
	for (int stride = 0; stride <= 32; stride = stride ? stride * 2 : 1) {
		const double c = median_cycles(1, [&] { m_shared_chase<<<1, 32>>>(out, stride); });
		Line("shared", "chase")("stride", stride)("latency_cycles", c / (TIMES * LOOPS));
	}
	return 0;
}
