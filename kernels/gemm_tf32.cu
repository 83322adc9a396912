/*
 * Matrix multiplication C = A * B on tensor cores, of matrices in single precision, whose values
 * tensor cores read as TF32: 10 bits of fraction, the 13 below are left out. The sums are in single
 * precision. A is M x K, B is K x N, C is M x N, all row-major.
 *
 *   wmma    a warp makes a 16 x 16 tile; its fragments come straight from global memory
 *   mma     mma.sync on fragments from shared memory; the copies of coming steps (cp.async) go
 *           around the registers; a warp makes 64 x 64
 *   wgmma   four warps multiply together and go on while the tensor cores work; four warps make
 *           256 x 64 (compute capability 9.0 only)
 *
 * Tensor cores want values that follow one another along K, as A's do. B's follow one another
 * across it, and no instruction turns values of four bytes as ldmatrix turns those of two. So mma
 * reads quads of B's columns, each column for another fragment; and wgmma, whose operand in shared
 * memory must run along K, but not that in registers, makes C turned: C^T = B^T * A^T.
 *
 * Sizes are multiples of 16 and need not fit the tiles: what lies outside is taken as 0 and not
 * written. Shared memory is dynamic: it can be above 48 KB.
 */

/* Defaults of the compile parameters, for both halves. */
#ifndef STAGES
#define STAGES 4
#endif
#ifndef BAND
#define BAND 8
#endif

/* Tiles of a block, in both halves. */
#define WMMA_WARPS 4
#define MMA_M 128
#define MMA_N 128
#define MMA_K 16
#define MMA_THREADS (MMA_M / 64 * MMA_N / 64 * 32)
#define GROUP_M 256
#define GROUP_N 128
#define GROUP_K 32
#define GROUP_THREADS 256
/* Rows of B's tile are 32 bytes longer than they need to be: four of them, a quad each, meet all
 * banks. */
#define B_PAD 8
/* Bytes of shared memory of a step's tiles: whole swizzles of A. */
#define STAGE_BYTES(m, n, k) (4 * ((k) * (m) + (k) * ((n) + B_PAD)))

#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800

/* --- wmma --- */

/* 4 registers of one value, 8 sums. */
struct fragment {
	unsigned r[4];
};
struct sums {
	float r[8];
};

#define TO_4(v) "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
#define FROM_4(v) "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
#define SUMS_8(c, v) c(v[0]), c(v[1]), c(v[2]), c(v[3]), c(v[4]), c(v[5]), c(v[6]), c(v[7])
#define WMMA_LOAD(f, which, at, stride)                                                       \
	asm volatile("wmma.load." which ".sync.aligned.row.m16n16k8.global.tf32 {%0, %1, %2, %3}" \
	             ", [%4], %5;"                                                                \
	             : TO_4(f.r)                                                                  \
	             : "l"(__cvta_generic_to_global(at)), "r"(stride)                             \
	             : "memory")

static __device__ __forceinline__ void wmma_multiply(struct sums &d, const struct fragment &a,
                                                     const struct fragment &b)
{
	asm volatile("wmma.mma.sync.aligned.row.row.m16n16k8.f32.tf32.tf32.f32 "
	             "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, "
	             "{%0, %1, %2, %3, %4, %5, %6, %7};" //@ multiply
	             : SUMS_8("+f", d.r)
	             : FROM_4(a.r), FROM_4(b.r)); //@ multiply
}

#endif

