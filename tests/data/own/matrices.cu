// Matrix kernels as courses write them.
#include <cuda_runtime.h>
#include <stdio.h>
#define TILE_WIDTH 16
#define IDX(row, col, ld) ((row) * (ld) + (col))
const int BLOCK_ROWS = 8;

__global__ void MatrixMulKernel(float *M, float *N, float *P, int Width)
{
	int Row = blockIdx.y * blockDim.y + threadIdx.y;
	int Col = blockIdx.x * blockDim.x + threadIdx.x;
	if (Row < Width && Col < Width) {
		float value = 0;
		for (int k = 0; k < Width; ++k)
			value += M[Row * Width + k] * N[k * Width + Col];
		P[Row * Width + Col] = value;
	}
}

__global__ void matmul_shared(const float *A, const float *B, float *C, int M, int N, int K)
{
	__shared__ float As[TILE_WIDTH][TILE_WIDTH];
	__shared__ float Bs[TILE_WIDTH][TILE_WIDTH];
	int row = blockIdx.y * TILE_WIDTH + threadIdx.y, col = blockIdx.x * TILE_WIDTH + threadIdx.x;
	float sum = 0;
	for (int t = 0; t < (K + TILE_WIDTH - 1) / TILE_WIDTH; t++) {
		int a = t * TILE_WIDTH + threadIdx.x, b = t * TILE_WIDTH + threadIdx.y;
		As[threadIdx.y][threadIdx.x] = row < M && a < K ? A[IDX(row, a, K)] : 0;
		Bs[threadIdx.y][threadIdx.x] = b < K && col < N ? B[IDX(b, col, N)] : 0;
		__syncthreads();
		for (int k = 0; k < TILE_WIDTH; k++)
			sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
		__syncthreads();
	}
	if (row < M && col < N)
		C[IDX(row, col, N)] = sum;
}

__global__ void transpose_naive(float *odata, const float *idata, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < width && y < height)
		odata[x * height + y] = idata[y * width + x];
}

__global__ void transpose_tiled(float *odata, const float *idata, int nx, int ny)
{
	__shared__ float tile[32][33];
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	for (int j = 0; j < 32; j += BLOCK_ROWS)
		if (x < nx && y + j < ny && threadIdx.y < BLOCK_ROWS && threadIdx.x < 32)
			tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * nx + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
	for (int j = 0; j < 32; j += BLOCK_ROWS)
		if (x < ny && y + j < nx && threadIdx.y < BLOCK_ROWS && threadIdx.x < 32)
			odata[(y + j) * ny + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void matvec(const double *A, const double *x, double *y, int rows, int cols)
{
	int r = blockIdx.x * blockDim.x + threadIdx.x;
	if (r >= rows)
		return;
	double s = 0;
	for (int c = 0; c < cols; c++)
		s += A[r * cols + c] * x[c];
	y[r] = s;
}

__global__ void fixed_rows(float (*a)[64], float b[][64], int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		b[i][i % 64] = a[i][0];
}

extern "C" __global__ void saxpy(int n, float a, float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = a * x[i] + y[i];
}

namespace blas {
namespace detail {
__global__ void dot(const float *x, const float *y, float *result, int n)
{
	__shared__ float cache[256];
	float t = 0;
	for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
		t += x[i] * y[i];
	cache[threadIdx.x] = t;
	__syncthreads();
	for (int i = blockDim.x / 2; i; i /= 2) {
		if (threadIdx.x < i)
			cache[threadIdx.x] += cache[threadIdx.x + i];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		atomicAdd(result, cache[0]);
}
} // namespace detail
__global__ void scale(float *x, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] *= a;
}
__global__ void scale(double *x, double a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] *= a;
}
} // namespace blas

void host(float *d_x, float *d_y, int n)
{
	dim3 block(256), grid((n + 255) / 256);
	saxpy<<<grid, block>>>(n, 2.0f, d_x, d_y);
	blas::scale<<<grid, block>>>(d_x, 1.0f, n);
	cudaDeviceSynchronize();
	printf("done\n");
}
