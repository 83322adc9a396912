// Lanes of a warp that wait for one another in a loop, which goes well since Volta: each thread
// goes on at some time, whatever the others do. What each kernel must leave is what an H100 left.
#include "check.h"

__device__ int left_there[64], locks[4];

// one lane sets what the others wait for
__global__ void one_sets_a_flag()
{
	__shared__ volatile int flag;
	const int lane = threadIdx.x;
	if (lane == 0)
		flag = 0;
	__syncwarp();
	if (lane == 5)
		flag = 7;
	else
		while (flag != 7)
			;
	left_there[lane] = flag;
}

// lane after lane
__global__ void in_turn()
{
	__shared__ volatile int turn;
	const int lane = threadIdx.x;
	if (lane == 0)
		turn = 0;
	__syncwarp();
	while (turn != lane)
		;
	left_there[lane] = 2 * turn;
	__threadfence_block();
	turn = lane + 1;
}

// a lock that every thread takes, and waits for where it is
__global__ void all_take_the_lock(int n_locks)
{
	int *lock = &locks[threadIdx.x % n_locks], *sum = &left_there[threadIdx.x % n_locks];
	while (atomicCAS(lock, 0, 1) != 0)
		;
	__threadfence();
	*sum += threadIdx.x;
	__threadfence();
	atomicExch(lock, 0);
}

template <class Expected> static int wrong(const char *what, int n, Expected expected)
{
	int found[64], none[64] = {}, bad = 0;
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpyFromSymbol(found, left_there, sizeof found));
	CHECK(cudaMemcpyToSymbol(left_there, none, sizeof none));
	for (int t = 0; t < n; t++)
		bad += found[t] != expected(t);
	printf("%s: %d of %d differ\n", what, bad, n);
	return bad;
}

int main()
{
	int bad = 0;
	one_sets_a_flag<<<1, 32>>>();
	bad += wrong("a flag of one lane", 32, [](int) { return 7; });
	in_turn<<<1, 32>>>();
	bad += wrong("lane after lane", 32, [](int t) { return 2 * t; });
	all_take_the_lock<<<2, 64>>>(1);
	bad += wrong("one lock", 1, [](int) { return 2 * 63 * 32; });
	all_take_the_lock<<<1, 32>>>(4);
	bad += wrong("four locks", 4, [](int t) { return 112 + 8 * t; });
	printf("lanes_wait: %s\n", bad ? "failed" : "passed");
	return bad != 0;
}
