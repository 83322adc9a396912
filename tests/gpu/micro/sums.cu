/*
 * Sums of thread blocks in shared memory, as textbooks write them, cut short: the load alone, one
 * step, half of them, all; by halves (lanes side by side) and by neighbours (every second lane);
 * the last warp by itself; with 1 to 400 blocks of 128 to 512 threads. In a program, with the
 * numbers where the launch before has left them, and where a grid of another size has read them.
 * Prints a line per launch: the kernel, and its size. Times by `pmpp-explore launches --backend
 * cuda` (before.py).
 */
#include "micro.cuh"

#define MOST (400 * 512)
#define TIMES 6

/* @HALVES: or neighbours; @STEPS at the most. */
template <bool HALVES, int STEPS> static __global__ void sum(const int *in, int *out, int n)
{
	extern __shared__ int s[];
	const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
	s[t] = i < (unsigned)n ? in[i] : 0;
	__syncthreads();
	int left = STEPS;
	if (HALVES)
		for (unsigned d = blockDim.x / 2; d > 0 && left > 0; d /= 2, left--) {
			if (t < d)
				s[t] += s[t + d];
			__syncthreads();
		}
	else
		for (unsigned d = 1; d < blockDim.x && left > 0; d *= 2, left--) {
			if (t % (2 * d) == 0)
				s[t] += s[t + d];
			__syncthreads();
		}
	if (t == 0)
		out[blockIdx.x] = s[0];
}

/* Reads all of it in another order of blocks. */
static __global__ void others(const int *in, int *out, int n)
{
	int v = 0;
	for (int i = threadIdx.x; i < n / 7; i += blockDim.x)
		v += in[blockIdx.x * (n / 7) + i];
	if (v == 12345)
		out[0] = v;
}

static int *in, *out;

template <bool HALVES, int STEPS> static void times()
{
	for (int threads : { 128, 256, 512 })
		for (int blocks : { 1, 40, 132, 264, 400 })
			for (int way = 0; way < 2; way++)
				for (int t = 0; t < TIMES; t++) {
					if (way) {
						others<<<7, 256>>>(in, out, blocks * threads);
						printf("other_others -\n");
					}
					sum<HALVES, STEPS>
						<<<blocks, threads, threads * sizeof(int)>>>(in, out, blocks * threads);
					printf("%s%s/%d/%d %d/%s\n", t ? "" : "other_",
					       HALVES ? "halves" : "neighbours", STEPS, threads, blocks,
					       way ? "others" : "same");
				}
}

int main()
{
	in = micro_alloc<int>(MOST);
	out = micro_alloc<int>(512);
	times<true, 0>();
	times<true, 1>();
	times<true, 4>();
	times<true, 9>();
	times<false, 4>();
	times<false, 9>();
	return 0;
}
