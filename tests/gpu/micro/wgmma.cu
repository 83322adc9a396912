/*
 * Products by a group of four warps (wgmma, of compute capability 9.0a): cycles from the first of a
 * row of them, each of which adds to the same sums, until the warps have waited for all; the first
 * time in a launch, and again; one group alone on an SM, and two.
 */
#include "micro.cuh"

#define GROUP 128

static __device__ unsigned long long place(const void *p)
{
	const unsigned at = (unsigned)__cvta_generic_to_shared(p);
	return (unsigned long long)(at >> 4 & 0x3fff) | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

template <unsigned N> struct Sums {
	float f[N / 2];
};

static __device__ void multiply(Sums<8> &s, unsigned long long a, unsigned long long b)
{
	float *const d = s.f;
	asm volatile(
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
		: "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		: "l"(a), "l"(b));
}

static __device__ void multiply(Sums<32> &s, unsigned long long a, unsigned long long b)
{
	float *const d = s.f;
	asm volatile(
		"wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, "
		"%9, %10, %11, %12, %13, %14, %15}, %16, %17, 1, 1, 1, 0, 0;"
		: "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
		  "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
		  "+f"(d[14]), "+f"(d[15])
		: "l"(a), "l"(b));
}

template <unsigned N, unsigned ROW> static __device__ unsigned timed(Sums<N> &s, const char *tile)
{
	const unsigned from = (unsigned)clock64();
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
	for (unsigned i = 0; i < ROW; i++)
		multiply(s, place(tile), place(tile + 8192));
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
	asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
	for (unsigned i = 0; i < N / 2; i++)
		asm volatile("" : "+f"(s.f[i])::"memory");
	return (unsigned)clock64() - from;
}

template <unsigned N, unsigned ROW> static __global__ void m_products(unsigned *cycles, bool again)
{
	__shared__ __align__(1024) char tile[16384];
	Sums<N> s = {};
	for (unsigned i = threadIdx.x; i < sizeof tile / 4; i += blockDim.x)
		((unsigned *)tile)[i] = 0;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	unsigned took = timed<N, ROW>(s, tile);
	if (again)
		took = timed<N, ROW>(s, tile);
	if (threadIdx.x == 0)
		cycles[blockIdx.x] = took;
	float sum = 0;
	for (unsigned i = 0; i < N / 2; i++)
		sum += s.f[i];
	micro_use(sum, cycles);
}

template <unsigned N, unsigned ROW> static void measure()
{
	for (unsigned groups = 1; groups <= 2; groups++)
		for (unsigned again = 0; again < 2; again++)
			Line("wgmma", again ? "again" : "first")("columns", N)("products", ROW)(
				"groups", groups)("cycles", median_cycles(1, [&] {
				                      m_products<N, ROW>
										  <<<1, groups * GROUP>>>(micro_cycles(), again);
			                      }));
}

int main()
{
	micro_begin("wgmma");
	measure<8, 1>();
	measure<8, 4>();
	measure<8, 16>();
	measure<32, 1>();
	measure<32, 4>();
	measure<32, 16>();
	return 0;
}
