/*
 * Matrix multiplication C = A * B in single precision by copies that go around the registers, on
 * from sgemm_fast's last rung. All row-major: A is M x K, B is K x N, C is M x N. A block makes a
 * BM x BN tile of C in steps of BK, a warp tiles WN wide, a thread TM x TN of that.
 *
 *   copies  cp.async brings the tiles of coming steps while this one's are used: no register holds
 *           them on the way, no instruction stores them
 *   banks   the same, in an order and in registers that let two banks feed a multiply-add a cycle
 *
 * Registers lie in two banks, odd and even, of which each gives one a cycle. A multiply-add reads
 * three: the instruction before must have kept one, and the others must be of both banks. But a
 * quad of sums that a 16-byte store writes as it stands begins at a multiple of four, and so does
 * a quad of B that a 16-byte read brings: sum j and factor j are then in one bank. Where C is
 * written from other registers than those that add, the compiler may choose.
 *
 * Sizes need not fit the tiles: what lies outside is read as 0 and not written. Needs compute
 * capability 8.0. Shared memory is dynamic: it can be above 48 KB.
 */

/* Defaults of the compile parameters, for both halves. */
#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 256
#endif
#ifndef BK
#define BK 8
#endif
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 16
#endif
#ifndef WN
#define WN 128
#endif
#ifndef BAND
#define BAND 8
#endif
#ifndef STAGES
#define STAGES 4
#endif

/* Threads of a block, in both halves. */
#define THREADS_OF(bm, bn, tm, tn) ((bm) / (tm) * ((bn) / (tn)))

/* Words after each row of A's tile, which is stored turned: words of a row of A meet more banks. */
#define A_PAD 4

#ifdef __CUDACC__

#define THREADS THREADS_OF(BM, BN, TM, TN)
/* Sums and factors of a thread take about TM * TN + 64 of an SM's 65536 registers: where two blocks
 * can fit, the compiler is told to keep within that. */
#define BLOCKS_PER_SM (2 * THREADS * (TM * TN + 64) <= 65536 ? 2 : 1)

#if __CUDA_ARCH__ >= 800

extern __shared__ float4 shared_quads[]; /* as float4: aligned to 16 bytes */

/* A warp owns WM x WN: LANES_Y x LANES_X lanes, TM / 4 x TN / 4 quads each, side by side */
enum { LANES_X = WN / TN > 0 ? WN / TN : 1, LANES_Y = 32 / LANES_X > 0 ? 32 / LANES_X : 1 };
enum { WM = LANES_Y * TM, STEP_M = LANES_Y * 4, STEP_N = LANES_X * 4 };
enum { WARPS_X = BN / WN > 0 ? BN / WN : 1, STRIDE = BM + A_PAD, TILES = BK * (STRIDE + BN) };

/* Where this thread's sums begin: in the block's tile, and that tile in C. */
struct corner {
	int row, col, row0, col0;
};

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

/* --- copies that go on while the warp does --- */

static __device__ __forceinline__ void copies_commit()
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Until at most @LEFT of this thread's groups of copies are on their way. */
template <int LEFT> static __device__ __forceinline__ void copies_wait()
{
	asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory"); //@ wait-copies
}

static __device__ __forceinline__ void copy_word(unsigned to, const float *from)
{
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to),
	             "l"(__cvta_generic_to_global(from))
	             : "memory"); //@ load-A
}

static __device__ __forceinline__ void copy_quad(unsigned to, const float *from)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
	             "l"(__cvta_generic_to_global(from))
	             : "memory"); //@ load-B
}

/* 0 where the source is not @inside of its matrix. */
static __device__ __forceinline__ void copy_edge(unsigned to, const float *from, bool inside)
{
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to),
	             "l"(__cvta_generic_to_global(from)), "r"(inside ? 4 : 0)
	             : "memory"); //@ edge
}

/* What this thread copies of a step's tiles: its first word of A, its first quad of B, and where
 * those go in the first place. */
struct share {
	const float *a, *b;
	unsigned to_a, to_b;
};

