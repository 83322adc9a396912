// Lanes of a warp that meet in different arms of a branch, each at an instruction of its own: since
// Volta a lane waits there for all lanes of its mask, wherever they are. What each kernel must
// leave is what an H200 left.
#include "check.h"

constexpr unsigned ALL = 0xffffffff;
__device__ int left_there[64];
__device__ volatile int nothing; // keeps the arms apart

// what one arm makes the other takes
__global__ void makers_and_takers(bool takers_first)
{
	__shared__ int s[32];
	const int lane = threadIdx.x;
	s[lane] = -1;
	__syncwarp();
	if ((lane < 16) != takers_first) {
		s[lane] = 3 * lane;
		__syncwarp();
		left_there[lane] = s[lane];
	} else {
		__syncwarp();
		left_there[lane] = s[lane ^ 16];
	}
}

// to and fro, in two loops
__global__ void to_and_fro()
{
	__shared__ int s[32];
	const int lane = threadIdx.x;
	int sum = 0;
	if (lane < 16) {
		for (int i = 0; i < 8; i++) {
			s[lane] = i + lane;
			__syncwarp();
			__syncwarp();
			sum += s[lane + 16];
		}
	} else {
		for (int i = 0; i < 8; i++) {
			__syncwarp();
			s[lane] = 2 * s[lane - 16];
			__syncwarp();
		}
	}
	left_there[lane] = sum;
}

// those who have ended are not waited for
__global__ void some_have_ended()
{
	__shared__ int s[32];
	const int lane = threadIdx.x;
	if (lane >= 20)
		return;
	if (lane < 10) {
		s[lane] = 2 * lane;
		__syncwarp();
		left_there[lane] = s[lane + 10];
	} else {
		s[lane] = 3 * lane;
		__syncwarp();
		left_there[lane] = s[lane - 10];
	}
}

__global__ void shuffles()
{
	const int lane = threadIdx.x;
	int x;
	if (lane < 16)
		x = __shfl_sync(ALL, 10 * lane + nothing, lane + 16) + 1;
	else
		x = __shfl_sync(ALL, 100 * lane + nothing, lane - 16) + 2;
	left_there[lane] = x;
}

__global__ void votes()
{
	const int lane = threadIdx.x;
	unsigned x;
	if (lane < 16)
		x = __ballot_sync(ALL, lane % 2) ^ nothing;
	else
		x = __ballot_sync(ALL, lane % 3 == 0) + nothing;
	if (lane % 2)
		x += __any_sync(ALL, lane == 77 + nothing);
	else
		x += 2 * __any_sync(ALL, lane == 30 + nothing);
	left_there[lane] = x;
}

__device__ __noinline__ int sum_of_all(int v)
{
	for (int d = 16; d; d >>= 1)
		v += __shfl_xor_sync(ALL, v, d);
	return v + nothing;
}
__global__ void one_function_from_both_arms()
{
	const int lane = threadIdx.x;
	int x;
	if (lane < 16)
		x = sum_of_all(lane) + 1;
	else
		x = 2 * sum_of_all(lane);
	left_there[lane] = x;
}

// every arm names its own lanes
__global__ void a_mask_for_each_arm()
{
	const int lane = threadIdx.x;
	unsigned x;
	if (lane < 8) {
		x = lane;
		for (int d = 4; d; d >>= 1)
			x += __shfl_xor_sync(0xff, x, d);
	} else if (lane < 24) {
		x = __ballot_sync(0xffff00, lane & 1);
	} else {
		x = __shfl_sync(0xff000000, lane, 31);
	}
	left_there[lane] = x;
}

// the lanes go round a loop more or less often; who is done ends
__global__ void different_turns()
{
	const int lane = threadIdx.x;
	int x = lane;
	for (int i = 0; i <= lane % 4; i++)
		x += __shfl_sync(ALL, lane + i + nothing, 3);
	left_there[lane] = x;
}

// one lane sets what the others wait for; then all give their neighbour something
__global__ void meet_behind_a_flag()
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
	__syncwarp();
	left_there[lane] = flag + __shfl_sync(ALL, lane, lane ^ 1);
}

__device__ int lock, sum;
__device__ __noinline__ void add_under_lock(int v)
{
	while (atomicCAS(&lock, 0, 1) != 0)
		;
	__threadfence();
	sum += v;
	__threadfence();
	atomicExch(&lock, 0);
}
__global__ void meet_behind_a_lock()
{
	const int t = threadIdx.x;
	add_under_lock(t);
	const unsigned odd = __ballot_sync(ALL, t & 1);
	__syncthreads();
	left_there[t] = __popc(odd) + *(volatile int *)&sum;
}

template <class Expected> static int wrong(const char *what, int n, Expected expected)
{
	int found[64], none[64] = {}, bad = 0;
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpyFromSymbol(found, left_there, sizeof found));
	CHECK(cudaMemcpyToSymbol(left_there, none, sizeof none));
	for (int t = 0; t < n; t++)
		bad += found[t] != (int)expected(t);
	printf("%s: %d of %d differ\n", what, bad, n);
	return bad;
}

int main()
{
	int bad = 0;
	for (int first = 0; first < 2; first++) {
		makers_and_takers<<<1, 32>>>(first);
		bad += wrong(first ? "takers and makers" : "makers and takers", 32,
		             [first](int t) { return 3 * (t % 16 + 16 * first); });
	}
	to_and_fro<<<1, 32>>>();
	bad += wrong("to and fro", 16, [](int t) { return 2 * (28 + 8 * t); });
	some_have_ended<<<1, 32>>>();
	bad += wrong("some have ended", 20, [](int t) { return t < 10 ? 3 * (t + 10) : 2 * (t - 10); });
	shuffles<<<1, 32>>>();
	bad += wrong("shuffles", 32,
	             [](int t) { return t < 16 ? 100 * (t + 16) + 1 : 10 * (t - 16) + 2; });
	votes<<<1, 32>>>();
	bad += wrong("votes", 32, [](int t) { return 0x4924aaaa + (t % 2 ? 1 : 2); });
	one_function_from_both_arms<<<1, 32>>>();
	bad += wrong("one function from both arms", 32, [](int t) { return t < 16 ? 497 : 992; });
	a_mask_for_each_arm<<<1, 32>>>();
	bad += wrong("a mask for each arm", 32, [](int t) {
		return t < 8 ? 28 : t < 24 ? 0xaaaa00 : 31;
	});
	different_turns<<<1, 32>>>();
	bad += wrong("different turns", 32, [](int t) {
		const int n = t % 4;
		return t + 3 * (n + 1) + n * (n + 1) / 2;
	});
	meet_behind_a_flag<<<1, 32>>>();
	bad += wrong("behind a flag", 32, [](int t) { return 7 + (t ^ 1); });
	meet_behind_a_lock<<<1, 64>>>();
	bad += wrong("behind a lock", 64, [](int) { return 16 + 63 * 32; });
	printf("warp_meetings: %s\n", bad ? "failed" : "passed");
	return bad != 0;
}
