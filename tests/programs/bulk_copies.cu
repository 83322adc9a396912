// Bulk copies and barriers that count bytes: cp.async.bulk in all directions, reductions, multicast.
#include "check.h"
#include "hopper.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// A stream of tiles through two buffers: the first thread has them brought, all use them, results go back in bulk.
__global__ void scale(const int *in, int *out, int tiles)
{
	__shared__ alignas(128) int tile[2][256], result[2][256];
	__shared__ uint64_t full[2];
	const int t = threadIdx.x;
	if (t == 0) {
		barrier_init(&full[0], 1);
		barrier_init(&full[1], 1);
		fence_init();
	}
	__syncthreads();
	const int first = blockIdx.x * tiles;
	for (int i = -1; i < tiles; i++) {
		if (t == 0 && i + 1 < tiles) {
			const int b = (i + 1) % 2;
			barrier_expect(&full[b], sizeof tile[0]);
			bulk_load(tile[b], in + (first + i + 1) * 256, sizeof tile[0], &full[b]);
		}
		if (i < 0)
			continue;
		barrier_wait(&full[i % 2], i / 2 % 2);
		if (t == 0)
			asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
		__syncthreads();
		result[i % 2][t] = 3 * tile[i % 2][t] + 1;
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		__syncthreads();
		if (t == 0) {
			bulk_store(out + (first + i) * 256, result[i % 2], sizeof result[0]);
			asm volatile("cp.async.bulk.commit_group;" ::: "memory");
		}
	}
	if (t == 0)
		asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Every block adds its part to one array.
__global__ void add_up(int *sums, float *floats, unsigned *most)
{
	__shared__ alignas(128) int part[128];
	__shared__ alignas(128) float real[128];
	__shared__ alignas(128) unsigned big[128];
	const int t = threadIdx.x;
	part[t] = blockIdx.x + t;
	real[t] = 0.5f * blockIdx.x;
	big[t] = blockIdx.x * 37 % 11 + t;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (t == 0) {
		asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 512;" ::"l"(sums),
		             "r"(shared_address(part))
		             : "memory");
		asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 512;" ::"l"(floats),
		             "r"(shared_address(real))
		             : "memory");
		asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%0], [%1], 512;" ::"l"(most),
		             "r"(shared_address(big))
		             : "memory");
		asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
	}
}

// Rank 0 sends the tile to all; each then sends its own half to its neighbour, whose barrier it tells.
__global__ void __cluster_dims__(4, 1, 1) spread(const int *in, int *out)
{
	__shared__ alignas(128) int tile[128], from_left[128], sum[128];
	__shared__ uint64_t full, passed, added;
	cg::cluster_group cluster = cg::this_cluster();
	const unsigned rank = cluster.block_rank(), right = (rank + 1) % 4;
	const int t = threadIdx.x;
	sum[t] = t;
	if (t == 0) {
		barrier_init(&full, 1);
		barrier_init(&passed, 1);
		barrier_init(&added, 1);
		fence_init();
		barrier_expect(&full, sizeof tile);
		barrier_expect(&passed, sizeof tile);
		barrier_expect(&added, sizeof tile);
	}
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	cluster.sync();
	if (rank == 0 && t == 0)
		bulk_multicast(tile, in + blockIdx.x / 4 * 128, sizeof tile, &full, 0xf);
	barrier_wait(&full, 0);
	tile[t] += 1000 * rank;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (t == 0) {
		const uint32_t to = shared_address(from_left), bar = shared_address(&passed);
		bulk_to_block(remote_address(to, right), tile, sizeof tile, remote_address(bar, right));
		asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s32"
		             " [%0], [%1], %2, [%3];" ::"r"(remote_address(shared_address(sum), right)),
		             "r"(shared_address(tile)), "r"(unsigned(sizeof tile)),
		             "r"(remote_address(shared_address(&added), right))
		             : "memory");
	}
	barrier_wait(&passed, 0);
	barrier_wait(&added, 0);
	out[blockIdx.x * 256 + t] = from_left[t];
	out[blockIdx.x * 256 + 128 + t] = sum[t];
	cluster.sync();
}

