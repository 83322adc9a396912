/*
 * A step of Cholesky's method cut short: a block writes a column, then blocks of 16 x 16 read it by
 * rows and by columns and change the rest. Each kernel runs behind the one that writes the column;
 * which parts of it are left out, its name says. Then a dot product of few blocks cut short the
 * same way: loads, shuffles, the block's sum, the addition to one word. Prints a line per launch:
 * the kernel, and its size. Times by `pmpp-explore launches --backend cuda` (before.py).
 */
#include "micro.cuh"

#define N 96
#define LONG 2304
#define TIMES 6
#define AT(r, c) ((size_t)(r) * n + (c))

static __global__ void column(double *a, int n, int k)
{
	for (int r = k + 1 + threadIdx.x; r < n; r += blockDim.x)
		a[AT(r, k)] *= 0.5;
}

enum part { EMPTY, STORE, OWN, ROW, COLUMN, BOTH, ALL };
static const char *const parts[] = { "empty", "store", "own", "row", "column", "both", "all" };

template <part P> static __global__ void update(double *a, int n, int k)
{
	const int r = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
	const int c = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
	if (r >= n || c > r || P == EMPTY)
		return;
	double v = 1;
	if (P == OWN || P == ALL)
		v = a[AT(r, c)];
	if (P == ROW || P == BOTH || P == ALL)
		v -= a[AT(r, k)];
	if (P == COLUMN || P == BOTH || P == ALL)
		v *= a[AT(c, k)];
	a[AT(r, c)] = v;
}

static double *a, *b, *out;

template <part P> static void updates()
{
	for (int k : { 7, 40 })
		for (int behind = 0; behind < 2; behind++)
			for (int t = 0; t < TIMES; t++) {
				const int blocks = (N - k - 1 + 15) / 16;
				if (behind) {
					column<<<1, 128>>>(a, N, k);
					printf("other_column -\n");
				}
				update<P><<<dim3(blocks, blocks), dim3(16, 16)>>>(a, N, k);
				printf("%s%s %d/%s\n", t ? "" : "other_", parts[P], blocks,
				       behind ? "behind" : "alone");
			}
}

enum cut { LOADS, LANES, WARPS, ADDED };
static const char *const cuts[] = { "loads", "lanes", "warps", "added" };

template <cut C> static __global__ void dot(const double *a, const double *b, double *out)
{
	__shared__ double part[8];
	double v = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < LONG; i += gridDim.x * blockDim.x)
		v += a[i] * b[i];
	if (C >= LANES)
		for (int d = 16; d; d >>= 1)
			v += __shfl_down_sync(~0u, v, d);
	if (C >= WARPS) {
		if (threadIdx.x % 32 == 0)
			part[threadIdx.x / 32] = v;
		__syncthreads();
		if (threadIdx.x == 0)
			for (int w = 1; w < (int)blockDim.x / 32; w++)
				v += part[w];
	}
	if (C == ADDED && threadIdx.x == 0)
		atomicAdd(out, v);
	else if (C != ADDED && v == 12345)
		out[threadIdx.x] = v;
}

template <cut C> static void dots()
{
	for (int blocks : { 1, 4, 16 })
		for (int same = 0; same < 2; same++)
			for (int t = 0; t < TIMES; t++) {
				cudaMemset(out, 0, 256 * sizeof *out);
				dot<C><<<blocks, 256>>>(a, same ? a : b, out);
				printf("%s%s %d/%s\n", t ? "" : "other_", cuts[C], blocks, same ? "same" : "two");
				double back;
				cudaMemcpy(&back, out, sizeof back, cudaMemcpyDeviceToHost);
			}
}

int main()
{
	a = micro_alloc<double>(N * N);
	b = micro_alloc<double>(N * N);
	out = micro_alloc<double>(256);
	updates<EMPTY>();
	updates<STORE>();
	updates<OWN>();
	updates<ROW>();
	updates<COLUMN>();
	updates<BOTH>();
	updates<ALL>();
	dots<LOADS>();
	dots<LANES>();
	dots<WARPS>();
	dots<ADDED>();
	return 0;
}
