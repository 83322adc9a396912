// wgmma: every type, matrices along and across K in every swizzle, A in registers, signs, sums kept and dropped.
// nvcc: -arch=sm_90a
#include "check.h"
#include "hopper.h"
#include "warp_group.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// How the test sees elements: small whole numbers, exact in every type.
template <class T> __host__ __device__ float value_of(T v) { return (float)v; }
template <class T> __host__ __device__ T from_value(float v) { return (T)v; }

struct way {
	int a, b;             // swizzle of each: 0 none, 1 128 bytes, 2 64, 3 32
	bool a_across, b_across;
};

// Element (row, k) of a matrix in shared memory, in bytes from its start.
template <class T> __device__ unsigned place(int swizzle, bool across, int row, int k)
{
	const int pieces = swizzle == 0 ? 1 : 16 >> swizzle; // of 16 bytes, in a line
	unsigned at;
	if (!across) {
		const int b = k * (int)sizeof(T);
		at = row / 8 * 256 * pieces + row % 8 * 16 * pieces;
		if (swizzle == 0)
			at = row / 8 * 256 + b / 16 * 128 + row % 8 * 16 + b % 16;
		else
			at += b;
	} else {
		const int width = 16 * pieces / (int)sizeof(T);
		at = row % width * sizeof(T) + k % 8 * 16 * pieces + k / 8 * 128 * pieces + row / width * 256 * pieces;
	}
	return at ^ (at >> 7 & (pieces - 1)) << 4;
}

// The two strides are those of place().
static __device__ uint64_t descriptor(const void *at, int swizzle, bool across)
{
	const unsigned pieces = swizzle == 0 ? 1 : 16 >> swizzle;
	unsigned leading = 128, stride = 256 * pieces;
	if (across) {
		leading = swizzle == 0 ? 128 : 256 * pieces;
		stride = swizzle == 0 ? 256 : 128 * pieces;
	}
	return matrix_descriptor(at, leading, stride, swizzle);
}

template <class P> __global__ void product(const typename P::a_type *a, const typename P::b_type *b, way w, int keep,
                                           typename P::d_type *d)
{
	__shared__ alignas(1024) unsigned char in_a[16384], in_b[16384];
	using A = typename P::a_type;
	using B = typename P::b_type;
	const int t = threadIdx.x, k = P::k;
	for (int i = t; i < 64 * k; i += 128)
		*(A *)(in_a + place<A>(w.a, w.a_across, i / k, i % k)) = a[i];
	for (int i = t; i < 32 * k; i += 128)
		*(B *)(in_b + place<B>(w.b, w.b_across, i / k, i % k)) = b[i];
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	typename P::d_type sum[P::registers];
	for (int i = 0; i < P::registers; i++)
		sum[i] = from_value<typename P::d_type>(i % 3);
	unsigned from[4];
	for (int r = 0; r < 4; r++) { // rows g and g + 8, two halves of K
		const int row = t / 32 * 16 + t % 32 / 4 + 8 * (r % 2), bytes = t % 4 * 4 + 16 * (r / 2);
		from[r] = *(const unsigned *)((const char *)(a + row * k) + bytes);
	}
	group_fence();
	P::multiply(sum, from, descriptor(in_a, w.a, w.a_across), descriptor(in_b, w.b, w.b_across), keep);
	group_commit();
	group_wait<0>();
	for (int i = 0; i < P::registers; i++) {
		const int row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2), column = i / 4 * 8 + t % 4 * 2 + i % 2;
		d[row * 32 + column] = sum[i];
	}
}

#ifndef AGAIN
#define AGAIN 1 // launches of each product, one after the other: what only the first has to wait for
#endif

static int failed;

