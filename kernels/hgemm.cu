/*
 * Matrix multiplication C = A * B on tensor cores, the ladder of their instructions. A (M x K) and
 * B (K x N) are in half precision, the sums and C (M x N) in single precision; all row-major.
 *
 *   wmma        a warp makes a 16 x 16 tile; its fragments come straight from global memory
 *   wmma_tiled  tiles in shared memory, in padded rows; a warp makes 64 x 32
 *   mma         mma.sync on fragments that ldmatrix reads from swizzled tiles; the copies of
 *               coming steps (cp.async) go around the registers; a warp makes 64 x 64
 *   wgmma       four warps multiply together, straight from swizzled shared memory, and go on while
 *               the tensor cores work; four warps make 64 x 256 (compute capability 9.0 only)
 *
 * Sizes are multiples of 16 and need not fit the tiles: what lies outside is taken as 0 and not
 * written. Shared memory is dynamic where it can be above 48 KB.
 */

/* Defaults of the compile parameters, for both halves. */
#ifndef STAGES
#define STAGES 4
#endif
#ifndef BAND
#define BAND 8
#endif

/* Tiles of a block, in both halves: TILED is wmma_tiled's, of a step of TILED_K; and so on. */
#define WMMA_WARPS 4
#define TILED_M 128
#define TILED_N 128
#define TILED_K 32
#define TILED_THREADS 256
#define MMA_M 128
#define MMA_N 128
#define MMA_K 32
#define MMA_THREADS (MMA_M / 64 * MMA_N / 64 * 32)
#define GROUP_M 128
#define GROUP_N 256
#define GROUP_K 64
#define GROUP_THREADS 256
/* Bytes of shared memory of a step's tiles. */
#define STAGE_BYTES(m, n, k) (2 * (k) * ((m) + (n)))

#ifdef __CUDACC__

typedef unsigned short f16; /* its bits: no arithmetic is done on them here */

/* Fragments as wmma has them: 8 registers of two halves, 8 sums. */
struct fragment {
	unsigned r[8];
};
struct sums {
	float r[8];
};

#define TO_8(v) \
	"=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7])
#define FROM_8(c, v) c(v[0]), c(v[1]), c(v[2]), c(v[3]), c(v[4]), c(v[5]), c(v[6]), c(v[7])
#define LIST_8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define WMMA_LOAD(f, which, space, kind, at, stride)                                    \
	asm volatile("wmma.load." which ".sync.aligned.row.m16n16k16." space ".f16 " LIST_8 \
	             ", [%8], %9;"                                                          \
	             : TO_8(f.r)                                                            \
	             : kind(at), "r"(stride)                                                \
	             : "memory")

static __device__ __forceinline__ void wmma_multiply(struct sums &d, const struct fragment &a,
                                                     const struct fragment &b)
{
	asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 " LIST_8
	             ", {%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, "
	             "%23}, " LIST_8 ";" //@ multiply
	             : FROM_8("+f", d.r)
	             : FROM_8("r", a.r), FROM_8("r", b.r)); //@ multiply
}

static __device__ __forceinline__ void wmma_store(float *to, int stride, const struct sums &d)
{
	asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%8], " LIST_8 ", %9;"
	             ::FROM_8("f", d.r), "l"(__cvta_generic_to_global(to)), "r"(stride)
	             : "memory"); //@ store
}

extern "C" __global__ void __launch_bounds__(32 * WMMA_WARPS)
hgemm_v0_wmma(const f16 *A, const f16 *B, float *C, int M, int N, int K)
{
	const int row = (int)blockIdx.y * 16;
	const int col = ((int)blockIdx.x * WMMA_WARPS + (int)threadIdx.x / 32) * 16;
	struct sums sum = {};

	if (row >= M || col >= N)
		return;
	for (int k = 0; k < K; k += 16) {
		struct fragment a, b;
		WMMA_LOAD(a, "a", "global", "l", __cvta_generic_to_global(A + row * K + k), K); //@ load-A
		WMMA_LOAD(b, "b", "global", "l", __cvta_generic_to_global(B + k * N + col), N); //@ load-B
		wmma_multiply(sum, a, b);
	}
	wmma_store(C + row * N + col, N, sum);
}

