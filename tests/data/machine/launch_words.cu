// What a launch makes the same for all threads: bytes of shared memory, multiprocessors, the number of
// the launch. What PTX and machine code print of it is compared (tests/cli/machine-code-test.sh).
#include <cstdio>
#define WORD(name)                                         \
	asm volatile("mov.u32 %0, %%" name ";" : "=r"(v)); \
	out[k++] = v
__global__ void words(unsigned *out)
{
	extern __shared__ unsigned own[];
	__shared__ unsigned fixed[24];
	unsigned v, k = 0;
	own[threadIdx.x] = fixed[threadIdx.x % 24] = threadIdx.x;
	__syncthreads();
	if (threadIdx.x)
		return;
	WORD("dynamic_smem_size");
	WORD("total_smem_size");
	WORD("nsmid");
	WORD("gridid");
	WORD("nctaid.x");
	WORD("ntid.y");
	out[k] = own[7] + fixed[5];
}
int main()
{
	unsigned *out;
	cudaMallocManaged(&out, 8 * sizeof *out);
	for (int n = 1; n < 3; n++) {
		words<<<n, dim3(32, n), 512 * n>>>(out);
		cudaDeviceSynchronize();
		for (int i = 0; i < 7; i++)
			printf("%u ", out[i]);
		printf("%s\n", cudaGetErrorString(cudaGetLastError()));
	}
	cudaFree(out);
}
