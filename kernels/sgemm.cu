/*
 * Matrix multiplication C = A * B in single precision, the book's ladder. A is M x K, C is M x N,
 * both row-major; B is K x N row-major, or column-major where a variant says so.
 *
 *   naive_col    B column-major, lanes K elements apart: uncoalesced
 *   naive        one thread per output, row from y, column from x: coalesced
 *   tiled_exact  TILE x TILE tiles in shared memory, sizes must be multiples of TILE
 *   tiled        the same with boundary checks: any M, N, K
 *   dynamic      tile width chosen at launch: dynamic shared memory
 *   wide_tile    tile larger than the block: several loads and outputs per thread
 *   tiled_col    B column-major, tile loaded along the wrong direction
 *   corner       corner turning: the same B, tile loaded along the columns
 *   coarsened    one thread does COARSE tiles side by side and loads the A tile once
 *   two_rows     two outputs per thread, one above the other: 3 shared reads for 2 FMAs
 *   no_load_barrier, no_use_barrier   one barrier left out: wrong by design
 *
 * PMPP 3.4, 5.3-5.6, 6.1, 6.3. The performance ladder is sgemm_fast.cu.
 */

/* Defaults of the compile parameters, for both halves. */
#ifndef TILE
#define TILE 16
#endif
#ifndef BLOCK
#define BLOCK 8
#endif
#ifndef COARSE
#define COARSE 4
#endif
#ifndef PAD
#define PAD 0
#endif

#ifdef __CUDACC__

extern "C" __global__ void sgemm_v0_naive_col(const float *A, const float *B, float *C,
                                              int M, int N, int K)
{
	const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
	const int col = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (row < M && col < N) {
		float sum = 0.0f;
		for (int k = 0; k < K; k++) {
			const float a = A[row * K + k]; //@ load-A
			const float b = B[col * K + k]; //@ load-B
			sum += a * b;                   //@ fma
		}
		C[row * N + col] = sum; //@ store
	}
}

extern "C" __global__ void sgemm_v1_naive(const float *A, const float *B, float *C,
                                          int M, int N, int K)
{
	const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
	const int col = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (row < M && col < N) {
		float sum = 0.0f;
		for (int k = 0; k < K; k++) {
			const float a = A[row * K + k]; //@ load-A
			const float b = B[k * N + col]; //@ load-B
			sum += a * b;                   //@ fma
		}
		C[row * N + col] = sum; //@ store
	}
}

extern "C" __global__ void sgemm_v2_tiled_exact(const float *A, const float *B, float *C,
                                                int M, int N, int K)
{
	__shared__ float As[TILE][TILE], Bs[TILE][TILE];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int row = (int)blockIdx.y * TILE + ty;
	const int col = (int)blockIdx.x * TILE + tx;
	float sum = 0.0f;

	(void)M;
	for (int p = 0; p < K / TILE; p++) {
		As[ty][tx] = A[row * K + p * TILE + tx];   //@ load-A
		Bs[ty][tx] = B[(p * TILE + ty) * N + col]; //@ load-B
		__syncthreads(); //@ wait-loaded
		for (int k = 0; k < TILE; k++)
			sum += As[ty][k] * Bs[k][tx]; //@ fma
		__syncthreads(); //@ wait-used
	}
	C[row * N + col] = sum; //@ store
}

extern "C" __global__ void sgemm_v3_tiled(const float *A, const float *B, float *C,
                                          int M, int N, int K)
{
	__shared__ float As[TILE][TILE], Bs[TILE][TILE];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int row = (int)blockIdx.y * TILE + ty;
	const int col = (int)blockIdx.x * TILE + tx;
	float sum = 0.0f;

	for (int p = 0; p < K; p += TILE) {
		/* three guards, each its own: a thread whose output is outside still loads for others */
		As[ty][tx] = row < M && p + tx < K ? A[row * K + p + tx] : 0.0f;     //@ load-A
		Bs[ty][tx] = p + ty < K && col < N ? B[(p + ty) * N + col] : 0.0f;   //@ load-B
		__syncthreads(); //@ wait-loaded
		for (int k = 0; k < TILE; k++)
			sum += As[ty][k] * Bs[k][tx]; //@ fma
		__syncthreads(); //@ wait-used
	}
	if (row < M && col < N)
		C[row * N + col] = sum; //@ store
}

