// A scan in one pass: each block takes its number by an atomic and looks back at its predecessors'
// sums, published with a fence.
#include "check.h"

constexpr int THREADS = 256;
enum : unsigned long long { EMPTY = 0, PARTIAL = 1ull << 62, COMPLETE = 2ull << 62, VALUE = ~(3ull << 62) };

__global__ void scan(const int *in, long long *out, volatile unsigned long long *state, unsigned *ticket, int n)
{
	__shared__ unsigned block;
	__shared__ long long warp_sums[THREADS / 32], prefix;
	if (threadIdx.x == 0)
		block = atomicAdd(ticket, 1u);
	__syncthreads();
	const int i = block * THREADS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	long long v = i < n ? in[i] : 0;
	for (int d = 1; d < 32; d *= 2) {
		const long long up = __shfl_up_sync(0xffffffff, v, d);
		v += lane >= d ? up : 0;
	}
	if (lane == 31)
		warp_sums[warp] = v;
	__syncthreads();
	for (int w = 0; w < warp; w++)
		v += warp_sums[w];
	__syncthreads();
	if (threadIdx.x == THREADS - 1) {
		long long before = 0;
		if (block == 0) {
			state[0] = COMPLETE | (unsigned long long)v;
		} else {
			state[block] = PARTIAL | (unsigned long long)v;
			__threadfence();
			for (int k = (int)block - 1; k >= 0;) {
				const unsigned long long s = state[k];
				if (s == EMPTY)
					continue;
				before += (long long)(s & VALUE);
				if (s & COMPLETE)
					break;
				k--;
			}
			state[block] = COMPLETE | (unsigned long long)(before + v);
		}
		prefix = before;
	}
	__syncthreads();
	if (i < n)
		out[i] = prefix + v;
}

int main()
{
	const int n = 40000, blocks = (n + THREADS - 1) / THREADS;
	std::vector<int> in(n);
	std::vector<long long> out(n);
	unsigned seed = 8, *ticket;
	for (auto &v : in)
		v = next_random(seed) % 1000;
	int *din;
	long long *dout;
	unsigned long long *state;
	CHECK(cudaMalloc(&din, n * sizeof(int)));
	CHECK(cudaMalloc(&dout, n * sizeof(long long)));
	CHECK(cudaMalloc(&state, blocks * sizeof *state));
	CHECK(cudaMalloc(&ticket, sizeof *ticket));
	CHECK(cudaMemset(state, 0, blocks * sizeof *state));
	CHECK(cudaMemset(ticket, 0, sizeof *ticket));
	CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	scan<<<blocks, THREADS>>>(din, dout, state, ticket, n);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(out.data(), dout, n * sizeof(long long), cudaMemcpyDeviceToHost));
	long long sum = 0;
	bool good = true;
	for (int i = 0; i < n; i++) {
		sum += in[i];
		good = good && out[i] == sum;
	}
	printf("%d blocks, sum %lld\n", blocks, out[n - 1]);
	free_all(din, dout, state, ticket);
	return finish("lookback_scan", good);
}