static __device__ __forceinline__ unsigned shared_address(const void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ uint4 eight(const f16 *p, bool inside)
{
	return inside ? *(const uint4 *)p : make_uint4(0, 0, 0, 0); //@ load
}

/* Rows are 16 bytes longer than they need to be: those of a fragment begin at different banks. */
#define TILED_PAD 8

extern "C" __global__ void __launch_bounds__(TILED_THREADS)
hgemm_v1_wmma_tiled(const f16 *A, const f16 *B, float *C, int M, int N, int K)
{
	enum { ROW_A = TILED_K + TILED_PAD, ROW_B = TILED_N + TILED_PAD };
	enum { A_QUADS = TILED_K / 8, B_QUADS = TILED_N / 8 }; /* 16-byte words of a row */
	__shared__ __align__(16) f16 As[TILED_M * ROW_A], Bs[TILED_K * ROW_B];
	const int t = (int)threadIdx.x, warp = t / 32;
	const int row0 = (int)blockIdx.y * TILED_M, col0 = (int)blockIdx.x * TILED_N;
	const int row = warp / 4 * 64, col = warp % 4 * 32;
	struct sums sum[4][2] = {};

	for (int p = 0; p < K; p += TILED_K) {
#pragma unroll
		for (int i = t; i < TILED_M * A_QUADS; i += TILED_THREADS) {
			const int y = i / A_QUADS, x = i % A_QUADS * 8;
			const bool inside = row0 + y < M && p + x < K;
			*(uint4 *)(As + y * ROW_A + x) = eight(A + (row0 + y) * K + p + x, inside);
		}
#pragma unroll
		for (int i = t; i < TILED_K * B_QUADS; i += TILED_THREADS) {
			const int y = i / B_QUADS, x = i % B_QUADS * 8;
			const bool inside = p + y < K && col0 + x < N;
			*(uint4 *)(Bs + y * ROW_B + x) = eight(B + (p + y) * N + col0 + x, inside);
		}
		__syncthreads(); //@ wait-loaded
#pragma unroll
		for (int k = 0; k < TILED_K; k += 16) {
			struct fragment b[2];
#pragma unroll
			for (int j = 0; j < 2; j++)
				WMMA_LOAD(b[j], "b", "shared", "r",
				          shared_address(Bs + k * ROW_B + col + j * 16), ROW_B); //@ shared-read
#pragma unroll
			for (int i = 0; i < 4; i++) {
				struct fragment a;
				WMMA_LOAD(a, "a", "shared", "r",
				          shared_address(As + (row + i * 16) * ROW_A + k), ROW_A); //@ shared-read
				wmma_multiply(sum[i][0], a, b[0]);
				wmma_multiply(sum[i][1], a, b[1]);
			}
		}
		__syncthreads(); //@ wait-used
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int j = 0; j < 2; j++) {
			const int y = row0 + row + i * 16, x = col0 + col + j * 16;
			if (y < M && x < N)
				wmma_store(C + y * N + x, N, sum[i][j]);
		}
}

/* --- copies that go on while the warp does --- */

extern __shared__ __align__(1024) unsigned char shared_tiles[]; /* a swizzle repeats after 1024 */

#if __CUDA_ARCH__ >= 800

static __device__ __forceinline__ void copy_16(unsigned to, const void *from)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
	             "l"(__cvta_generic_to_global(from))
	             : "memory"); //@ copy
}

/* Zeros where the source is not @inside of its matrix. */
static __device__ __forceinline__ void copy_edge(unsigned to, const void *from, bool inside)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
	             "l"(__cvta_generic_to_global(from)), "r"(inside ? 16 : 0)
	             : "memory"); //@ copy
}

static __device__ __forceinline__ void copies_commit()
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Until at most @LEFT of this thread's groups of copies are on their way. */
template <int LEFT> static __device__ __forceinline__ void copies_wait()
{
	asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory"); //@ wait-copies
}

/* Where a block's tile begins in C, and what there is of the matrices. */
struct place {
	const f16 *A, *B; /* the first of its rows of A, of its columns of B */
	int row, col, M, N, K;
	bool whole; /* all of its tiles lie inside */
};

/* Blocks are numbered along bands of BAND tile rows, down each column of the band first: blocks
 * that run at the same time then share rows of A and columns of B in L2. */
