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

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_fast_v0_block_tile(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *const As = (float *)shared_quads, *const Bs = As + BM * BK;
	const int t = (int)threadIdx.x;
	/* rows ty * TM + i, columns tx + j * (BN / TN): neighbouring lanes have neighbouring columns */
	const int tx = t % (BN / TN), ty = t / (BN / TN);
	const int row0 = (int)blockIdx.y * BM, col0 = (int)blockIdx.x * BN;
	float sum[TM][TN] = {};

	for (int p = 0; p < K; p += BK) {
		for (int i = t; i < BM * BK; i += THREADS) {
			const int row = row0 + i / BK, k = p + i % BK;
			As[i] = row < M && k < K ? A[row * K + k] : 0.0f; //@ load-A
		}
		for (int i = t; i < BK * BN; i += THREADS) {
			const int k = p + i / BN, col = col0 + i % BN;
			Bs[i] = k < K && col < N ? B[k * N + col] : 0.0f; //@ load-B
		}
		__syncthreads(); //@ wait-loaded
		/* one output after the other: every multiply-add reads both factors from shared memory */
#pragma unroll
		for (int i = 0; i < TM; i++) {
#pragma unroll
			for (int j = 0; j < TN; j++) {
#pragma unroll 1
				for (int k = 0; k < BK; k++) {
					const float a = As[(ty * TM + i) * BK + k]; //@ shared-A
					const float b = Bs[k * BN + tx + j * (BN / TN)]; //@ shared-B
					sum[i][j] += a * b; //@ fma
				}
			}
		}
		__syncthreads(); //@ wait-used
	}
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j++)
			if (row0 + ty * TM + i < M && col0 + tx + j * (BN / TN) < N)
				C[(row0 + ty * TM + i) * N + col0 + tx + j * (BN / TN)] = sum[i][j]; //@ store
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_fast_v1_thread_tile(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *const As = (float *)shared_quads, *const Bs = As + BM * BK;
	const int t = (int)threadIdx.x;
	const int tx = t % (BN / TN), ty = t / (BN / TN); /* rows and columns as above */
	const int row0 = (int)blockIdx.y * BM, col0 = (int)blockIdx.x * BN;
	float sum[TM][TN] = {};

	for (int p = 0; p < K; p += BK) {
		for (int i = t; i < BM * BK; i += THREADS) {
			const int row = row0 + i / BK, k = p + i % BK;
			As[i] = row < M && k < K ? A[row * K + k] : 0.0f; //@ load-A
		}
		for (int i = t; i < BK * BN; i += THREADS) {
			const int k = p + i / BN, col = col0 + i % BN;
			Bs[i] = k < K && col < N ? B[k * N + col] : 0.0f; //@ load-B
		}
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
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j++)
			if (row0 + ty * TM + i < M && col0 + tx + j * (BN / TN) < N)
				C[(row0 + ty * TM + i) * N + col0 + tx + j * (BN / TN)] = sum[i][j]; //@ store
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

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_fast_v2_vectorised(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *const As = (float *)shared_quads, *const Bs = As + BK * BM; /* A: BK rows of BM */
	const int t = (int)threadIdx.x;
	const int tx = t % (BN / TN), ty = t / (BN / TN);
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
#pragma unroll
			for (int i = 0; i < TM; i += 4)
				read_quad(a + i, As + k * BM + ty * TM + i);
#pragma unroll
			for (int j = 0; j < TN; j += 4)
				read_quad(b + j, Bs + k * BN + tx * TN + j);
			outer_product(sum, a, b);
		}
		__syncthreads(); //@ wait-used
	}
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j += 4)
			store_quad(C, row0 + ty * TM + i, col0 + tx * TN + j, M, N, sum[i] + j);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_fast_v3_double_buffer(const float *A, const float *B, float *C, int M, int N, int K)
{
	enum { TILES = BK * (BM + BN) }; /* words of one pair of tiles; there are two pairs */
	float *const tiles = (float *)shared_quads;
	const int t = (int)threadIdx.x;
	const int tx = t % (BN / TN), ty = t / (BN / TN);
	const int row0 = (int)blockIdx.y * BM, col0 = (int)blockIdx.x * BN;
	float sum[TM][TN] = {};
	const struct place at = place_of(A, B, M, N, K, row0, col0);
	float4 next_a[ROUNDS_A], next_b[ROUNDS_B];
	int now = 0;

	fetch(next_a, next_b, at, A, B, M, N, K, 0);
	put(tiles, tiles + BK * BM, next_a, next_b, BM);
	__syncthreads(); //@ wait-loaded
	for (int p = 0; p < K; p += BK) {
		const float *const As = tiles + now * TILES, *const Bs = As + BK * BM;
		float *const into = tiles + (now ^ 1) * TILES;

		if (p + BK < K)
			fetch(next_a, next_b, at, A, B, M, N, K, p + BK);
#pragma unroll
		for (int k = 0; k < BK; k++) {
			float a[TM], b[TN];
#pragma unroll
			for (int i = 0; i < TM; i += 4)
				read_quad(a + i, As + k * BM + ty * TM + i);
#pragma unroll
			for (int j = 0; j < TN; j += 4)
				read_quad(b + j, Bs + k * BN + tx * TN + j);
			outer_product(sum, a, b);
		}
		if (p + BK < K) {
			put(into, into + BK * BM, next_a, next_b, BM);
			__syncthreads(); //@ wait-loaded
			now ^= 1;
		}
	}
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j += 4)
			store_quad(C, row0 + ty * TM + i, col0 + tx * TN + j, M, N, sum[i] + j);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_fast_v4_conflict_free(const float *A, const float *B, float *C, int M, int N, int K)
{
	/*
	 * 8 x 4 lanes of a warp own quads that lie side by side: 8 * 4 columns, 4 * 4 rows. A thread's
	 * further quads are a whole round of threads away (STEP_M, STEP_N), not beside its first.
	 */
	enum { TILES = BK * (BM + BN), STEP_M = BM / TM * 4, STEP_N = BN / TN * 4 };
	enum { WARPS_X = STEP_N / 32 > 0 ? STEP_N / 32 : 1 };
	float *const tiles = (float *)shared_quads;
	const int t = (int)threadIdx.x, warp = t / 32, lane = t % 32;
	const int row = warp / WARPS_X * 16 + lane / 8 * 4; /* first row and column in the tile */
	const int col = warp % WARPS_X * 32 + lane % 8 * 4;
	const int row0 = (int)blockIdx.y * BM, col0 = (int)blockIdx.x * BN;
	float sum[TM][TN] = {};
	const struct place at = place_of(A, B, M, N, K, row0, col0);
	float4 next_a[ROUNDS_A], next_b[ROUNDS_B];
	int now = 0;

	fetch(next_a, next_b, at, A, B, M, N, K, 0);
	put(tiles, tiles + BK * BM, next_a, next_b, BM);
	__syncthreads(); //@ wait-loaded
	for (int p = 0; p < K; p += BK) {
		const float *const As = tiles + now * TILES, *const Bs = As + BK * BM;
		float *const into = tiles + (now ^ 1) * TILES;

		if (p + BK < K)
			fetch(next_a, next_b, at, A, B, M, N, K, p + BK);
#pragma unroll
		for (int k = 0; k < BK; k++) {
			float a[TM], b[TN];
#pragma unroll
			for (int i = 0; i < TM; i += 4)
				read_quad(a + i, As + k * BM + row + i / 4 * STEP_M);
#pragma unroll
			for (int j = 0; j < TN; j += 4)
				read_quad(b + j, Bs + k * BN + col + j / 4 * STEP_N);
			outer_product(sum, a, b);
		}
		if (p + BK < K) {
			put(into, into + BK * BM, next_a, next_b, BM);
			__syncthreads(); //@ wait-loaded
			now ^= 1;
		}
	}
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j += 4)
			store_quad(C, row0 + row + i / 4 * STEP_M + i % 4, col0 + col + j / 4 * STEP_N, M, N,
			           sum[i] + j);
}

