/*
 * The product of tests/programs/warp_group_products.cu cut short behind each of its steps: its
 * first tile comes, its second, the fence and the barrier, the product, the stores. With the
 * places of elements reckoned as there (PLACED) or one behind the other; of halves or bytes. Each
 * is launched with new memory that was copied to the GPU ("copied"), and then again in place.
 * Prints a line per launch: the kernel, and which. Times by `pmpp-explore launches --backend cuda`
 * (before.py). Needs compute capability 9.0a.
 */
#include "micro.cuh"

#include "../../programs/hopper.h"
#include "../../programs/warp_group.h"

#define TIMES 4
enum cut { FIRST, SECOND, SHOWN, MULTIPLIED, STORED };
static const char *const cuts[] = { "first", "second", "shown", "multiplied", "stored" };

static __device__ unsigned place(int swizzle, int row, int byte)
{
	const int pieces = swizzle == 0 ? 1 : 16 >> swizzle;
	unsigned at = row / 8 * 256 * pieces + row % 8 * 16 * pieces;
	if (swizzle == 0)
		at = row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16;
	else
		at += byte;
	return at ^ (at >> 7 & (pieces - 1)) << 4;
}

/* @swizzle as in warp_group.h. */
template <class T, int K, cut CUT, bool PLACED>
static __global__ void product(const T *a, const T *b, int swizzle, int keep, float *d)
{
	__shared__ alignas(1024) unsigned char in_a[16384], in_b[16384];
	const int t = threadIdx.x;
	for (int i = t; i < 64 * K; i += 128)
		*(T *)(in_a + (PLACED ? place(swizzle, i / K, i % K * (int)sizeof(T)) : i * sizeof(T))) =
			a[i];
	if (CUT >= SECOND)
		for (int i = t; i < 32 * K; i += 128)
			*(T *)(in_b +
			       (PLACED ? place(swizzle, i / K, i % K * (int)sizeof(T)) : i * sizeof(T))) = b[i];
	if (CUT >= SHOWN) {
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		__syncthreads();
	}
	float sum[16];
	for (int i = 0; i < 16; i++)
		sum[i] = i % 3;
	if (CUT >= MULTIPLIED) {
		group_fence();
		half_product<0, 0>::multiply(sum, nullptr, matrix_descriptor(in_a, 128, 256, 0),
		                             matrix_descriptor(in_b, 128, 256, 0), keep);
		group_commit();
		group_wait<0>();
	}
	if (CUT < STORED) {
		float all = *(volatile unsigned char *)(in_a + t) + *(volatile unsigned char *)(in_b + t);
		for (int i = 0; i < 16; i++)
			all += sum[i];
		d[t] = all;
		return;
	}
	for (int i = 0; i < 16; i++) {
		const int row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2);
		d[row * 32 + i / 4 * 8 + t % 4 * 2 + i % 2] = sum[i];
	}
}

template <class T, int K, cut CUT, bool PLACED> static void times(const char *type)
{
	static char host[64 * K * sizeof(T)], back[64 * 32 * 4];
	for (int i = 0; i < TIMES; i++) {
		T *a, *b;
		float *d;
		micro_fail("cudaMalloc", cudaMalloc(&a, 64 * K * sizeof *a));
		micro_fail("cudaMalloc", cudaMalloc(&b, 32 * K * sizeof *b));
		micro_fail("cudaMalloc", cudaMalloc(&d, sizeof back));
		micro_fail("copy", cudaMemcpy(a, host, 64 * K * sizeof *a, cudaMemcpyHostToDevice));
		micro_fail("copy", cudaMemcpy(b, host, 32 * K * sizeof *b, cudaMemcpyHostToDevice));
		for (int again = 0; again < 2; again++) {
			product<T, K, CUT, PLACED><<<1, 128>>>(a, b, 0, 1, d);
			printf("%s/%s/%s %s\n", type, cuts[CUT], PLACED ? "placed" : "straight",
			       again ? "again" : "copied");
		}
		micro_fail("copy", cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost));
		cudaFree(a);
		cudaFree(b);
		cudaFree(d);
	}
}

template <class T, int K, bool PLACED> static void cut_short(const char *type)
{
	times<T, K, FIRST, PLACED>(type);
	times<T, K, SECOND, PLACED>(type);
	times<T, K, SHOWN, PLACED>(type);
	times<T, K, MULTIPLIED, PLACED>(type);
	times<T, K, STORED, PLACED>(type);
}

int main()
{
	cut_short<__half, 16, false>("halves");
	cut_short<__half, 16, true>("halves");
	cut_short<unsigned char, 32, false>("bytes");
	cut_short<unsigned char, 32, true>("bytes");
	return 0;
}
