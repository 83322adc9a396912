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
# a race that only other values show is told of the launch that has it; one that leaves the same in
# any order of the blocks is a remark there, too
cat >later.cu <<'EOF2'
__global__ void turn(int *x, int step)
{
	__shared__ int s[128];
	const int t = threadIdx.x;
	s[t] = x[t];
	if (step < 32) /* the barrier is missing where the step is wide */
		__syncthreads();
	x[t] = s[t + step & 127];
}
__global__ void mark(int *x, int level)
{
	if (x[threadIdx.x] != level)
		x[threadIdx.x] = level;
}
int main(int n, char **)
{
	int *x;
	cudaMalloc(&x, 4096);
	for (int step = 1; n == 1 && step < 64; step *= 2) {
		cudaMemset(x, 0, 4096);
		turn<<<1, 128>>>(x, step);
	}
	for (int level = 0; n == 2 && level < 2; level++) {
		cudaMemset(x, 0, 4096);
		mark<<<4, 32>>>(x, level);
	}
	return cudaFree(x);
}
EOF2
run values-race 1 launches later.cu
grep -q '^! race (launch 6).*turn: shared-memory race' err && ok values-race-is-told ||
	not_ok values-race-is-told "$(cat err)"
run values-race-not-asked 0 launches later.cu --no-races
run values-harmless 0 launches later.cu -- marks
grep -q '^- race (launch 2).*mark' err && ok values-harmless-is-a-remark ||
	not_ok values-harmless-is-a-remark "$(cat err)"
