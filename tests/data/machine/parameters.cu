// Parameters and constants at places that are worked out, lane by lane and in loops, and pointers to
// either: what PTX and machine code print of them is compared (tests/cli/machine-code-test.sh).
#include <cstdio>
struct numbers {
	int a[40];
	double d[6];
	char c[24];
	short s[8];
	float4 f[3];
};
__constant__ int table[64];
__constant__ double halves[16] = { 1.5, 2.5 };
__constant__ float4 fours[8];
__constant__ unsigned char bytes[100] = { 7, 8, 9 };

__global__ void of_lanes(numbers n, int *o)
{
	const int i = threadIdx.x;
	o[i] = n.a[i % 40] + (int)n.d[i % 6] + n.c[i * 7 % 24] + n.s[i % 8] + (int)n.f[i % 3].y;
	o[i] += table[i * 5 & 63] + (int)halves[i & 15] + (int)fours[i & 7].z + bytes[i % 100];
	o[i] += *(const short *)(bytes + (i & ~1));
}
__global__ void in_loops(numbers n, int *o, int k)
{
	int sum = 0;
	for (int j = 0; j < k; j++)
		sum += n.a[j] * table[j] + (int)halves[j & 15] + bytes[j];
	for (int j = 0; j < k; j++)
		sum = 3 * sum + n.a[j];
	o[threadIdx.x] = sum;
}
__device__ __noinline__ int called(const numbers &n, int i)
{
	return n.a[i % 40] + n.c[i % 24];
}
__global__ void pointers(const __grid_constant__ numbers n, int *o)
{
	const int *p = threadIdx.x & 1 ? table : n.a;
	o[threadIdx.x] = called(n, threadIdx.x) + p[threadIdx.x & 31];
}
static void print(const char *name, const int *o)
{
	printf("%s %s", name, cudaGetErrorString(cudaDeviceSynchronize()));
	for (int i = 0; i < 64; i++)
		printf(" %d", o[i]);
	puts("");
}
int main()
{
	numbers n = {};
	int *o, t[64];
	float4 f[8];
	for (int i = 0; i < 64; i++) {
		t[i] = 3 * i + 1;
		n.a[i % 40] = i * i;
		n.d[i % 6] = i * 2.5;
		n.c[i % 24] = (char)(i - 9);
		n.s[i % 8] = (short)(-i * 300);
		n.f[i % 3] = make_float4(i, i + 10, i + 20, i + 30);
		f[i % 8] = make_float4(1, 2, 3 * i, 4);
	}
	cudaMemcpyToSymbol(table, t, sizeof t);
	cudaMemcpyToSymbol(fours, f, sizeof f);
	cudaMallocManaged(&o, 256);
	of_lanes<<<1, 64>>>(n, o);
	print("lanes", o);
	in_loops<<<1, 64>>>(n, o, 33);
	print("loops", o);
	pointers<<<1, 64>>>(n, o);
	print("pointers", o);
	cudaFree(o);
}
