/*
 * A product of a warp group cut short, and each of its parts left out: loads, the fence, the
 * product, the stores of its sums (none but one word, pairs, words apart), sums that come from
 * registers instead, a product made before. Each is launched four times in a row; prints a line per
 * launch: the kernel, and whether it is the first or "again"; then cycles of one warp from its
 * begin to the places named. Times by `pmpp-explore launches --backend cuda` (before.py).
 * Needs compute capability 9.0a.
 */
#include "micro.cuh"

#include "../../programs/hopper.h"
#include "../../programs/warp_group.h"

#define TIMES 4
enum stores { ONE, PAIRS, APART, APART_FENCED };
enum { BEGIN, LOADED, SHOWN, MULTIPLIED, STORED, PLACES };

static __device__ unsigned clocks[PLACES];

/* @LOADS: tiles come from memory; @PRODUCTS how many; @CLOCKED: the first warp writes when. */
template <bool LOADS, bool FENCE, int PRODUCTS, stores STORES, bool CLOCKED>
static __global__ void steps(const unsigned *a, const unsigned *b, int words, float *d)
{
	__shared__ alignas(1024) unsigned in_a[4096], in_b[4096];
	unsigned at[PLACES] = {};
	if (CLOCKED)
		at[BEGIN] = clock();
	if (LOADS) {
		for (int i = threadIdx.x; i < words; i += 128)
			in_a[i] = a[i];
		for (int i = threadIdx.x; i < words; i += 128)
			in_b[i] = b[i];
	}
	if (CLOCKED)
		at[LOADED] = clock();
	if (FENCE)
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	float sum[16];
	for (int i = 0; i < 16; i++)
		sum[i] = i % 3 + words;
	if (CLOCKED)
		at[SHOWN] = clock();
#pragma unroll
	for (int k = 0; k < PRODUCTS; k++) {
		group_fence();
		half_product<0, 0>::multiply(sum, nullptr, matrix_descriptor(in_a, 128, 256, 0),
		                             matrix_descriptor(in_b, 128, 256, 0), 1);
		group_commit();
		group_wait<0>();
	}
	if (CLOCKED)
		at[MULTIPLIED] = clock();
	if (PRODUCTS == 0 && LOADS)
		for (int i = 0; i < 16; i++)
			sum[i] += in_a[threadIdx.x] * in_b[threadIdx.x];
	if (STORES == ONE) {
		float all = 0;
		for (int i = 0; i < 16; i++)
			all += sum[i];
		d[threadIdx.x] = all;
	}
	for (int i = 0; STORES != ONE && i < 16; i += STORES == PAIRS ? 2 : 1) {
		const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + 8 * (i / 2 % 2);
		float *const to = d + row * 32 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
		if (STORES == PAIRS)
			*(float2 *)to = make_float2(sum[i], sum[i + 1]);
		else
			*to = sum[i];
	}
	if (STORES == APART_FENCED)
		__threadfence();
	if (CLOCKED) {
		at[STORED] = clock();
		if (threadIdx.x == 0)
			for (int i = 0; i < PLACES; i++)
				clocks[i] = at[i] - at[BEGIN];
	}
}

static unsigned *a, *b;
static float *d;

template <bool LOADS, bool FENCE, int PRODUCTS, stores STORES> static void times(const char *name)
{
	for (int i = 0; i < TIMES; i++) {
		steps<LOADS, FENCE, PRODUCTS, STORES, false><<<1, 128>>>(a, b, 512, d);
		printf("%s %s\n", name, i ? "again" : "first");
	}
	unsigned seen[PLACES];
	for (int i = 0; i < TIMES; i++) {
		steps<LOADS, FENCE, PRODUCTS, STORES, true><<<1, 128>>>(a, b, 512, d);
		printf("other_%s clocked\n", name);
		micro_fail(name, cudaMemcpyFromSymbol(seen, clocks, sizeof seen));
		fprintf(stderr, "%s %d: loaded %u shown %u multiplied %u stored %u\n", name, i,
		        seen[LOADED], seen[SHOWN], seen[MULTIPLIED], seen[STORED]);
	}
}

#define OF(LOADS, FENCE, PRODUCTS)                                                  \
	times<LOADS, FENCE, PRODUCTS, ONE>(#LOADS "/" #FENCE "/" #PRODUCTS "/one");     \
	times<LOADS, FENCE, PRODUCTS, PAIRS>(#LOADS "/" #FENCE "/" #PRODUCTS "/pairs"); \
	times<LOADS, FENCE, PRODUCTS, APART>(#LOADS "/" #FENCE "/" #PRODUCTS "/apart"); \
	times<LOADS, FENCE, PRODUCTS, APART_FENCED>(#LOADS "/" #FENCE "/" #PRODUCTS "/fenced")

int main()
{
	a = micro_alloc<unsigned>(4096);
	b = micro_alloc<unsigned>(4096);
	d = micro_alloc<float>(64 * 32);
	OF(false, false, 0);
	OF(false, false, 1);
	OF(false, true, 1);
	OF(false, false, 2);
	OF(true, false, 0);
	OF(true, true, 0);
	OF(true, true, 1);
	OF(true, true, 2);
	OF(true, true, 4);
	return 0;
}