static __device__ __forceinline__ struct share share_of(const float *A, const float *B,
                                                        const struct corner &w, int N, int K)
{
	const int t = (int)threadIdx.x;
	const unsigned tiles = (unsigned)__cvta_generic_to_shared(shared_quads);

	/* BK lanes have a row of A's tile, whose words go to BK rows of the turned one */
	return { A + (w.row0 + t / BK) * K + t % BK, B + t / (BN / 4) * N + w.col0 + t % (BN / 4) * 4,
	         tiles + 4 * (t % BK * STRIDE + t / BK), tiles + 4 * (BK * STRIDE + 4 * t) };
}

/* The next step's tiles, @to bytes behind the first place, where they lie inside the matrices. All
 * tile sizes are powers of two, so a round of threads moves every thread by the same rows and
 * columns. */
static __device__ __forceinline__ void copy_tiles(struct share &mine, int N, int K, unsigned to)
{
	enum { WORDS_A = BM * BK, QUADS_B = BK * BN / 4 };
	const int t = (int)threadIdx.x;
#pragma unroll
	for (int r = 0; r < WORDS_A; r += THREADS)
		if (WORDS_A % THREADS == 0 || t + r < WORDS_A)
			copy_word(to + mine.to_a + r / BK * 4, mine.a + r / BK * K);
#pragma unroll
	for (int r = 0; r < QUADS_B; r += THREADS)
		if (QUADS_B % THREADS == 0 || t + r < QUADS_B)
			copy_quad(to + mine.to_b + r * 16, mine.b + r / (BN / 4) * N + r % (BN / 4) * 4);
	mine.a += BK;
	mine.b += BK * N;
}

/* Those of depth @p, where they may reach outside or B's rows are not aligned: all in words. */
static __device__ __forceinline__ void copy_edges(const float *A, const float *B,
                                                  const struct corner &w, int M, int N, int K,
                                                  int p, unsigned to)
{
	const unsigned tiles = (unsigned)__cvta_generic_to_shared(shared_quads) + to;

	for (int i = (int)threadIdx.x; i < BM * BK; i += THREADS) {
		const int row = w.row0 + i / BK, k = p + i % BK;
		copy_edge(tiles + 4 * (i % BK * STRIDE + i / BK), A + row * K + k, row < M && k < K);
	}
	for (int i = (int)threadIdx.x; i < BK * BN; i += THREADS) {
		const int k = p + i / BN, col = w.col0 + i % BN;
		copy_edge(tiles + 4 * (BK * STRIDE + i), B + k * N + col, k < K && col < N);
	}
}

/* --- the product --- */

