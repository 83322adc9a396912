#!/bin/sh
# Kernels in the style of public code, with their host functions, macros and headers: every kernel of
# a file is listed with a command line, and each of those lines runs as it stands.
. "$(dirname "$0")/lib.sh"

if ! command -v nvcc >/dev/null; then
	echo 'skip suggest: no nvcc here to compile them'
	exit 0
fi
cp "$TEST_ROOT"/tests/data/own/* "$dir" && cd "$dir" || exit 1
lines=0

# Every suggestion for file $1, of which there are $2.
try_file()
{
	"$PMPP" run "$1" >"$dir/list" 2>&1
	grep '^    pmpp-explore ' "$dir/list" | sed 's/^ *pmpp-explore/run/' >"$dir/lines"
	same "$1-lines" "$2" "$(grep -c . "$dir/lines")"
	while IFS= read -r line; do
		lines=$((lines + 1))
		if eval "\"\$PMPP\" $line" >"$dir/out" 2>"$dir/err" </dev/null; then
			ok "$1-$lines"
		else
			not_ok "$1-$lines" "$line: $(tail -3 "$dir/err")"
		fi
	done <"$dir/lines"
}
try_file layers.cu 9
try_file matrices.cu 10
try_file types.cu 14
try_file scans.cu 16
try_file forty.cu 40
if [ "$lines" -ge 60 ]; then ok sixty; else not_ok sixty "$lines lines"; fi

nvcc -ptx -arch=compute_80 scans.cu -o scans.ptx
try_file scans.ptx 16

# one kernel is asked about: its launch is guessed, and said
run one 0 run types.cu --kernel linked
says one-says 'guessed: --grid, --block' "pmpp-explore types.cu --kernel linked --grid count/block --block 256"
# a template's number that is called as blocks are is the block's size
cat >sum.cu <<'EOF'
template <typename T, int B> __global__ void sum(const T *x, T *out, int n)
{
	__shared__ T s[B];
	const int t = threadIdx.x, i = blockIdx.x * B + t;
	s[t] = i < n ? x[i] : T(0);
	__syncthreads();
	for (int d = B / 2; d; d /= 2) {
		if (t < d)
			s[t] += s[t + d];
		__syncthreads();
	}
	if (!t)
		out[blockIdx.x] = s[0];
}
EOF
run template-block 0 run sum.cu
says template-block-says "--kernel 'sum<float,256>' --grid n/block --block 256"
# types.cu does not say it: -D, -I and -std go to the compiler
mkdir headers
echo '#define GAIN 3' >headers/gain.h
cat >options.cu <<'EOF'
#include "gain.h"
__global__ void k(float *x, int n) { int i = threadIdx.x; if (i < n) x[i] *= GAIN + BIAS; }
EOF
run options 0 run options.cu -I headers -DBIAS=2 -std=c++17 --kernel k --grid 1x1x1 --block 32x1 n=32 'x=f32[n]:1'
run options-missing 1 run options.cu -DBIAS=2 --kernel k --grid 1 --block 32 n=32 'x=f32[n]'
says options-missing-says gain.h
run options-typo 2 run options.cu --gird 1
says options-typo-says "did you mean '--grid'"

# contents: files, ranges, pointers into other buffers, no pointer at all
cat >contents.cu <<'EOF'
__global__ void check(const float *x, const float *y, const int *z, float *out, const float *none, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	if (x[i] != i + 1 || y[i] != x[i + 1] || z[i] < -3 || z[i] >= 4 || none)
		__trap();
	out[i] = x[i];
}
EOF
printf '1,2,3\n4,5,6\n7,8,9\n' >x.csv
run contents 0 run contents.cu --grid 1 --block n x=@x.csv y=x+1 'z=i32[n]:rand(-3,4)' 'out=f32[n]:out' none=null n=8
run contents-wrong 1 run contents.cu --grid 1 --block n x=@x.csv y=x 'z=i32[n]:rand(-3,4)' 'out=f32[n]:out' none=null n=8
run contents-short 2 run contents.cu --grid 1 --block 8 'x=f32[20]:@x.csv' y=x 'z=i32[n]' 'out=f32[n]' none=null n=8
says contents-short-says x.csv 9 20
run contents-absent 3 run contents.cu --grid 1 --block 8 x=@absent.npy y=x 'z=i32[n]' 'out=f32[n]' none=null n=8
says contents-absent-says "'x'" absent.npy

# what a launch left in its buffers
cat >dump.cu <<'EOF'
__global__ void twice(const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = i == 5 ? 0.0f / 0.0f * x[i] : 2 * x[i];
}
EOF
twice="dump.cu --grid 1 --block 32 n=32 x=f32[4,8]:iota y=f32[4,8]:out"
# shellcheck disable=SC2086
{
run dump 0 run $twice --dump y-x
if grep -q '^y: 32 f32, min 0, max 62, .* 1 zero, 1 NaN, 0 infinite (the first at \[5\])' "$dir/out" &&
	grep -q 'against x: 31 of 32 differ, the first at \[1\]' "$dir/out"; then
	ok dump-figures
else
	not_ok dump-figures "$(tail -5 "$dir/out")"
fi
run dump-json 0 run $twice --dump x,y --json
same dump-json-nan 1 "$(field "$dir/out" buffers 1 nan)"
same dump-json-first 14.0 "$(field "$dir/out" buffers 1 first 7)"
run dump-npy 0 run $twice --dump x:npy:x.npy,x:csv,x:raw:x.bin,x:text
same dump-csv 8,9,10,11,12,13,14,15 "$(sed -n 2p x.csv)"
same dump-text '24 25 26 27 28 29 30 31' "$(tail -1 x.txt)"
same dump-raw 128 "$(wc -c <x.bin | tr -d ' ')"
for file in x.npy x.csv x.txt x.bin; do
	run "dump-again-$file" 0 run dump.cu --grid 1 --block 32 n=32 "x=@$file" 'y=f32[n]:out' --dump x-@x.npy
	if grep -q 'against x.npy: 0 of 32 differ' "$dir/out"; then ok "dump-same-$file"; else not_ok "dump-same-$file" "$(tail -3 "$dir/out")"; fi
done
run dump-unknown 2 run $twice --dump z
says dump-unknown-says "no buffer 'z'" 'x, y'
run dump-form 2 run $twice --dump y:bmp
says dump-form-says "no form 'bmp'" npy
}
