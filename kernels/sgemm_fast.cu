/*
 * Matrix multiplication C = A * B in single precision, the performance ladder. All row-major:
 * A is M x K, B is K x N, C is M x N. A block makes a BM x BN tile of C in steps of BK, a thread
 * TM x TN of it.
 *
 *   block_tile     tiles in shared memory; every multiply-add reads both factors from there
 *   thread_tile    factors in registers: TM + TN shared reads for TM * TN multiply-adds
 *   vectorised     16-byte loads everywhere; A's tile is stored transposed for that
 *   double_buffer  the next tiles are loaded while these are used; one barrier per step
 *   conflict_free  a thread's tile is split in quads, so that a quarter warp reads 128 bytes
 *   warp_tile      warps own WN-wide tiles, multiply-adds in zigzag, blocks go in bands
 *   pipelined      the next factors are read during each product, across the step's barrier too
 *
 * Sizes need not fit the tiles: what lies outside is read as 0 and not written.
 * The book's ladder is sgemm.cu. Shared memory is dynamic, so that every tile size compiles.
 */

/* Defaults of the compile parameters, for both halves. */
#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 128
#endif
#ifndef BK
#define BK 8
#endif
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 8
#endif
#ifndef WN
#define WN 64
#endif
#ifndef BAND
#define BAND 8
#endif

/* Threads of a block, in both halves. */
#define THREADS_OF(bm, bn, tm, tn) ((bm) / (tm) * ((bn) / (tn)))

/* Words after each row of the transposed A tile where warps own tiles: stores meet more banks. */
#define A_PAD 4

#ifdef __CUDACC__

#define THREADS THREADS_OF(BM, BN, TM, TN)
/* Sums, factors and staging of a thread take about TM * TN + 64 of an SM's 65536 registers: where
 * two blocks can fit, the compiler is told to keep within that (128 for 256 threads of 8 x 8). */
#define BLOCKS_PER_SM (2 * THREADS * (TM * TN + 64) <= 65536 ? 2 : 1)

extern __shared__ float4 shared_quads[]; /* as float4: aligned to 16 bytes */

/* Column @col .. @col + 3 of a row that may reach past the edge. */
static __device__ __forceinline__ float4 edge_quad(const float *m, int row, int col, int rows,
                                                   int cols)
{
	float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

	if (row < rows) {
		const float *const p = m + row * cols + col;
		if (col < cols)
			v.x = p[0]; //@ edge
		if (col + 1 < cols)
			v.y = p[1]; //@ edge
		if (col + 2 < cols)
			v.z = p[2]; //@ edge
		if (col + 3 < cols)
			v.w = p[3]; //@ edge
	}
	return v;
}

static __device__ __forceinline__ void store_quad(float *m, int row, int col, int rows, int cols,
                                                  const float *v)
{
	if (row >= rows)
		return;
	float *const p = m + row * cols + col;
	if (cols % 4 == 0) {
		if (col < cols)
			*(float4 *)p = make_float4(v[0], v[1], v[2], v[3]); //@ store
	} else {
#pragma unroll
		for (int j = 0; j < 4; j++)
			if (col + j < cols)
				p[j] = v[j]; //@ store
	}
}

static __device__ __forceinline__ void read_quad(float *to, const float *from)
{
	const float4 v = *(const float4 *)from; //@ shared-read
	to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

static __device__ __forceinline__ void outer_product(float (&sum)[TM][TN], const float (&a)[TM],
                                                     const float (&b)[TN])
{
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j++)
			sum[i][j] += a[i] * b[j]; //@ fma
}

/* Step @p's tiles into shared memory, a value at a time: rows row0.. of A, columns col0.. of B. */
static __device__ __forceinline__ void load_tiles(float *As, float *Bs, const float *A,
                                                  const float *B, int M, int N, int K, int p)
{
	const int t = (int)threadIdx.x;
	const int row0 = (int)blockIdx.y * BM, col0 = (int)blockIdx.x * BN;

	for (int i = t; i < BM * BK; i += THREADS) {
		const int row = row0 + i / BK, k = p + i % BK;
		As[i] = row < M && k < K ? A[row * K + k] : 0.0f; //@ load-A
	}
	for (int i = t; i < BK * BN; i += THREADS) {
		const int k = p + i / BN, col = col0 + i % BN;
		Bs[i] = k < K && col < N ? B[k * N + col] : 0.0f; //@ load-B
	}
}

