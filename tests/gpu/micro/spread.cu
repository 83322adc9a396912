/*
 * A load of a warp whose lanes read so many lines, so far apart, of memory that L2 holds and L1
 * does not: cycles until the last warp of one block has its words, with 1 to 16 warps, which read
 * the same lines or each others; then of so many blocks at once; then where other SMs have written
 * all of it just before ("written"), or words beside those that are read ("beside"). The median of
 * launches.
 */
#include "micro.cuh"

#define LAUNCHES 9
#define BYTES (1 << 22)

/* Lane l reads a double of line l * lines / 32, @stride bytes apart; the next warp @aside bytes on.
 */
static __global__ void m_spread(const char *p, unsigned lines, unsigned stride, unsigned aside,
                                unsigned *cycles)
{
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const double *const at =
		(const double *)(p + (size_t)(lane * lines / 32) * stride + warp * aside) +
		(lines < 32 ? lane % (32 / lines) % 4 : 0);
	const BlockClock clock;
	const double v = *at;
	if (v == 1)
		cycles[1 << 16] = 1;
	clock.stop(cycles);
}

/* Words from @from on of each 32, by all SMs. */
static __global__ void written(unsigned *p, unsigned from)
{
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < BYTES / 4;
	     i += gridDim.x * blockDim.x)
		if (i % 32 >= from)
			p[i] = 0;
}

static void times(const char *p, unsigned blocks, unsigned warps, unsigned lines, unsigned stride,
                  unsigned aside, unsigned words = 32)
{
	unsigned all[LAUNCHES];
	for (int i = 0; i < LAUNCHES; i++)
		all[i] = (unsigned)median_cycles(blocks, [&] {
			if (words < 32)
				written<<<132, 256>>>((unsigned *)(void *)(size_t)p, words);
			m_spread<<<blocks, warps * 32>>>(p, lines, stride, aside, micro_cycles());
		});
	qsort(all, LAUNCHES, sizeof *all, micro_by_value);
	Line("spread", aside ? "own" : "same")("before", words == 32 ? "read"
	                                                 : words     ? "beside"
	                                                             : "written")("blocks", blocks)(
		"warps", warps)("lines", lines)("stride", stride)("aside", aside)("cycles",
	                                                                      all[LAUNCHES / 2]);
}

int main()
{
	micro_begin("spread");
	char *const p = micro_alloc<char>(BYTES);
	for (unsigned warps : { 1, 2, 4, 8, 16 })
		for (unsigned lines : { 1, 2, 4, 8, 16, 32 })
			for (unsigned stride : { 128, 256, 384, 768, 1024, 2048, 4224, 16384 }) {
				times(p, 1, warps, lines, stride, 0);
				times(p, 1, warps, lines, stride, lines * stride);
			}
	for (unsigned blocks : { 10, 36, 132 })
		for (unsigned lines : { 1, 4, 16, 32 }) {
			times(p, blocks, 8, lines, 768, 0);
			times(p, blocks, 8, lines, 768, lines * 768);
		}
	for (unsigned words : { 0, 16 })
		for (unsigned blocks : { 1, 10, 36, 132 })
			for (unsigned warps : { 1, 8 })
				for (unsigned lines : { 1, 2, 4, 8, 16, 32 }) {
					times(p, blocks, warps, lines, 768, 0, words);
					times(p, blocks, warps, lines, 768, lines * 768, words);
				}
	return 0;
}
