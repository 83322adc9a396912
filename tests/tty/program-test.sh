#!/bin/sh
# A whole program in the screen: built and run, its launches in all panels, its output; edited in
# another terminal it runs again and shows what moved; errors, cancel, and no process left behind.
. "$(dirname "$0")/tmux.sh"

command -v nvcc >/dev/null 2>&1 || {
	echo 'skip program: no nvcc here to compile programs'
	exit 0
}
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-program-XXXXXX") || exit 1
trap 'finish; rm -rf "$work"' EXIT
cat >"$work/good.cu" <<'CUDA'
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
template <int N> __global__ void scale_by(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = N * x[i];
}
__global__ void strided(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i * 33 % n];
}
int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 100000, bytes = n * sizeof(float);
	float *x, *y, *h = (float *)calloc(n, sizeof(float));
	cudaMalloc(&x, bytes);
	cudaMalloc(&y, bytes);
	cudaMemcpy(x, h, bytes, cudaMemcpyHostToDevice);
	for (int k = 0; k < 3; k++)
		scale_by<2><<<(n + 255) / 256, 256>>>(x, n);
	strided<<<(n + 127) / 128, 128>>>(x, y, n);
	cudaMemcpy(h, y, bytes, cudaMemcpyDeviceToHost);
	printf("elements %d\n", n);
	fprintf(stderr, "a word on stderr\n");
	cudaFree(x);
	cudaFree(y);
	if (argc > 2)
		sleep(1000);
	return 0;
}
CUDA
cp "$work/good.cu" "$work/two.cu"
start 24 80
type "cd $work && $PMPP two.cu -O1 --gpu h200 -- 50000"
check program-opens see '1 *Launches'
check program-runs see '4 launches' 120
check program-group see 'scale_by<2> *196 . 256 *3'
check program-exit see 'exit 0'
check program-copies see 'copies  H2D 1 . 195 KiB pageable'
check program-output see 'stdout . elements 50000'
press j
check program-chosen see 'two / strided'
press 7
check program-source see '^▸ *14 .*out\[i\] = in\[i \* 33 % n\]'
press 5
check program-coalescing see 'in\[i \* 33'
press 6
check program-timeline see 'GPU from first to last'
press 0
check program-stderr see '! a word on stderr'
# the memory of the chosen launch, by names
press /
see filter && type 'panel data'
check data-buffers see '▸ in *f32 *50 000 .* 0 *0'
press j
check data-of-another see '▸ out *f32 *50 000'
check data-head see '^ *\[0\]  0  *0'
press 1
press Enter
check program-expanded see 'H2D pageable *195 KiB'
press Escape
# another block size: this launch alone runs again, from its memory; back, the record is its own
press Right
press +
check knob-runs see 'block \[256\].*grid 196'
check knob-grid-follows see 'block \[256\].*grid 196  shared 0 *no ref'
check knob-alone see 'this launch alone'
press 2
check knob-in-panels see '▲ now 256'
press -
check knob-back see 'no reference . 391 blocks'
# the grid by itself, and shared memory
press Right
press +
check knob-grid see 'grid \[512\]'
press Right
press +
check knob-shared see 'shared \[1024\]'
check knob-shared-alone see 'this launch alone'
press - Left - Left
check knobs-both see 'block \[128\].*grid 256  shared 0'
press 1
# Backspace: what the launch itself had; undone, the list still stands on the launch
press Right
press BSpace
check knob-own see 'block 128  grid \[391\]'
press u
check knob-undone see 'block 128  grid \[256\]'
check knob-undone-row see '▸2 *4 strided'
press BSpace
press Left
press Up
press +
check knob-of-another see 'block \[512\].*grid 98'
press BSpace
check knob-own-of-another see 'block \[256\].*grid 196'
press Left
# saved in another terminal: it is built and run again
sed 's/i \* 33 % n/i/' "$work/good.cu" >"$work/two.cu"
check program-moved see 'was each' 120
check program-faster see 'strided .*us ▲'
sed 's/N \* x/N x/' "$work/good.cu" >"$work/two.cu"
check program-error-line see 'two.cu(8): error' 120
press 0
check program-error-caret see '^ *^'
cp "$work/good.cu" "$work/two.cu"
press 1
check program-recovers see 'strided .*us ▼' 120
press e
check program-written see 'written: two-launches-h200-'
press_q
check program-restored restored
check program-announced see 'two.cu .* runs here as a program, with your rights'
check program-file sh -c "$PMPP diff $work/two-launches-*.json $work/two-launches-*.json >/dev/null"
# a macro is a knob: compiled and run again, undone like any other; the line that gives this screen
cat >"$work/turned.cu" <<'CUDA'
#ifndef BLOCK
#define BLOCK 128
#endif
__global__ void fill(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = BLOCK; }
int main()
{
	int *x;
	cudaMalloc(&x, 4096 * sizeof *x);
	fill<<<4096 / BLOCK, BLOCK>>>(x);
	cudaDeviceSynchronize();
	return cudaFree(x);
}
CUDA
cd "$work" || exit 1
type "clear; $PMPP turned.cu --gpu h200"
check macro-opens see 'exit 0' 120
press Left
press +
check macro-compiled see 'block 256  grid 16 .*BLOCK \[256\]' 120
check macro-moved see 'was each' 60
press y
press Enter
check macro-line see 'pmpp-explore run --launch 1'
check macro-in-line see 'turned.cu -DBLOCK=256'
press u
check macro-undone see 'block 128  grid 32 .*BLOCK \[128\].*no ref' 120
press_q
check macro-restored restored
cd - >/dev/null || exit 1
# an executable with arguments; a run that does not end is cancelled, and leaves no process
# (shared: a runtime with a sanitizer in it takes no program that has its own)
nvcc -O1 -cudart shared -o "$work/sleeper" "$work/good.cu" 2>/dev/null
type "clear; $PMPP ./sleeper 4096 wait --gpu h200"
# nobody_runs WORDS: no process whose command line begins with these
nobody_runs() {
	for line in /proc/[0-9]*/cmdline; do
		case $({ tr '\0' ' ' <"$line"; } 2>/dev/null) in
		"$1"*) return 1 ;;
		esac
	done
}
# ended WORDS: waits until nobody does
ended() {
	for _ in $(seq 400); do
		! nobody_runs "$1" || return 0
		sleep 0.05
	done
	return 1
}
check executable-runs see 'running: launches 4' 60
check executable-nothing-to-turn eval '! screen | grep -q "block [0-9]"'
check executable-found eval '! nobody_runs "./sleeper 4096"'
press c
check executable-cancelled see 'cancelled' 20
check executable-ended ended './sleeper 4096'
press r
check executable-again see 'running' 20
press_q
check executable-restored restored
cat >"$work/square.cu" <<'CUDA'
__global__ void __launch_bounds__(256) bound(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void square(int *x) { x[threadIdx.y * blockDim.x + threadIdx.x] = 1; }
int main()
{
	int *x;
	cudaMalloc(&x, 4096);
	bound<<<4, 256>>>(x);
	square<<<1, dim3(8, 8)>>>(x);
	cudaDeviceSynchronize();
	cudaFree(x);
}
CUDA
type "clear; $PMPP square.cu --gpu h200"
check refused-opens see '2 launches' 60
press Right
press +
check refused-bounds see '__launch_bounds__ of bound allow 256 threads'
press j
press +
check square-keeps-proportions see 'block 16×8'
explorer=$(program)
kill -9 "$explorer"
check killed-none-left ended square.cu
start 24 80
type "cd $work"
check executable-none-left ended './sleeper 4096'
# a file without main() is still a kernel with a launch of its own
type "clear; sed '/^int main/,\$d' good.cu > part.cu; $PMPP part.cu --gpu h200 | head -n 3"
check kernel-file see 'no --grid\|--kernel\|--grid' 20
# one that the usual GPU is too old for: where none was asked for it is built and run for a newer one
cat >"$work/cluster.cu" <<'CUDA'
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) ranks(int *out)
{
	out[blockIdx.x] = 10 + cg::this_cluster().block_rank();
}
int main()
{
	int *out;
	cudaMallocManaged(&out, 8);
	ranks<<<2, 32>>>(out);
	cudaDeviceSynchronize();
	printf("ranks %d %d\n", out[0], out[1]);
	return cudaFree(out);
}
CUDA
type "clear; $PMPP cluster.cu"
check newer-runs see 'exit 0' 120
check newer-output see 'ranks 10 11'
check newer-gpu see 'H100'
press g
check newer-choices see filter
type 'a100'
check newer-refused see 'not supported for this GPU' 60
press_q
check newer-restored restored
