// Radix sort, four bits a pass: histograms by block, a scan of them, a stable scatter by ranks.
#include "check.h"
#include <algorithm>

constexpr int THREADS = 128, RADIX = 16;

__global__ void histogram(const unsigned *keys, unsigned *table, int n, int shift)
{
	__shared__ unsigned bins[RADIX];
	if (threadIdx.x < RADIX)
		bins[threadIdx.x] = 0;
	__syncthreads();
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(&bins[keys[i] >> shift & (RADIX - 1)], 1u);
	__syncthreads();
	if (threadIdx.x < RADIX)
		table[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

// One block: an exclusive sum over the whole table.
__global__ void scan_table(unsigned *table, int n)
{
	__shared__ unsigned sums[THREADS];
	unsigned carry = 0;
	for (int base = 0; base < n; base += THREADS) {
		const int i = base + threadIdx.x;
		const unsigned mine = i < n ? table[i] : 0;
		sums[threadIdx.x] = mine;
		__syncthreads();
		for (int d = 1; d < THREADS; d *= 2) {
			const unsigned add = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
			__syncthreads();
			sums[threadIdx.x] += add;
			__syncthreads();
		}
		if (i < n)
			table[i] = carry + sums[threadIdx.x] - mine;
		carry += sums[THREADS - 1];
		__syncthreads();
	}
}

__global__ void scatter(const unsigned *in, unsigned *out, const unsigned *table, int n, int shift)
{
	__shared__ unsigned digits[THREADS];
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	const unsigned key = i < n ? in[i] : 0, digit = key >> shift & (RADIX - 1);
	digits[threadIdx.x] = i < n ? digit : RADIX;
	__syncthreads();
	if (i >= n)
		return;
	unsigned rank = 0;
	for (int t = 0; t < (int)threadIdx.x; t++)
		rank += digits[t] == digit;
	out[table[digit * gridDim.x + blockIdx.x] + rank] = key;
}

int main()
{
	const int n = 5000, blocks = (n + THREADS - 1) / THREADS;
	std::vector<unsigned> keys(n), result(n);
	unsigned seed = 99;
	for (auto &k : keys)
		k = next_random(seed) << 8 | next_random(seed) % 256;
	unsigned *a, *b, *table;
	CHECK(cudaMalloc(&a, n * sizeof *a));
	CHECK(cudaMalloc(&b, n * sizeof *b));
	CHECK(cudaMalloc(&table, RADIX * blocks * sizeof *table));
	CHECK(cudaMemcpy(a, keys.data(), n * sizeof *a, cudaMemcpyHostToDevice));
	for (int shift = 0; shift < 32; shift += 4) {
		histogram<<<blocks, THREADS>>>(a, table, n, shift);
		scan_table<<<1, THREADS>>>(table, RADIX * blocks);
		scatter<<<blocks, THREADS>>>(a, b, table, n, shift);
		std::swap(a, b);
	}
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(result.data(), a, n * sizeof *a, cudaMemcpyDeviceToHost));
	std::sort(keys.begin(), keys.end());
	printf("first %08x, last %08x\n", result.front(), result.back());
	free_all(a, b, table);
	return finish("radix_sort", result == keys);
}
