// Thread block clusters: sizes fixed at compile time and at the launch, distributed shared memory, errors.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each block counts a share of the bins; values go to the block that owns their bin.
__global__ void histogram(const unsigned char *in, int n, int *bins, int per_block)
{
	extern __shared__ int own[];
	cg::cluster_group cluster = cg::this_cluster();
	for (int i = threadIdx.x; i < per_block; i += blockDim.x)
		own[i] = 0;
	cluster.sync();
	for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size()) {
		const int bin = in[i];
		int *there = cluster.map_shared_rank(own, bin / per_block);
		atomicAdd(there + bin % per_block, 1);
	}
	cluster.sync();
	for (int i = threadIdx.x; i < per_block; i += blockDim.x)
		atomicAdd(bins + cluster.block_rank() * per_block + i, own[i]);
}

// A sum over the cluster: rank 0 reads what the others left.
__global__ void __cluster_dims__(2, 2, 1) sums(const int *in, int *out)
{
	__shared__ int part;
	cg::cluster_group cluster = cg::this_cluster();
	const int block = blockIdx.y * gridDim.x + blockIdx.x;
	if (threadIdx.x == 0)
		part = 0;
	__syncthreads();
	atomicAdd(&part, in[block * blockDim.x + threadIdx.x]);
	cluster.sync();
	if (cluster.block_rank() == 0 && threadIdx.x == 0) {
		int sum = 0;
		for (unsigned r = 0; r < cluster.num_blocks(); r++)
			sum += *cluster.map_shared_rank(&part, r);
		out[(blockIdx.y / 2) * (gridDim.x / 2) + blockIdx.x / 2] = sum;
	}
	cluster.sync();
}

// Arrive, work of its own, wait: a ring in which each block passes on what it got.
__global__ void ring(int *out, int rounds)
{
	__shared__ int box[2];
	cg::cluster_group cluster = cg::this_cluster();
	const unsigned rank = cluster.block_rank(), n = cluster.num_blocks();
	int mine = rank;
	for (int i = 0; i < rounds; i++) {
		if (threadIdx.x == 0)
			*cluster.map_shared_rank(&box[i % 2], (rank + 1) % n) = mine + 1;
		auto token = cluster.barrier_arrive();
		cluster.barrier_wait(std::move(token));
		mine = box[i % 2];
	}
	if (threadIdx.x == 0)
		out[blockIdx.x] = mine;
	cluster.sync();
}

static cudaLaunchConfig_t config(dim3 grid, dim3 block, size_t shared, cudaLaunchAttribute *a, dim3 cluster)
{
	cudaLaunchConfig_t c = {};
	a->id = cudaLaunchAttributeClusterDimension;
	a->val.clusterDim.x = cluster.x;
	a->val.clusterDim.y = cluster.y;
	a->val.clusterDim.z = cluster.z;
	c.gridDim = grid;
	c.blockDim = block;
	c.dynamicSmemBytes = shared;
	c.attrs = a;
	c.numAttrs = 1;
	return c;
}

static void say(const char *what, cudaError_t e)
{
	printf("%s: %s\n", what, cudaGetErrorName(e));
	cudaGetLastError();
}

