// Lanes of a warp that wait for one another at more than two places, in loops that store as well:
// each has its turn, as on a GPU, where every thread goes on at some time.
#include "check.h"

__device__ int left_there[32];
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

static int five_places(void (*kernel)())
{
	const int none = 0;
	int found[32], bad = 0;
	CHECK(cudaMemcpyToSymbol(turn, &none, sizeof none));
	kernel<<<1, 32>>>();
	CHECK(cudaMemcpyFromSymbol(found, left_there, sizeof found));
	for (int t = 0; t < 32; t++)
		bad += found[t] != 100 + t;
	printf("five places: %d of 32 differ\n", bad);
	return bad;
}

int main()
{
	int bad = five_places(at_five_places<true, false>);
	bad += five_places(at_five_places<false, false>);
	bad += five_places(at_five_places<true, true>);
	bad += five_places(at_five_places<false, true>);
	bad += tree_of_sums();
	return finish("lanes_in_turn", bad == 0);
}
