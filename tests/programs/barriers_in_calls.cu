// Barriers within functions that only some lanes of a warp have called, each arm of a branch with a
// call of its own: CUDA does not promise what comes of them, a GPU lets them pass. What each kernel
// must leave is what an H200 left.
#include "check.h"

constexpr int THREADS = 64;
__device__ int left_there[THREADS];
__device__ volatile int nothing; // keeps the calls apart

// down through a function that calls itself, more or less deep
__device__ __noinline__ int from_below(int depth, const int *s, int i)
{
	if (depth == 0) {
		__syncthreads();
		return s[THREADS - 1 - i];
	}
	const int r = from_below(depth - 1, s, i);
	return r + depth + nothing;
}
__global__ void more_or_less_deep()
{
	__shared__ int s[THREADS];
	const int t = threadIdx.x;
	s[t] = t;
	if (t % 2)
		left_there[t] = from_below(3, s, t);
	else
		left_there[t] = 2 * from_below(2, s, t);
}

__device__ __noinline__ void store_and_wait(int *s, int i, int v)
{
	s[i] = v;
	__syncthreads();
	if (nothing)
		s[i]++;
}
__global__ void called_by_some()
{
	__shared__ int s[THREADS];
	const int t = threadIdx.x;
	if (t % 32 < 16)
		store_and_wait(s, t, t);
	else
		store_and_wait(s, t, 2 * t);
	left_there[t] = s[t ^ 16];
}

template <class Expected> static int wrong(const char *what, Expected expected)
{
	int found[THREADS], bad = 0;
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpyFromSymbol(found, left_there, sizeof found));
	for (int t = 0; t < THREADS; t++)
		bad += found[t] != expected(t);
	printf("%s: %d of %d differ\n", what, bad, THREADS);
	return bad;
}

int main()
{
	int bad = 0;
	more_or_less_deep<<<1, THREADS>>>();
	bad += wrong("more or less deep",
	             [](int t) { return t % 2 ? THREADS - 1 - t + 6 : 2 * (THREADS - 1 - t + 3); });
	called_by_some<<<1, THREADS>>>();
	bad += wrong("called by some", [](int t) { return (t % 32 < 16 ? 2 : 1) * (t ^ 16); });
	printf("barriers_in_calls: %s\n", bad ? "failed" : "passed");
	return bad != 0;
}
