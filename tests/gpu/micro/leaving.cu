/*
 * Lanes that leave loops, searches and functions at several places, and what a card counts of it:
 * BREAK, functions that keep the barriers of whoever called them, recursions one behind the other.
 * One warp; no time is taken: the counters of each launch are the result (micro.sh, with ncu).
 */
#include "micro.cuh"

#include <new>

enum shape {
	SEARCH,
	STACK,
	VIRTUAL,
	ACKERMANN,
	FIB_THEN_ACKERMANN,
	FIB_THEN_SUM,
	FIB_THEN_LEAF,
	TWO_WAYS,
	NESTED,
	N_SHAPES
};
static const char *const names[] = { "search",    "stack",         "virtual",
	                                 "ackermann", "fib_ackermann", "fib_sum",
	                                 "fib_leaf",  "two_ways",      "nested" };

static __host__ __device__ unsigned mixed(unsigned x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

/* Queens on a board of @size, the first where @seed says: goes back where none can be put. */
static __device__ int search(unsigned seed, int size)
{
	unsigned column[8] = { 0 }, next[8] = { 0 };
	int row = 1, found = 0;
	column[0] = seed % size;
	unsigned used = 1u << column[0];
	while (row > 0) {
		bool put = false;
		for (unsigned c = next[row]; c < (unsigned)size && !put; c++) {
			if (used >> c & 1)
				continue;
			bool good = true;
			for (int k = 0; k < row; k++)
				if (abs((int)(column[k] - c)) == row - k) {
					good = false;
					break;
				}
			if (!good)
				continue;
			put = true;
			column[row] = c;
			next[row] = c + 1;
		}
		if (!put) {
			next[row] = 0;
			if (--row > 0)
				used &= ~(1u << column[row]);
			continue;
		}
		if (row == size - 1) {
			found++;
			continue;
		}
		used |= 1u << column[row++];
		next[row] = 0;
	}
	return found;
}

static __device__ float stack_machine(unsigned code)
{
	float stack[16], sum = 0;
	int n = 0;
	for (int k = 0; k < 24; k++) {
		code = mixed(code);
		if (n < 2 || (code % 3 && n < 16)) {
			stack[n++] = (code & 255) / 16.f;
			continue;
		}
		const float b = stack[--n], a = stack[--n];
		switch (code >> 8 & 3) {
		case 0: stack[n++] = a + b; break;
		case 1: stack[n++] = a - b; break;
		case 2: stack[n++] = a * 0.125f; break;
		default: stack[n++] = b ? a / b : 0;
		}
	}
	while (n)
		sum += stack[--n];
	return sum;
}

struct Shape {
	float a, b;
	__device__ virtual float area() const = 0;
};
struct Rectangle : Shape {
	__device__ float area() const override
	{
		return a * b;
	}
};
struct Square : Shape {
	__device__ float area() const override
	{
		return a * a;
	}
};
struct Odd : Shape {
	__device__ float area() const override
	{
		const float s = sqrtf(a * a + b * b);
		return a < b ? s * 0.5f : a / s;
	}
};

static __device__ float area_of(unsigned seed, void *room)
{
	Shape *s;
	switch (seed % 3) {
	case 0: s = new (room) Rectangle; break;
	case 1: s = new (room) Square; break;
	default: s = new (room) Odd;
	}
	s->a = seed % 11 + 1;
	s->b = seed % 13 + 1;
	return s->area();
}

static __device__ __noinline__ int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static __device__ __noinline__ int sum(int n)
{
	return n < 1 ? n : sum(n - 1) * 3 + n;
}
static __device__ __noinline__ int leaf(int n)
{
	if (n & 1)
		n = n * n + 5;
	else
		for (int k = 0; k < n; k++)
			n -= k ^ 3;
	return n;
}
static __device__ __noinline__ int ackermann(int m, int n)
{
	return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

/* A loop with two ways out, each with something behind it. */
static __device__ int two_ways(unsigned seed)
{
	int n = 0;
	for (int k = 0; k < 12; k++) {
		seed = mixed(seed);
		if (seed % 5 == 0) {
			n += seed & 15;
			break;
		}
		n ^= k * 7;
		if (seed % 7 == 1)
			return n * 3;
		n += seed >> 28;
	}
	return n + 1;
}

/* An inner loop that ends the outer one. */
static __device__ int nested(unsigned seed)
{
	int n = 0;
	for (int k = 0; k < 6; k++) {
#pragma unroll 1
		for (int j = 0; j < 6; j++) {
			seed = mixed(seed);
			if (seed % 4 == 0)
				break;
			if (seed % 19 == 0)
				goto out;
			n += j;
		}
		if (seed % 3 == 0)
			continue;
		n = n * 5 + k;
	}
out:
	return n;
}

template <int SHAPE> static __global__ void m_leave(float *data, unsigned pattern)
{
	__shared__ double room[3 * MICRO_WARP];
	const unsigned lane = threadIdx.x, seed = mixed(pattern * MICRO_WARP + lane);
	const int n = seed % (pattern % 3 ? 8 : 5);
	float x = 0;
	switch (SHAPE) {
	case SEARCH: x = search(seed, 4 + pattern % 3); break;
	case STACK: x = stack_machine(seed); break;
	case VIRTUAL: x = area_of(seed, room + 3 * lane); break;
	case ACKERMANN: x = ackermann(seed % 3, seed / 8 % 4); break;
	case FIB_THEN_ACKERMANN: x = fib(pattern < 2 ? lane % 8 : n) + ackermann(2, lane % 3); break;
	case FIB_THEN_SUM: x = fib(n) + sum(seed / 8 % 4); break;
	case FIB_THEN_LEAF: x = fib(n) + leaf(seed / 8 % 4); break;
	case TWO_WAYS: x = two_ways(seed); break;
	default: x = nested(seed);
	}
	data[lane] = x;
}

template <int SHAPE> static void shapes(float *data)
{
	for (unsigned p = 0; p < 16; p++) {
		Line("leaving", names[SHAPE])("pattern", p)("untimed", 0.0);
		m_leave<SHAPE><<<1, MICRO_WARP>>>(data, p);
		micro_fail("launch", cudaDeviceSynchronize());
	}
	if constexpr (SHAPE + 1 < N_SHAPES)
		shapes<SHAPE + 1>(data);
}

int main()
{
	micro_begin("leaving");
	micro_fail("stack", cudaDeviceSetLimit(cudaLimitStackSize, 16384));
	shapes<0>(micro_alloc<float>(4096));
	return 0;
}
