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
# one of so many blocks that each of them has hundreds of looks
cat >many.cu <<'EOF2'
#include <cstdio>
__global__ void sums(const int *in, int *out, int which)
{
	__shared__ int s[64 * 3];
	const int block = blockIdx.x, t = threadIdx.x;
	s[3 * t] = in[block * 64 + t];
	if (block != which)
		__syncthreads();
	int sum = 0;
	for (int i = 0; i < 8; i++)
		sum += s[3 * (t + i & 63)];
	out[block * 64 + t] = sum;
}
int main()
{
	const int n = 9000;
	int *in, *out;
	cudaMalloc(&in, n * 64 * 4), cudaMalloc(&out, n * 64 * 4);
	cudaMemset(in, 0, n * 64 * 4);
	sums<<<n, 64>>>(in, out, 4321);
	printf("%d\n", cudaDeviceSynchronize());
	cudaFree(in), cudaFree(out);
}
EOF2
run race-of-one-of-many 1 launches many.cu
grep -q '^! race.*sums: shared-memory race.*by block (4321,0,0)' err && ok race-of-one-of-many-is-told ||
	not_ok race-of-one-of-many-is-told "$(cat err)"
