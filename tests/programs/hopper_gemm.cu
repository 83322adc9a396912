// A matrix product as public Hopper kernels have it: a warp group that only copies, two that multiply, tensor maps,
// rings of barriers, registers moved between warp groups, tiles shared in a cluster, results stored in bulk.
// nvcc: -arch=sm_90a
#include "check.h"
#include "tensor_map.h"
#include "warp_group.h"

enum { BM = 128, BN = 128, BK = 64, STAGES = 3, CLUSTER = 2 };

struct stages {
	alignas(1024) __half a[STAGES][BM * BK], b[STAGES][BN * BK];
	alignas(1024) __half c[BM * BN];
	alignas(8) uint64_t full[STAGES], empty[STAGES];
};

#define R8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
static __device__ void multiply(float *d, uint64_t a, uint64_t b)
{
	asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
	             "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
	             "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
	             "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
	             "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
	             "%64, %65, 1, 1, 1, 0, 0;"
	             : R8(0), R8(8), R8(16), R8(24), R8(32), R8(40), R8(48), R8(56)
	             : "l"(a), "l"(b));
}

// C = A B^T. Blocks of a cluster lie below one another: they have one tile of B, of which each brings a half.
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384)
	gemm(int k, const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         const __grid_constant__ CUtensorMap map_c)
{
	extern __shared__ __align__(1024) unsigned char memory[];
	stages &s = *(stages *)memory;
	unsigned rank;
	asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	const int t = threadIdx.x, group = t / 128, row = blockIdx.x * BM, column = blockIdx.y * BN;
	if (t == 0) {
		for (int i = 0; i < STAGES; i++) {
			barrier_init(&s.full[i], 1);
			barrier_init(&s.empty[i], 2 * CLUSTER);
		}
		fence_init();
	}
	asm volatile("barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
	if (group == 0) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
		if (t == 0)
			for (int i = 0; i < k / BK; i++) {
				const int q = i % STAGES;
				if (i >= STAGES)
					barrier_wait_cluster(&s.empty[q], (i / STAGES - 1) % 2);
				barrier_expect(&s.full[q], (BM + BN) * BK * 2);
				tensor_load<2>(s.a[q], &map_a, int5{ { i * BK, row } }, &s.full[q]);
				tensor_multicast(s.b[q] + rank * BN / 2 * BK, &map_b, i * BK, column + rank * BN / 2, &s.full[q], 3);
			}
	} else {
		asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
		const int g = group - 1;
		float d[64] = {};
		for (int i = 0; i < k / BK; i++) {
			const int q = i % STAGES;
			barrier_wait_cluster(&s.full[q], i / STAGES % 2);
			group_fence();
			for (int kk = 0; kk < BK; kk += 16)
				multiply(d, matrix_descriptor(s.a[q] + g * 64 * BK + kk, 16, 1024, 1),
				         matrix_descriptor(s.b[q] + kk, 16, 1024, 1));
			group_commit();
			group_wait<0>();
			if (t % 128 < CLUSTER) // one thread of the four warps tells each block
				barrier_arrive_at(&s.empty[q], t % 128);
		}
		const int r = g * 64 + t % 128 / 32 * 16 + t % 32 / 4;
		for (int j = 0; j < 64; j++)
			s.c[(r + j / 2 % 2 * 8) * BN + j / 4 * 8 + t % 4 * 2 + j % 2] = __float2half(d[j]);
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		asm volatile("bar.sync 1, 256;" ::: "memory");
		if (t == 128) {
			tensor_store<2>(&map_c, int5{ { column, row } }, s.c);
			asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
		}
	}
	asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
}

int main()
{
	const unsigned m = 512, n = 256, k = 320;
	std::vector<__half> a(m * k), b(n * k), c(m * n);
	unsigned state = 3;
	for (auto &v : a)
		v = (float)((int)(next_random(state) % 9) - 4);
	for (auto &v : b)
		v = (float)((int)(next_random(state) % 5) - 2);
	__half *da, *db, *dc;
	CHECK(cudaMalloc(&da, m * k * 2));
	CHECK(cudaMalloc(&db, n * k * 2));
	CHECK(cudaMalloc(&dc, m * n * 2));
	CHECK(cudaMemcpy(da, a.data(), m * k * 2, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b.data(), n * k * 2, cudaMemcpyHostToDevice));
	const auto half = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
	const CUtensorMap map_a = tensor_map<2>(half, da, { k, m }, { k * 2 }, { BK, BM }, { 1, 1 }, CU_TENSOR_MAP_SWIZZLE_128B);
	const CUtensorMap map_b =
		tensor_map<2>(half, db, { k, n }, { k * 2 }, { BK, BN / 2 }, { 1, 1 }, CU_TENSOR_MAP_SWIZZLE_128B);
	const CUtensorMap map_c = tensor_map<2>(half, dc, { n, m }, { n * 2 }, { BN, BM }, { 1, 1 });
	CHECK(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(stages)));
	for (int again = 0; again < 2; again++) {
		CHECK(cudaMemset(dc, 0, m * n * 2));
		gemm<<<dim3(m / BM, n / BN), 384, sizeof(stages)>>>(k, map_a, map_b, map_c);
		CHECK(cudaGetLastError());
		CHECK(cudaMemcpy(c.data(), dc, m * n * 2, cudaMemcpyDeviceToHost));
	}
	int wrong = 0;
	double sum = 0;
	for (unsigned y = 0; y < m; y++)
		for (unsigned x = 0; x < n; x++) {
			float want = 0;
			for (unsigned i = 0; i < k; i++)
				want += (float)a[y * k + i] * (float)b[x * k + i];
			wrong += (float)c[y * n + x] != want;
			sum += want * (x % 7 + y % 5);
		}
	printf("%d of %u wrong, %.0f\n", wrong, m * n, sum);
	free_all(da, db, dc);
	return finish("hopper_gemm", !wrong);
}