extern "C" __global__ void __launch_bounds__(32 * WMMA_WARPS)
gemm_tf32_v0_wmma(const float *A, const float *B, float *C, int M, int N, int K)
{
#if __CUDA_ARCH__ >= 800
	const int row = (int)blockIdx.y * 16;
	const int col = ((int)blockIdx.x * WMMA_WARPS + (int)threadIdx.x / 32) * 16;
	struct sums sum = {};

	if (row >= M || col >= N)
		return;
	for (int k = 0; k < K; k += 8) {
		struct fragment a, b;
		WMMA_LOAD(a, "a", A + row * K + k, K); //@ load-A
		WMMA_LOAD(b, "b", B + k * N + col, N); //@ load-B
		wmma_multiply(sum, a, b);
	}
	asm volatile("wmma.store.d.sync.aligned.row.m16n16k8.global.f32 [%8], "
	             "{%0, %1, %2, %3, %4, %5, %6, %7}, %9;"
	             ::SUMS_8("f", sum.r), "l"(__cvta_generic_to_global(C + row * N + col)), "r"(N)
	             : "memory"); //@ store
#endif
}

#if __CUDA_ARCH__ >= 800

/* --- copies that go on while the warp does --- */

extern __shared__ __align__(1024) unsigned char shared_tiles[]; /* a swizzle repeats after 1024 */

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
	const float *A, *B; /* the first of its rows of A, of its columns of B */
	int row, col, M, N, K;
	bool whole; /* all of its tiles lie inside */
};

/* Blocks are numbered along bands of BAND tile rows, down each column of the band first: blocks
 * that run at the same time then share rows of A and columns of B in L2. */
template <int TILE_M, int TILE_N, int TILE_K>
static __device__ __forceinline__ struct place place_of_block(const float *A, const float *B,
                                                              int M, int N, int K)
{
	const int tiles_y = (M + TILE_M - 1) / TILE_M, tiles_x = (N + TILE_N - 1) / TILE_N;
	const int band = (int)blockIdx.x / (BAND * tiles_x);
	const int in_band = (int)blockIdx.x % (BAND * tiles_x);
	const int height = min(BAND, tiles_y - band * BAND);

	const int row = (band * BAND + in_band % height) * TILE_M, col = in_band / height * TILE_N;
	return { A + row * K, B + col, row, col, M, N, K,
	         row + TILE_M <= M && col + TILE_N <= N && K % TILE_K == 0 };
}

/*
 * Where quad @x of row @y of A's tile lies: quads change places within 128 bytes, differently in
 * each of eight rows, so that one quad of eight rows meets all banks. For rows of 128 bytes that is
 * what wgmma calls its 128-byte swizzle.
 */
template <int TILE_K> static __device__ __forceinline__ unsigned place_a(int y, int x)
{
	return (unsigned)(y * (4 * TILE_K) + (x ^ (TILE_K == 32 ? y % 8 : y / 2 % 4)) * 16);
}

/* The quads that this thread copies: the first of A's tile and of B's, their places in those, and
 * where they go. The others are whole rows further down, the same in A's swizzle. */
struct share {
	const float *a, *b; /* of the next step's tiles */
	int ya, xa, yb, xb;
	unsigned to_a, to_b;
};

template <int TILE_M, int TILE_N, int TILE_K>
static __device__ __forceinline__ struct share share_of(const struct place &at)
{
	const int t = (int)threadIdx.x;
	const int ya = t / (TILE_K / 4), xa = t % (TILE_K / 4) * 4;
	const int yb = t / (TILE_N / 4), xb = t % (TILE_N / 4) * 4;
	const unsigned tiles = (unsigned)__cvta_generic_to_shared(shared_tiles);

	return { at.A + ya * at.K + xa, at.B + yb * at.N + xb, ya, xa, yb, xb,
	         tiles + place_a<TILE_K>(ya, xa / 4),
	         tiles + 4 * (TILE_K * TILE_M + yb * (TILE_N + B_PAD) + xb) };
}

/* The tiles from depth @p on, @to bytes further than the first, with @EDGE where they may reach
 * outside. */