int main()
{
	const int n = 100000;
	bool good = true;
	std::vector<unsigned char> values(n);
	std::vector<int> want(256);
	unsigned state = 1;
	for (auto &v : values)
		want[v = next_random(state) % 251]++;
	unsigned char *in;
	int *bins, *numbers, *out;
	CHECK(cudaMalloc(&in, n));
	CHECK(cudaMalloc(&bins, 256 * 4));
	CHECK(cudaMalloc(&numbers, 16 * 64 * 4));
	CHECK(cudaMalloc(&out, 64 * 4));
	CHECK(cudaMemcpy(in, values.data(), n, cudaMemcpyHostToDevice));
	cudaLaunchAttribute a;
	for (int size : { 1, 2, 4, 8 }) {
		cudaLaunchConfig_t c = config(16, 128, 256 / size * 4, &a, dim3(size, 1, 1));
		CHECK(cudaMemset(bins, 0, 256 * 4));
		CHECK(cudaLaunchKernelEx(&c, histogram, (const unsigned char *)in, n, bins, 256 / size));
		std::vector<int> got(256);
		CHECK(cudaMemcpy(got.data(), bins, 256 * 4, cudaMemcpyDeviceToHost));
		good &= got == want;
		printf("clusters of %d: %s\n", size, got == want ? "equal" : "DIFFERENT");
	}
	std::vector<int> some(16 * 64), sum(4), expected(4);
	for (int i = 0; i < 16 * 64; i++) {
		some[i] = i * 7 % 101;
		const int block = i / 64;
		expected[block / 4 / 2 * 2 + block % 4 / 2] += some[i];
	}
	CHECK(cudaMemcpy(numbers, some.data(), 16 * 64 * 4, cudaMemcpyHostToDevice));
	sums<<<dim3(4, 4), 64>>>(numbers, out);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(sum.data(), out, 16, cudaMemcpyDeviceToHost));
	good &= sum == expected;
	printf("sums %d %d %d %d\n", sum[0], sum[1], sum[2], sum[3]);

	cudaLaunchConfig_t c = config(8, 32, 0, &a, dim3(4, 1, 1));
	CHECK(cudaLaunchKernelEx(&c, ring, out, 6));
	std::vector<int> passed(8);
	CHECK(cudaMemcpy(passed.data(), out, 32, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 8; i++)
		good &= passed[i] == (i % 4 + 24 - 6) % 4 + 6;
	printf("ring %d %d %d %d\n", passed[0], passed[1], passed[2], passed[3]);

	cudaFuncAttributes f;
	CHECK(cudaFuncGetAttributes(&f, sums));
	printf("sums: must be set %d, %d x %d x %d\n", f.clusterDimMustBeSet, f.requiredClusterWidth, f.requiredClusterHeight,
	       f.requiredClusterDepth);
	int size = 0, active = 0;
	CHECK(cudaOccupancyMaxPotentialClusterSize(&size, ring, &c));
	CHECK(cudaOccupancyMaxActiveClusters(&active, ring, &c));
	printf("largest cluster %d, clusters of 4 at once: %s\n", size, active > 0 ? "some" : "none");

	c.dynamicSmemBytes = 1 << 20;
	CHECK(cudaOccupancyMaxPotentialClusterSize(&size, ring, &c));
	good &= size == 0;

	c = config(6, 32, 0, &a, dim3(4, 1, 1));
	say("6 blocks in clusters of 4", cudaLaunchKernelEx(&c, ring, out, 1));
	c = config(16, 32, 0, &a, dim3(16, 1, 1));
	say("clusters of 16", cudaLaunchKernelEx(&c, ring, out, 1));
	CHECK(cudaFuncSetAttribute(ring, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
	say("clusters of 16, when allowed", cudaLaunchKernelEx(&c, ring, out, 1));
	CHECK(cudaDeviceSynchronize());
	c = config(32, 32, 0, &a, dim3(32, 1, 1));
	say("clusters of 32", cudaLaunchKernelEx(&c, ring, out, 1));
	c = config(dim3(4, 4), 64, 0, &a, dim3(4, 1, 1));
	say("other than compiled", cudaLaunchKernelEx(&c, sums, (const int *)numbers, out));
	c = config(8, 32, 0, &a, dim3(0, 1, 1));
	say("clusters of 0", cudaLaunchKernelEx(&c, ring, out, 1));
	sums<<<dim3(3, 4), 64>>>(numbers, out);
	say("3 x 4 blocks in clusters of 2 x 2", cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	free_all(in, bins, numbers, out);
	return finish("cluster_launch", good);
}