/* Rows ty * TM + i, columns tx + j * (BN / TN): neighbouring lanes have neighbouring columns. */
static __device__ __forceinline__ void store_columns(float *C, int M, int N, int tx, int ty,
                                                     const float (&sum)[TM][TN])
{
	const int row0 = (int)blockIdx.y * BM + ty * TM, col0 = (int)blockIdx.x * BN + tx;
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j++)
			if (row0 + i < M && col0 + j * (BN / TN) < N)
				C[(row0 + i) * N + col0 + j * (BN / TN)] = sum[i][j]; //@ store
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_fast_v0_block_tile(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *const As = (float *)shared_quads, *const Bs = As + BM * BK;
	const int tx = (int)threadIdx.x % (BN / TN), ty = (int)threadIdx.x / (BN / TN);
	float sum[TM][TN] = {};

	for (int p = 0; p < K; p += BK) {
		load_tiles(As, Bs, A, B, M, N, K, p);
		__syncthreads(); //@ wait-loaded
		/* one output after the other: every multiply-add reads both factors from shared memory */
#pragma unroll
		for (int i = 0; i < TM; i++)
#pragma unroll
			for (int j = 0; j < TN; j++)
#pragma unroll 1
				for (int k = 0; k < BK; k++) {
					const float a = As[(ty * TM + i) * BK + k]; //@ shared-A
					const float b = Bs[k * BN + tx + j * (BN / TN)]; //@ shared-B
					sum[i][j] += a * b; //@ fma
				}
		__syncthreads(); //@ wait-used
	}
	store_columns(C, M, N, tx, ty, sum);
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_fast_v1_thread_tile(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *const As = (float *)shared_quads, *const Bs = As + BM * BK;
	const int tx = (int)threadIdx.x % (BN / TN), ty = (int)threadIdx.x / (BN / TN);
	float sum[TM][TN] = {};

	for (int p = 0; p < K; p += BK) {
		load_tiles(As, Bs, A, B, M, N, K, p);
		__syncthreads(); //@ wait-loaded
#pragma unroll 1
		for (int k = 0; k < BK; k++) {
			float a[TM], b[TN];
#pragma unroll
			for (int i = 0; i < TM; i++)
				a[i] = As[(ty * TM + i) * BK + k]; //@ shared-A
#pragma unroll
			for (int j = 0; j < TN; j++)
				b[j] = Bs[k * BN + tx + j * (BN / TN)]; //@ shared-B
			outer_product(sum, a, b);
		}
		__syncthreads(); //@ wait-used
	}
	store_columns(C, M, N, tx, ty, sum);
}

#if TM % 4 == 0 && TN % 4 == 0 /* the rest needs whole quads; plan() refuses other sizes */

/* Quads of both tiles that one thread brings in; the last round may be for some threads only. */
#define QUADS_A (BM * BK / 4)
#define QUADS_B (BK * BN / 4)
#define ROUNDS_A ((QUADS_A + THREADS - 1) / THREADS)
#define ROUNDS_B ((QUADS_B + THREADS - 1) / THREADS)

/*
 * Where this thread's first quads lie in the block's first tiles. `whole`: all of the block's tiles
 * lie inside the matrices and rows are aligned, so that no quad needs a question asked.
 */
struct place {
	const float *a, *b;
	int row0, col0; /* of the block's tile of C */
	bool whole;
};

static __device__ __forceinline__ struct place place_of(const float *A, const float *B, int M,
                                                        int N, int K, int row0, int col0)
{
	const int t = (int)threadIdx.x;
	struct place at;

	/* BK / 4 quads per row of A's tile, BN / 4 per row of B's */
	at.a = A + (row0 + t / (BK / 4)) * K + t % (BK / 4) * 4;
	at.b = B + t / (BN / 4) * N + col0 + t % (BN / 4) * 4;
	at.row0 = row0;
	at.col0 = col0;
	at.whole = row0 + BM <= M && col0 + BN <= N && K % BK == 0 && N % 4 == 0;
	return at;
}

/* Global memory to registers: this thread's quads of the tiles at step @p. All tile sizes are
 * powers of two, so a round of THREADS quads moves every thread by the same rows and columns. */
static __device__ __forceinline__ void fetch(float4 (&a)[ROUNDS_A], float4 (&b)[ROUNDS_B],
                                             const struct place &at, const float *A,
                                             const float *B, int M, int N, int K, int p)
{
	const int t = (int)threadIdx.x;
	const float *const from_a = at.a + p, *const from_b = at.b + p * N;

	if (at.whole) {
#pragma unroll
		for (int r = 0; r < ROUNDS_A; r++) {
			const int down = r * THREADS / (BK / 4), right = r * THREADS % (BK / 4) * 4;
			if (QUADS_A % THREADS == 0 || t + r * THREADS < QUADS_A)
				a[r] = *(const float4 *)(from_a + down * K + right); //@ load-A
		}
#pragma unroll
		for (int r = 0; r < ROUNDS_B; r++) {
			const int down = r * THREADS / (BN / 4), right = r * THREADS % (BN / 4) * 4;
			if (QUADS_B % THREADS == 0 || t + r * THREADS < QUADS_B)
				b[r] = *(const float4 *)(from_b + down * N + right); //@ load-B
		}
		return;
	}
#pragma unroll
	for (int r = 0; r < ROUNDS_A; r++) {
		const int i = t + r * THREADS;
		if (QUADS_A % THREADS == 0 || i < QUADS_A)
			a[r] = edge_quad(A, at.row0 + i / (BK / 4), p + i % (BK / 4) * 4, M, K);
	}
#pragma unroll
	for (int r = 0; r < ROUNDS_B; r++) {
		const int i = t + r * THREADS;
		if (QUADS_B % THREADS == 0 || i < QUADS_B)
			b[r] = edge_quad(B, p + i / (BN / 4), at.col0 + i % (BN / 4) * 4, K, N);
	}
}

/* Registers to shared memory: A transposed, with rows of @stride words, B as it is. */
static __device__ __forceinline__ void put(float *As, float *Bs, const float4 (&a)[ROUNDS_A],
                                           const float4 (&b)[ROUNDS_B], int stride)
{
	const int t = (int)threadIdx.x;
#pragma unroll
	for (int r = 0; r < ROUNDS_A; r++) {
		const int i = t + r * THREADS;
		if (QUADS_A % THREADS == 0 || i < QUADS_A) {
			float *const to = As + i % (BK / 4) * 4 * stride + i / (BK / 4);
			to[0] = a[r].x;          //@ put-A
			to[stride] = a[r].y;     //@ put-A
			to[2 * stride] = a[r].z; //@ put-A
			to[3 * stride] = a[r].w; //@ put-A
		}
	}
#pragma unroll
	for (int r = 0; r < ROUNDS_B; r++) {
		const int i = t + r * THREADS;
		if (QUADS_B % THREADS == 0 || i < QUADS_B)
			*(float4 *)(Bs + 4 * i) = b[r]; //@ put-B
	}
}

/*
 * Shared memory to registers: the factors of one k; this thread's rows of the tiles begin at @As
 * and @Bs. Its quads lie STEP_M rows and STEP_N columns apart: 4 where they follow one another.
 */
template <int STEP_M, int STEP_N>
static __device__ __forceinline__ void read_factors(float (&a)[TM], float (&b)[TN],
                                                    const float *As, const float *Bs)
{
#pragma unroll
	for (int i = 0; i < TM; i += 4)
		read_quad(a + i, As + i / 4 * STEP_M);
#pragma unroll
	for (int j = 0; j < TN; j += 4)
		read_quad(b + j, Bs + j / 4 * STEP_N);
}

/* @row, @col: of this thread's first sum in C. */
template <int STEP_M, int STEP_N>
static __device__ __forceinline__ void store_sums(float *C, int row, int col, int M, int N,
                                                  const float (&sum)[TM][TN])
{
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j += 4)
			store_quad(C, row + i / 4 * STEP_M + i % 4, col + j / 4 * STEP_N, M, N, sum[i] + j);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_fast_v2_vectorised(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *const As = (float *)shared_quads, *const Bs = As + BK * BM; /* A: BK rows of BM */
	const int t = (int)threadIdx.x;
	const int row = t / (BN / TN) * TM, col = t % (BN / TN) * TN;
	const int row0 = (int)blockIdx.y * BM, col0 = (int)blockIdx.x * BN;
	float sum[TM][TN] = {};
	const struct place at = place_of(A, B, M, N, K, row0, col0);
	float4 next_a[ROUNDS_A], next_b[ROUNDS_B];

	for (int p = 0; p < K; p += BK) {
		fetch(next_a, next_b, at, A, B, M, N, K, p);
		put(As, Bs, next_a, next_b, BM);
		__syncthreads(); //@ wait-loaded
#pragma unroll
		for (int k = 0; k < BK; k++) {
			float a[TM], b[TN];
			read_factors<4, 4>(a, b, As + k * BM + row, Bs + k * BN + col);
			outer_product(sum, a, b);
		}
		__syncthreads(); //@ wait-used
	}
	store_sums<4, 4>(C, row0 + row, col0 + col, M, N, sum);
}

/*
 * The same product two rows at a time, to and fro: every multiply-add shares a factor with the one
 * before, which the register file then need not read again (it has few ports, in banks).
 */
static __device__ __forceinline__ void zigzag_product(float (&sum)[TM][TN], const float (&a)[TM],
                                                      const float (&b)[TN])
{
#pragma unroll
	for (int i = 0; i < TM; i += 2)
#pragma unroll
		for (int c = 0; c < TN; c++) {
			const int j = i % 4 ? TN - 1 - c : c; /* there, and back two rows further down */
			const int first = i + c % 2, second = i + 1 - c % 2;
			sum[first][j] += a[first] * b[j];   //@ fma
			sum[second][j] += a[second] * b[j]; //@ fma
		}
}

/* Where this thread's sums begin: in the block's tile, and that tile in C. */
struct corner {
	int row, col, row0, col0;
};

/* The product with two pairs of tiles, A's with rows of STRIDE words. */
template <int STEP_M, int STEP_N, int STRIDE, bool ZIGZAG>
static __device__ __forceinline__ void buffered_product(const float *A, const float *B, float *C,
                                                        int M, int N, int K, struct corner w)
{
	enum { TILES = BK * (STRIDE + BN) }; /* words of one pair */
	float *const tiles = (float *)shared_quads;
	float sum[TM][TN] = {};
	const struct place at = place_of(A, B, M, N, K, w.row0, w.col0);
	float4 next_a[ROUNDS_A], next_b[ROUNDS_B];
	int now = 0;

	fetch(next_a, next_b, at, A, B, M, N, K, 0);
	put(tiles, tiles + BK * STRIDE, next_a, next_b, STRIDE);
	__syncthreads(); //@ wait-loaded
	for (int p = 0; p < K; p += BK) {
		const float *const As = tiles + now * TILES, *const Bs = As + BK * STRIDE;
		float *const into = tiles + (now ^ 1) * TILES;

		if (p + BK < K)
			fetch(next_a, next_b, at, A, B, M, N, K, p + BK);
#pragma unroll
		for (int k = 0; k < BK; k++) {
			float a[TM], b[TN];
			read_factors<STEP_M, STEP_N>(a, b, As + k * STRIDE + w.row, Bs + k * BN + w.col);
			if (ZIGZAG)
				zigzag_product(sum, a, b);
			else
				outer_product(sum, a, b);
		}
		if (p + BK < K) {
			put(into, into + BK * STRIDE, next_a, next_b, STRIDE);
			__syncthreads(); //@ wait-loaded
			now ^= 1;
		}
	}
	store_sums<STEP_M, STEP_N>(C, w.row0 + w.row, w.col0 + w.col, M, N, sum);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_fast_v3_double_buffer(const float *A, const float *B, float *C, int M, int N, int K)
{
	const int t = (int)threadIdx.x;
	const struct corner w = { t / (BN / TN) * TM, t % (BN / TN) * TN, (int)blockIdx.y * BM,
	                          (int)blockIdx.x * BN };
	buffered_product<4, 4, BM, false>(A, B, C, M, N, K, w);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_fast_v4_conflict_free(const float *A, const float *B, float *C, int M, int N, int K)
{
	/* 8 x 4 lanes of a warp own quads that lie side by side: 8 * 4 columns, 4 * 4 rows. A thread's
	 * further quads are a whole round of threads away (STEP_M, STEP_N), not beside its first. */
	enum { STEP_M = BM / TM * 4, STEP_N = BN / TN * 4, WARPS_X = STEP_N > 32 ? STEP_N / 32 : 1 };
	const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
	const struct corner w = { warp / WARPS_X * 16 + lane / 8 * 4,
	                          warp % WARPS_X * 32 + lane % 8 * 4, (int)blockIdx.y * BM,
	                          (int)blockIdx.x * BN };

	buffered_product<STEP_M, STEP_N, BM, false>(A, B, C, M, N, K, w);
}

/* A warp owns WM x WN: LANES_Y x LANES_X lanes, TM / 4 x TN / 4 quads each, side by side */
enum { LANES_X = WN / TN > 0 ? WN / TN : 1, LANES_Y = 32 / LANES_X > 0 ? 32 / LANES_X : 1 };
enum { WM = LANES_Y * TM, STEP_M = LANES_Y * 4, STEP_N = LANES_X * 4 };
enum { WARPS_X = BN / WN > 0 ? BN / WN : 1, STRIDE = BM + A_PAD, TILES = BK * (STRIDE + BN) };

static __device__ __forceinline__ struct corner corner_of_warp(int M, int N)
{
	const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
	/* Lanes in pairs along x, then down y, then the other pairs along x: lanes 2i and 2i + 1 read
	 * the same quad of A, lanes i and i + 2 often the same of B, and such reads go together. */
	const int x = LANES_X > 1 ? lane % 2 + lane / (2 * LANES_Y) * 2 : 0;
	const int y = LANES_X > 1 ? lane / 2 % LANES_Y : lane;
	/* Blocks are numbered along bands of BAND tile rows, down each column of the band first: blocks
	 * that run at the same time then share rows of A and columns of B in L2. */
	const int tiles_y = (M + BM - 1) / BM, tiles_x = (N + BN - 1) / BN;
	const int band = (int)blockIdx.x / (BAND * tiles_x);
	const int in_band = (int)blockIdx.x % (BAND * tiles_x);
	const int height = min(BAND, tiles_y - band * BAND);

	return { warp / WARPS_X * WM + y * 4, warp % WARPS_X * WN + x * 4,
	         (band * BAND + in_band % height) * BM, in_band / height * BN };
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_fast_v5_warp_tile(const float *A, const float *B, float *C, int M, int N, int K)
{
	buffered_product<STEP_M, STEP_N, STRIDE, true>(A, B, C, M, N, K, corner_of_warp(M, N));
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_fast_v6_pipelined(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *const tiles = (float *)shared_quads;
	const struct corner w = corner_of_warp(M, N);
	const struct place at = place_of(A, B, M, N, K, w.row0, w.col0);
	float sum[TM][TN] = {};
	float4 next_a[ROUNDS_A], next_b[ROUNDS_B];
	float a[2][TM], b[2][TN]; /* the factors in use and those on their way */
	const float *As = tiles + w.row, *Bs = tiles + BK * STRIDE + w.col;
	int now = 0;

	fetch(next_a, next_b, at, A, B, M, N, K, 0);
	put(tiles, tiles + BK * STRIDE, next_a, next_b, STRIDE);
	__syncthreads(); //@ wait-loaded
	read_factors<STEP_M, STEP_N>(a[0], b[0], As, Bs);
	for (int p = 0; p < K; p += BK) {
		const bool more = p + BK < K;
		float *const into = tiles + (now ^ 1) * TILES;

		if (more)
			fetch(next_a, next_b, at, A, B, M, N, K, p + BK);
#pragma unroll
		for (int k = 0; k < BK; k++) {
			/* the next tiles one product before the last: the stores hide behind it */
			if (k == BK - 2 && more)
				put(into, into + BK * STRIDE, next_a, next_b, STRIDE);
			if (k < BK - 1) {
				read_factors<STEP_M, STEP_N>(a[(k + 1) % 2], b[(k + 1) % 2],
				                             As + (k + 1) * STRIDE, Bs + (k + 1) * BN);
			} else if (more) {
				__syncthreads(); //@ wait-loaded
				now ^= 1;
				As = into + w.row;
				Bs = into + BK * STRIDE + w.col;
				read_factors<STEP_M, STEP_N>(a[0], b[0], As, Bs);
			}
			zigzag_product(sum, a[k % 2], b[k % 2]);
		}
	}
	store_sums<STEP_M, STEP_N>(C, w.row0 + w.row, w.col0 + w.col, M, N, sum);
}

#endif /* whole quads */

#endif /* the device half; the host half is sgemm_fast.c */