template <int TILE_M, int TILE_N, int TILE_K, int THREADS, bool EDGE>
static __device__ __forceinline__ void copy_tiles(const struct share &mine, const struct place &at,
                                                  int p, unsigned to)
{
	enum { ROWS_A = THREADS / (TILE_K / 4), ROWS_B = THREADS / (TILE_N / 4) }; /* of a round */
	const float *from = mine.a;
#pragma unroll
	for (int r = 0; r < TILE_M; r += ROWS_A, from += ROWS_A * at.K)
		if (EDGE)
			copy_edge(to + mine.to_a + r * 4 * TILE_K, from,
			          at.row + mine.ya + r < at.M && p + mine.xa < at.K);
		else
			copy_16(to + mine.to_a + r * 4 * TILE_K, from);
	from = mine.b;
#pragma unroll
	for (int r = 0; r < TILE_K; r += ROWS_B, from += ROWS_B * at.N)
		if (EDGE)
			copy_edge(to + mine.to_b + r * 4 * (TILE_N + B_PAD), from,
			          p + mine.yb + r < at.K && at.col + mine.xb < at.N);
		else
			copy_16(to + mine.to_b + r * 4 * (TILE_N + B_PAD), from);
}

/* Step @s, the next one, if there is one, into its place; in any case one group of copies. */
template <int TILE_M, int TILE_N, int TILE_K, int THREADS>
static __device__ __forceinline__ void fetch(struct share &mine, const struct place &at, int s)
{
	const unsigned to = s % STAGES * STAGE_BYTES(TILE_M, TILE_N, TILE_K);
	if (s * TILE_K < at.K) {
		if (at.whole)
			copy_tiles<TILE_M, TILE_N, TILE_K, THREADS, false>(mine, at, s * TILE_K, to);
		else
			copy_tiles<TILE_M, TILE_N, TILE_K, THREADS, true>(mine, at, s * TILE_K, to);
		mine.a += TILE_K;
		mine.b += TILE_K * at.N;
	}
	copies_commit();
}

static __device__ __forceinline__ void store_quad(float *C, const struct place &at, int y, int x,
                                                  float v0, float v1, float v2, float v3)
{
	if (y < at.M && x < at.N)
		*(float4 *)(C + y * at.N + x) = make_float4(v0, v1, v2, v3); //@ store
}

static __device__ __forceinline__ uint4 read_quad(unsigned from)
{
	uint4 v;
	asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
	             : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
	             : "r"(from)
	             : "memory"); //@ shared-read
	return v;
}

/* --- mma.sync --- */

#define MMA_STAGE STAGE_BYTES(MMA_M, MMA_N, MMA_K)

/* A warp's factors of 8 steps of depth: 64 rows of A; of B 64 columns at two depths, where
 * b[h][d][q] has column 4 * (lane / 4) + q of half h, and so belongs to fragment q of that half. */
struct factors {
	unsigned a[4][4], b[2][2][4];
};

/* From depth @k of the tiles at @tiles; the warp's rows begin at @row, its columns at @col. */
static __device__ __forceinline__ void read_factors(struct factors &f, unsigned tiles, int k,
                                                    int row, int col)
{
	const int lane = (int)threadIdx.x % 32, y = lane % 16, x = lane / 16;
	const unsigned b = tiles + 4 * MMA_K * MMA_M +
	                   4 * ((k + lane % 4) * (MMA_N + B_PAD) + col + lane / 4 * 4);
#pragma unroll
	for (int i = 0; i < 4; i++)
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		             : TO_4(f.a[i])
		             : "r"(tiles + place_a<MMA_K>(row + i * 16 + y, k / 4 + x))
		             : "memory"); //@ shared-read
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int d = 0; d < 2; d++) {
			const uint4 v = read_quad(b + 4 * (d * 4 * (MMA_N + B_PAD) + h * 32));
			f.b[h][d][0] = v.x, f.b[h][d][1] = v.y, f.b[h][d][2] = v.z, f.b[h][d][3] = v.w;
		}
}

static __device__ __forceinline__ void mma_multiply(float (&sum)[4][2][4][4],
                                                    const struct factors &f)
{
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int j = 0; j < 8; j++) {
			float(&d)[4] = sum[i][j / 4][j % 4];
			asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
			             "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
			             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			             : FROM_4(f.a[i]), "r"(f.b[j / 4][0][j % 4]),
			               "r"(f.b[j / 4][1][j % 4])); //@ multiply
		}
}

