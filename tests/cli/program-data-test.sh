#!/bin/sh
# The memory of a program's launch: seen, set, compared and written; the launch with another block;
# a launch counted in a sample of its blocks.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip program-data: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
# has NAME WORDS...: every one of them is in the output.
has() {
	name=$1
	shift
	for words; do
		grep -qF -e "$words" out || {
			not_ok "$name" "no '$words' in: $(sed -n '/^Buffers/,$p' out) $(cat err)"
			return 1
		}
	done
	ok "$name"
}
cat >p.cu <<'EOF'
#include <cstdio>
#include <cstdlib>
namespace own { __constant__ float coef[3]; }
__device__ int over;
struct pair { float *to; int n; };
__global__ void poly(int n, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		y[i] = own::coef[0] + x[i] * (own::coef[1] + x[i] * own::coef[2]);
		if (y[i] > 100)
			atomicAdd(&over, 1);
	}
}
template <typename T> __global__ void scale(T *v, T by, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		v[i] *= by;
}
__global__ void fill(pair p)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < p.n)
		p.to[i] = i == 7 ? NAN : 2 * i;
}
__global__ void chain(volatile int *turn)
{
	while (*turn != (int)blockIdx.x)
		;
	__threadfence();
	*turn = blockIdx.x + 1;
}
int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 100;
	float *x, *y;
	double *d;
	int *turn;
	cudaMallocManaged(&x, n * sizeof *x);
	cudaMalloc(&y, n * sizeof *y);
	cudaMalloc(&d, n * sizeof *d);
	cudaMalloc(&turn, sizeof *turn);
	for (int i = 0; i < n; i++)
		x[i] = i;
	cudaMemset(d, 0, n * sizeof *d);
	cudaMemset(turn, 0, sizeof *turn);
	poly<<<(n + 63) / 64, 64>>>(n, x, y);
	scale<<<(n + 63) / 64, 64>>>(d, 2.0, n);
	fill<<<(n + 63) / 64, 64>>>(pair{ y, n });
	chain<<<40, 1>>>(turn);
	cudaDeviceSynchronize();
	cudaFree(x), cudaFree(y), cudaFree(d), cudaFree(turn);
	printf("done\n");
}
EOF
nvcc -lineinfo -cudart shared -o p p.cu || exit 1
run data-as-it-was 0 run p.cu --launch 1 --dump x,y,coef,over
has data-as-it-was-shown 'x: 100 f32, min 0, max 99, mean 49.5' 'y: 100 f32, min 0, max 0' \
	'coef: 3 f32' 'over: 1 i32, min 0'
grep -q 'us now' out && not_ok data-alone "nothing was changed" || ok data-alone
run data-set 0 run ./p --launch 1 --set 'coef=1,2,3;over=5' --dump y,over,y-x
# 1 + 2 i + 3 i^2: largest 29602; above 100 from i = 6 on: 94 of them, added to 5
has data-set-shown 'y: 100 f32, min 1, max 29602' 'over: 1 i32, min 99' \
	'against x: 100 of 100 differ' 'us now'
run data-block 0 run p.cu --launch 1 --block 32 --set 'x=2;coef=1' --dump y
has data-block-shown 'grid 4x1x1, block 32x1x1' 'y: 100 f32, min 7, max 7'
# a grid and shared memory of its own; a grid that is asked for does not follow the block
run data-grid 0 run p.cu --launch 1 --grid 1 --set 'x=1;coef=1' --dump y
has data-grid-shown 'grid 1x1x1, block 64x1x1' 'y: 100 f32, min 0, max 3' ' 36 zero'
run data-grid-stays 0 run p.cu --launch 1 --grid 2 --block 32 --set 'x=1;coef=1' --dump y
has data-grid-stays-shown 'grid 2x1x1, block 32x1x1' ' 36 zero'
# a block of two dimensions keeps its proportions, and both of the grid follow
cat >two.cu <<'EOF'
__global__ void one(int *x, int w, int h)
{
	const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
	if (c < w && r < h)
		x[r * w + c]++;
}
int main()
{
	int *x;
	cudaMalloc(&x, 100 * 50 * sizeof *x);
	cudaMemset(x, 0, 100 * 50 * sizeof *x);
	one<<<dim3(7, 4), dim3(16, 16)>>>(x, 100, 50);
	cudaDeviceSynchronize();
	cudaFree(x);
}
EOF
run data-two-dimensions 0 run two.cu --launch 1 --block 512 --dump x
has data-two-dimensions-shown 'grid 4x4x1, block 32x16x1' 'x: 5000 i32, min 1, max 1'
run data-two-smaller 0 run two.cu --launch 1 --block 64 --dump x
has data-two-smaller-shown 'grid 14x8x1, block 8x8x1' 'x: 5000 i32, min 1, max 1'
run data-shared 0 run p.cu --launch 1 --shared 4k --json
same data-shared-bytes 4096 "$(field out metrics launch.shared_bytes_per_block value)"
for words in '--shared 1M' '--grid 0' '--grid 2x2' '--grid two' '--launches 1..2'; do
	# shellcheck disable=SC2086
	run "data-refused-$words" 2 run p.cu --launch 1 $words
