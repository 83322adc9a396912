// Lanes of a warp that sleep (__nanosleep), and whether the others wait for them at the next place
// where the warp meets: how often what stands behind it is executed, only counters tell.
#include "check.h"

static __device__ __noinline__ unsigned rest(unsigned ns, unsigned x)
{
	if (x & 1)
		__nanosleep(ns);
	return x * 3;
}

template <int CASE> static __global__ void sleeps(unsigned *out, unsigned ns)
{
	const unsigned lane = threadIdx.x;
	unsigned x = lane;
	if (CASE == 0 && lane == 3)
		__nanosleep(ns);
	if (CASE == 1 && lane < 16)
		__nanosleep(ns);
	if (CASE == 2 && lane < 20)
		__nanosleep(ns);
	if (CASE == 3 && lane < 16) {
		if (lane == 3)
			__nanosleep(ns);
		out[64 + lane] = x;
		x += 5;
	}
	if (CASE == 4)
		for (unsigned k = 0; k < lane % 4; k++) {
			__nanosleep(ns);
			x += out[96 + k];
		}
	if (CASE == 5)
		__nanosleep(ns);
	if (CASE == 6) {
		if (lane == 3) {
			__nanosleep(ns);
			x += out[96];
		} else {
			x += out[97] * 2;
		}
	}
	if (CASE == 7) {
		if (lane == 3)
			__nanosleep(ns);
		__syncwarp();
	}
	if (CASE == 8) {
		if (lane == 3)
			__nanosleep(ns);
		out[64 + lane] = x;
		if (lane == 5)
			__nanosleep(ns);
	}
	if (CASE == 9 && lane < 16)
		x = rest(ns, x);
	if (CASE == 10 && lane == 3) {
		__nanosleep(ns);
		x += out[96];
		__nanosleep(ns);
	}
	if (CASE == 11 && (lane == 3 || lane == 7)) {
		if (lane == 7)
			__nanosleep(ns);
		x += out[96];
	}
	if (CASE == 12) {
		if (lane == 3)
			__nanosleep(ns);
		out[64 + lane] = x;
		__syncthreads();
	}
	if (CASE == 13 && lane % 8 == 3) { // one of four warps that has company
		if (lane > 8)
			__nanosleep(ns);
		else
			x += out[97];
	}
	out[lane] = x;
}

template <int CASE> static bool run(unsigned *d, unsigned ns)
{
	unsigned h[32];
	CHECK(cudaMemset(d, 0, 128 * sizeof *d));
	sleeps<CASE><<<1, 32>>>(d, ns);
	CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	bool good = true;
	for (unsigned i = 0; i < 32; i++)
		good &= h[i] == (CASE == 3 && i < 16 ? i + 5 : CASE == 9 && i < 16 ? i * 3 : i);
	return good;
}

template <int CASE = 0> static bool run_all(unsigned *d, unsigned ns)
{
	const bool good = run<CASE>(d, ns);
	if constexpr (CASE < 13)
		return run_all<CASE + 1>(d, ns) && good;
	return good;
}

int main()
{
	unsigned *d;
	CHECK(cudaMalloc(&d, 128 * sizeof *d));
	bool good = true;
	for (unsigned ns : { 0u, 20u, 2000u, 200000u })
		good &= run_all(d, ns);
	CHECK(cudaFree(d));
	return finish("sleeping", good);
}
