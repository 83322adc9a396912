/*
 * Requests of global memory at an SM: cycles a warp's load takes in L1 by how its lanes lie (lines,
 * bytes between lines, bytes per lane), what stores cost on their way out, and loads that L2
 * serves.
 */
#include "micro.cuh"

#define LOADS 8
#define LOOPS 64

struct Pattern {
	int lines;  /* that one request touches */
	int stride; /* bytes from one to the next */
};

/* Lanes in groups, one group per line, side by side in it. */
template <typename T> static __device__ char *lane_address(char *p, Pattern a)
{
	const int lane = (int)threadIdx.x % 32, group = 32 / a.lines;
	return p + (long)(lane / group) * a.stride + (lane % group) * (int)sizeof(T);
}

static __device__ unsigned load(const unsigned *p)
{
	unsigned v;
	asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p));
	return v;
}
static __device__ unsigned load(const uint2 *p)
{
	uint2 v;
	asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
	return v.x ^ v.y;
}
static __device__ unsigned load(const uint4 *p)
{
	uint4 v;
	asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
	             : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
	             : "l"(p));
	return v.x ^ v.y ^ v.z ^ v.w;
}
static __device__ unsigned load(const unsigned char *p)
{
	unsigned v;
	asm volatile("ld.global.ca.u8 %0, [%1];" : "=r"(v) : "l"(p));
	return v;
}
static __device__ unsigned load_l2(const unsigned *p)
{
	unsigned v;
	asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p));
	return v;
}

template <typename T> static __global__ void m_l1_load(unsigned *cycles, char *p, Pattern a)
{
	const T *const from = (const T *)lane_address<T>(p, a);
	unsigned sum = 0;
	for (int k = 0; k < LOADS; k++) /* into L1 */
		sum ^= load(from + k);
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < LOOPS; i++)
#pragma unroll
		for (int k = 0; k < LOADS; k++)
			sum ^= load(from + k);
	clock.stop(cycles);
	micro_use(sum, cycles);
}

/* Each warp of each block in a place of its own, which moves on. */
static __global__ void m_l2_load(unsigned *cycles, char *p, size_t bytes, int sectors, int gap)
{
	const int lane = (int)threadIdx.x % 32, group = 32 / sectors;
	const size_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	const size_t own = (size_t)sectors * gap;
	size_t at = warp * own * LOADS * LOOPS;
	unsigned sum = 0;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < LOOPS; i++)
#pragma unroll
		for (int k = 0; k < LOADS; k++) {
			sum ^= load_l2(
				(const unsigned *)(p + ((at + (size_t)(lane / group) * gap) & (bytes - 1))) +
				lane % group % 8);
			at += own;
		}
	clock.stop(cycles);
	micro_use(sum, cycles);
}

static __global__ void m_store(unsigned *cycles, char *p, size_t bytes, Pattern a)
{
	const size_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	const size_t own = a.stride > 128 ? 128 : (size_t)a.lines * 128;
	const char *const from = lane_address<unsigned>(nullptr, a);
	size_t at = warp * own * LOADS * LOOPS;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < LOOPS; i++)
#pragma unroll
		for (int k = 0; k < LOADS; k++) {
			unsigned *const to = (unsigned *)(p + ((at + (size_t)from) & (bytes - 1)));
			asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(i) : "memory");
			at += own;
		}
	clock.stop(cycles);
}

template <typename T> static void l1_loads(char *p)
{
	unsigned *const out = micro_cycles();
	static const int strides[] = { 128,  256,  384,  512,  1024,  2048,
		                           2176, 4096, 4224, 8192, 16384, 65536 };
	for (int lines = 1; lines <= 32; lines *= 2)
		for (int stride : strides) {
			if (32 / lines * (int)sizeof(T) + (LOADS - 1) * (int)sizeof(T) > 512 ||
			    (lines == 1 && stride > 128))
				continue;
			const Pattern a = { lines, stride };
			const double one = median_cycles(1, [&] { m_l1_load<T><<<1, 32>>>(out, p, a); });
			const double full = median_cycles(1, [&] { m_l1_load<T><<<1, 1024>>>(out, p, a); });
			Line("l1", "load_hit")("bytes_per_lane", sizeof(T))("lines", lines)("stride", stride)(
				"one_warp_cycles", one / (LOADS * LOOPS))("sm_cycles", full / (LOADS * LOOPS) / 32);
		}
}

int main()
{
	const size_t bytes = (size_t)16 << 20;
	unsigned *const out = micro_cycles();
	char *const p = micro_alloc<char>(bytes + 65536);
	const int sms = micro_sms();
	micro_begin("l1");
	l1_loads<unsigned char>(p);
	l1_loads<unsigned>(p);
	l1_loads<uint2>(p);
	l1_loads<uint4>(p);
	for (int all = 0; all <= 1; all++) {
		const unsigned blocks = all ? (unsigned)sms : 1;
		for (int sectors = 1; sectors <= 32; sectors *= 2)
			for (int gap = 32; gap <= 128; gap *= 2) {
				const double c = median_cycles(
					blocks, [&] { m_l2_load<<<blocks, 1024>>>(out, p, bytes, sectors, gap); });
				Line("l1", "load_l2")("sectors", sectors)("gap", gap)("sms", blocks)(
					"sm_cycles", c / (LOADS * LOOPS) / 32);
			}
		for (int lines = 1; lines <= 32; lines *= 2)
			for (int stride = 128; stride <= 16384; stride *= 2) {
				const Pattern a = { lines, stride };
				const double c =
					median_cycles(blocks, [&] { m_store<<<blocks, 1024>>>(out, p, bytes, a); });
				Line("l1", "store")("lines", lines)("stride", stride)("sms", blocks)(
					"sm_cycles", c / (LOADS * LOOPS) / 32);
			}
	}
	return 0;
}
