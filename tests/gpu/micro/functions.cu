/*
 * What programs call again and again, each the argument of the next: mathematical functions in
 * float and double, divisions, conversions, random numbers, exchanges between lanes, tables in
 * shared, local, constant and global memory. One warp alone tells how long each takes, many warps
 * how many an SM does. All by events, so that the emulator's times of the same program can be held
 * against them line by line: pmpp-explore launches functions.cu --gpu h200 --backend emu -O3.
 */
#include "micro.cuh"

#include <cuda_fp16.h>
#include <curand_kernel.h>

#define WORDS 256 /* of each table */

static __constant__ unsigned constant_table[WORDS];
static __device__ unsigned global_table[WORDS];

struct Tables {
	unsigned *shared;
};

#define FUNCTION(name, type, expression)                            \
	struct name {                                                   \
		typedef type T;                                             \
		static __device__ __forceinline__ type of(type x, Tables t) \
		{                                                           \
			(void)t;                                                \
			return expression;                                      \
		}                                                           \
	};
#include "functions.inc"
#undef FUNCTION

/* A turn takes the result of the last one. */
template <typename F> static __global__ void m_chain(unsigned turns, unsigned *never)
{
	__shared__ unsigned words[WORDS];
	for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x)
		words[i] = (i * 37 + 11) % WORDS;
	__syncthreads();
	typename F::T x = (typename F::T)(threadIdx.x % 32 + 1);
#pragma unroll 1
	for (unsigned i = 0; i < turns; i++)
		x = F::of(x, Tables{ words });
	micro_use(x, never);
}

/* A table in a thread's own memory, read where the last entry says. */
static __global__ void m_local(unsigned turns, unsigned *never)
{
	unsigned own[32];
#pragma unroll 1
	for (unsigned i = 0; i < 32; i++)
		own[i] = (i * 5 + never[0]) % 32;
	unsigned x = threadIdx.x % 32;
#pragma unroll 1
	for (unsigned i = 0; i < turns; i++) {
		own[(x + 7) % 32] = x;
		x = own[x];
	}
	micro_use(x + 1, never);
}

template <typename State, typename F>
static __global__ void m_random(unsigned turns, unsigned *never, F draw)
{
	State state;
	curand_init(1234, threadIdx.x, 0, &state);
	float x = 0;
#pragma unroll 1
	for (unsigned i = 0; i < turns; i++)
		x += draw(&state);
	micro_use(x, never);
}

template <typename State> static __global__ void m_seed(unsigned turns, unsigned *never)
{
	State state;
	unsigned x = 0;
#pragma unroll 1
	for (unsigned i = 0; i < turns; i++) {
		curand_init(1234 + x, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
		x += curand(&state) & 1;
	}
	micro_use(x, never);
}

struct Uniform {
	template <typename State> __device__ float operator()(State *s) const
	{
		return curand_uniform(s);
	}
};
struct Normal {
	template <typename State> __device__ float operator()(State *s) const
	{
		return curand_normal(s);
	}
};
struct Normal4 {
	__device__ float operator()(curandStatePhilox4_32_10_t *s) const
	{
		const float4 v = curand_normal4(s);
		return v.x + v.y + v.z + v.w;
	}
};

static unsigned *never;

template <typename L> static void shapes(const char *name, unsigned turns, L launch)
{
	const unsigned sms = (unsigned)micro_sms(),
				   shape[][3] = { { 1, 32, turns }, { 1, 256, turns }, { sms, 1024, turns / 4 } };
	for (const auto &s : shape) {
		const double ns = shortest_ns([&] { launch(s[0], s[1], s[2]); }, 3);
		Line("functions",
		     name)("blocks", s[0])("threads", s[1])("turns", s[2])("ns", ns)("turn_ns", ns / s[2]);
	}
}

template <typename F> static void chain(const char *name)
{
	shapes(name, 2000, [](unsigned b, unsigned t, unsigned n) { m_chain<F><<<b, t>>>(n, never); });
}

template <typename State, typename F> static void random_numbers(const char *name, F draw)
{
	shapes(name, 1000,
	       [&](unsigned b, unsigned t, unsigned n) { m_random<State><<<b, t>>>(n, never, draw); });
}

int main()
{
	micro_begin("functions");
	never = micro_alloc<unsigned>(1);
	unsigned table[WORDS];
	for (unsigned i = 0; i < WORDS; i++)
		table[i] = (i * 37 + 11) % WORDS;
	micro_fail("table", cudaMemcpyToSymbol(constant_table, table, sizeof table));
	micro_fail("table", cudaMemcpyToSymbol(global_table, table, sizeof table));
#define FUNCTION(name, type, expression) chain<name>(#name);
#include "functions.inc"
#undef FUNCTION
	shapes("local", 2000, [](unsigned b, unsigned t, unsigned n) { m_local<<<b, t>>>(n, never); });
	random_numbers<curandStateXORWOW_t>("xorwow_uniform", Uniform());
	random_numbers<curandStateXORWOW_t>("xorwow_normal", Normal());
	random_numbers<curandStatePhilox4_32_10_t>("philox_uniform", Uniform());
	random_numbers<curandStatePhilox4_32_10_t>("philox_normal4", Normal4());
	shapes("xorwow_seed", 40, [](unsigned b, unsigned t, unsigned n) {
		m_seed<curandStateXORWOW_t><<<b, t>>>(n, never);
	});
	return 0;
}
