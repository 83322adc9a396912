// Pointers to functions that one kernel leaves in memory for another: the other never names them.
#include "check.h"

typedef unsigned (*combine)(unsigned, unsigned);
__device__ __noinline__ unsigned sum(unsigned a, unsigned b) { return a + b; }
__device__ __noinline__ unsigned mixed(unsigned a, unsigned b) { return (a ^ b) * 3; }
__device__ combine first = sum; // the host copies it
__device__ combine stored[2];

__global__ void store(int turn)
{
	stored[turn & 1] = mixed;
	stored[~turn & 1] = sum;
}

__global__ void use(unsigned *out, combine given)
{
	const unsigned i = threadIdx.x;
	out[i] = given(i, 5) + stored[i / 32 & 1](i, 9);
}

int main()
{
	unsigned *out;
	combine given;
	bool good = true;
	CHECK(cudaMallocManaged(&out, 128 * sizeof *out));
	CHECK(cudaMemcpyFromSymbol(&given, first, sizeof given));
	for (int turn = 0; turn < 2; turn++) {
		store<<<1, 1>>>(turn);
		use<<<1, 128>>>(out, given);
		CHECK(cudaDeviceSynchronize());
		for (unsigned i = 0; i < 128; i++)
			good &= out[i] == i + 5 + (int(i / 32 & 1) == turn ? (i ^ 9) * 3 : i + 9);
	}
	free_all(out);
	return finish("stored_functions", good);
}