/*
 * The same product two rows at a time, to and fro: every multiply-add shares a factor with the one
 * before, which the register file then need not read again (it has few ports, in banks).
 */
static __device__ __forceinline__ void zigzag_product(float (&sum)[TM][TN], const float (&a)[TM],
                                                      const float (&b)[TN])
{
#pragma unroll
	for (int i = 0; i < TM; i += 2) {
#pragma unroll
		for (int c = 0; c < TN; c++) {
			const int j = i % 4 ? TN - 1 - c : c; /* there, and back two rows further down */
			const int first = i + c % 2, second = i + 1 - c % 2;
			sum[first][j] += a[first] * b[j];   //@ fma
			sum[second][j] += a[second] * b[j]; //@ fma
		}
	}
}

/* A warp owns WM x WN: LANES_Y x LANES_X lanes, TM / 4 x TN / 4 quads each, side by side */
enum { LANES_X = WN / TN > 0 ? WN / TN : 1, LANES_Y = 32 / LANES_X > 0 ? 32 / LANES_X : 1 };
enum { WM = LANES_Y * TM, STEP_M = LANES_Y * 4, STEP_N = LANES_X * 4 };
enum { WARPS_X = BN / WN > 0 ? BN / WN : 1, STRIDE = BM + A_PAD, TILES = BK * (STRIDE + BN) };

