// Copies with cp.async under predicates and of fewer bytes: what PTX and machine code print of them
// is compared (tests/cli/machine-code-test.sh).
#include <cstdio>
__global__ void k(const int *a, int *o, int n)
{
	__shared__ __align__(16) int s[256];
	int t = threadIdx.x;
	for (int i = 0; i < 4; i++)
		s[t * 4 + i] = -1;
	__syncthreads();
	unsigned d = __cvta_generic_to_shared(s + t * 4);
	asm volatile("cp.async.ca.shared.global [%0],[%1],4,%2;" ::"r"(d), "l"(a + t),
	             "r"(t < n ? 4 : 0));
	asm volatile("cp.async.ca.shared.global [%0],[%1],8,%2;" ::"r"(d + 8), "l"(a + t * 2),
	             "r"((t & 3) == 1 ? 8 : 0));
	asm volatile("cp.async.commit_group; cp.async.wait_group 0;");
	__syncthreads();
	for (int i = 0; i < 4; i++)
		o[t * 4 + i] = s[t * 4 + i];
}
__global__ void k2(const int *a, int *o, int n)
{
	__shared__ __align__(16) int s[256];
	int t = threadIdx.x;
	for (int i = 0; i < 4; i++)
		s[t * 4 + i] = -1;
	__syncthreads();
	unsigned d = __cvta_generic_to_shared(s + t * 4);
	if (t < n)
		asm volatile(
			"{.reg .pred p; setp.ne.b32 p,%2,0; @p cp.async.cg.shared.global [%0],[%1],16;}" ::"r"(
				d),
			"l"(a + t * 4), "r"(t & 1));
	asm volatile("cp.async.wait_all;");
	__syncthreads();
	for (int i = 0; i < 4; i++)
		o[t * 4 + i] = s[t * 4 + i];
}
int main()
{
	int *a, *o;
	cudaMallocManaged(&a, 4096);
	cudaMallocManaged(&o, 4096);
	for (int i = 0; i < 1024; i++)
		a[i] = i * 3 + 1;
	for (int q = 0; q < 2; q++) {
		if (q)
			k2<<<1, 64>>>(a, o, 37);
		else
			k<<<1, 64>>>(a, o, 37);
		printf("%s", cudaGetErrorString(cudaDeviceSynchronize()));
		for (int i = 0; i < 256; i++)
			printf(" %d", o[i]);
		puts("");
	}
}
