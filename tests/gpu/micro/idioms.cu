/*
 * Small whole patterns, each from one cause: tiles of a product that never leave shared memory, by
 * tile and block; reductions of a block by tree and by shuffle; tiles that are turned in shared
 * memory with more or fewer conflicts. What comes out is held against the sum of its parts.
 */
#include "micro.cuh"

#define ROUNDS 64

/* The sum so far and the products of a row and a column of two tiles that all have stored. */
template <int TILE>
static __device__ float tile_product(const float (&s)[TILE][TILE], const float (&t)[TILE][TILE],
                                     int x, int y, float sum)
{
	__syncthreads();
#pragma unroll
	for (int k = 0; k < TILE; k++)
		sum += s[y][k] * t[k][x];
	__syncthreads();
	return sum;
}

/* One phase after another of a tiled product, on the same tile. */
template <int TILE> static __global__ void m_tile_product(unsigned *cycles, const float *a)
{
	__shared__ float s[TILE][TILE], t[TILE][TILE];
	const int x = (int)threadIdx.x, y = (int)threadIdx.y;
	float sum = 0;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < ROUNDS; i++) {
		s[y][x] = sum;
		t[y][x] = sum + 1;
		sum = tile_product<TILE>(s, t, x, y, sum);
	}
	clock.stop(cycles);
	micro_use(sum, cycles);
}

/* The same with its loads, from an n x n matrix in L2. */
template <int TILE>
static __global__ void m_tile_product_loads(unsigned *cycles, const float *a, int n)
{
	__shared__ float s[TILE][TILE], t[TILE][TILE];
	const int x = (int)threadIdx.x, y = (int)threadIdx.y;
	const int row = (int)(blockIdx.x / (unsigned)(n / TILE)) * TILE % n;
	const int column = (int)(blockIdx.x % (unsigned)(n / TILE)) * TILE;
	float sum = 0;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < n; i += TILE) {
		s[y][x] = a[(row + y) * n + i + x];
		t[y][x] = a[(i + y) * n + column + x];
		sum = tile_product<TILE>(s, t, x, y, sum);
	}
	clock.stop(cycles);
	micro_use(sum, cycles);
}

static __global__ void m_reduce_tree(unsigned *cycles, int rounds)
{
	__shared__ float s[1024];
	float v = (float)threadIdx.x;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
		s[threadIdx.x] = v;
		for (unsigned w = blockDim.x / 2; w; w /= 2) {
			__syncthreads();
			if (threadIdx.x < w)
				s[threadIdx.x] += s[threadIdx.x + w];
		}
		__syncthreads();
		v = s[0];
	}
	clock.stop(cycles);
	micro_use(v, cycles);
}

static __device__ float reduce_warp(float v)
{
#pragma unroll
	for (int w = 16; w; w /= 2)
		v += __shfl_down_sync(0xffffffff, v, w);
	return v;
}

static __global__ void m_reduce_shuffle(unsigned *cycles, int rounds)
{
	__shared__ float s[32];
	float v = (float)threadIdx.x;
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
		v = reduce_warp(v);
		if (lane == 0)
			s[warp] = v;
		__syncthreads();
		if (warp == 0) {
			v = lane < blockDim.x / 32 ? s[lane] : 0;
			v = reduce_warp(v);
		}
		__syncthreads();
	}
	clock.stop(cycles);
	micro_use(v, cycles);
}

/* A whole vector, @EACH float4 per thread, warps by shuffles, one atomic a block. */
template <int EACH> static __global__ void m_reduce_all(const float4 *a, float *out)
{
	__shared__ float s[32];
	float v = 0;
#pragma unroll
	for (int k = 0; k < EACH; k++) {
		const float4 x = a[(blockIdx.x * (size_t)EACH + (size_t)k) * blockDim.x + threadIdx.x];
		v += x.x + x.y + x.z + x.w;
	}
	v = reduce_warp(v);
	if (threadIdx.x % 32 == 0)
		s[threadIdx.x / 32] = v;
	__syncthreads();
	if (threadIdx.x < 32) {
		v = reduce_warp(threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0);
		if (threadIdx.x == 0)
			atomicAdd(out, v);
	}
}

/* A tile is stored by rows and read by columns; @PAD words more per row. */
template <int PAD, int ROWS> static __global__ void m_turn(unsigned *cycles, int rounds)
{
	__shared__ float s[32][32 + PAD];
	const int x = (int)threadIdx.x % 32, y = (int)threadIdx.x / 32;
	float v[32 / ROWS];
	for (int k = 0; k < 32 / ROWS; k++)
		v[k] = (float)k;
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
#pragma unroll
		for (int k = 0; k < 32 / ROWS; k++)
			s[y + k * ROWS][x] = v[k];
		__syncthreads();
#pragma unroll
		for (int k = 0; k < 32 / ROWS; k++)
			v[k] = s[x][y + k * ROWS];
		__syncthreads();
	}
	clock.stop(cycles);
	for (int k = 0; k < 32 / ROWS; k++)
		micro_use(v[k], cycles);
}

