/* uncounted KERNEL N: N launches of it, each on memory that was changed, so that none repeats
 * another; see uncounted.sh. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

static const int n = 1 << 20;

__global__ void saxpy(float *y, const float *x)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	y[i] = 2 * x[i] + y[i];
}

__global__ void gather(int *y, const int *x, const int *from)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	y[i] += x[from[i] & (n - 1)];
}

__global__ void histogram(int *bins, const unsigned char *x)
{
	__shared__ int own[256];
	own[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4 * n; i += gridDim.x * blockDim.x)
		atomicAdd(&own[x[i]], 1);
	__syncthreads();
	atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void grey(unsigned char *x)
{
	const int i = 3 * (blockIdx.x * blockDim.x + threadIdx.x);
	const int v = (x[i] * 77 + x[i + 1] * 150 + x[i + 2] * 29) >> 8;
	x[i] = (unsigned char)v;
	x[i + 1] = (unsigned char)(v + 1);
	x[i + 2] = (unsigned char)(v + 2);
}

__global__ void own_array(float *y)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	float a[16];
	int at = (int)y[i] & 15;
	for (int k = 0; k < 16; k++)
		a[k] = y[i] + (float)k;
	for (int k = 0; k < 16; k++)
		at = ((int)a[at] + k) & 15;
	y[i] = a[at];
}

int main(int argc, char **argv)
{
	const char *kernel = argc > 1 ? argv[1] : "saxpy";
	const int launches = argc > 2 ? atoi(argv[2]) : 1, blocks = n / 256;
	int *a, *b, *from, *host = (int *)malloc(n * sizeof(int));
	cudaMalloc(&a, n * sizeof(int));
	cudaMalloc(&b, n * sizeof(int));
	cudaMalloc(&from, n * sizeof(int));
	for (int i = 0; i < n; i++)
		host[i] = (int)((unsigned)i * 2654435761u % n);
	cudaMemcpy(from, host, n * sizeof(int), cudaMemcpyHostToDevice);
	cudaMemset(a, 0, n * sizeof(int));
	cudaMemset(b, 0, n * sizeof(int));
	for (int i = 0; i < launches; i++) {
		cudaMemset(a + i, i + 1, 1);
		cudaMemset(b + i, i + 1, 1);
		cudaMemset(from + i, i + 1, 1);
		if (!strcmp(kernel, "saxpy"))
			saxpy<<<blocks, 256>>>((float *)a, (float *)b);
		else if (!strcmp(kernel, "gather"))
			gather<<<blocks, 256>>>(a, b, from);
		else if (!strcmp(kernel, "histogram"))
			histogram<<<64, 256>>>(a, (unsigned char *)from);
		else if (!strcmp(kernel, "grey"))
			grey<<<blocks, 256>>>((unsigned char *)from);
		else
			own_array<<<blocks, 256>>>((float *)a);
	}
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	cudaFree(a), cudaFree(b), cudaFree(from), free(host);
}