template <int TILE_M, int TILE_N, int TILE_K>
static __device__ __forceinline__ struct place place_of_block(const f16 *A, const f16 *B, int M,
                                                              int N, int K)
{
	const int tiles_y = (M + TILE_M - 1) / TILE_M, tiles_x = (N + TILE_N - 1) / TILE_N;
	const int band = (int)blockIdx.x / (BAND * tiles_x);
	const int in_band = (int)blockIdx.x % (BAND * tiles_x);
	const int height = min(BAND, tiles_y - band * BAND);

	const int row = (band * BAND + in_band % height) * TILE_M, col = in_band / height * TILE_N;
	return { A + row * K, B + col, row, col, M, N, K,
	         row + TILE_M <= M && col + TILE_N <= N && K % TILE_K == 0 };
}

/* --- mma.sync --- */

/*
 * Where 16-byte word @x of row @y lies in a tile: words change places within 128 bytes, differently
 * in each of eight rows, so that ldmatrix, which reads one word of eight rows, meets all banks.
 */
static __device__ __forceinline__ unsigned place_a(int y, int x) /* rows of 64 bytes */
{
	return (unsigned)(y * (2 * MMA_K) + (x ^ y / 2 % 4) * 16);
}

static __device__ __forceinline__ unsigned place_b(int y, int x) /* rows of 256 bytes and more */
{
	return (unsigned)(y * (2 * MMA_N) + (x ^ y % 8) * 16);
}

#define MMA_STAGE STAGE_BYTES(MMA_M, MMA_N, MMA_K)
#define MMA_TILE_A (2 * MMA_K * MMA_M)

/* The tiles from depth @p on, with @EDGE where they may reach outside. */
template <bool EDGE>
static __device__ __forceinline__ void mma_copy(unsigned to, const struct place &at, int p)
{
	const int t = (int)threadIdx.x;
#pragma unroll
	for (int r = 0; r < MMA_M * MMA_K / 8 / MMA_THREADS; r++) {
		const int i = t + r * MMA_THREADS, y = i / (MMA_K / 8), x = i % (MMA_K / 8);
		const f16 *const from = at.A + y * at.K + p + x * 8;
		if (EDGE)
			copy_edge(to + place_a(y, x), from, at.row + y < at.M && p + x * 8 < at.K);
		else
			copy_16(to + place_a(y, x), from);
	}
#pragma unroll
	for (int r = 0; r < MMA_N * MMA_K / 8 / MMA_THREADS; r++) {
		const int i = t + r * MMA_THREADS, y = i / (MMA_N / 8), x = i % (MMA_N / 8);
		const f16 *const from = at.B + (p + y) * at.N + x * 8;
		if (EDGE)
			copy_edge(to + MMA_TILE_A + place_b(y, x), from,
			          p + y < at.K && at.col + x * 8 < at.N);
		else
			copy_16(to + MMA_TILE_A + place_b(y, x), from);
	}
}

/* Step @s, if there is one, into its place; in any case one group of copies. */
static __device__ __forceinline__ void mma_fetch(unsigned tiles, const struct place &at, int s)
{
	const unsigned to = tiles + s % STAGES * MMA_STAGE;
	if (s * MMA_K < at.K && at.whole)
		mma_copy<false>(to, at, s * MMA_K);
	else if (s * MMA_K < at.K)
		mma_copy<true>(to, at, s * MMA_K);
	copies_commit();
}

/* Two sums side by side. */
static __device__ __forceinline__ void store_pair(float *C, const struct place &at, int y, int x,
                                                  float left, float right)
{
	if (y < at.M && x < at.N)
		*(float2 *)(C + y * at.N + x) = make_float2(left, right); //@ store
}

#define TO_4(v) "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])

/* A warp's factors of 16 steps of depth: 64 rows of A, 64 columns of B, two eights in each b[j]. */
struct factors {
	unsigned a[4][4], b[4][4];
};

/* From depth @k of the tiles at @tiles; the warp's rows begin at @row, its columns at @col. */
static __device__ __forceinline__ void read_factors(struct factors &f, unsigned tiles, int k,
                                                    int row, int col)
{
	const int y = (int)threadIdx.x % 16, x = (int)threadIdx.x % 32 / 16;
#pragma unroll
	for (int i = 0; i < 4; i++)
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		             : TO_4(f.a[i])
		             : "r"(tiles + place_a(row + i * 16 + y, k / 8 + x))
		             : "memory"); //@ shared-read
