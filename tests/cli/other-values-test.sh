#!/bin/sh
# Launches of one kernel, grid and block that are given something else, a length, a stride, are
# counted, too, as far as the limits go: their time is their own.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip other-values: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
export XDG_CACHE_HOME="$dir/cache"
cat >lengths.cu <<'EOF2'
#include <cstdio>
__global__ void turns(float *x, int n)
{
	float v = x[threadIdx.x];
	for (int i = 0; i < n; i++)
		v = v * 0.5f + 1;
	x[threadIdx.x] = v;
}
int main()
{
	cudaEvent_t from, to;
	float *x, *y, ms[4];
	const int n[4] = { 10, 10000, 500000, 10 };
	cudaEventCreate(&from), cudaEventCreate(&to);
	cudaMalloc(&x, 1024), cudaMalloc(&y, 1024);
	cudaMemset(x, 0, 1024), cudaMemset(y, 0, 1024);
	for (int i = 0; i < 4; i++) {
		cudaEventRecord(from);
		turns<<<1, 64>>>(i < 3 ? x : y, n[i]);
		cudaEventRecord(to);
		cudaEventSynchronize(to);
		cudaEventElapsedTime(&ms[i], from, to);
	}
	printf("%d %d %d\n", ms[1] > 2 * ms[0], ms[2] > 20 * ms[1], ms[3] < ms[1]);
	cudaFree(x), cudaFree(y);
}
EOF2
run values-lengths 0 launches lengths.cu --json
same values-lengths-output '1 1 1\n' "$(field "$dir/out" stdout)"
same values-counted-by-itself '' "$(field "$dir/out" launches 2 counts_of)"
# another address is nothing else: the fourth is like the first, but in what L2 holds
for at in 0 1 2; do
	field "$dir/out" launches $at metrics inst.warp_executed value
done >instructions
same values-instructions 3 "$(sort -un instructions | wc -l)"
# one of far more values: the limit holds, and what was not counted says so
cat >many.cu <<'EOF2'
__global__ void set(int *x, int to) { *x = to; }
int main()
{
	int *x;
	cudaMalloc(&x, 4);
	for (int i = 0; i < 100; i++)
		set<<<1, 1>>>(x, i);
	return cudaFree(x);
}
EOF2
run values-many 0 launches many.cu --json
same values-limit false "$(field "$dir/out" launches 90 counts_proved)"