struct warp_place {
	int row, col;   /* of this thread's first quad in the block's tile */
	int row0, col0; /* of that tile in C */
};

static __device__ __forceinline__ struct warp_place warp_place_of(int M, int N)
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
	struct warp_place at;

	at.row = warp / WARPS_X * WM + y * 4;
	at.col = warp % WARPS_X * WN + x * 4;
	at.row0 = (band * BAND + in_band % height) * BM;
	at.col0 = in_band / height * BN;
	return at;
}

/* Shared memory to registers: the factors of one k; its rows of the tiles begin at @As and @Bs. */
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

static __device__ __forceinline__ void store_sums(float *C, const struct warp_place &w, int M,
                                                  int N, const float (&sum)[TM][TN])
{
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j += 4)
			store_quad(C, w.row0 + w.row + i / 4 * STEP_M + i % 4,
			           w.col0 + w.col + j / 4 * STEP_N, M, N, sum[i] + j);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_fast_v5_warp_tile(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *const tiles = (float *)shared_quads;
	const struct warp_place w = warp_place_of(M, N);
	const struct place at = place_of(A, B, M, N, K, w.row0, w.col0);
	float sum[TM][TN] = {};
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
			read_factors(a, b, As + k * STRIDE + w.row, Bs + k * BN + w.col);
			zigzag_product(sum, a, b);
		}
		if (p + BK < K) {
			put(into, into + BK * STRIDE, next_a, next_b, STRIDE);
			__syncthreads(); //@ wait-loaded
			now ^= 1;
		}
	}
	store_sums(C, w, M, N, sum);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_fast_v6_pipelined(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *const tiles = (float *)shared_quads;
	const struct warp_place w = warp_place_of(M, N);
	const struct place at = place_of(A, B, M, N, K, w.row0, w.col0);
	float sum[TM][TN] = {};
	float4 next_a[ROUNDS_A], next_b[ROUNDS_B];
	float a[2][TM], b[2][TN]; /* the factors in use and those on their way */
	const float *As = tiles + w.row, *Bs = tiles + BK * STRIDE + w.col;
	int now = 0;

	fetch(next_a, next_b, at, A, B, M, N, K, 0);
	put(tiles, tiles + BK * STRIDE, next_a, next_b, STRIDE);
	__syncthreads(); //@ wait-loaded
	read_factors(a[0], b[0], As, Bs);
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
				read_factors(a[(k + 1) % 2], b[(k + 1) % 2], As + (k + 1) * STRIDE,
				             Bs + (k + 1) * BN);
			} else if (more) {
				__syncthreads(); //@ wait-loaded
				now ^= 1;
				As = into + w.row;
				Bs = into + BK * STRIDE + w.col;
				read_factors(a[0], b[0], As, Bs);
			}
			zigzag_product(sum, a[k % 2], b[k % 2]);
		}
	}
	store_sums(C, w, M, N, sum);
}

#endif /* whole quads */

#else /* the host half */

#include "model/kernel.h"

enum variant {
	BLOCK_TILE, THREAD_TILE, VECTORISED, DOUBLE_BUFFER, CONFLICT_FREE, WARP_TILE, PIPELINED,
	N_VARIANTS
};
enum param { P_M, P_N, P_K, P_BM, P_BN, P_BK, P_TM, P_TN, P_WN, P_BAND, N_PARAMS };
enum buffer { A, B, C };

