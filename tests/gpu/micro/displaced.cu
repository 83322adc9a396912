/*
 * Code that ran a while ago: a kernel of so many sections, 1 KiB of code and a branch each, for the
 * first time, again and again, and behind so many others of 16 KiB.
 *
 * Times are those that the driver's activity records give for each launch, so the program is run by
 * `pmpp-explore launches build/gpu/micro/bin/displaced --backend cuda --json`; what it prints names
 * the launches in order (before.py puts the two together).
 */
#include "micro.cuh"

#define OTHERS 12
#define TURNS 5
#define THREADS 128

#define FOUR                                                                                       \
	"fma.rn.f32 %0, %0, %4, %4;\n fma.rn.f32 %1, %1, %4, %4;\n"                                    \
	"fma.rn.f32 %2, %2, %4, %4;\n fma.rn.f32 %3, %3, %4, %4;\n"
#define SIXTY FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR

template <int sections> __device__ void section(float (&v)[4], float by, int n)
{
	if constexpr (sections > 0) {
		if (n > sections)
			asm volatile(SIXTY : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3]) : "f"(by));
		section<sections - 1>(v, by, n);
	}
}

template <int which, int sections> static __global__ void code(float *out, float by, int n)
{
	float v[4] = { by, by + which, by * 2, by * 3 };
	section<sections>(v, by, n);
	if (v[0] + v[1] + v[2] + v[3] == 12345.0f)
		*out = v[0];
}

static float *out;

template <int which, int sections> static void run(unsigned blocks, const char *before)
{
	printf("code_%d_blocks_%u %s\n", sections, blocks, before);
	code<which, sections><<<blocks, THREADS>>>(out, 0.5f, 1000);
	micro_fail("launch", cudaDeviceSynchronize());
}

/* The last @n of the others. */
template <int which> static void run_others(int n)
{
	if constexpr (which > 0) {
		if (which <= n)
			run<100 + which, 16>(1, "other");
		run_others<which - 1>(n);
	}
}

template <int which, int sections> static void measure(unsigned blocks)
{
	static const int others[] = { 0, 1, 2, 3, 4, 6, 8, OTHERS };
	run<which, sections>(blocks, which ? "first" : "other"); /* the first of all loads a page */
	for (int turn = 0; turn < TURNS; turn++)
		for (int n : others) {
			char before[32];
			snprintf(before, sizeof before, "behind_%d", n);
			run_others<OTHERS>(n);
			run<which, sections>(blocks, before);
		}
}

int main()
{
	micro_fail("malloc", cudaMalloc(&out, sizeof *out));
	run_others<OTHERS>(OTHERS);
	measure<0, 4>(1);
	measure<1, 4>(1);
	measure<2, 4>(132);
	measure<3, 16>(1);
	measure<4, 16>(132);
	measure<5, 32>(1);
	measure<6, 32>(132);
	measure<7, 64>(1);
	measure<8, 64>(132);
	return 0;
}
