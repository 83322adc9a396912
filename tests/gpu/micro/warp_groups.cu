/*
 * Products of a warp group (wgmma): cycles of one, from the fence before it until its sums are
 * there, by columns; of several, one after the other and each into the sums of the one before; and
 * of the fence that shows them what was stored to shared memory.
 * Needs compute capability 9.0a (micro.sh: -arch).
 */
#include "micro.cuh"

static __device__ uint64_t descriptor(const void *p)
{
	const uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
	return (uint64_t)((at & 0x3ffff) >> 4) | (uint64_t)8 << 16 | (uint64_t)16 << 32;
}

#define R4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(i) R4(i), R4(i + 4), R4(i + 8), R4(i + 12)

static __device__ void product_8(float *d, uint64_t a, uint64_t b)
{
	asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, "
	             "1, 1, 0, 0;"
	             : R4(0)
	             : "l"(a), "l"(b));
}

static __device__ void product_32(float *d, uint64_t a, uint64_t b)
{
	asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, "
	             "%7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, 1, 1, 1, 0, 0;"
	             : R16(0)
	             : "l"(a), "l"(b));
}

static __device__ void product_128(float *d, uint64_t a, uint64_t b)
{
	asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
	             "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
	             "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
	             "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
	             "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
	             "%64, %65, 1, 1, 1, 0, 0;"
	             : R16(0), R16(16), R16(32), R16(48)
	             : "l"(a), "l"(b));
}

/* @TURNS of them before each wait; the sums are used. */
template <int COLUMNS, int TURNS>
static __global__ void m_products(unsigned rounds, float *out, unsigned *cycles)
{
	__shared__ alignas(1024) unsigned char in[32768];
	float d[64] = {};
	for (unsigned i = threadIdx.x; i < sizeof in / 4; i += blockDim.x)
		((unsigned *)in)[i] = 0;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	const BlockClock clock;
	for (unsigned r = 0; r < rounds; r++) {
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
		for (int t = 0; t < TURNS; t++) {
			if (COLUMNS == 8)
				product_8(d, descriptor(in), descriptor(in + 8192));
			else if (COLUMNS == 32)
				product_32(d, descriptor(in), descriptor(in + 8192));
			else
				product_128(d, descriptor(in), descriptor(in + 8192));
		}
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
		asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
	}
	clock.stop(cycles);
	for (int i = 0; i < COLUMNS / 2; i++)
		out[i * blockDim.x + threadIdx.x] = d[i];
}

/* What was stored is shown to products, or is not. */
static __global__ void m_shown(bool shown, unsigned stores, unsigned *cycles)
{
	__shared__ unsigned in[8192];
	const BlockClock clock;
	for (unsigned s = 0; s < stores; s++)
		in[(s * blockDim.x + threadIdx.x) % 8192] = s;
	if (shown)
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	clock.stop(cycles);
	micro_use(in[threadIdx.x], cycles);
}

template <int COLUMNS, int TURNS> static void products(float *out)
{
	static const unsigned rounds[] = { 1, 2, 65 };
	for (unsigned blocks = 1; blocks <= 132; blocks += 131)
		for (unsigned r : rounds) {
			const double c = median_cycles(blocks, [&] {
				m_products<COLUMNS, TURNS><<<blocks, 128>>>(r, out, micro_cycles());
			});
			Line("warp_groups", "product")("columns", COLUMNS)("together", TURNS)("rounds", r)(
				"blocks", blocks)("cycles", c);
		}
}

int main()
{
	micro_begin("warp_groups");
	float *const out = micro_alloc<float>(1 << 16);
	products<8, 1>(out);
	products<32, 1>(out);
	products<32, 4>(out);
	products<128, 1>(out);
	products<128, 4>(out);
	products<128, 16>(out);
	for (unsigned stores = 0; stores <= 16; stores += 4)
		for (int shown = 0; shown < 2; shown++)
			Line("warp_groups", "shown")("stores", stores)("shown", shown)(
				"cycles",
				median_cycles(1, [&] { m_shown<<<1, 128>>>(shown != 0, stores, micro_cycles()); }));
	return 0;
}