#define MAX_SIZE 16384
#define SHARED_BYTES (48 * 1024) /* what every GPU gives a block without being asked */
#define BIT(v) (1u << (v))
#define WARPS_OWN_TILES (BIT(WARP_TILE) | BIT(PIPELINED))

static const int64_t size_steps[] = { 1, 64, 127, 128, 256, 512, 1000, 1024, 2048, 4096, 8192,
	                              MAX_SIZE, INT64_MIN };
static const int64_t block_tiles[] = { 32, 64, 128, 256, INT64_MIN };
static const int64_t depths[] = { 4, 8, 16, 32, INT64_MIN };
static const int64_t thread_tiles[] = { 1, 2, 4, 8, 16, INT64_MIN };
static const int64_t warp_tiles[] = { 16, 32, 64, 128, INT64_MIN };
static const int64_t bands[] = { 1, 2, 4, 8, 16, 32, INT64_MIN };

#define SIZE(NAME, TITLE)                                                                      \
	{ .name = NAME, .title = TITLE, .unit = "elements", .kind = PARAM_LAUNCH, .def = 1024, \
	  .min = 1, .max = MAX_SIZE, .steps = size_steps }
#define KNOB(NAME, TITLE, LEAST, MOST, CHOICES, VARIANTS)                                     \
	{ .name = #NAME, .title = TITLE, .unit = "elements", .kind = PARAM_COMPILE,           \
	  .def = NAME, .min = LEAST, .max = MOST, .choices = CHOICES, .variants = VARIANTS }

static const struct param_desc params[N_PARAMS] = {
	[P_M] = SIZE("M", "rows of A and C"),
	[P_N] = SIZE("N", "columns of B and C"),
	[P_K] = SIZE("K", "columns of A, rows of B"),
	[P_BM] = KNOB(BM, "rows of a block's tile", 32, 256, block_tiles, 0),
	[P_BN] = KNOB(BN, "columns of a block's tile", 32, 256, block_tiles, 0),
	[P_BK] = KNOB(BK, "depth of a step", 4, 32, depths, 0),
	[P_TM] = KNOB(TM, "rows per thread", 1, 16, thread_tiles, 0),
	[P_TN] = KNOB(TN, "columns per thread", 1, 16, thread_tiles, 0),
	[P_WN] = KNOB(WN, "columns of a warp's tile", 16, 128, warp_tiles, WARPS_OWN_TILES),
	[P_BAND] = KNOB(BAND, "tile rows in a band of blocks", 1, 32, bands, WARPS_OWN_TILES),
};

static const struct variant_desc variants[N_VARIANTS] = {
	[BLOCK_TILE] = { KERNEL_VARIANT(sgemm_fast, 0, block_tile), .title = "block tiles",
		.idea = "BM x BN x BK tiles: global reads fall to MNK(1/BM + 1/BN); 2 shared reads per FMA",
		.section = "beyond PMPP 5.4", .seeds = "S-030 S-227 S-344" },
	[THREAD_TILE] = { KERNEL_VARIANT(sgemm_fast, 1, thread_tile), .title = "thread tiles",
		.idea = "factors in registers: TM + TN shared reads serve TM * TN multiply-adds",
		.section = "PMPP 6.3", .seeds = "S-031 S-039 S-040 S-228" },
	[VECTORISED] = { KERNEL_VARIANT(sgemm_fast, 2, vectorised), .title = "16-byte loads",
		.idea = "float4 from global and shared memory; A's tile is turned so that it can be",
		.section = "beyond PMPP", .seeds = "S-034 S-230" },
	[DOUBLE_BUFFER] = { KERNEL_VARIANT(sgemm_fast, 3, double_buffer), .title = "double buffering",
		.idea = "the next tiles travel while these are used: one barrier a step, twice the memory",
		.section = "beyond PMPP", .seeds = "S-033 S-345" },
	[CONFLICT_FREE] = { KERNEL_VARIANT(sgemm_fast, 4, conflict_free),
		.title = "conflict-free reads",
		.idea = "a thread's quads lie apart, those of neighbour lanes side by side: no bank twice",
		.section = "beyond PMPP", .seeds = "S-035 S-347" },
	[WARP_TILE] = { KERNEL_VARIANT(sgemm_fast, 5, warp_tile), .title = "warp tiles and bands",
		.idea = "a tile per warp, multiply-adds in an order that reuses registers, blocks in bands",
		.section = "beyond the sources", .seeds = "S-032" },
	[PIPELINED] = { KERNEL_VARIANT(sgemm_fast, 6, pipelined), .title = "pipelined reads",
		.idea = "each product hides the reads of the next one, those behind the barrier included",
		.section = "beyond the sources", .seeds = "S-033" },
};

