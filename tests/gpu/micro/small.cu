/*
 * Small blocks, many to an SM: what a barrier, a load or store of shared memory and a load that
 * finds its lines in L1 cost a warp of few lanes; and all together, as a phase of a tiled product.
 * Scattered loads and stores in turn, as of a thread that walks through a piece of its own. And the
 * first loads of a launch: lines by number and distance, from memory, by one SM and by all.
 */
#include "micro.cuh"

#define TIMES 256

enum { BARRIER, SHARED_LOADS, SHARED_STORES, LOADS, PHASE };

/* @what, again and again; all addresses lie in one line of L1, or in @lines of them. */
template <int WHAT>
static __global__ void m_small(unsigned *cycles, const float *a, int n, int lines)
{
	__shared__ float s[1024];
	const int t = (int)threadIdx.x;
	const float *const p = a + blockIdx.x % 64 * 1024 + t % lines * 32 + t / lines;
	float v = 0;
	s[t] = (float)t;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		if (WHAT == BARRIER) {
			__syncthreads();
			__syncthreads();
		} else if (WHAT == SHARED_LOADS) {
#pragma unroll
			for (int k = 0; k < 4; k++)
				v += ((volatile float *)s)[(t + k) & 31];
		} else if (WHAT == SHARED_STORES) {
#pragma unroll
			for (int k = 0; k < 4; k++)
				((volatile float *)s)[t] = v;
		} else if (WHAT == LOADS) {
#pragma unroll
			for (int k = 0; k < 4; k++)
				v += __ldca(p + (i & 1) + 2 * k);
		} else {
			const float x = __ldca(p + (i & 1)), y = __ldca(p + (i & 1) + 2);
			s[t] = x;
			s[t + 64] = y;
			__syncthreads();
			v += s[t & 1] * s[64 + (t & 2)] + s[(t & 1) + 2] * s[65 + (t & 2)];
			__syncthreads();
		}
	}
	clock.stop(cycles);
	micro_use(v, cycles);
}

enum { LOAD, STORE, BOTH, TWO_AND_STORE };

/* Lane by lane a piece of @stride words of its own, in turn word by word. */
template <int WHAT>
static __global__ void m_walk(unsigned *cycles, const float *a, const float *b, float *c, int n,
                              int stride)
{
	const int first = (int)threadIdx.x * stride;
	float v = 0;
	const BlockClock clock;
#pragma unroll 1
	for (int i = first; i < first + n; i++) {
		if (WHAT == LOAD)
			v += a[i];
		else if (WHAT == STORE)
			c[i] = (float)i;
		else if (WHAT == BOTH)
			c[i] = a[i];
		else
			c[i] = a[i] + b[i];
	}
	clock.stop(cycles);
	micro_use(v, cycles);
}

static __global__ void flush_by_reading(const uint4 *p, size_t n, unsigned *cycles)
{
	uint4 sum = { 0, 0, 0, 0 };
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		const uint4 v = micro_load_l2(p + i);
		sum.x ^= v.x;
	}
	micro_use((int)sum.x, cycles);
}

/* K lines a lane of a warp, @distance bytes apart, one line for the whole warp each; then as many
 * next to them. */
template <int K>
static __global__ void m_first(unsigned *cycles, const char *a, size_t distance, size_t next)
{
	const char *p = a + (size_t)blockIdx.x * K * distance + threadIdx.x * 4;
	unsigned t[3];
	for (int turn = 0; turn < 2; turn++) {
		unsigned v[K], sum = 0;
		t[turn] = (unsigned)clock64();
#pragma unroll
		for (int k = 0; k < K; k++)
			v[k] = __ldcg((const unsigned *)(p + k * distance));
#pragma unroll
		for (int k = 0; k < K; k++)
			sum += v[k];
		asm volatile("" ::"r"(sum) : "memory");
		if (sum == 12345)
			cycles[0] = 1;
		t[turn + 1] = (unsigned)clock64();
		p += next;
	}
	if (threadIdx.x == 0) {
		cycles[2 * blockIdx.x] = t[1] - t[0];
		cycles[2 * blockIdx.x + 1] = t[2] - t[1];
	}
}

