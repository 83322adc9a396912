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

# Functions of another file that call further ones, twice, and themselves: as machine code, too.
cat >calls.cu <<'EOF'
#include <cstdio>
extern __device__ int table[32];
__device__ int weigh(int x);
__device__ int rest(int x);
__device__ int fib(int x);
__global__ void all(int *p)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	p[i] = weigh(i) + table[i & 31] + rest(i) + fib(i % 7);
}
__global__ void few(int *p) { p[threadIdx.x] = table[threadIdx.x & 3] + (threadIdx.x & 1 ? weigh(2) : 0); }
int main()
{
	int *x, sum = 0;
	cudaMallocManaged(&x, 256 * sizeof *x);
	all<<<2, 128>>>(x);
	cudaDeviceSynchronize();
	for (int i = 0; i < 256; i++)
		sum += x[i];
	few<<<1, 64>>>(x);
	cudaDeviceSynchronize();
	for (int i = 0; i < 64; i++)
		sum += x[i];
	printf("sum %d\n", sum);
	cudaFree(x);
}
EOF
cat >called.cu <<'EOF'
__device__ int table[32] = { 1, 2, 3, 4 };
__device__ __noinline__ int deeper(int x) { return x * x + table[x & 3]; }
__device__ int weigh(int x) { return deeper(x) * 3 + deeper(x + 1); }
__device__ int rest(int x) { return x > 3 ? x % 7 : x; }
__device__ int fib(int x) { return x < 2 ? x : fib(x - 1) + fib(x - 2); }
EOF
for gpu in a100 h200 b200; do
	run "linked-$gpu" 0 launches calls.cu called.cu -rdc=true --gpu $gpu --json
	same "linked-$gpu-level" 2 "$(grep -c '"level": "sm_[0-9]* machine code' "$dir/out")"
	same "linked-$gpu-same" 0 "$(grep -c '"level_note"' "$dir/out")"
done

# Strings of several files have one name: what printf() counts of each shows which it was given.
cat >a.cu <<'EOF'
#include <cstdio>
__device__ int second(int);
__device__ int third(int);
__global__ void tell(int *p)
{
	int i = threadIdx.x, n = 0;
	if (i == 1)
		n = printf("first %d\n", i);
	p[i] = n * 100 + second(i) * 10 + third(i);
}
int main()
{
	int *x;
	cudaMallocManaged(&x, 128);
	tell<<<1, 32>>>(x);
	cudaDeviceSynchronize();
	printf("%d %d %d\n", x[1], x[2], x[3]);
	cudaFree(x);
}
EOF
cat >b.cu <<'EOF'
#include <cstdio>
__device__ int second(int i) { return i == 2 ? printf("second %d %d\n", i, i + 1) : 0; }
EOF
cat >c.cu <<'EOF'
#include <cstdio>
__device__ int third(int i) { return i == 3 ? printf("third %d %d %s\n", i, i + 1, "of all") : 0; }
EOF
run strings 0 launches a.cu b.cu c.cu -rdc=true --gpu h200 --json
same strings-level 1 "$(grep -c '"level": "sm_90 machine code' "$dir/out")"
same strings-same 0 "$(grep -c '"level_note"' "$dir/out")"
same strings-output 1 "$(grep -c 'third 3 4 of all.n100 20 3.n' "$dir/out")"

# Which sums the assembler fused is not known of linked code, whose lines are those of its parts:
# as by rule.
cat >weights.cu <<'EOF'
__device__ float weight(float a, float b)
{
	return a * b - 0.25f * a;
}
EOF
cat >sums.cu <<'EOF'
#include <cstdio>
extern __device__ float weight(float a, float b);
__global__ void sums(const float *x, float *y)
{
	const int i = threadIdx.x;
	const float a = x[i], b = x[(7 * i + 1) % 64], c = x[(3 * i + 5) % 64];
	float s = weight(a, c);
	for (int k = 0; k < 5; k++) {
		s = a * b + s;
		const float t = a * c - b * b;
		s += t * t - c;
		s = s > c ? s * b - a : a - s * c;
	}
	y[i] = s;
}
int main()
{
	float h[64], *x, *y;
	unsigned bits[64], all = 0;
	for (int i = 0; i < 64; i++)
		h[i] = (float)(i * 7919 % 1000 - 500) / 617;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&y, sizeof h);
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	sums<<<1, 64>>>(x, y);
	cudaMemcpy(bits, y, sizeof bits, cudaMemcpyDeviceToHost);
	for (int i = 0; i < 64; i++)
		all = 31 * all + bits[i];
	printf("%08x\n", all);
	cudaFree(x);
	cudaFree(y);
}
EOF
run sums-ptx 0 launches weights.cu sums.cu -rdc=true --gpu h200 --level ptx
by_rule=$(cat "$dir/out")
run sums-sass 0 launches weights.cu sums.cu -rdc=true --gpu h200 --level sass
same sums-of-levels "$by_rule" "$(cat "$dir/out")"

run debug 0 launches calls.cu called.cu -rdc=true -G --gpu h200 --json
same debug-level 2 "$(grep -c '"level": "sm_90 machine code' "$dir/out")"
same debug-same 0 "$(grep -c '"level_note"' "$dir/out")"
