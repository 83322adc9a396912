// Random numbers made in the kernel, by cuRAND's header: pi by throwing darts, and a bell curve.
#include "check.h"
#include <curand_kernel.h>

__global__ void setup(curandState *states, unsigned long long seed)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	curand_init(seed, i, 0, &states[i]);
}

__global__ void darts(curandState *states, unsigned *hits, int throws)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	curandState mine = states[i];
	unsigned inside = 0;
	for (int t = 0; t < throws; t++) {
		const float x = curand_uniform(&mine), y = curand_uniform(&mine);
		inside += x * x + y * y <= 1.0f;
	}
	states[i] = mine;
	atomicAdd(hits, inside);
}

__global__ void bell(float *sums, int each)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	curandStatePhilox4_32_10_t state;
	curand_init(7, i, 0, &state);
	float sum = 0, squares = 0;
	for (int t = 0; t < each; t++) {
		const float4 v = curand_normal4(&state);
		sum += v.x + v.y + v.z + v.w;
		squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
	}
	atomicAdd(&sums[0], sum);
	atomicAdd(&sums[1], squares);
}

int main()
{
	const int blocks = 8, threads = 64, throws = 200, n = blocks * threads;
	curandState *states;
	unsigned *hits;
	float *sums, host[2];
	CHECK(cudaMalloc(&states, n * sizeof *states));
	CHECK(cudaMalloc(&hits, sizeof *hits));
	CHECK(cudaMalloc(&sums, 2 * sizeof *sums));
	CHECK(cudaMemset(hits, 0, sizeof *hits));
	CHECK(cudaMemset(sums, 0, 2 * sizeof *sums));
	setup<<<blocks, threads>>>(states, 1234ULL);
	darts<<<blocks, threads>>>(states, hits, throws);
	bell<<<blocks, threads>>>(sums, 50);
	unsigned inside = 0;
	CHECK(cudaMemcpy(&inside, hits, sizeof inside, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
	const double pi = 4.0 * inside / ((double)n * throws);
	const double mean = host[0] / (n * 200.0), variance = host[1] / (n * 200.0);
	printf("%u darts inside, pi is about %.4f\n", inside, pi);
	const bool good = fabs(pi - 3.14159265) < 0.02 && fabs(mean) < 0.02 && fabs(variance - 1) < 0.03;
	free_all(states, hits, sums);
	return finish("curand_device", good);
}
