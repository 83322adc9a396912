/*
 * Which lines of memory that was copied to the GPU are at home in the half of L2 that is far from
 * one SM: a lane reads lines one after the other, the first time they are read and again. Prints
 * for every 16 KiB the waits of its lines, a letter each: '.' under 430 cycles, 'o' to 700, '#'
 * beyond; then how many lines of each. One block, which every launch puts on the same SM.
 */
#include "micro.cuh"

#define LINES 1024
#define WORDS 32

static __global__ void m_walk(const unsigned *p, unsigned *cycles)
{
	unsigned at = 0;
	for (unsigned i = 0; i < LINES; i++) {
		const unsigned from = clock();
		at += __ldcg(p + i * WORDS + at);
		cycles[i] = clock() - from + at;
	}
}

int main()
{
	micro_begin("far_lines");
	unsigned *const p = micro_alloc<unsigned>(LINES * WORDS), *const seen =
																  micro_alloc<unsigned>(LINES);
	static unsigned host[LINES * WORDS], cycles[LINES];
	static const char *const names[] = { "copied", "again", "copied_again", "written" };
	for (int t = 0; t < 4; t++) {
		if (t % 2 == 0)
			micro_fail("copy", cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
		if (t == 3)
			micro_fail("memset", cudaMemset(p, 0, sizeof host));
		m_walk<<<1, 1>>>(p, seen);
		micro_fail("copy", cudaMemcpy(cycles, seen, sizeof cycles, cudaMemcpyDeviceToHost));
		double near = 0, far = 0, beyond = 0;
		for (unsigned i = 0; i < LINES; i++) {
			near += cycles[i] < 430;
			far += cycles[i] >= 430 && cycles[i] < 700;
			beyond += cycles[i] >= 700;
			fputc(cycles[i] < 430 ? '.' : cycles[i] < 700 ? 'o' : '#', stderr);
			if (i % 128 == 127)
				fprintf(stderr, "  %s %u\n", names[t], i / 128);
		}
		Line("far_lines", names[t])("near", near)("far", far)("beyond", beyond);
	}
	return 0;
}