// Stores that tell a barrier, arrivals from another block, and what a state still awaits.
__global__ void __cluster_dims__(2, 1, 1) mail(int *out)
{
	__shared__ alignas(16) int box[64];
	__shared__ uint64_t full, turn;
	cg::cluster_group cluster = cg::this_cluster();
	const unsigned rank = cluster.block_rank();
	const int t = threadIdx.x;
	if (t == 0) {
		barrier_init(&full, 1);
		barrier_init(&turn, 32);
		fence_init();
		barrier_expect(&full, 32 * 8);
	}
	cluster.sync();
	const uint32_t to = remote_address(shared_address(&box[2 * t]), rank ^ 1);
	const uint32_t bar = remote_address(shared_address(&full), rank ^ 1);
	asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.s32 [%0], {%1, %2}, [%3];" ::"r"(to),
	             "r"(int(100 * rank + t)), "r"(-t), "r"(bar)
	             : "memory");
	barrier_wait(&full, 0);
	uint64_t state;
	unsigned pending = 0;
	asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
			     remote_address(shared_address(&turn), rank ^ 1))
	             : "memory");
	barrier_wait_cluster(&turn, 0);
	if (t == 0) {
		asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], 3;" : "=l"(state) : "r"(shared_address(&turn)) : "memory");
		asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(shared_address(&turn)) : "memory");
		asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
	}
	out[blockIdx.x * 32 + t] = box[2 * t] * 1000 + box[2 * t + 1] + (int)pending * 1000000;
	cluster.sync();
}

int main()
{
	const int tiles = 5, blocks = 6, n = tiles * blocks * 256;
	bool good = true;
	int *in, *out, *sums;
	float *floats;
	unsigned *most;
	CHECK(cudaMalloc(&in, n * 4));
	CHECK(cudaMalloc(&out, n * 4));
	CHECK(cudaMalloc(&sums, 512));
	CHECK(cudaMalloc(&floats, 512));
	CHECK(cudaMalloc(&most, 512));
	std::vector<int> a(n), b(n);
	for (int i = 0; i < n; i++)
		a[i] = i * 17 % 1001;
	CHECK(cudaMemcpy(in, a.data(), n * 4, cudaMemcpyHostToDevice));
	scale<<<blocks, 256>>>(in, out, tiles);
	CHECK(cudaMemcpy(b.data(), out, n * 4, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		good &= b[i] == 3 * a[i] + 1;
	printf("scale: %s\n", good ? "equal" : "DIFFERENT");

	CHECK(cudaMemset(sums, 0, 512));
	CHECK(cudaMemset(floats, 0, 512));
	CHECK(cudaMemset(most, 0, 512));
	add_up<<<20, 128>>>(sums, floats, most);
	std::vector<int> s(128);
	std::vector<float> f(128);
	std::vector<unsigned> m(128);
	CHECK(cudaMemcpy(s.data(), sums, 512, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(f.data(), floats, 512, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(m.data(), most, 512, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 128; i++)
		good &= s[i] == 190 + 20 * i && f[i] == 95 && m[i] == 10u + i;
	printf("add_up: %d %d %.1f %.1f %u\n", s[0], s[127], f[0], f[127], m[5]);

	spread<<<8, 128>>>(in, out);
	std::vector<int> p(8 * 256);
	CHECK(cudaMemcpy(p.data(), out, 8 * 1024, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 8; i++)
		for (int t = 0; t < 128; t++) {
			const int left = a[i / 4 * 128 + t] + (i + 3) % 4 * 1000;
			good &= p[i * 256 + t] == left && p[i * 256 + 128 + t] == left + t;
		}
	printf("spread: %d %d %d %d\n", p[0], p[256], p[128 + 7], p[7 * 256 + 128 + 9]);

	mail<<<4, 32>>>(out);
	std::vector<int> q(128);
	CHECK(cudaMemcpy(q.data(), out, 512, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 4; i++)
		for (int t = 0; t < 32; t++)
			good &= q[i * 32 + t] == (100 * (1 - i % 2) + t) * 1000 - t + (t ? 0 : 29000000);
	printf("mail: %d %d %d\n", q[0], q[31], q[33]);
	free_all(in, out, sums, floats, most);
	return finish("bulk_copies", good);
}
