// Barriers that only some lanes of a warp reach: CUDA does not promise what comes of them, programs
// have them all the same, and a GPU lets them pass. What each kernel must leave is what an H200
// left.
#include "check.h"

constexpr int THREADS = 256;
__device__ int left_there[THREADS];

// the customary mistake: the barrier of a reduction within its branch
__global__ void sum_in_a_branch()
{
	__shared__ int s[THREADS];
	const int t = threadIdx.x;
	s[t] = t;
	__syncthreads();
	for (int half = THREADS / 2; half > 0; half /= 2) {
		if (t < half) {
			s[t] += s[t + half];
			__syncthreads();
		}
	}
	if (t == 0)
		left_there[0] = s[0];
}

// each half of the lanes has a barrier of its own, and reads what the other half wrote before
__global__ void barrier_in_both_arms()
{
	__shared__ int s[THREADS];
	const int t = threadIdx.x;
	if (t % 2) {
		s[t] = t;
		__syncthreads();
		left_there[t] = s[t ^ 1];
	} else {
		s[t] = 2 * t;
		__syncthreads();
		left_there[t] = s[t ^ 1];
	}
}

// some lanes go through the loop more often than others
__global__ void different_turns()
{
	int turns = 0;
	for (int i = 0; i <= (int)threadIdx.x % 4; i++) {
		turns++;
		__syncthreads();
	}
	left_there[threadIdx.x] = turns;
}

// one thread has something to do, and is done then
__global__ void returns_behind_its_work(int alone)
{
	__shared__ int s[THREADS];
	const int t = threadIdx.x;
	if (alone == 2 && t == 0) {
		left_there[0] = left_there[40] + left_there[41];
		return;
	}
	s[t] = t;
	__syncthreads();
	left_there[t] = s[t == THREADS - 1 ? t : THREADS - 1 - t];
}

// the lanes meet again behind it, for a shuffle
__global__ void shuffles_behind_it()
{
	__shared__ int s[THREADS];
	const int t = threadIdx.x;
	s[t] = t;
	if (t < 16) {
		__syncthreads();
		s[t] += s[31 - t];
	}
	left_there[t] = __shfl_down_sync(~0u, s[t], 1);
}

// who is counted: those that came
__global__ void counts_who_came()
{
	int n = -1;
	if (threadIdx.x < 16)
		n = __syncthreads_count(1);
	left_there[threadIdx.x] = n;
}

template <class Expected> static int wrong(const char *what, int n, Expected expected)
{
	int found[THREADS], bad = 0;
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpyFromSymbol(found, left_there, sizeof found));
	for (int t = 0; t < n; t++)
		bad += found[t] != expected(t);
	printf("%s: %d of %d differ\n", what, bad, n);
	return bad;
}

int main()
{
	int bad = 0;
	sum_in_a_branch<<<1, THREADS>>>();
	bad += wrong("a sum in a branch", 1, [](int) { return THREADS * (THREADS - 1) / 2; });
	barrier_in_both_arms<<<1, THREADS>>>();
	bad +=
		wrong("a barrier in both arms", THREADS, [](int t) { return t % 2 ? 2 * (t - 1) : t + 1; });
	different_turns<<<1, THREADS>>>();
	bad += wrong("different turns", THREADS, [](int t) { return t % 4 + 1; });
	returns_behind_its_work<<<1, THREADS>>>(2);
	bad += wrong("a return behind some work", THREADS, [](int t) {
		return t == 0 ? 3 : t == THREADS - 1 ? t : THREADS - 1 - t;
	});
	shuffles_behind_it<<<1, THREADS>>>();
	bad += wrong("a shuffle behind it", 31, [](int t) { return t < 15 ? 31 : t + 1; });
	counts_who_came<<<1, THREADS>>>();
	bad += wrong("who came", THREADS, [](int t) { return t < 16 ? 16 : -1; });
	printf("divergent_barriers: %s\n", bad ? "failed" : "passed");
	return bad != 0;
}
