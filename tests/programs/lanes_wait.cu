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

__device__ volatile int turn;

// counting the looks, the loop changes memory: it waits all the same
__device__ void wait_and_pass_on(int its_turn, bool counts)
{
	__shared__ volatile int looks[5];
	while (turn != its_turn)
		if (counts)
			looks[its_turn] = its_turn;
	turn = its_turn + 1;
}

// lanes wait at five places, each for those at the next one, or at the one before
template <bool up, bool counts> __global__ void at_five_places()
{
	const int lane = threadIdx.x;
	switch (lane) {
	case 0: wait_and_pass_on(up ? 0 : 4, counts); break;
	case 1: wait_and_pass_on(up ? 1 : 3, counts); break;
	case 2: wait_and_pass_on(2, counts); break;
	case 3: wait_and_pass_on(up ? 3 : 1, counts); break;
	case 4: wait_and_pass_on(up ? 4 : 0, counts); break;
	default: break;
	}
	left_there[lane] = 100 + lane;
}

// each place is the sum of two above it, which other lanes fill; a lane keeps what it has seen of
// them in shared memory while it waits, and goes on to its next place when both are there
__global__ void sums_of_later(volatile int *place, int n)
{
	__shared__ int seen[2][32];
	int k = n - 3 - (int)threadIdx.x, missing = 0;
	while (k >= 0) {
		if (place[k] > 0) {
			k -= 32;
			continue;
		}
		missing = 2;
		for (int i = 0; i < 2; i++)
			missing -= (seen[i][threadIdx.x] = place[k + 1 + i]) > 0;
		if (missing == 0) {
			place[k] = (seen[0][threadIdx.x] + seen[1][threadIdx.x]) % 1009 + 1;
			k -= 32;
		}
	}
}

static int tree_of_sums()
{
	const int n = 258;
	int *place, host[n] = {}, right[n] = {}, bad = 0;
	host[n - 1] = host[n - 2] = right[n - 1] = right[n - 2] = 1;
	for (int k = n - 3; k >= 0; k--)
		right[k] = (right[k + 1] + right[k + 2]) % 1009 + 1;
	CHECK(cudaMalloc(&place, sizeof host));
	CHECK(cudaMemcpy(place, host, sizeof host, cudaMemcpyHostToDevice));
	sums_of_later<<<1, 32>>>(place, n);
	CHECK(cudaMemcpy(host, place, sizeof host, cudaMemcpyDeviceToHost));
	for (int k = 0; k < n; k++)
		bad += host[k] != right[k];
	printf("sums of later lanes: %d of %d differ\n", bad, n);
	CHECK(cudaFree(place));
	return bad;
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

static int five_places(void (*kernel)())
{
	const int none = 0;
	CHECK(cudaMemcpyToSymbol(turn, &none, sizeof none));
	kernel<<<1, 32>>>();
	return wrong("five places", 32, [](int t) { return 100 + t; });
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
	bad += five_places(at_five_places<true, false>);
	bad += five_places(at_five_places<false, false>);
	bad += five_places(at_five_places<true, true>);
	bad += five_places(at_five_places<false, true>);
	bad += tree_of_sums();
	printf("lanes_wait: %s\n", bad ? "failed" : "passed");
	return bad != 0;
}