#endif

extern "C" __global__ void __launch_bounds__(MMA_THREADS)
gemm_tf32_v1_mma(const float *A, const float *B, float *C, int M, int N, int K)
{
#if __CUDA_ARCH__ >= 800
	const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
	const int row = warp / (MMA_N / 64) * 64, col = warp % (MMA_N / 64) * 64;
	const struct place at = place_of_block<MMA_M, MMA_N, MMA_K>(A, B, M, N, K);
	struct share mine = share_of<MMA_M, MMA_N, MMA_K>(at);
	const unsigned tiles = (unsigned)__cvta_generic_to_shared(shared_tiles);
	float sum[4][2][4][4] = {}; /* rows, halves of the columns, fragments, parts of one */

#pragma unroll
	for (int s = 0; s < STAGES - 1; s++)
		fetch<MMA_M, MMA_N, MMA_K, MMA_THREADS>(mine, at, s);
	struct factors now, next; /* the ones in use, the others on their way */
	copies_wait<STAGES - 2>();
	__syncthreads(); //@ wait-loaded
	read_factors(now, tiles, 0, row, col);
	for (int s = 0; s * MMA_K < K; s++) {
		const int after = (s + 1) * MMA_K < K ? s + 1 : s; /* the last reads in vain */
		read_factors(next, tiles + s % STAGES * MMA_STAGE, 8, row, col);
		fetch<MMA_M, MMA_N, MMA_K, MMA_THREADS>(mine, at, s + STAGES - 1);
		mma_multiply(sum, now);
		copies_wait<STAGES - 2>();
		__syncthreads(); //@ wait-loaded
		read_factors(now, tiles + after % STAGES * MMA_STAGE, 0, row, col);
		mma_multiply(sum, next);
	}
	/* fragment q has the columns 4 * c + q: two of its columns are two quads of four fragments */
	const int y = at.row + row + lane / 4, x = at.col + col + lane % 4 * 8;
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int h = 0; h < 2; h++)
#pragma unroll
			for (int c = 0; c < 4; c++) {
				float(&v)[4][4] = sum[i][h];
				store_quad(C, at, y + i * 16 + c / 2 * 8, x + h * 32 + c % 2 * 4, v[0][c], v[1][c],
				           v[2][c], v[3][c]);
			}
#endif
}

/* --- wgmma --- */

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

#define GROUP_STAGE STAGE_BYTES(GROUP_M, GROUP_N, GROUP_K)

/* Where A's rows lie (bytes / 16): their address, the way to the next eight of them; and the
 * swizzle. */