extern "C" __global__ void sgemm_v4_dynamic(const float *A, const float *B, float *C,
                                            int M, int N, int K, int T)
{
	/* 2 * T * T floats, given as the launch's third argument: As in front, Bs behind */
	extern __shared__ float tiles[];
	float *const As = tiles, *const Bs = tiles + T * T;
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int row = (int)blockIdx.y * T + ty;
	const int col = (int)blockIdx.x * T + tx;
	float sum = 0.0f;

	for (int p = 0; p < K; p += T) {
		As[ty * T + tx] = row < M && p + tx < K ? A[row * K + p + tx] : 0.0f;   //@ load-A
		Bs[ty * T + tx] = p + ty < K && col < N ? B[(p + ty) * N + col] : 0.0f; //@ load-B
		__syncthreads(); //@ wait-loaded
		for (int k = 0; k < T; k++)
			sum += As[ty * T + k] * Bs[k * T + tx]; //@ fma
		__syncthreads(); //@ wait-used
	}
	if (row < M && col < N)
		C[row * N + col] = sum; //@ store
}

/* Outputs per thread and direction; 1 where the combination is illegal (refused before launch). */
#define SUB (TILE >= BLOCK ? TILE / BLOCK : 1)

extern "C" __global__ void sgemm_v5_wide_tile(const float *A, const float *B, float *C,
                                              int M, int N, int K)
{
	__shared__ float As[TILE][TILE], Bs[TILE][TILE];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int row0 = (int)blockIdx.y * TILE, col0 = (int)blockIdx.x * TILE;
	float sum[SUB][SUB] = {};

	for (int p = 0; p < K; p += TILE) {
		/* SUB * SUB loads per thread and matrix, BLOCK apart, so that lanes stay side by side */
		for (int i = ty; i < TILE; i += BLOCK) {
			for (int j = tx; j < TILE; j += BLOCK) {
				As[i][j] = row0 + i < M && p + j < K ? A[(row0 + i) * K + p + j] : 0.0f; //@ load-A
				Bs[i][j] = p + i < K && col0 + j < N ? B[(p + i) * N + col0 + j] : 0.0f; //@ load-B
			}
		}
		__syncthreads(); //@ wait-loaded
		for (int k = 0; k < TILE; k++)
			for (int i = 0; i < SUB; i++)
				for (int j = 0; j < SUB; j++)
					sum[i][j] += As[ty + i * BLOCK][k] * Bs[k][tx + j * BLOCK]; //@ fma
		__syncthreads(); //@ wait-used
	}
	for (int i = 0; i < SUB; i++) {
		for (int j = 0; j < SUB; j++) {
			const int row = row0 + ty + i * BLOCK, col = col0 + tx + j * BLOCK;
			if (row < M && col < N)
				C[row * N + col] = sum[i][j]; //@ store
		}
	}
}

extern "C" __global__ void sgemm_v6_tiled_col(const float *A, const float *B, float *C,
                                              int M, int N, int K)
{
	__shared__ float As[TILE][TILE], Bs[TILE][TILE];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int row = (int)blockIdx.y * TILE + ty;
	const int col = (int)blockIdx.x * TILE + tx;
	float sum = 0.0f;

	for (int p = 0; p < K; p += TILE) {
		As[ty][tx] = row < M && p + tx < K ? A[row * K + p + tx] : 0.0f; //@ load-A
		/* lane tx reads column col = .. + tx: neighbours are K elements apart */
		Bs[ty][tx] = p + ty < K && col < N ? B[col * K + p + ty] : 0.0f; //@ load-B
		__syncthreads(); //@ wait-loaded
		for (int k = 0; k < TILE; k++)
			sum += As[ty][k] * Bs[k][tx]; //@ fma
		__syncthreads(); //@ wait-used
	}
	if (row < M && col < N)
		C[row * N + col] = sum; //@ store
}

extern "C" __global__ void sgemm_v7_corner(const float *A, const float *B, float *C,
                                           int M, int N, int K)
{
	/* PAD = 1 makes a row TILE + 1 words: then the turned store below hits different banks */
	__shared__ float As[TILE][TILE], Bs[TILE][TILE + PAD];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int row = (int)blockIdx.y * TILE + ty;
	const int col = (int)blockIdx.x * TILE + tx;
	const int load_col = (int)blockIdx.x * TILE + ty; /* x and y change roles for this load */
	float sum = 0.0f;

	for (int p = 0; p < K; p += TILE) {
		As[ty][tx] = row < M && p + tx < K ? A[row * K + p + tx] : 0.0f; //@ load-A
		/* lane tx reads down column load_col: neighbours in memory */
		Bs[tx][ty] = p + tx < K && load_col < N ? B[load_col * K + p + tx] : 0.0f; //@ load-B
		__syncthreads(); //@ wait-loaded
		for (int k = 0; k < TILE; k++)
			sum += As[ty][k] * Bs[k][tx]; //@ fma
		__syncthreads(); //@ wait-used
	}
	if (row < M && col < N)
		C[row * N + col] = sum; //@ store
}