// D = A B (+ what was there), with the signs that the form has.
template <class P> void try_product(const char *name, way w, int keep, int sign = 1)
{
	using A = typename P::a_type;
	using B = typename P::b_type;
	using D = typename P::d_type;
	std::vector<A> a(64 * P::k);
	std::vector<B> b(32 * P::k);
	std::vector<D> d(64 * 32);
	unsigned state = 7;
	for (auto &v : a)
		v = from_value<A>((float)(int)(next_random(state) % 7) - (P::has_sign ? 3 : 0));
	for (auto &v : b)
		v = from_value<B>((float)(int)(next_random(state) % 5) - (P::has_sign ? 2 : 0));
	A *da;
	B *db;
	D *dd;
	CHECK(cudaMalloc(&da, a.size() * sizeof(A)));
	CHECK(cudaMalloc(&db, b.size() * sizeof(B)));
	CHECK(cudaMalloc(&dd, d.size() * sizeof(D)));
	CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(A), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(B), cudaMemcpyHostToDevice));
	for (int i = 0; i < AGAIN; i++)
		product<P><<<1, 128>>>(da, db, w, keep, dd);
	CHECK(cudaMemcpy(d.data(), dd, d.size() * sizeof(D), cudaMemcpyDeviceToHost));
	int wrong = 0;
	double all = 0;
	for (int r = 0; r < 64; r++)
		for (int c = 0; c < 32; c++) {
			const int i = c / 8 * 4 + r % 16 / 8 * 2 + c % 2;
			float want = keep ? i % 3 : 0;
			for (int k = 0; k < P::k; k++)
				want += sign * value_of(a[r * P::k + k]) * value_of(b[c * P::k + k]);
			wrong += value_of(d[r * 32 + c]) != want;
			all += want * (r + 1) * (c + 3);
		}
	printf("%-22s %d%c %d%c %s: %s, %.0f\n", name, w.a, w.a_across ? 't' : ' ', w.b, w.b_across ? 't' : ' ',
	       keep ? "kept" : "new ", wrong ? "WRONG" : "right", all);
	failed += wrong != 0;
	free_all(da, db, dd);
}

int main()
{
	for (int a = 0; a < 4; a++)
		for (int b = 0; b < 4; b++)
			try_product<half_product<0, 0>>("f16", way{ a, b, false, false }, (a + b) % 2);
	for (int s = 0; s < 4; s++) {
		try_product<half_product<1, 0>>("f16, A across", way{ s, 1, true, false }, 1);
		try_product<half_product<0, 1>>("f16, B across", way{ 1, s, false, true }, 1);
		try_product<half_product<1, 1>>("f16, both across", way{ s, 3 - s, true, true }, 0);
		try_product<tf32_product>("tf32", way{ s, s, false, false }, 1);
		try_product<e4m3_product>("e4m3", way{ s, s, false, false }, 1);
		try_product<s8_product>("s8", way{ s, s, false, false }, 1);
	}
	try_product<bf16_product>("bf16", way{ 1, 1, false, false }, 1);
	try_product<bf16_across>("bf16, both across", way{ 1, 1, true, true }, 1);
	try_product<half_sums>("f16 sums", way{ 1, 1, false, false }, 1);
	try_product<negative_a>("f16, -A", way{ 1, 1, false, false }, 1, -1);
	try_product<negative_b>("f16, -B", way{ 2, 2, false, false }, 1, -1);
	try_product<from_registers>("f16, A in registers", way{ 0, 1, false, false }, 1);
	try_product<from_registers_across>("f16, A in registers", way{ 0, 1, false, true }, 1);
	try_product<e4m3_registers>("e4m3, A in registers", way{ 0, 1, false, false }, 1);
	try_product<e5m2_product>("e5m2 e4m3", way{ 1, 1, false, false }, 0);
	try_product<e4m3_half_sums>("e4m3, f16 sums", way{ 1, 1, false, false }, 1);
	try_product<u8_product>("u8 s8", way{ 1, 1, false, false }, 1);
	try_product<s8_registers>("s8, A in registers", way{ 0, 2, false, false }, 0);
	return finish("warp_group_products", !failed);
}
