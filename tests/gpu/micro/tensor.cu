/*
 * Tensor cores: a product of fragments until a dependent one can begin, and products one after the
 * other; how fragments come from shared memory (ldmatrix), are transposed between lanes
 * (movmatrix), and the loop of a warp that loads its fragments straight from memory (wmma), by
 * warps of an SM.
 */
#include "micro.cuh"

#include <cuda_fp16.h>
#include <mma.h>

#define TIMES 512

using namespace nvcuda;

enum { F16_F32, F16_F16, BF16_F32, TF32_F32, TF32_K4, S8_S32, F64_F64 };

/* One product: sums += a * b. */
template <int WHAT>
static __device__ __forceinline__ void product(float (&d)[4], double (&e)[2],
                                               const unsigned (&a)[4])
{
	unsigned *const s = (unsigned *)d;
	if (WHAT == F16_F32)
		asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
		             "{%4, %5, %6, %7}, {%4, %5}, {%0, %1, %2, %3};"
		             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
	else if (WHAT == F16_F16)
		asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, "
		             "{%2, %3, %4, %5}, {%2, %3}, {%0, %1};"
		             : "+r"(s[0]), "+r"(s[1])
		             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
	else if (WHAT == BF16_F32)
		asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
		             "{%4, %5, %6, %7}, {%4, %5}, {%0, %1, %2, %3};"
		             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
	else if (WHAT == TF32_F32)
		asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
		             "{%4, %5, %6, %7}, {%4, %5}, {%0, %1, %2, %3};"
		             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
	else if (WHAT == TF32_K4)
		asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
		             "{%4, %5}, {%6}, {%0, %1, %2, %3};"
		             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		             : "r"(a[0]), "r"(a[1]), "r"(a[2]));
	else if (WHAT == S8_S32)
		asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
		             "{%4, %5, %6, %7}, {%4, %5}, {%0, %1, %2, %3};"
		             : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
		             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
	else
		asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
		             "{%0, %1};"
		             : "+d"(e[0]), "+d"(e[1])
		             : "d"((double)a[0]), "d"((double)a[1]));
}

template <int WHAT, int CHAINS> static __global__ void m_product(unsigned *cycles, unsigned start)
{
	const unsigned a[4] = { start, start + 1, start + 2, start + 3 };
	float d[CHAINS][4] = {};
	double e[CHAINS][2] = {};
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < TIMES / 8; i++)
#pragma unroll
		for (int k = 0; k < 8; k++)
#pragma unroll
			for (int c = 0; c < CHAINS; c++)
				product<WHAT>(d[c], e[c], a);
	clock.stop(cycles);
	for (int c = 0; c < CHAINS; c++)
		micro_use(d[c][0] + d[c][1] + d[c][2] + d[c][3] + (float)(e[c][0] + e[c][1]), cycles);
}

template <int WHAT> static void products(const char *name)
{
	unsigned *const out = micro_cycles();
	for (int t = 32; t <= 1024; t *= 2) {
		Line line("tensor", name);
		line("threads", t);
		line("chains_1", median_cycles(1, [&] { m_product<WHAT, 1><<<1, t>>>(out, 0); }) / TIMES);
		line("chains_2", median_cycles(1, [&] { m_product<WHAT, 2><<<1, t>>>(out, 0); }) / TIMES);
		line("chains_4", median_cycles(1, [&] { m_product<WHAT, 4><<<1, t>>>(out, 0); }) / TIMES);
	}
}

enum { MATRIX_1, MATRIX_2, MATRIX_4, MATRIX_4_TRANS, TRANSPOSED };

/* What comes decides the next address, or is transposed again. */
template <int WHAT> static __global__ void m_fragment(unsigned *cycles, int chained)
{
	__shared__ __align__(16) unsigned s[2048];
	const int t = (int)threadIdx.x;
	for (int i = t; i < 2048; i += (int)blockDim.x)
		s[i] = 0;
	/* rows of 16 bytes, each at banks of its own */
	unsigned at = (unsigned)__cvta_generic_to_shared(s) + (unsigned)(t % 32) * 16;
	unsigned v[4] = {}, sum = 0;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < TIMES / 8; i++)
