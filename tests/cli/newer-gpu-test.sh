#!/bin/sh
# Programs that the usual GPU is too old for: where nobody asked for one they run on a newer one, and
# it is said; where one was asked for nvcc's words and what helps.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip newer-gpu: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
export XDG_CACHE_HOME="$dir/cache"
cat >cluster.cu <<'EOF2'
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) swap_halves(int *out)
{
	__shared__ int mine;
	cg::cluster_group cluster = cg::this_cluster();
	mine = 10 + cluster.block_rank();
	cluster.sync();
	out[blockIdx.x] = *cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
	cluster.sync();
}
int main()
{
	int *out, major;
	cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
	cudaMallocManaged(&out, 8);
	swap_halves<<<2, 1>>>(out);
	cudaDeviceSynchronize();
	printf("%d: %d %d\n", major, out[0], out[1]);
	cudaFree(out);
}
EOF2
run newer 0 launches cluster.cu --json
same newer-output "9: 11 10\\n" "$(field "$dir/out" stdout)"
same newer-gpu h100 "$(field "$dir/out" gpu)"
run newer-kept 0 launches cluster.cu
same newer-kept-output '9: 11 10' "$(cat "$dir/out")"
says newer-noted 'run for one of compute capability 9.0'
run newer-not-asked 1 launches cluster.cu --gpu a100
says newer-refused 'is not supported for this GPU architecture'
says newer-remedy 'choose a newer one, --gpu h100'
run newer-not-named 1 launches cluster.cu -arch=sm_80
says newer-remedy-of-arch 'choose a newer one, --gpu h100 or -arch=sm_90a'
# PTX of tensor cores that the usual GPU has not
cat >fp8.cu <<'EOF2'
#include <cstdio>
__global__ void product(float *d)
{
	const unsigned one = 0x38383838;
	float x[4] = {};
	asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, "
	             "{%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
	             : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
	             : "r"(one));
	d[threadIdx.x] = x[0] + x[3];
}
int main()
{
	float *d;
	cudaMallocManaged(&d, 128);
	product<<<1, 32>>>(d);
	cudaDeviceSynchronize();
	printf("%g\n", d[31]);
	cudaFree(d);
}
EOF2
run newer-fp8 0 launches fp8.cu
same newer-fp8-output 64 "$(cat "$dir/out")"

# An executable for newer GPUs only
nvcc -arch=sm_90 -cudart shared -o cluster cluster.cu
run newer-executable 0 launches ./cluster
same newer-executable-output '9: 11 10' "$(cat "$dir/out")"
says newer-executable-noted 'holds no code for the usual GPU: run for the first'
run newer-executable-asked 1 launches ./cluster --gpu a100
says newer-executable-refused 'the program holds no code for compute capability 8.0'