#pragma unroll
	for (int j = 0; j < 4; j++)
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		             : TO_4(f.b[j])
		             : "r"(tiles + MMA_TILE_A + place_b(k + y, col / 8 + j * 2 + x))
		             : "memory"); //@ shared-read
}

static __device__ __forceinline__ void mma_multiply(float (&sum)[4][8][4], const struct factors &f)
{
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int j = 0; j < 8; j++)
			asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
			             "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
			             : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]),
			               "+f"(sum[i][j][3])
			             : "r"(f.a[i][0]), "r"(f.a[i][1]), "r"(f.a[i][2]), "r"(f.a[i][3]),
			               "r"(f.b[j / 2][j % 2 * 2]), "r"(f.b[j / 2][j % 2 * 2 + 1])); //@ multiply
}

#endif

extern "C" __global__ void __launch_bounds__(MMA_THREADS)
hgemm_v2_mma(const f16 *A, const f16 *B, float *C, int M, int N, int K)
{
#if __CUDA_ARCH__ >= 800
	const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
	const int row = warp / (MMA_N / 64) * 64, col = warp % (MMA_N / 64) * 64;
	const struct place at = place_of_block<MMA_M, MMA_N, MMA_K>(A, B, M, N, K);
	const unsigned tiles = shared_address(shared_tiles);
	float sum[4][8][4] = {};

#pragma unroll
	for (int s = 0; s < STAGES - 1; s++)
		mma_fetch(tiles, at, s);
	struct factors now, next; /* the ones in use, the others on their way */
	copies_wait<STAGES - 2>();
	__syncthreads(); //@ wait-loaded
	read_factors(now, tiles, 0, row, col);
	for (int s = 0; s * MMA_K < K; s++) {
		const int after = (s + 1) * MMA_K < K ? s + 1 : s; /* the last reads in vain */
		read_factors(next, tiles + s % STAGES * MMA_STAGE, 16, row, col);
		mma_fetch(tiles, at, s + STAGES - 1);
		mma_multiply(sum, now);
		copies_wait<STAGES - 2>();
		__syncthreads(); //@ wait-loaded
		read_factors(now, tiles + after % STAGES * MMA_STAGE, 0, row, col);
		mma_multiply(sum, next);
	}
	const int y = at.row + row + lane / 4, x = at.col + col + lane % 4 * 2;
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int j = 0; j < 8; j++) {
			store_pair(C, at, y + i * 16, x + j * 8, sum[i][j][0], sum[i][j][1]);
			store_pair(C, at, y + i * 16 + 8, x + j * 8, sum[i][j][2], sum[i][j][3]);
		}
#endif
}

/* --- wgmma --- */

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/*
 * Tiles as wgmma's 128-byte swizzle wants them: rows of 128 bytes, eight of them 1024 bytes, whose
 * 16-byte words change places by the row. A's rows are its own, 64 of K. B's tile is four slabs of
 * 64 columns, each with a row for each of the step's 64 of K.
 */
#define GROUP_STAGE STAGE_BYTES(GROUP_M, GROUP_N, GROUP_K)
#define GROUP_TILE_A (2 * GROUP_K * GROUP_M)
#define GROUP_SLAB (128 * GROUP_K)

/* As mma_copy(). In a round of threads both tiles have whole rows in eights, so that the swizzle
 * stays the same from round to round. */
template <bool EDGE>
static __device__ __forceinline__ void group_copy(unsigned to, const struct place &at, int p)
{
	enum { ROWS_A = GROUP_THREADS / 8, ROWS_B = GROUP_THREADS / 32 }; /* of a round */
	const int t = (int)threadIdx.x, ya = t / 8, xa = t % 8, yb = t / 32, xb = t % 32;
	const unsigned to_a = to + ya * 128 + (xa ^ ya % 8) * 16;
	const unsigned to_b =
		to + GROUP_TILE_A + xb / 8 * GROUP_SLAB + yb * 128 + (xb % 8 ^ yb % 8) * 16;
	const f16 *const from_a = at.A + ya * at.K + p + xa * 8;
	const f16 *const from_b = at.B + (p + yb) * at.N + xb * 8;
#pragma unroll
	for (int r = 0; r < GROUP_M; r += ROWS_A)
		if (EDGE)
			copy_edge(to_a + r * 128, from_a + r * at.K,
			          at.row + ya + r < at.M && p + xa * 8 < at.K);
		else
			copy_16(to_a + r * 128, from_a + r * at.K);
#pragma unroll
	for (int r = 0; r < GROUP_K; r += ROWS_B)
		if (EDGE)
			copy_edge(to_b + r * 128, from_b + r * at.N,
			          p + yb + r < at.K && at.col + xb * 8 < at.N);
		else
			copy_16(to_b + r * 128, from_b + r * at.N);
}