#pragma unroll
		for (int k = 0; k < 8; k++) {
			if (WHAT == MATRIX_1)
				asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
				             : "=r"(v[0])
				             : "r"(at));
			else if (WHAT == MATRIX_2)
				asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
				             : "=r"(v[0]), "=r"(v[1])
				             : "r"(at));
			else if (WHAT == MATRIX_4)
				asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
				             : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
				             : "r"(at));
			else if (WHAT == MATRIX_4_TRANS)
				asm volatile(
					"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
					: "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
					: "r"(at));
			else
				asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
				             : "=r"(v[0])
				             : "r"(chained ? v[0] : at));
			if (chained && WHAT != TRANSPOSED)
				at += v[0];
			sum ^= v[0] + v[3];
		}
	clock.stop(cycles);
	micro_use((int)sum, cycles);
}

template <int WHAT> static void fragments(const char *name)
{
	unsigned *const out = micro_cycles();
	for (int t = 32; t <= 1024; t *= 4) {
		Line line("tensor", name);
		line("threads", t);
		line("chained", median_cycles(1, [&] { m_fragment<WHAT><<<1, t>>>(out, 1); }) / TIMES);
		line("free", median_cycles(1, [&] { m_fragment<WHAT><<<1, t>>>(out, 0); }) / TIMES);
	}
}

/* A warp's 16 x 16 tile over and over: steps of the loop whose fragments lie in L1, of rows that
 * are @stride elements apart. */
static __global__ void m_wmma_f16(unsigned *cycles, const half *a, const half *b, int steps,
                                  int stride)
{
	const int warp = (int)threadIdx.x / 32;
	wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
	wmma::fill_fragment(sum, 0);
	const BlockClock clock;
	for (int k = 0; k < steps; k++) {
		wmma::load_matrix_sync(x, a + k % 4 * 16, stride);
		wmma::load_matrix_sync(y, b + k % 4 * 16 * stride + warp % 4 * 16, stride);
		wmma::mma_sync(sum, x, y, sum);
	}
	clock.stop(cycles);
	micro_use(sum.x[0] + sum.x[7], cycles);
}

static __global__ void m_wmma_tf32(unsigned *cycles, const float *a, const float *b, int steps,
                                   int stride)
{
	const int warp = (int)threadIdx.x / 32;
	wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> x;
	wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> y;
	wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
	wmma::fill_fragment(sum, 0);
	const BlockClock clock;
	for (int k = 0; k < steps; k++) {
		wmma::load_matrix_sync(x, a + k % 4 * 8, stride);
		wmma::load_matrix_sync(y, b + k % 4 * 8 * stride + warp % 4 * 16, stride);
		wmma::mma_sync(sum, x, y, sum);
	}
	clock.stop(cycles);
	micro_use(sum.x[0] + sum.x[7], cycles);
}

int main()
{
	unsigned *const out = micro_cycles();
	micro_begin("tensor");
	products<F16_F32>("f16_f32_m16n8k16");
	products<F16_F16>("f16_f16_m16n8k16");
	products<BF16_F32>("bf16_f32_m16n8k16");
	products<TF32_F32>("tf32_f32_m16n8k8");
	products<TF32_K4>("tf32_f32_m16n8k4");
	products<S8_S32>("s8_s32_m16n8k32");
	products<F64_F64>("f64_m8n8k4");
	fragments<MATRIX_1>("ldmatrix_x1");
	fragments<MATRIX_2>("ldmatrix_x2");
	fragments<MATRIX_4>("ldmatrix_x4");
	fragments<MATRIX_4_TRANS>("ldmatrix_x4_trans");
	fragments<TRANSPOSED>("movmatrix");
	float *const a = micro_alloc<float>(1 << 20), *const b = micro_alloc<float>(1 << 20);
	static const int strides[] = { 64, 72, 1024, 1088 };
	for (const int stride : strides)
		for (int t = 32; t <= 1024; t *= 2) {
			const half *const ha = (const half *)a, *const hb = (const half *)b;
			Line("tensor", "wmma_loop")("stride", stride)("threads", t)(
				"f16_steps",
				median_cycles(1, [&] { m_wmma_f16<<<1, t>>>(out, ha, hb, TIMES, stride); }) /
					TIMES)("tf32_steps", median_cycles(1, [&] {
											 m_wmma_tf32<<<1, t>>>(out, a, b, TIMES, stride);
										 }) / TIMES);
		}
	return 0;
}
