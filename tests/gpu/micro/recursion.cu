/*
 * Functions that are called where a warp is divided: which lanes are together in them and behind
 * them, and what a card counts. One warp; numbers_of() is what each lane calls with, its depth
 * mostly. No time is taken: the counters of each launch are the result (micro.sh, with ncu), and,
 * without MICRO_ONCE, the steps of some (steps.cuh).
 */
#include "steps.cuh"

enum shape {
	FIB,       /* two calls of itself */
	SUM,       /* one call, and work behind it */
	ACKERMANN, /* a call's result is another one's argument */
	EVEN_ODD,  /* two functions that call each other */
	TREE,      /* calls in a loop */
	SIDES,     /* a function in each side of a branch */
	SAME,      /* the same function in both sides */
	TWO_SITES, /* the same function at two places, one behind the other, each in a branch */
	POINTERS,  /* through a pointer: two of them */
	FOUR,      /* four */
	LINES,     /* recursive ones through a pointer */
	EARLY,     /* a function that some lanes leave early */
	LOOPS,     /* a call in each turn of a loop that lanes leave one after the other */
	SYNC,      /* FIB, and all meet behind it (WARPSYNC) */
	INSIDE,    /* SUM, and lanes meet in it */
	BETWEEN,   /* FIB, then SUM, then a loop */
	N_SHAPES
};
static const char *const names[] = { "fib",      "sum",   "ackermann", "even_odd",
	                                 "tree",     "sides", "same",      "two_sites",
	                                 "pointers", "four",  "lines",     "early",
	                                 "loops",    "sync",  "inside",    "between" };

template <int N> static __device__ __forceinline__ float add(float x)
{
#pragma unroll
	for (int i = 0; i < N; i++)
		asm volatile("fma.rn.f32 %0, %0, 0f3F000000, 0f3F800000;" : "+f"(x));
	return x;
}

static __shared__ unsigned noted[STEPS_THREADS];

template <bool ON> static __device__ __forceinline__ void note(unsigned place)
{
	if (ON)
		steps_note(noted[threadIdx.x]++, place);
}

template <bool ON> static __device__ __noinline__ int fib(int n)
{
	note<ON>(1);
	if (n < 2)
		return n;
	const int a = fib<ON>(n - 1);
	note<ON>(2);
	const int b = fib<ON>(n - 2);
	note<ON>(3);
	return a + b;
}

template <bool ON> static __device__ __noinline__ int sum(int n)
{
	note<ON>(4);
	if (n < 1)
		return n;
	const int rest = sum<ON>(n - 1);
	note<ON>(5);
	return rest * 3 + n;
}

template <bool ON> static __device__ __noinline__ int ackermann(int m, int n)
{
	note<ON>(6);
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann<ON>(m - 1, 1);
	const int inner = ackermann<ON>(m, n - 1);
	note<ON>(7);
	return ackermann<ON>(m - 1, inner);
}

template <bool ON> static __device__ __noinline__ float odd(int n, float x);
template <bool ON> static __device__ __noinline__ float even(int n, float x)
{
	note<ON>(1);
	if (n == 0)
		return add<4>(x);
	x = odd<ON>(n - 1, add<2>(x));
	note<ON>(2);
	return add<3>(x);
}
template <bool ON> static __device__ __noinline__ float odd(int n, float x)
{
	note<ON>(3);
	if (n == 0)
		return add<5>(x);
	x = even<ON>(n - 1, add<1>(x));
	note<ON>(4);
	return add<6>(x);
}

template <bool ON> static __device__ __noinline__ int tree(int depth, int n)
{
	int sum = n;
	note<ON>(1);
	if (depth > 0)
#pragma unroll 1
		for (int i = 0; i <= n % 3; i++) {
			sum += tree<ON>(depth - 1, n + i) * 3;
			note<ON>(2);
		}
	note<ON>(3);
	return sum;
}

template <bool ON> static __device__ __noinline__ float first(float x)
{
	note<ON>(1);
	return add<8>(x);
}
template <bool ON> static __device__ __noinline__ float second(float x)
{
	note<ON>(2);
	return add<11>(x);
}
template <bool ON> static __device__ __noinline__ float third(float x)
{
	note<ON>(3);
	return add<3>(x);
}
template <bool ON> static __device__ __noinline__ float fourth(float x)
{
	note<ON>(4);
	return add<20>(x);
}
template <bool ON> static __device__ __noinline__ float early(float x, int n)
{
	note<ON>(1);
	if (n & 1)
		return add<16>(x);
	x = add<12>(x);
	note<ON>(2);
	if (n & 2)
		return x;
	x = add<20>(x);
	note<ON>(3);
	return x;
}

template <bool ON> static __device__ __noinline__ int inside(int n)
{
	note<ON>(4);
	if (n < 1)
		return n;
	const int rest = inside<ON>(n - 1);
	__syncwarp(__activemask());
	note<ON>(5);
	return rest * 3 + n;
}

typedef float (*of_float)(float);
typedef int (*of_int)(int);
template <bool ON>
static __device__ of_float functions[4] = { first<ON>, second<ON>, third<ON>, fourth<ON> };
template <bool ON> static __device__ of_int recursive[2] = { fib<ON>, sum<ON> };

