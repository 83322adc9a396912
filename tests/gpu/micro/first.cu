/*
 * What a kernel's first launch takes beyond later ones, of its code and of its data: by how much
 * code there is, straight on, and on how many SMs. Each kernel runs four times on buffers that
 * were copied to just before ("first", then "again") and as often on others ("fresh", "reread").
 * Prints a line per launch; times are taken by `pmpp-explore launches` (before.py).
 */
#include "micro.cuh"

#include <vector>

#define THREADS 256

template <int BLOCKS, int OPERATIONS>
static __global__ void work(const float *in, float *out, float a)
{
	const int i = blockIdx.x * THREADS + threadIdx.x;
	float v = in[i], w = a;
#pragma unroll
	for (int k = 0; k < OPERATIONS; k++)
		(k % 2 ? v : w) = (k % 2 ? v : w) * a + (float)(k * 37 % 101);
	out[i] = v + w;
}

template <int BLOCKS, int OPERATIONS> static void both()
{
	const size_t bytes = (size_t)BLOCKS * THREADS * sizeof(float);
	const std::vector<float> host(BLOCKS * THREADS, 1.0f);
	for (int buffers = 0; buffers < 2; buffers++) {
		float *in, *out;
		micro_fail("in", cudaMalloc(&in, bytes));
		micro_fail("out", cudaMalloc(&out, bytes));
		micro_fail("copy", cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice));
		for (int i = 0; i < 4; i++) {
			work<BLOCKS, OPERATIONS><<<BLOCKS, THREADS>>>(in, out, 0.5f);
			printf("operations_%d_blocks_%d %s\n", OPERATIONS, BLOCKS,
			       buffers ? i ? "reread" : "fresh"
			       : i     ? "again"
			               : "first");
			micro_fail("work", cudaDeviceSynchronize());
		}
	}
}

template <int BLOCKS> static void all()
{
	both<BLOCKS, 8>();
	both<BLOCKS, 32>();
	both<BLOCKS, 64>();
	both<BLOCKS, 128>();
	both<BLOCKS, 256>();
}

int main()
{
	all<1>();
	all<4>();
	all<16>();
	all<48>();
	all<132>();
	all<391>();
	return 0;
}