static __device__ __forceinline__ unsigned long long descriptor(unsigned at)
{
	return (unsigned long long)(at >> 4 & 0x3fff) | 1ull << 16 |
	       (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

#define F8(i)                                                                                  \
	"+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
		"+f"(d[i + 6]), "+f"(d[i + 7])
#define F32(i) F8(i), F8(i + 8), F8(i + 16), F8(i + 24)

/* d = 64 columns of B, @b at 8 depths, by A's 256 rows at @a + (@keep ? d : 0): C's tile, turned.
 * Goes on by itself. */
static __device__ __forceinline__ void group_multiply(float (&d)[128], const unsigned (&b)[4],
                                                      unsigned long long a, int keep)
{
	asm volatile(
		"{\n.reg .pred keep;\nsetp.ne.s32 keep, %133, 0;\n"
		"wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 "
		"{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
		"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
		"%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
		"%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
		"%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
		"%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
		"%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "
		"%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, "
		"%123, %124, %125, %126, %127}, {%128, %129, %130, %131}, %132, keep, 1, 1;\n}"
		: F32(0), F32(32), F32(64), F32(96)
		: FROM_4(b), "l"(a), "r"(keep)
		: "memory"); //@ multiply
}

/* Until the next step's tiles are there for all, and the products of the step before are over. */
template <int LEFT> static __device__ __forceinline__ void tiles_wait()
{
	copies_wait<LEFT>();
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* wgmma sees the copies */
	__syncthreads(); //@ wait-loaded
}

/* B's values for one product, of 8 depths from @from on: two columns a lane, at two depths. */
static __device__ __forceinline__ void read_columns(unsigned (&b)[4], unsigned from)
{
#pragma unroll
	for (int d = 0; d < 2; d++)
		asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
		             : "=r"(b[2 * d]), "=r"(b[2 * d + 1])
		             : "r"(from + d * 16 * (GROUP_N + B_PAD))
		             : "memory"); //@ shared-read
}

#endif

extern "C" __global__ void __launch_bounds__(GROUP_THREADS)
gemm_tf32_v2_wgmma(const float *A, const float *B, float *C, int M, int N, int K)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
	/* a step is products of 8 depths; B's values are read LEAD of them ahead */
	enum { EIGHTS = GROUP_K / 8, EIGHT_B = 32 * (GROUP_N + B_PAD), LEAD = 2 };
	const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
	const struct place at = place_of_block<GROUP_M, GROUP_N, GROUP_K>(A, B, M, N, K);
	struct share mine = share_of<GROUP_M, GROUP_N, GROUP_K>(at);
	const unsigned tiles = (unsigned)__cvta_generic_to_shared(shared_tiles);
	const int col = warp * 16 + lane / 4 * 2; /* a warp has 16 columns, a lane two */
	const unsigned from_b = 4 * (GROUP_K * GROUP_M + lane % 4 * (GROUP_N + B_PAD) + col);
	float sum[128]; /* the first product sets it */
	unsigned b[EIGHTS][4];

#pragma unroll
	for (int s = 0; s < STAGES - 1; s++)
		fetch<GROUP_M, GROUP_N, GROUP_K, GROUP_THREADS>(mine, at, s);
	tiles_wait<STAGES - 2>();
#pragma unroll
	for (int e = 0; e < LEAD; e++)
		read_columns(b[e], tiles + from_b + e * EIGHT_B);
	for (int s = 0; s * GROUP_K < K; s++) {
		const unsigned tile = tiles + s % STAGES * GROUP_STAGE;
		const int after = (s + 1) * GROUP_K < K ? s + 1 : s; /* the last reads in vain */
		const unsigned next = tiles + after % STAGES * GROUP_STAGE;

#pragma unroll
		for (int e = 0; e < EIGHTS; e++) {
			asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
			group_multiply(sum, b[e], descriptor(tile + e * 32), s > 0 || e > 0);
			asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
			/* into the tiles of the step before, which all have finished with: see tiles_wait() */
			if (e == EIGHTS - 1)
				fetch<GROUP_M, GROUP_N, GROUP_K, GROUP_THREADS>(mine, at, s + STAGES - 1);
			/* what reads the registers that are filled next is over; some products go on */
			asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(EIGHTS - LEAD)
			             : "memory"); //@ wait-used
			if (e + LEAD == EIGHTS)
				tiles_wait<STAGES - 3>();
			read_columns(b[(e + LEAD) % EIGHTS], (e + LEAD < EIGHTS ? tile : next) + from_b +
			                                         (e + LEAD) % EIGHTS * EIGHT_B);
		}
	}
	asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); //@ wait-used
#pragma unroll
	for (int j = 0; j < GROUP_M / 8; j++)
#pragma unroll
		for (int e = 0; e < 2; e++) {
			const int y = at.row + j * 8 + lane % 4 * 2 + e, x = at.col + col;
			if (y < M && x < N)
				*(float2 *)(C + y * N + x) =
					make_float2(sum[4 * j + e], sum[4 * j + 2 + e]); //@ store
		}
#endif
}

#endif /* the device half; the host half is gemm_tf32.c */