template <int SHAPE, bool ON>
static __device__ __forceinline__ float called(const int n, unsigned outer)
{
	const unsigned lane = threadIdx.x;
	const bool side = outer >> lane % 32 & 1;
	float x = (float)lane;
	if (SHAPE == FIB || SHAPE == SYNC || SHAPE == BETWEEN)
		x += (float)fib<ON>(n);
	if (SHAPE == SUM || SHAPE == BETWEEN)
		x += (float)sum<ON>(n);
	if (SHAPE == ACKERMANN)
		x += (float)ackermann<ON>(2, n % 3);
	if (SHAPE == EVEN_ODD)
		x = even<ON>(n, x);
	if (SHAPE == TREE)
		x += (float)tree<ON>(2, n);
	if (SHAPE == SIDES) {
		if (side)
			x = first<ON>(add<4>(x));
		else
			x = second<ON>(add<8>(x));
	}
	if (SHAPE == SAME) {
		if (side)
			x = first<ON>(add<12>(x)) * 3;
		else
			x = add<4>(first<ON>(add<16>(x)));
	}
	if (SHAPE == TWO_SITES) {
		if (side)
			x = first<ON>(x);
		x = add<4>(x);
		if (n & 1)
			x = first<ON>(x);
	}
	if (SHAPE == POINTERS)
		x = functions<ON>[n & 1](x);
	if (SHAPE == FOUR)
		x = functions<ON>[n & 3](x);
	if (SHAPE == LINES)
		x += (float)recursive<ON>[side](n);
	if (SHAPE == EARLY)
		x = early<ON>(x, n);
	if (SHAPE == LOOPS || SHAPE == BETWEEN) {
		int k = 0;
#pragma unroll 1
		do {
			x = first<ON>(x);
		} while (++k <= n);
	}
	if (SHAPE == SYNC)
		__syncwarp();
	if (SHAPE == INSIDE)
		x += (float)inside<ON>(n);
	return x;
}

template <int SHAPE, bool ON>
static __device__ __forceinline__ void body(float *data, const int *numbers, unsigned outer)
{
	__shared__ volatile float room[STEPS_THREADS];
	const unsigned lane = threadIdx.x;
	noted[lane] = 0;
	float x = called<SHAPE, ON>(numbers[lane], outer);
	note<ON>(9);
	x = add<4>(x); /* once, if all are together again */
	room[lane] = x;
	x = add<4>(x);
	if (x == -1)
		data[lane] = x;
	if (ON)
		steps_n[lane] = noted[lane];
}

template <int SHAPE> static __global__ void m_call(float *data, const int *numbers, unsigned outer)
{
	body<SHAPE, false>(data, numbers, outer);
}
template <int SHAPE>
static __global__ void noted_call(float *data, const int *numbers, unsigned outer)
{
	body<SHAPE, true>(data, numbers, outer);
}

enum { N_PATTERNS = 20, THREADS = 32 };

/* Some lanes have one number, the others another. */
static int one_of_two(int pattern, int lane)
{
	switch (pattern) {
	case 8: return lane < 16 ? 1 : 4;
	case 9: return lane < 16 ? 4 : 1;
	case 10: return lane == 7 ? 5 : 1;
	case 11: return lane == 7 ? 1 : 5;
	default: return lane < 20 ? 2 : 3;
	}
}

static int numbers_of(int pattern, int lane, uint64_t *random)
{
	switch (pattern) {
	case 0: return 3;
	case 1: return lane % 2;
	case 2: return lane % 2 + 1;
	case 3: return lane % 3;
	case 4: return lane % 4;
	case 5: return lane % 8;
	case 6: return lane / 4;
	case 7: return 7 - lane / 4;
	case 8:
	case 9:
	case 10:
	case 11:
	case 13: return one_of_two(pattern, lane);
	case 12: return lane < 4 ? 2 : lane < 12 ? 0 : 3;
	case 14: return lane / 8 * 2;
	case 15: return lane % 4 == 0 ? 6 : lane % 4;
	default: return (int)(micro_random(random) % (pattern < 18 ? 4u : 7u));
	}
}

template <int SHAPE> static void shapes(float *data, int *device)
{
	for (int p = 0; p < N_PATTERNS; p++) {
		static const unsigned outers[] = { 0xffff0000, 0x0000ffff, 0x0f0f0f0f, 0x00000fff,
			                               0xfffffff0, 0x55555555, 0x7fffffff };
		const unsigned outer = outers[p % 7];
		int numbers[THREADS];
		uint64_t random = (uint64_t)p * 91 + 3;
		for (int t = 0; t < THREADS; t++)
			numbers[t] = numbers_of(p, t, &random);
		micro_fail("copy", cudaMemcpy(device, numbers, sizeof numbers, cudaMemcpyHostToDevice));
		if (micro_once()) {
			Line("recursion", names[SHAPE])("pattern", p)("outer", outer)("untimed", 0.0);
			m_call<SHAPE><<<1, THREADS>>>(data, device, outer);
		} else {
			Line line("recursion", names[SHAPE]);
			noted_call<SHAPE><<<1, THREADS>>>(data, device, outer);
			steps_line(line("pattern", p)("outer", outer), THREADS);
		}
	}
	if constexpr (SHAPE + 1 < N_SHAPES)
		shapes<SHAPE + 1>(data, device);
}

int main()
{
	micro_begin("recursion");
	micro_fail("stack", cudaDeviceSetLimit(cudaLimitStackSize, 16384));
	shapes<0>(micro_alloc<float>(4096), micro_alloc<int>(THREADS));
	micro_fail("launch", cudaDeviceSynchronize());
	return 0;
}