/* The whole: an n x n matrix turned through such tiles. */
template <int PAD, int ROWS> static __global__ void m_transpose(const float *a, float *b, int n)
{
	__shared__ float s[32][32 + PAD];
	const int x = (int)threadIdx.x % 32, y = (int)threadIdx.x / 32;
	const int col = (int)blockIdx.x * 32, row = (int)blockIdx.y * 32;
#pragma unroll
	for (int k = 0; k < 32; k += ROWS)
		s[y + k][x] = a[(long)(row + y + k) * n + col + x];
	__syncthreads();
#pragma unroll
	for (int k = 0; k < 32; k += ROWS)
		b[(long)(col + y + k) * n + row + x] = s[x][y + k];
}

static float *matrix;

template <int TILE> static void tiles()
{
	unsigned *const out = micro_cycles();
	const unsigned sms = (unsigned)micro_sms();
	int resident = 0;
	cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, m_tile_product<TILE>, TILE * TILE, 0);
	for (int per_sm = 1; per_sm <= resident; per_sm *= 2) {
		const unsigned b = sms * (unsigned)per_sm;
		const dim3 block(TILE, TILE);
		const double alone =
			median_cycles(b, [&] { m_tile_product<TILE><<<b, block>>>(out, matrix); });
		const double loads =
			median_cycles(b, [&] { m_tile_product_loads<TILE><<<b, block>>>(out, matrix, 1024); });
		Line("idioms", "tile_product")("tile", TILE)("blocks_per_sm", per_sm)(
			"cycles_per_phase", alone / ROUNDS)("with_loads_cycles_per_phase",
		                                        loads / (1024.0 / TILE));
	}
}

template <int EACH> static void reduce_all(float *out)
{
	for (size_t n = (size_t)1 << 20; n <= (size_t)1 << 28; n *= 16)
		for (unsigned t = 128; t <= 1024; t *= 2) {
			const unsigned blocks = (unsigned)(n / 4 / EACH / t);
			const double ns =
				shortest_ns([&] { m_reduce_all<EACH><<<blocks, t>>>((const float4 *)matrix, out); },
			                micro_flush_l2, 3);
			Line("idioms", "reduce_all")("vectors_per_thread", EACH)("threads", t)("n", (double)n)(
				"ns", ns)("gbs", (double)n * 4 / ns);
		}
}

template <int PAD, int ROWS> static void turns(float *other)
{
	const unsigned b = (unsigned)micro_sms();
	const double c =
		median_cycles(b, [&] { m_turn<PAD, ROWS><<<b, 32 * ROWS>>>(micro_cycles(), ROUNDS); });
	Line("idioms", "turn")("pad", (double)PAD)("rows", ROWS)("cycles_per_tile", c / ROUNDS);
	for (int n = 1024; n <= 16384; n *= 4) {
		const dim3 grid((unsigned)n / 32, (unsigned)n / 32);
		const double ns =
			shortest_ns([&] { m_transpose<PAD, ROWS><<<grid, 32 * ROWS>>>(matrix, other, n); },
		                micro_flush_l2, 3);
		Line("idioms", "transpose")("pad", (double)PAD)("rows", ROWS)("n", n)("ns", ns)(
			"gbs", 8.0 * n * n / ns);
	}
}

int main()
{
	micro_begin("idioms");
	matrix = micro_alloc<float>((size_t)1 << 28);
	float *const other = micro_alloc<float>((size_t)1 << 28);
	tiles<8>();
	tiles<16>();
	tiles<32>();
	for (unsigned t = 32; t <= 1024; t *= 2)
		for (unsigned per_sm = 1; per_sm * t <= 2048 && per_sm <= 8; per_sm *= 2) {
			const unsigned b = (unsigned)micro_sms() * per_sm;
			const double tree =
				median_cycles(b, [&] { m_reduce_tree<<<b, t>>>(micro_cycles(), ROUNDS); });
			const double shuffle =
				median_cycles(b, [&] { m_reduce_shuffle<<<b, t>>>(micro_cycles(), ROUNDS); });
			Line("idioms", "reduce_block")("threads", t)("blocks_per_sm", per_sm)(
				"tree_cycles", tree / ROUNDS)("shuffle_cycles", shuffle / ROUNDS);
		}
	reduce_all<1>(other);
	reduce_all<4>(other);
	turns<0, 8>(other);
	turns<0, 32>(other);
	turns<1, 8>(other);
	turns<1, 32>(other);
	return 0;
}
