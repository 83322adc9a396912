/*
 * Locks that lanes of a warp take one after the other, by what each does while it holds one:
 * nothing, a fence before and behind, an addition to a word between; and how many lanes, warps and
 * blocks want it. Each is launched four times in a row; prints a line per launch: the kernel, and
 * whether it is the first or "again"; on standard error how often all tried. Times are taken by
 * `pmpp-explore launches --backend cuda` (before.py).
 */
#include "micro.cuh"

#define TIMES 4
#define LOCKS 4

static __device__ int locks[LOCKS], sums[LOCKS];
static __device__ unsigned long long tries;

template <bool FENCES, bool WORK, bool COUNTED>
static __global__ void swapped(unsigned lanes, unsigned n_locks)
{
	if (threadIdx.x % 32 >= lanes)
		return;
	const unsigned which = threadIdx.x % n_locks;
	unsigned times = 1;
	while (atomicCAS(&locks[which], 0, 1) != 0)
		times++;
	if (FENCES)
		__threadfence();
	if (WORK)
		sums[which] += threadIdx.x;
	if (FENCES)
		__threadfence();
	atomicExch(&locks[which], 0);
	if (COUNTED)
		atomicAdd(&tries, times);
}

/* The lanes' turns by a ticket each. */
template <bool FENCES, bool WORK> static __global__ void tickets(int *at, unsigned lanes)
{
	if (threadIdx.x % 32 >= lanes)
		return;
	const int mine = atomicAdd(&at[0], 1);
	while (atomicAdd(&at[1], 0) != mine)
		;
	if (FENCES)
		__threadfence();
	if (WORK)
		sums[0] += threadIdx.x;
	if (FENCES)
		__threadfence();
	atomicAdd(&at[1], 1);
}

template <bool FENCES, bool WORK> static void all(const char *name, int *at)
{
	const unsigned shapes[][4] = { { 1, 32, 1, 1 },  { 1, 32, 2, 1 },  { 1, 32, 8, 1 },
		                           { 1, 32, 32, 1 }, { 1, 32, 32, 4 }, { 1, 64, 1, 1 },
		                           { 1, 64, 32, 1 }, { 2, 32, 1, 1 },  { 2, 64, 32, 1 },
		                           { 8, 32, 1, 1 },  { 8, 128, 8, 1 } };
	for (const auto &s : shapes) {
		for (int i = 0; i < TIMES; i++) {
			swapped<FENCES, WORK, false><<<s[0], s[1]>>>(s[2], s[3]);
			printf("swapped/%s/%u/%u/%u/%u %s\n", name, s[0], s[1], s[2], s[3],
			       i ? "again" : "first");
		}
		unsigned long long seen = 0;
		micro_fail("tries", cudaMemcpyToSymbol(tries, &seen, sizeof seen));
		swapped<FENCES, WORK, true><<<s[0], s[1]>>>(s[2], s[3]);
		printf("other counted\n");
		micro_fail("tries", cudaMemcpyFromSymbol(&seen, tries, sizeof seen));
		fprintf(stderr, "%s/%u/%u/%u/%u: %llu tries\n", name, s[0], s[1], s[2], s[3], seen);
		for (int i = 0; s[3] == 1 && i < TIMES; i++) {
			micro_fail("tickets", cudaMemset(at, 0, 8));
			tickets<FENCES, WORK><<<s[0], s[1]>>>(at, s[2]);
			printf("tickets/%s/%u/%u/%u %s\n", name, s[0], s[1], s[2], i ? "again" : "first");
		}
	}
	micro_fail(name, cudaDeviceSynchronize());
}

int main()
{
	int *const at = micro_alloc<int>(2);
	all<false, false>("bare", at);
	all<true, false>("fences", at);
	all<true, true>("added", at);
	return 0;
}