static __device__ __forceinline__ void group_fetch(unsigned tiles, const struct place &at, int s)
{
	const unsigned to = tiles + s % STAGES * GROUP_STAGE;
	if (s * GROUP_K < at.K && at.whole)
		group_copy<false>(to, at, s * GROUP_K);
	else if (s * GROUP_K < at.K)
		group_copy<true>(to, at, s * GROUP_K);
	copies_commit();
}

/* Where a matrix lies (bytes / 16): its address, the way to the next 64 columns (B), to the next
 * eight rows; and the swizzle. */
static __device__ __forceinline__ unsigned long long descriptor(unsigned at, unsigned slab)
{
	return (unsigned long long)(at >> 4 & 0x3fff) | (unsigned long long)(slab >> 4) << 16 |
	       (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

#define F8(i)                                                                                  \
	"+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
		"+f"(d[i + 6]), "+f"(d[i + 7])
#define F32(i) F8(i), F8(i + 8), F8(i + 16), F8(i + 24)

/* d = A * B + (@keep ? d : 0), 64 x 16 by 16 x 256, A's rows along K and B's across it. Goes on
 * by itself. */
static __device__ __forceinline__ void group_multiply(float (&d)[128], unsigned long long a,
                                                      unsigned long long b, int keep)
{
	asm volatile(
		"{\n.reg .pred keep;\nsetp.ne.s32 keep, %130, 0;\n"
		"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
		"{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
		"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
		"%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
		"%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
		"%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
		"%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
		"%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "
		"%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, "
		"%123, %124, %125, %126, %127}, %128, %129, keep, 1, 1, 0, 1;\n}"
		: F32(0), F32(32), F32(64), F32(96)
		: "l"(a), "l"(b), "r"(keep)
		: "memory"); //@ multiply
}

#endif

extern "C" __global__ void __launch_bounds__(GROUP_THREADS)
hgemm_v3_wgmma(const f16 *A, const f16 *B, float *C, int M, int N, int K)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
	enum { AHEAD = STAGES - 2 }; /* copies on their way; a step's tiles are in use until the next */
	const int group = (int)threadIdx.x / 128, lane = (int)threadIdx.x % 32;
	const struct place at = place_of_block<GROUP_M, GROUP_N, GROUP_K>(A, B, M, N, K);
	const unsigned tiles = shared_address(shared_tiles);
	float sum[128]; /* the first product sets it */

#pragma unroll
	for (int s = 0; s < AHEAD; s++)
		group_fetch(tiles, at, s);
	for (int s = 0; s * GROUP_K < K; s++) {
		const unsigned a = tiles + s % STAGES * GROUP_STAGE + group * 64 * 128;
		const unsigned b = tiles + s % STAGES * GROUP_STAGE + GROUP_TILE_A;

		copies_wait<AHEAD - 1>();
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* wgmma sees the copies */
		__syncthreads(); //@ wait-loaded
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
		for (int k = 0; k < GROUP_K; k += 16)
			group_multiply(sum, descriptor(a + k * 2, 16), descriptor(b + k * 128, GROUP_SLAB),
			               s > 0 || k > 0);
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
		/* into the tiles of the step before the last, which all have waited for */
		group_fetch(tiles, at, s + AHEAD);
		asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); //@ wait-used
	}
	asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); //@ wait-used
	const int y = at.row + group * 64 + (int)threadIdx.x % 128 / 32 * 16 + lane / 4;
	const int x = at.col + lane % 4 * 2;
#pragma unroll
	for (int j = 0; j < GROUP_N / 8; j++) {
		store_pair(C, at, y, x + j * 8, sum[4 * j], sum[4 * j + 1]);
		store_pair(C, at, y + 8, x + j * 8, sum[4 * j + 2], sum[4 * j + 3]);
	}
#endif
}

#endif /* the device half; the host half is hgemm.c */