extern "C" __global__ void sgemm_v8_coarsened(const float *A, const float *B, float *C,
                                              int M, int N, int K)
{
	__shared__ float As[TILE][TILE], Bs[TILE][TILE];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int row = (int)blockIdx.y * TILE + ty;
	const int col0 = (int)blockIdx.x * TILE * COARSE + tx;
	float sum[COARSE] = {};

	for (int p = 0; p < K; p += TILE) {
		/* once per phase, for all COARSE tiles of B */
		As[ty][tx] = row < M && p + tx < K ? A[row * K + p + tx] : 0.0f; //@ load-A
#pragma unroll
		for (int c = 0; c < COARSE; c++) {
			const int col = col0 + c * TILE;
			Bs[ty][tx] = p + ty < K && col < N ? B[(p + ty) * N + col] : 0.0f; //@ load-B
			__syncthreads(); //@ wait-loaded
			for (int k = 0; k < TILE; k++)
				sum[c] += As[ty][k] * Bs[k][tx]; //@ fma
			__syncthreads(); //@ wait-used
		}
	}
#pragma unroll
	for (int c = 0; c < COARSE; c++) {
		const int col = col0 + c * TILE;
		if (row < M && col < N)
			C[row * N + col] = sum[c]; //@ store
	}
}

extern "C" __global__ void sgemm_v9_two_rows(const float *A, const float *B, float *C,
                                             int M, int N, int K)
{
	__shared__ float As[2 * TILE][TILE], Bs[TILE][TILE];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int row0 = (int)blockIdx.y * 2 * TILE; /* the block's tile of C is 2 * TILE rows high */
	const int row = row0 + 2 * ty;               /* this thread: rows row and row + 1 */
	const int col = (int)blockIdx.x * TILE + tx;
	float upper = 0.0f, lower = 0.0f;

	for (int p = 0; p < K; p += TILE) {
		for (int i = ty; i < 2 * TILE; i += TILE)
			As[i][tx] = row0 + i < M && p + tx < K ? A[(row0 + i) * K + p + tx] : 0.0f; //@ load-A
		Bs[ty][tx] = p + ty < K && col < N ? B[(p + ty) * N + col] : 0.0f; //@ load-B
		__syncthreads(); //@ wait-loaded
		for (int k = 0; k < TILE; k++) {
			const float b = Bs[k][tx]; //@ shared-B
			upper += As[2 * ty][k] * b;     //@ fma
			lower += As[2 * ty + 1][k] * b; //@ fma
		}
		__syncthreads(); //@ wait-used
	}
	if (row < M && col < N)
		C[row * N + col] = upper; //@ store
	if (row + 1 < M && col < N)
		C[(row + 1) * N + col] = lower; //@ store
}

extern "C" __global__ void sgemm_v10_no_load_barrier(const float *A, const float *B, float *C,
                                                     int M, int N, int K)
{
	__shared__ float As[TILE][TILE], Bs[TILE][TILE];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int row = (int)blockIdx.y * TILE + ty;
	const int col = (int)blockIdx.x * TILE + tx;
	float sum = 0.0f;

	for (int p = 0; p < K; p += TILE) {
		As[ty][tx] = row < M && p + tx < K ? A[row * K + p + tx] : 0.0f;   //@ load-A
		Bs[ty][tx] = p + ty < K && col < N ? B[(p + ty) * N + col] : 0.0f; //@ load-B
		/* a barrier is missing here: other warps may not have stored yet (read after write) */
		for (int k = 0; k < TILE; k++)
			sum += As[ty][k] * Bs[k][tx]; //@ fma
		__syncthreads(); //@ wait-used
	}
	if (row < M && col < N)
		C[row * N + col] = sum; //@ store
}

extern "C" __global__ void sgemm_v11_no_use_barrier(const float *A, const float *B, float *C,
                                                    int M, int N, int K)
{
	__shared__ float As[TILE][TILE], Bs[TILE][TILE];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int row = (int)blockIdx.y * TILE + ty;
	const int col = (int)blockIdx.x * TILE + tx;
	float sum = 0.0f;

	for (int p = 0; p < K; p += TILE) {
		As[ty][tx] = row < M && p + tx < K ? A[row * K + p + tx] : 0.0f;   //@ load-A
		Bs[ty][tx] = p + ty < K && col < N ? B[(p + ty) * N + col] : 0.0f; //@ load-B
		__syncthreads(); //@ wait-loaded
		for (int k = 0; k < TILE; k++)
			sum += As[ty][k] * Bs[k][tx]; //@ fma
		/* a barrier is missing here: a fast warp overwrites tiles in use (write after read) */
	}
	if (row < M && col < N)
		C[row * N + col] = sum; //@ store
}

#endif /* the device half; the host half is sgemm.c */
