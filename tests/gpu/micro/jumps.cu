/*
 * Jumps over code that does not run: cycles of so many of them, one behind the other, over so many
 * instructions each. What is jumped to has not run in this launch before: the SM fetches it.
 * `again`: the same once more in the same launch.
 */
#include "micro.cuh"

#define TEN(x) x x x x x x x x x x
#define STEP "fma.rn.f32 %0, %0, %1, %1;\n"

template <int LENGTH> static __device__ __forceinline__ void skipped(float &v, float by)
{
	if (LENGTH == 10)
		asm volatile(TEN(STEP) : "+f"(v) : "f"(by));
	else if (LENGTH == 50)
		asm volatile(TEN(STEP) TEN(STEP) TEN(STEP) TEN(STEP) TEN(STEP) : "+f"(v) : "f"(by));
	else if (LENGTH == 100)
		asm volatile(TEN(TEN(STEP)) : "+f"(v) : "f"(by));
	else
		asm volatile(TEN(TEN(STEP)) TEN(TEN(STEP)) TEN(TEN(STEP)) TEN(TEN(STEP))
		             : "+f"(v)
		             : "f"(by));
}

template <int JUMPS, int LENGTH>
static __global__ void m_jumps(unsigned runs, unsigned turns, float by, unsigned *cycles)
{
	float v = by;
	unsigned first = 0, all = 0;
#pragma unroll 1
	for (unsigned t = 0; t < turns; t++) {
		const unsigned from = (unsigned)clock64();
#pragma unroll
		for (int j = 0; j < JUMPS; j++) {
			if (runs & 1u << j)
				skipped<LENGTH>(v, by);
			asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(v) : "f"(by));
		}
		all = (unsigned)clock64() - from;
		first = t ? first : all;
	}
	micro_use(v, cycles + 2);
	if (threadIdx.x == 0 && blockIdx.x == 0) {
		cycles[0] = first;
		cycles[1] = all;
	}
}

template <int JUMPS, int LENGTH> static void jumps()
{
	unsigned n[2];
	for (unsigned warps = 1; warps <= 8; warps *= 8) {
		for (int run = 0; run < 2; run++)
			m_jumps<JUMPS, LENGTH><<<132, 32 * warps>>>(0, 2, 0.5f, micro_cycles());
		micro_fail("copy", cudaMemcpy(n, micro_cycles(), sizeof n, cudaMemcpyDeviceToHost));
		Line("jumps", "forward")("jumps", JUMPS)("over", LENGTH)("warps", warps)("cycles", n[0])(
			"again_cycles", n[1]);
	}
}

template <int LENGTH> static void lengths()
{
	jumps<1, LENGTH>();
	jumps<2, LENGTH>();
	jumps<4, LENGTH>();
	jumps<8, LENGTH>();
	jumps<16, LENGTH>();
}

int main()
{
	micro_begin("jumps");
	lengths<10>();
	lengths<50>();
	lengths<100>();
	lengths<400>();
	return 0;
}