done
grep -q 'one of them says which launches' err && ok data-one-of-them || not_ok data-one-of-them "$(cat err)"
run data-of-several 2 run p.cu --launches 1..2 --dump y
run data-csv-of-several 2 run p.cu --launches 1..2 --csv
run data-csv 0 run p.cu --launch 1 --block 32 --csv
same data-csv-value 32 "$(sed -n 's/^launch.block_threads,\([^,]*\),.*/\1/p' out)"
run data-csv-as-it-was 0 run p.cu --launch 1 --csv
same data-csv-own 64 "$(sed -n 's/^launch.block_threads,\([^,]*\),.*/\1/p' out)"
same data-csv-alone 5 "$(python3 -c 'import csv; print(*{len(r) for r in csv.reader(open("out"))})')"
run data-type 0 run p.cu --launch 2 --dump v,v=u8
has data-type-shown 'v: 100 f64' 'v: 800 u8'
run data-inside 0 run p.cu --launch 3 --dump p,p=f32:npy:y.npy
has data-inside-shown 'p: 100 f32, min 0, max 198' '1 NaN, 0 infinite (the first at [7])' 'y.npy'
run data-from-file 0 run p.cu --launch 1 --set 'x=@y.npy;coef=0,1,0' --dump y-@y.npy
has data-from-file-shown 'against y.npy: 0 of 100 differ'
run data-json 0 run p.cu --launch 1 --set coef=2 --dump y --json
same data-json-name y "$(field out buffers 0 name)"
same data-json-first 2.0 "$(field out buffers 0 first 0)"
run data-longest 0 run p.cu --kernel scale --dump v
has data-longest-shown 'v: 100 f64, min 0'
for words in 'coef=1,2' 'coef' 'nothing=1' 'x=word'; do
	run "data-refused-$words" 2 run p.cu --launch 1 --set "$words"
done
run data-no-file 3 run p.cu --launch 1 --set x=@none.npy
run data-no-buffer 2 run p.cu --launch 1 --dump z
grep -q 'buffers: x, y, .*coef.*, mem' err && ok data-names-them || not_ok data-names-them "$(cat err)"
run data-no-type 2 run p.cu --launch 1 --dump y=f33
run data-block-two 2 run p.cu --launch 1 --block 16x16
run data-set-alone 2 run vec_add --set x=1
# a sample counts what all blocks count, where they are alike; the program's result needs them all
run sample-all 0 run p.cu --launch 1 --no-races --level ptx --json -- 64000
all=$(field out metrics inst.warp_executed value)
run sample-some 0 run p.cu --launch 1 --sample 100 --level ptx --dump y --json -- 64000
near sample-near "$all" "$(field out metrics inst.warp_executed value)" 2
same sample-origin sampled "$(field out metrics inst.warp_executed origin)"
same sample-whole 64000 "$(field out buffers 0 count)"
run sample-machine 0 run p.cu --launch 1 --sample 100 --json -- 64000
same sample-machine-origin sampled "$(field out metrics inst.warp_executed origin)"
# blocks that wait for others cannot be a sample
run sample-chain 0 run p.cu --launch 4 --sample 4 --level ptx --json
same sample-chain-origin counted "$(field out metrics inst.warp_executed origin)"
# a launch whose kernel launches another runs again with it
cat >n.cu <<'CUDA'
#include <cstdio>
__global__ void child(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 5; }
__global__ void parent(int *x)
{
	x[threadIdx.x] = threadIdx.x;
	if (threadIdx.x == 0)
		child<<<1, 32, 0, cudaStreamTailLaunch>>>(x);
}
int main()
{
	int *x;
	cudaMalloc(&x, 128);
	parent<<<1, 32>>>(x);
	cudaDeviceSynchronize();
	cudaFree(x);
}
CUDA
run nested 0 run n.cu -rdc=true --launch 1 --dump x
has nested-runs 'x: 32 i32, min 5, max 36'
run nested-set 0 run n.cu -rdc=true --launch 1 --set x=7 --dump x
has nested-runs-changed 'x: 32 i32, min 5, max 36'
