#!/bin/sh
# Counts of machine code by source line: what a header's function does is the line's that calls it,
# not that of the program's own line with the header's number.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip header-lines: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
export XDG_CACHE_HOME="$dir/cache"
cat >sum.cu <<'EOF2'
#include "exchange.h"
#include <cstdio>
__global__ void sum(unsigned long long *x)
{
	unsigned long long v = x[threadIdx.x];
	for (int k = 16; k; k /= 2)
		v += exchange(v, k);
	if (threadIdx.x == 0)
		atomicAdd(x + 32, v);
}
int main()
{
	unsigned long long *x;
	cudaMallocManaged(&x, 33 * sizeof *x);
	for (int i = 0; i < 32; i++)
		x[i] = i + 1;
	x[32] = 0;
	sum<<<1, 32>>>(x);
	cudaDeviceSynchronize();
	printf("%llu\n", x[32]);
	return cudaFree(x);
}
EOF2
{
	printf '\n%.0s' $(seq 20) # main() has line 21, too
	echo 'static __device__ unsigned long long exchange(unsigned long long v, int k) { return __shfl_down_sync(~0u, v, k); }'
} >exchange.h
printf '//\n%.0s' $(seq 500) >>sum.cu # and headers of CUDA none above
for level in ptx sass; do
	run "header-lines-runs-$level" 0 run sum.cu --launch 1 --gpu h200 --level "$level" --json
	same "header-lines-$level" '0 3 5 7 8 9 10' "$(sed -n 's/^ *"line": \([0-9]*\),*$/\1/p' out | sort -nu |
		tr '\n' ' ' | sed 's/ *$//')"
done
