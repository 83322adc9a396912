#!/bin/sh
# Relocatable device code (nvcc -rdc=true): functions and variables of one file used in another.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip relocatable: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
cat >both.cuh <<'EOF'
template <class T> __device__ __noinline__ T twice(T x) { return x + x; }
extern __device__ int scale(int);
extern __device__ int table[4];
extern __constant__ int offset[2];
void set_offset();
EOF
cat >main.cu <<'EOF'
#include "both.cuh"
#include <cstdio>
static __device__ int own[4] = { 5, 6, 7, 8 };
__global__ void use(int *p)
{
	int i = threadIdx.x;
	p[i] = twice(scale(i) + table[i] + offset[1]) + own[i];
	if (i == 3)
		printf("here %d\n", p[i]);
}
int main()
{
	int *x;
	cudaMallocManaged(&x, 16);
	set_offset();
	use<<<1, 4>>>(x);
	cudaDeviceSynchronize();
	printf("%d %d %d %d %s\n", x[0], x[1], x[2], x[3], cudaGetErrorString(cudaGetLastError()));
	cudaFree(x);
}
EOF
cat >other.cu <<'EOF'
#include "both.cuh"
#include <cstdio>
__device__ int table[4] = { 10, 20, 30, 40 };
__constant__ int offset[2];
static __device__ int own;
__device__ int scale(int i)
{
	if (atomicAdd(&own, 1) == 0)
		printf("there %d\n", i);
	return twice(3 * i);
}
void set_offset()
{
	int v[2] = { 0, 1000 };
	cudaMemcpyToSymbol(offset, v, sizeof v);
}
EOF
text='there 0 here 2124 2025 2058 2091 2124 no error'
run relocatable 0 launches main.cu other.cu -rdc=true
same relocatable-output "$text" "$(tr '\n' ' ' <"$dir/out" | sed 's/ $//')"
limits_hold 20000000 || {
	echo 'skip relocatable-static: with a sanitizer in it the runtime takes no program that has its own'
	exit 0
}
nvcc -rdc=true -arch=sm_80 main.cu other.cu -o static 2>/dev/null
run relocatable-static 0 launches ./static
same relocatable-static-output "$text" "$(tr '\n' ' ' <"$dir/out" | sed 's/ $//')"
