// Errors on purpose: each is answered as the real runtime answers it, and the program goes on.
#include "check.h"
__global__ void one(int *x) { *x = 1; }
__global__ void __launch_bounds__(128) bounded(int *x) { *x = 2; }

static void tell(const char *what)
{
	cudaError_t e = cudaGetLastError();
	printf("%s: %s (%s)\n", what, cudaGetErrorName(e), cudaGetErrorString(e));
}

int main()
{
	int *x, host = 0;
	CHECK(cudaMalloc(&x, 4));
	one<<<1, 2048>>>(x);
	tell("2048 threads");
	one<<<0, 32>>>(x);
	tell("no blocks");
	one<<<1, 32, 1 << 20>>>(x);
	tell("1 MiB of shared memory");
	one<<<dim3(1, 70000), 32>>>(x);
	tell("70000 blocks in y");
	void *p = nullptr;
	cudaError_t e = cudaMalloc(&p, (size_t)1 << 60);
	printf("an exbyte: %s\n", cudaGetErrorName(e));
	tell("it is also the last error");
	e = cudaMemcpy(&host, x, 4, (cudaMemcpyKind)17);
	printf("direction 17: %s\n", cudaGetErrorName(e));
	e = cudaSetDevice(99);
	printf("device 99: %s\n", cudaGetErrorName(e));
	cudaGetLastError();
	one<<<1, 1>>>(x);
	tell("a good launch");
	CHECK(cudaMemcpy(&host, x, 4, cudaMemcpyDeviceToHost));
	CHECK(cudaFree(x));
	return finish("launch_errors", host == 1);
}
