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

// the same with longer and longer naps
__global__ void naps_before_the_lock()
{
	for (unsigned ns = 8; atomicCAS(&locks[0], 0, 1) != 0; ns = ns < 256 ? 2 * ns : ns)
		__nanosleep(ns);
	__threadfence();
	left_there[0] += threadIdx.x;
	__threadfence();
	atomicExch(&locks[0], 0);
}

// in the order of tickets; an addition of nothing looks which is served
__device__ int next_ticket, served;
__global__ void in_order_of_tickets()
{
	const int mine = atomicAdd(&next_ticket, 1);
	while (atomicAdd(&served, 0) != mine)
		;
	__threadfence();
	left_there[0] += threadIdx.x;
	__threadfence();
	atomicAdd(&served, 1);
}

// some take the lock, then all exchange, then others take it
__global__ void between_exchanges()
{
	const int lane = threadIdx.x % 32;
	for (int parity = 0; parity < 2; parity++) {
		if (lane % 2 == parity) {
			while (atomicExch(&locks[1], 1))
				while (*(volatile int *)&locks[1])
					;
			__threadfence();
			left_there[32] += lane;
			__threadfence();
			atomicExch(&locks[1], 0);
		}
		__syncwarp();
		const int other = __shfl_xor_sync(~0u, lane, 1 + parity);
		if (threadIdx.x < 32)
			left_there[lane] += other;
	}
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
	naps_before_the_lock<<<2, 64>>>();
	bad += wrong("a lock and naps", 1, [](int) { return 2 * 63 * 32; });
	in_order_of_tickets<<<2, 64>>>();
	bad += wrong("tickets", 1, [](int) { return 2 * 63 * 32; });
	between_exchanges<<<1, 64>>>();
	bad += wrong("between exchanges", 33,
	             [](int t) { return t == 32 ? 2 * 31 * 16 : (t ^ 1) + (t ^ 2); });
	printf("lanes_wait: %s\n", bad ? "failed" : "passed");
	return bad != 0;
}