static int64_t threads_of(const int64_t *p)
{
	return THREADS_OF(p[P_BM], p[P_BN], p[P_TM], p[P_TN]);
}

static int64_t shared_bytes(unsigned variant, const int64_t *p)
{
	const int64_t pad = BIT(variant) & WARPS_OWN_TILES ? A_PAD : 0;

	return 4 * p[P_BK] * (p[P_BM] + pad + p[P_BN]) * (variant >= DOUBLE_BUFFER ? 2 : 1);
}

/* How the lanes of a warp lie over the tile; false when they do not fit it. */
static bool lanes_legal(unsigned variant, const int64_t *p, struct err *err)
{
	const int64_t bm = p[P_BM], bn = p[P_BN], tm = p[P_TM], tn = p[P_TN], wn = p[P_WN];

	if (variant == CONFLICT_FREE) {
		if (bn / tn % 8)
			return kernel_refuse(err, "BN", bn, "8 lanes of TN %lld columns side by side: a "
			                     "multiple of %lld", (long long)tn, (long long)(8 * tn));
		if (bm / tm % 4)
			return kernel_refuse(err, "BM", bm, "4 lanes of TM %lld rows: a multiple of %lld",
			                     (long long)tm, (long long)(4 * tm));
		return true;
	}
	const int64_t lanes_x = wn / tn;
	if (lanes_x < 1 || lanes_x > 32)
		return kernel_refuse(err, "WN", wn, "%lld lanes of TN %lld columns; a warp has 1 to 32",
		                     (long long)lanes_x, (long long)tn);
	if (bn % wn)
		return kernel_refuse(err, "WN", wn, "BN %lld is not a multiple of it", (long long)bn);
	const int64_t wm = 32 / lanes_x * tm;
	if (bm % wm)
		return kernel_refuse(err, "BM", bm, "warps are %lld lanes of TM %lld rows high: a "
		                     "multiple of %lld", (long long)(32 / lanes_x), (long long)tm,
		                     (long long)wm);
	return true;
}

static bool tiles_legal(unsigned variant, const int64_t *p, struct err *err)
{
	const int64_t threads = threads_of(p), bytes = shared_bytes(variant, p);

	if (threads > 1024)
		return kernel_refuse(err, "TM", p[P_TM], "BM/TM x BN/TN = %lld threads; a block has at "
		                     "most 1024", (long long)threads);
	if (p[P_TM] * p[P_TN] > 128)
		return kernel_refuse(err, "TN", p[P_TN], "TM x TN = %lld sums and their factors do not fit "
		                     "the 255 registers of a thread", (long long)(p[P_TM] * p[P_TN]));
	if (bytes > SHARED_BYTES)
		return kernel_refuse(err, "BK", p[P_BK], "the tiles need %lld bytes of shared memory; a "
		                     "block has %d without being asked", (long long)bytes, SHARED_BYTES);
	if (variant >= VECTORISED && p[P_TM] % 4)
		return kernel_refuse(err, "TM", p[P_TM], "16-byte accesses need multiples of 4");
	if (variant >= VECTORISED && p[P_TN] % 4)
		return kernel_refuse(err, "TN", p[P_TN], "16-byte accesses need multiples of 4");
	return variant < CONFLICT_FREE || lanes_legal(variant, p, err);
}

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;
	if (!tiles_legal(variant, p, err))
		return false;
	const uint32_t tiles_x = (uint32_t)ceil_div((uint64_t)p[P_N], (uint64_t)p[P_BN]);
	const uint32_t tiles_y = (uint32_t)ceil_div((uint64_t)p[P_M], (uint64_t)p[P_BM]);
	*out = (struct launch_plan){
		.entry = variants[variant].entry,
		.grid = { tiles_x, tiles_y, 1 },
		.block = { (uint32_t)threads_of(p), 1, 1 },
		.dynamic_shared_bytes = (uint32_t)shared_bytes(variant, p),
	};
	kernel_product_args(out, p[P_M], p[P_N], p[P_K], false);
	if (BIT(variant) & WARPS_OWN_TILES)
		out->grid = (struct dim3u){ tiles_x * tiles_y, 1, 1 };
	return kernel_launch_legal(out, err);
}

