/*
 * Lanes that a card counts where a part of a warp splits again: one warp, by which lanes come into
 * the outer side and which of them into the inner one. No time is taken; the counters of each
 * launch are the result (micro.sh, with ncu): thread instructions, active ones and with a true
 * predicate, and warp instructions. `launches` in the emulator says what it counts of the same.
 */
#include "micro.cuh"

enum body {
	ARITHMETIC, /* the inner side adds */
	STORE,      /* and writes shared memory */
	LOAD_STORE, /* writes there what it reads from global memory: waits in between */
	LOAD_FIRST, /* the same before it adds */
	LOAD_LATER, /* what it has read is used after the sides have met */
	BOTH_SIDES, /* as LOAD_STORE, and the other side adds */
	N_BODIES
};

template <int N> static __device__ float add(float x)
{
#pragma unroll
	for (int i = 0; i < N; i++)
		asm volatile("fma.rn.f32 %0, %0, 0f3F000000, 0f3F800000;" : "+f"(x));
	return x;
}

/* @AFTER additions follow in the outer side. Sides are long enough to be branches. */
template <int BODY, int AFTER, bool NESTED>
static __global__ void m_parts(float *data, unsigned outer, unsigned inner)
{
	__shared__ volatile float room[64];
	volatile float *const from = data + threadIdx.x;
	const unsigned lane = threadIdx.x;
	float x = (float)lane, y = 0;
	room[lane] = 0;
	if (!NESTED || (outer >> lane & 1)) {
		x = add<12>(x);
		if (inner >> lane & 1) {
			const float z = add<12>((float)inner); /* addresses made here: no load ahead of it */
			if (BODY == LOAD_FIRST)
				room[lane] = from[z > 1e30f];
			if (BODY == LOAD_LATER)
				y = from[z > 1e30f];
			x = add<12>(x);
			if (BODY == STORE)
				room[lane] = x;
			if (BODY == LOAD_STORE || BODY == BOTH_SIDES)
				room[lane] = from[x > 1e30f];
		} else if (BODY == BOTH_SIDES) {
			x = add<16>(x);
		}
		x = add<1 + AFTER>(x);
		if (BODY == LOAD_LATER)
			x += y;
	}
	__syncwarp();
	x = add<4>(x);
	if (x == -1 || room[lane] == -2)
		data[lane] = x;
}

/* The kernel in which a difference was seen first, with three shapes of its tile. */
#define blur_v0_naive m_blur_naive_16
#define blur_v1_tiled m_blur_16
#define RADIUS 1
#define TILE 16
#include "../../../kernels/blur.cu"
#undef blur_v0_naive
#undef blur_v1_tiled
#undef RADIUS
#undef TILE
#define blur_v0_naive m_blur_naive_16_2
#define blur_v1_tiled m_blur_16_2
#define RADIUS 2
#define TILE 16
#include "../../../kernels/blur.cu"
#undef blur_v0_naive
#undef blur_v1_tiled
#undef RADIUS
#undef TILE
#define blur_v0_naive m_blur_naive_8
#define blur_v1_tiled m_blur_8
#define RADIUS 1
#define TILE 8
#include "../../../kernels/blur.cu"

static unsigned lanes(unsigned first, unsigned n)
{
	return (n >= 32 ? ~0u : (1u << n) - 1) << first;
}

static const char *const names[] = { "arithmetic", "store",      "load_store",
	                                 "load_first", "load_later", "both_sides" };

template <int BODY, int AFTER, bool NESTED> static void all(float *data)
{
	static const unsigned sizes[] = { 2, 4, 6, 16, 28, 32 };
	for (unsigned k : sizes)
		for (unsigned high = 0; high < 2;
		     high++) { /* the outer side is the first lanes, the last */
			const unsigned from = high ? 32 - k : 0, outer = lanes(from, k);
			const unsigned few[] = { 1, k / 2, k - 1 };
			for (unsigned side = 0; side < 2; side++)
				for (unsigned j : few) {
					const unsigned inner = side ? lanes(from + k - j, j) : lanes(from, j);
					if ((k == 2 && j != few[0]) || (k == 32 && high))
						continue;
					Line("parts", names[BODY])("after", (double)AFTER)("nested", (double)NESTED)(
						"outer", outer)("inner", inner)("untimed", 0.0);
					m_parts<BODY, AFTER, NESTED><<<1, 32>>>(data, outer, inner);
				}
		}
}

template <int BODY> static void bodies(float *data)
{
	all<BODY, 0, true>(data);
	if constexpr (BODY == LOAD_STORE) {
		all<BODY, 8, true>(data);
		all<BODY, 0, false>(data);
	}
}

template <typename K> static void blur(const char *name, int tile, K kernel)
{
	unsigned char *const in = micro_alloc<unsigned char>(128 * 128);
	unsigned char *const out = micro_alloc<unsigned char>(128 * 128);
	for (int w = 2 * tile; w <= 3 * tile; w++)
		for (int h = tile; h <= 2 * tile; h += w % 4 == 0 ? 1 : tile / 2) {
			Line("parts", name)("tile", tile)("W", w)("H", h)("untimed", 0.0);
			kernel<<<dim3((w + tile - 1) / tile, (h + tile - 1) / tile), dim3(tile, tile)>>>(
				in, out, w, h);
		}
}

int main()
{
	micro_begin("parts");
	float *const data = micro_alloc<float>(64);
	bodies<ARITHMETIC>(data);
	bodies<STORE>(data);
	bodies<LOAD_STORE>(data);
	bodies<LOAD_FIRST>(data);
	bodies<LOAD_LATER>(data);
	bodies<BOTH_SIDES>(data);
	blur("blur", 16, m_blur_16);
	blur("blur_radius_2", 16, m_blur_16_2);
	blur("blur", 8, m_blur_8);
	micro_fail("launch", cudaDeviceSynchronize());
	return 0;
}
