// K-means: points in a structure of arrays, sums in shared memory, centres in constant memory.
#include "check.h"

constexpr int K = 5;
__constant__ float2 centres[K];

struct points {
	float *x, *y;
	int n;
};

__global__ void assign(points p, int *cluster, float *sums, int *counts)
{
	__shared__ float sx[K], sy[K];
	__shared__ int sn[K];
	if (threadIdx.x < K) {
		sx[threadIdx.x] = sy[threadIdx.x] = 0;
		sn[threadIdx.x] = 0;
	}
	__syncthreads();
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < p.n) {
		int best = 0;
		float nearest = INFINITY;
#pragma unroll
		for (int k = 0; k < K; k++) {
			const float dx = p.x[i] - centres[k].x, dy = p.y[i] - centres[k].y;
			const float d = dx * dx + dy * dy;
			if (d < nearest) {
				nearest = d;
				best = k;
			}
		}
		cluster[i] = best;
		atomicAdd(&sx[best], p.x[i]);
		atomicAdd(&sy[best], p.y[i]);
		atomicAdd(&sn[best], 1);
	}
	__syncthreads();
	if (threadIdx.x < K) {
		atomicAdd(&sums[2 * threadIdx.x], sx[threadIdx.x]);
		atomicAdd(&sums[2 * threadIdx.x + 1], sy[threadIdx.x]);
		atomicAdd(&counts[threadIdx.x], sn[threadIdx.x]);
	}
}

int main()
{
	const int n = 6000;
	std::vector<float> x(n), y(n);
	unsigned seed = 3;
	for (int i = 0; i < n; i++) { // five clouds on whole numbers: sums are exact in any order
		x[i] = (float)(i % K * 100 + (int)(next_random(seed) % 21) - 10);
		y[i] = (float)(i % K * i % K * 50 + (int)(next_random(seed) % 21) - 10);
	}
	points p = { nullptr, nullptr, n };
	int *cluster, *counts;
	float *sums;
	CHECK(cudaMalloc(&p.x, n * sizeof(float)));
	CHECK(cudaMalloc(&p.y, n * sizeof(float)));
	CHECK(cudaMalloc(&cluster, n * sizeof(int)));
	CHECK(cudaMalloc(&sums, 2 * K * sizeof(float)));
	CHECK(cudaMalloc(&counts, K * sizeof(int)));
	CHECK(cudaMemcpy(p.x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(p.y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	float2 at[K];
	for (int k = 0; k < K; k++)
		at[k] = { x[k] + 20, y[k] - 20 };
	int count[K], rounds = 0;
	for (bool moved = true; moved && rounds < 20; rounds++) {
		float sum[2 * K];
		CHECK(cudaMemcpyToSymbol(centres, at, sizeof at));
		CHECK(cudaMemset(sums, 0, sizeof sum));
		CHECK(cudaMemset(counts, 0, sizeof count));
		assign<<<(n + 255) / 256, 256>>>(p, cluster, sums, counts);
		CHECK(cudaMemcpy(sum, sums, sizeof sum, cudaMemcpyDeviceToHost));
		CHECK(cudaMemcpy(count, counts, sizeof count, cudaMemcpyDeviceToHost));
		moved = false;
		for (int k = 0; k < K; k++) {
			const float2 to = { sum[2 * k] / count[k], sum[2 * k + 1] / count[k] };
			moved = moved || to.x != at[k].x || to.y != at[k].y;
			at[k] = to;
		}
	}
	std::vector<int> of(n);
	CHECK(cudaMemcpy(of.data(), cluster, n * sizeof(int), cudaMemcpyDeviceToHost));
	bool good = rounds < 20;
	int total = 0;
	for (int k = 0; k < K; k++) {
		printf("cluster %d: %d points around %.2f\n", k, count[k], at[k].x);
		total += count[k];
	}
	for (int i = 0; i < n; i++) { // each point lies with its nearest centre
		int best = 0;
		for (int k = 1; k < K; k++)
			if (hypotf(x[i] - at[k].x, y[i] - at[k].y) < hypotf(x[i] - at[best].x, y[i] - at[best].y))
				best = k;
		good = good && of[i] == best;
	}
	free_all(p.x, p.y, cluster, sums, counts);
	return finish("kmeans", good && total == n);
}