static __device__ __forceinline__ void read_quad(float *to, const float *from)
{
	const float4 v = *(const float4 *)from; //@ shared-read
	to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

enum { QUADS = (TM + TN) / 4 }; /* of a thread's factors of one k */

/* Quad @n of them, B's first, then A's. */
static __device__ __forceinline__ void read_factors(float (&a)[TM], float (&b)[TN], int n,
                                                    const float *As, const float *Bs)
{
	if (n < TN / 4)
		read_quad(b + 4 * n, Bs + n * STEP_N);
	else
		read_quad(a + 4 * n - TN, As + (n - TN / 4) * STEP_M);
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

/* The sums of one k by its factors, row by row; before that those of the next k are read. */
static __device__ __forceinline__ void multiply_rows(float (&sum)[TM][TN], const float (&a)[TM],
                                                     const float (&b)[TN], float (&next_a)[TM],
                                                     float (&next_b)[TN], const float *As,
                                                     const float *Bs)
{
#pragma unroll
	for (int n = 0; n < QUADS; n++)
		read_factors(next_a, next_b, n, As, Bs);
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j++)
			sum[i][j] += a[i] * b[j]; //@ fma
}

/* Column by column, up and down: each multiply-add shares a factor with the one before, which no
 * bank need give again. The reads are spread between them. */
static __device__ __forceinline__ void multiply_columns(float (&sum)[TM][TN], const float (&a)[TM],
                                                        const float (&b)[TN], float (&next_a)[TM],
                                                        float (&next_b)[TN], const float *As,
                                                        const float *Bs)
{
#pragma unroll
	for (int j = 0; j < TN; j++) {
#pragma unroll
		for (int n = 0; n < QUADS; n++)
			if (n * TN / QUADS == j)
				read_factors(next_a, next_b, n, As, Bs);
#pragma unroll
		for (int c = 0; c < TM; c++) {
			const int i = j % 2 ? TM - 1 - c : c;
			sum[i][j] += a[i] * b[j]; //@ fma
		}
	}
}

/* With @EDGE the tiles may reach outside; with @BANKS banks of registers are minded. */
template <bool EDGE, bool BANKS>
static __device__ __forceinline__ void product(const float *A, const float *B, float *C, int M,
                                               int N, int K, const struct corner &w)
{
	const float *const As = (float *)shared_quads + w.row;
	const float *const Bs = (float *)shared_quads + BK * STRIDE + w.col;
	const int steps = (K + BK - 1) / BK;
	struct share mine = share_of(A, B, w, N, K);
	float sum[TM][TN] = {};
	float a[2][TM], b[2][TN];         /* the factors in use and those on their way */
	int now = 0, before = STAGES - 1; /* places of this step and of the one before it */

#pragma unroll
	for (int s = 0; s < STAGES - 1; s++) {
		if (s < steps && EDGE)
			copy_edges(A, B, w, M, N, K, s * BK, s * TILES * 4);
		else if (s < steps)
			copy_tiles(mine, N, K, s * TILES * 4);
		copies_commit();
	}
	copies_wait<STAGES - 2>();
	__syncthreads(); //@ wait-loaded
#pragma unroll
	for (int n = 0; n < QUADS; n++)
		read_factors(a[0], b[0], n, As, Bs);
	for (int s = 0; s < steps; s++) {
		/* the last step reads its own tiles once more, in vain */
		const int next = s + 1 == steps ? now : now + 1 == STAGES ? 0 : now + 1;

		/* into the place of the step before, with which all have finished */
		if (s + STAGES - 1 < steps && EDGE)
			copy_edges(A, B, w, M, N, K, (s + STAGES - 1) * BK, before * TILES * 4);
		else if (s + STAGES - 1 < steps)
			copy_tiles(mine, N, K, before * TILES * 4);
		copies_commit();
#pragma unroll
		for (int k = 0; k < BK; k++) {
			const int tiles = (k < BK - 1 ? now : next) * TILES;
			const float *const A_next = As + tiles + (k + 1) % BK * STRIDE;
			const float *const B_next = Bs + tiles + (k + 1) % BK * BN;

			if (k == BK - 1) {
				copies_wait<STAGES - 2>();
				__syncthreads(); //@ wait-loaded
			}
			if (BANKS)
				multiply_columns(sum, a[k % 2], b[k % 2], a[(k + 1) % 2], b[(k + 1) % 2], A_next,
				                 B_next);
			else
				multiply_rows(sum, a[k % 2], b[k % 2], a[(k + 1) % 2], b[(k + 1) % 2], A_next,
				              B_next);
		}
		before = now;
		now = next;
	}
#pragma unroll
	for (int i = 0; i < TM; i++)
#pragma unroll
		for (int j = 0; j < TN; j += 4) {
			float v[4];
#pragma unroll
			for (int q = 0; q < 4; q++) /* x + 0 is another register: it differs from x for -0 */
				v[q] = BANKS ? sum[i][j + q] + 0.0f : sum[i][j + q]; //@ free
			store_quad(C, w.row0 + w.row + i / 4 * STEP_M + i % 4,
			           w.col0 + w.col + j / 4 * STEP_N, M, N, v);
		}
}

template <bool BANKS>
static __device__ __forceinline__ void whole_or_edge(const float *A, const float *B, float *C,
                                                     int M, int N, int K)
{
	const struct corner w = corner_of_warp(M, N);

	if (w.row0 + BM <= M && w.col0 + BN <= N && K % BK == 0 && N % 4 == 0)
		product<false, BANKS>(A, B, C, M, N, K, w);
	else
		product<true, BANKS>(A, B, C, M, N, K, w);
}

#endif

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_async_v0_copies(const float *A, const float *B, float *C, int M, int N, int K)
{
#if __CUDA_ARCH__ >= 800
	whole_or_edge<false>(A, B, C, M, N, K);
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
sgemm_async_v1_banks(const float *A, const float *B, float *C, int M, int N, int K)
{
#if __CUDA_ARCH__ >= 800
	whole_or_edge<true>(A, B, C, M, N, K);
#endif
}

#endif /* the device half; the host half is sgemm_async.c */