template <int K> static void first_loads(const char *a, const uint4 *flush, size_t flush_n)
{
	unsigned *const out = micro_cycles();
	static const size_t distances[] = { 128, 4096, 65536, (size_t)2 << 20 };
	static const unsigned grids[] = { 1, 16, 132 };
	for (const size_t distance : distances)
		for (const unsigned blocks : grids) {
			double sum[2] = { 0, 0 }, most[2] = { 0, 0 };
			if ((size_t)blocks * K * distance > (size_t)4 << 30)
				continue;
			for (int r = 0; r < 5; r++) {
				unsigned host[2 * 132];
				flush_by_reading<<<1056, 256>>>(flush, flush_n, out);
				m_first<K><<<blocks, 32>>>(out, a, distance, distance == 128 ? K * 128 * 132 : 128);
				micro_fail("copy", cudaMemcpy(host, out, 8 * blocks, cudaMemcpyDeviceToHost));
				for (int turn = 0; turn < 2 && r; turn++) {
					double longest = 0, all = 0;
					for (unsigned b = 0; b < blocks; b++) {
						all += host[2 * b + turn];
						longest = host[2 * b + turn] > longest ? host[2 * b + turn] : longest;
					}
					sum[turn] += all / blocks / 4;
					most[turn] += longest / 4;
				}
			}
			Line("small", "first")("lines", K)("distance", (double)distance)("blocks", blocks)(
				"cycles", sum[0])("longest", most[0])("again_cycles", sum[1])("again_longest",
			                                                                  most[1]);
		}
}

int main()
{
	unsigned *const out = micro_cycles();
	micro_begin("small");
	float *const a = micro_alloc<float>((size_t)1 << 26), *const b =
															  micro_alloc<float>((size_t)1 << 26);
	float *const c = micro_alloc<float>((size_t)1 << 26);
	for (int t = 4; t <= 64; t *= 2)
		for (int per_sm = 1; per_sm <= 32; per_sm *= 2) {
			const unsigned n = (unsigned)(micro_sms() * per_sm);
			Line line("small", "block");
			line("threads", t)("blocks_per_sm", per_sm);
#define CASE(name, what, lines, parts)                                                            \
	line(name, median_cycles(n, [&] { m_small<what><<<n, t>>>(out, a, TIMES, lines); }) / TIMES / \
	               (parts))
			CASE("barrier", BARRIER, 1, 2);
			CASE("shared_load", SHARED_LOADS, 1, 4);
			CASE("shared_store", SHARED_STORES, 1, 4);
			CASE("load_of_1_line", LOADS, 1, 4);
			CASE("load_of_2_lines", LOADS, 2, 4);
			CASE("load_of_4_lines", LOADS, 4, 4);
			CASE("phase", PHASE, 1, 1);
			CASE("phase_of_2_lines", PHASE, 2, 1);
		}
	for (int stride = 2048; stride <= 2080; stride += stride == 2048 ? 1 : 31)
		for (int t = 32; t <= 512; t *= 2)
			for (int n = 1; n <= 132; n += 131) {
				if ((long)n * t * stride > 1L << 26)
					continue;
				const double s = TIMES;
				const auto at = (unsigned)n;
				Line("small", "walk")("stride", stride)("threads", t)("blocks", n)(
					"load", median_cycles(
								at, [&] { m_walk<LOAD><<<n, t>>>(out, a, b, c, TIMES, stride); }) /
								s)(
					"store",
					median_cycles(at, [&] {
						m_walk<STORE><<<n, t>>>(out, a, b, c, TIMES, stride);
					}) / s)("both", median_cycles(at, [&] {
										m_walk<BOTH><<<n, t>>>(out, a, b, c, TIMES, stride);
									}) / s)("two_and_store", median_cycles(at, [&] {
																 m_walk<TWO_AND_STORE><<<n, t>>>(
																	 out, a, b, c, TIMES, stride);
															 }) / s);
			}
	const size_t flush_n = ((size_t)192 << 20) / sizeof(uint4);
	const uint4 *const flush = micro_alloc<uint4>(flush_n);
	const char *const far = micro_alloc<char>((size_t)6 << 30);
	first_loads<1>(far, flush, flush_n);
	first_loads<4>(far, flush, flush_n);
	first_loads<8>(far, flush, flush_n);
	first_loads<16>(far, flush, flush_n);
	first_loads<32>(far, flush, flush_n);
	return 0;
}