static void fill(const struct launch_plan *launch, const int64_t *p, unsigned b, uint64_t seed,
                 void *data)
{
	fill_products_f32(data, launch->buffers[b].count, (size_t)p[P_K], seed + b);
}

/* Tolerance 0: the inputs keep every partial sum exact in float32 (fill_products_f32). */
static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	(void)variant, (void)launch;
	check_matmul_f32(&(struct matmul_ref){
		.a = before[A], .b = before[B], .c = after[C],
		.m = (size_t)p[P_M], .n = (size_t)p[P_N], .k = (size_t)p[P_K], .buffer = C }, result);
}

/* Per step of depth 1 a block loads BM + BN values and does BM * BN multiply-adds. */
static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	const double m = (double)p[P_M], n = (double)p[P_N], k = (double)p[P_K];
	const double bm = (double)p[P_BM], bn = (double)p[P_BN];

	(void)variant, (void)launch;
	*out = (struct kernel_cost){
		.flop = 2 * m * n * k, .min_bytes = 4 * (m * k + k * n + m * n),
		.book_flop = 2 * bm * bn, .book_bytes = 4 * (bm + bn),
		.book_note = "2*BM*BN FLOP per 4*(BM + BN) bytes: one step of a block's tile",
	};
}

static const struct kernel_example examples[] = {
	/* S-039, S-040, S-347: 256 threads of 8 x 8 or 4 x 4; one pair of tiles, then two */
	{ "thread_tile", "M=1024 N=1024", { 8, 8, 1 }, { 256, 1, 1 }, 8192, 0 },
	{ "thread_tile", "BM=64 BN=64 TM=4 TN=4", { 16, 16, 1 }, { 256, 1, 1 }, 4096, 0 },
	{ "conflict_free", "M=1025 N=129", { 2, 9, 1 }, { 256, 1, 1 }, 16384, 0 },
	{ "warp_tile", "M=1025 N=129", { 18, 1, 1 }, { 256, 1, 1 }, 16640, 0 },
	{ "pipelined", "M=1025 N=129", { 18, 1, 1 }, { 256, 1, 1 }, 16640, 0 },
	{ "thread_tile", "", { 0 }, { 0 }, 0, 32 }, /* S-227 */
	{ "thread_tile", "BM=64 BN=64 TM=4 TN=4", { 0 }, { 0 }, 0, 16 },
	{ 0 },
};

static const struct kernel_refusal refusals[] = {
	{ "thread_tile", "BM=256 BN=256 TM=4 TN=4", "TM", "4096 threads" },
	{ "thread_tile", "TM=16 TN=16", "TN", "256 sums" },
	{ "double_buffer", "BK=32", "BK", "65536 bytes" },
	{ "vectorised", "TM=2", "TM", "multiples of 4" },
	{ "vectorised", "TN=2", "TN", "multiples of 4" },
	{ "conflict_free", "BN=32", "BN", "a multiple of 64" },
	{ "conflict_free", "BM=32 TM=16", "BM", "a multiple of 64" },
	{ "warp_tile", "BN=32", "WN", "BN 32 is not a multiple" },
	{ "pipelined", "BN=32", "WN", "BN 32 is not a multiple" },
	{ "warp_tile", "BM=32 WN=32", "BM", "a multiple of 64" },
	{ "warp_tile", "BN=32 TN=16 WN=128", "WN", "" },
	{ 0 },
};

const struct kernel_desc kernel_sgemm_fast = {
	.name = "sgemm_fast",
	.title = "matrix multiplication, fast",
	.section = "PMPP ch. 6 and beyond",
	.about = "The same product as sgemm, taken towards the machine's peak: tiles for the block, "
	         "the warp and the thread, wide loads, overlapped copies, banks and caches respected. "
	         "Every tile size is a knob; most combinations are slow, and the panels say why.",
	KERNEL_PARTS,
	.fill = fill,
	.refusals = refusals,
	.product = (const unsigned[]){ P_M, P_N, P_K },
};

#endif
