// wmma and mma.sync: f16 with f32 and f16 sums, bf16, tf32, double, int8; every layout; ldmatrix and stores.
#include "check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <type_traits>
using namespace nvcuda;

template <class T, class C, int M, int N, int K, class LA, class LB>
__global__ void tile(const T *a, const T *b, C *c, int lda, int ldb, int ldc)
{
	wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
	wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
	wmma::fragment<wmma::accumulator, M, N, K, C> fc;
	wmma::fill_fragment(fc, (C)1);
	wmma::load_matrix_sync(fa, a, lda);
	wmma::load_matrix_sync(fb, b, ldb);
	wmma::mma_sync(fc, fa, fb, fc);
	wmma::store_matrix_sync(c, fc, ldc, wmma::mem_row_major);
	wmma::store_matrix_sync(c + M * N, fc, M, wmma::mem_col_major);
}

template <class T> struct of { static T make(int v) { return (T)v; } };
template <> struct of<__nv_bfloat16> { static __nv_bfloat16 make(int v) { return __float2bfloat16((float)v); } };
template <> struct of<half> { static half make(int v) { return __float2half((float)v); } };
template <class C> double number(C v) { return (double)v; }
template <> double number(half v) { return __half2float(v); }

template <class T, class C, int M, int N, int K, class LA, class LB> bool check(const char *name)
{
	const bool a_rows = std::is_same<LA, wmma::row_major>::value;
	const bool b_rows = std::is_same<LB, wmma::row_major>::value;
	T *a, *b;
	C *c;
	CHECK(cudaMallocManaged(&a, M * K * sizeof(T)));
	CHECK(cudaMallocManaged(&b, K * N * sizeof(T)));
	CHECK(cudaMallocManaged(&c, 2 * M * N * sizeof(C)));
	int wa[M][K], wb[K][N];
	unsigned seed = M * 1000 + K;
	for (int i = 0; i < M; i++)
		for (int k = 0; k < K; k++)
			a[a_rows ? i * K + k : k * M + i] = of<T>::make(wa[i][k] = (int)(next_random(seed) % 7) - 3);
	for (int k = 0; k < K; k++)
		for (int j = 0; j < N; j++)
			b[b_rows ? k * N + j : j * K + k] = of<T>::make(wb[k][j] = (int)(next_random(seed) % 7) - 3);
	tile<T, C, M, N, K, LA, LB><<<1, 32>>>(a, b, c, a_rows ? K : M, b_rows ? N : K, N);
	CHECK(cudaDeviceSynchronize());
	int bad = 0;
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			int want = 1;
			for (int k = 0; k < K; k++)
				want += wa[i][k] * wb[k][j];
			bad += number(c[i * N + j]) != want;
			bad += number(c[M * N + j * M + i]) != want;
		}
	printf("%s: %d wrong\n", name, bad);
	free_all(a, b, c);
	return bad == 0;
}

// One 16 x 8 x 16 product with ldmatrix from shared memory.
__global__ void by_hand(const half *a, const half *b, float *c)
{
	__shared__ half sa[16 * 16], sb[16 * 8];
	int lane = threadIdx.x;
	for (int i = lane; i < 256; i += 32)
		sa[i] = a[i];
	for (int i = lane; i < 128; i += 32)
		sb[i] = b[i];
	__syncwarp();
	unsigned ra[4], rb[2];
	float d[4] = { 0, 0, 0, 0 };
	unsigned pa = __cvta_generic_to_shared(sa + (lane % 16) * 16 + lane / 16 * 8);
	unsigned pb = __cvta_generic_to_shared(sb + (lane % 16) * 8);
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
	             : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
	             : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
	             : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
	int row = lane / 4, column = lane % 4 * 2;
	c[row * 8 + column] = d[0];
	c[row * 8 + column + 1] = d[1];
	c[(row + 8) * 8 + column] = d[2];
	c[(row + 8) * 8 + column + 1] = d[3];
}

static bool check_by_hand()
{
	half *a, *b;
	float *c;
	CHECK(cudaMallocManaged(&a, 256 * sizeof *a));
	CHECK(cudaMallocManaged(&b, 128 * sizeof *b));
	CHECK(cudaMallocManaged(&c, 128 * sizeof *c));
	for (int i = 0; i < 256; i++)
		a[i] = __float2half((float)(i * 7 % 11 - 5));
	for (int i = 0; i < 128; i++)
		b[i] = __float2half((float)(i * 5 % 9 - 4));
	by_hand<<<1, 32>>>(a, b, c);
	CHECK(cudaDeviceSynchronize());
	int bad = 0;
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 8; j++) {
			int want = 0;
			for (int k = 0; k < 16; k++)
				want += ((i * 16 + k) * 7 % 11 - 5) * ((k * 8 + j) * 5 % 9 - 4);
			bad += c[i * 8 + j] != (float)want;
		}
	printf("ldmatrix and mma: %d wrong\n", bad);
	free_all(a, b, c);
	return bad == 0;
}

int main()
{
	using row = wmma::row_major;
	using col = wmma::col_major;
	bool good = true;
	good &= check<half, float, 16, 16, 16, row, col>("f16 16x16x16 row col");
	good &= check<half, float, 16, 16, 16, col, row>("f16 16x16x16 col row");
	good &= check<half, half, 16, 16, 16, row, row>("f16 16x16x16 sums in f16");
	good &= check<half, float, 32, 8, 16, row, col>("f16 32x8x16");
	good &= check<half, float, 8, 32, 16, col, col>("f16 8x32x16");
	good &= check<__nv_bfloat16, float, 16, 16, 16, row, row>("bf16 16x16x16");
	good &= check<signed char, int, 16, 16, 16, row, col>("s8 16x16x16");
	good &= check<signed char, int, 32, 8, 16, col, row>("s8 32x8x16");
	good &= check<double, double, 8, 8, 4, row, col>("f64 8x8x4");
	good &= check_by_hand();
	return finish("matrix", good);
}
