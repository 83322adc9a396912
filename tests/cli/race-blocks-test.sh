#!/bin/sh
# Races that only few of very many blocks show: of one block alone, and of blocks one above the
# other.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip race-blocks: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
cat >few.cu <<'EOF'
#include <cstdio>
#include <cstdlib>
/* one block forgets its barrier */
__global__ void one_forgets(int *out, int which)
{
	__shared__ int s[128];
	const int block = blockIdx.y * gridDim.x + blockIdx.x, t = threadIdx.x;
	s[t] = t;
	if (block != which)
		__syncthreads();
	out[block * 128 + t] = s[127 - t];
}
/* each takes what the block below stores in the same launch */
__global__ void from_below(int *x)
{
	const int i = (blockIdx.y * gridDim.x + blockIdx.x) * 128 + threadIdx.x;
	x[i] = blockIdx.y + 1 < gridDim.y ? x[i + gridDim.x * 128] + 1 : 7;
}
/* and what it has stored itself */
__global__ void from_itself(int *x)
{
	const int i = (blockIdx.y * gridDim.x + blockIdx.x) * 128 + threadIdx.x;
	x[i] = x[i] + 1;
}
int main(int, char **arg)
{
	const dim3 grid(64, 1600);
	int *x;
	cudaMalloc(&x, sizeof(int) * 128 * grid.x * grid.y);
	cudaMemset(x, 0, sizeof(int) * 128 * grid.x * grid.y);
	switch (atoi(arg[1])) {
	case 0: one_forgets<<<dim3(90, 100), 128>>>(x, 4321); break;
	case 1: from_below<<<grid, 128>>>(x); break;
	case 2: from_itself<<<grid, 128>>>(x); break;
	}
	printf("%d\n", cudaDeviceSynchronize());
	cudaFree(x);
}
EOF
nvcc -arch=sm_80 -lineinfo -cudart shared -o few few.cu || exit 1
run race-of-one-block 1 launches ./few -- 0
grep -q '^! race.*one_forgets: shared-memory race.*by block (1,48,0)' err && ok race-of-one-block-is-told ||
	not_ok race-of-one-block-is-told "$(cat err)"
run race-with-the-block-below 1 launches ./few -- 1
grep -q '^! race.*from_below: global-memory race' err && ok race-with-the-block-below-is-told ||
	not_ok race-with-the-block-below-is-told "$(cat err)"
run race-of-none 0 launches ./few -- 2
grep -q 'race (launch' err && not_ok race-of-none-is-told "$(cat err)" || ok race-of-none-is-told
