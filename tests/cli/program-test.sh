#!/bin/sh
# One launch of a whole program, or a few: run and launches with --launch, --launches, --kernel;
# a kernel in a header; a binary without lines; nothing left behind when the explorer is killed.
. "$(dirname "$0")/lib.sh"
# shows NAME WORDS...: every one of them is in the output.
shows() {
	name=$1
	shift
	for words; do
		grep -qF -e "$words" "$dir/out" || {
			not_ok "$name" "no '$words' in: $(head -n 20 "$dir/out")"
			return 1
		}
	done
	ok "$name"
}
nvcc=$(command -v nvcc || true)
[ -n "$nvcc" ] || {
	echo 'skip program: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
mkdir inc
cat >inc/header.cuh <<'EOF'
template <typename T> __global__ void twice(T *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	x[i + (i == n)] = 2 * x[i];
}
EOF
cat >two.cu <<'EOF'
#include "inc/header.cuh"
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
__global__ void own(float *x) { x[threadIdx.x] += 1; }
int main(int argc, char **argv)
{
	float *x;
	int n = argc > 1 ? atoi(argv[1]) : 256;
	cudaMalloc(&x, n * sizeof *x);
	cudaMemset(x, 0, n * sizeof *x);
	own<<<1, 32>>>(x);
	own<<<1, 64>>>(x);
	for (int i = 0; i < 3; i++)
		twice<float><<<n / 64, 64>>>(x, n);
	cudaDeviceSynchronize();
	printf("n %d\n", n);
	fflush(stdout);
	if (argc > 2)
		sleep(1000);
	cudaFree(x);
	return 0;
}
EOF
run one-launch 0 run two.cu --gpu h200 --launch 2
shows one-launch-named 'n 256' 'Launch 2 of two.cu' 'two/own: own(float*)' 'grid 1x1x1, block 64x1x1'
# again with a block of two dimensions: the grid follows in each; or with a grid of its own
run block-shape 1 run two.cu --gpu h200 --launch 3 --block 8,4
shows block-shape-named 'Launch 3 of two.cu, again and alone' 'block=32 grid=32' 'grid 32x1x1, block 8x4x1' 'race: '
run grid-shape 1 run two.cu --gpu h200 --launch 3 --grid 2,3 --block 16,2,2
shows grid-shape-named 'block=64 grid=6' 'grid 2x3x1, block 16x2x2'
run no-executable 2 launches ./nobody
says no-executable-named "there is no file './nobody'" 'prog.cu, ./a.out'
run block-words 2 run two.cu --gpu h200 --launch 3 --block 8,x
says block-words-named "option '--block': '8,x'" '--block 32,8'
run block-too-deep 2 run two.cu --gpu h200 --launch 3 --block 1,1,65
says block-too-deep-named 'at most 64 in z'
# a call that waits spoils the capture of its stream, which is good again behind the end of it
cat >spoiled.cu <<'EOF'
#include <cstdio>
__global__ void nothing() {}
int main()
{
	cudaStream_t s;
	cudaGraph_t g;
	cudaStreamCaptureStatus status;
	cudaStreamCreate(&s);
	cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
	nothing<<<1, 1, 0, s>>>();
	const int waits = cudaStreamSynchronize(s);
	cudaStreamIsCapturing(s, &status);
	nothing<<<1, 1, 0, s>>>();
	const int launch = cudaGetLastError(), end = cudaStreamEndCapture(s, &g);
	printf("%d %d %d %d %d", waits, status, launch, end, g != nullptr);
	cudaGetLastError();
	nothing<<<1, 1, 0, s>>>();
	printf(" %d\n", cudaStreamSynchronize(s));
	cudaStreamDestroy(s);
}
EOF
run spoiled-capture 0 launches spoiled.cu
same spoiled-capture-told '900 2 901 901 0 0' "$(cat out)"
# a program of several files: what kernels call in another one, and what is missing
cat >calls.cu <<'EOF'
#include <cstdio>
__device__ int helper(int);
__global__ void square(int *x) { *x = helper(*x); }
int main()
{
	int *x;
	cudaMallocManaged(&x, 4);
	*x = 7;
	square<<<1, 1>>>(x);
	cudaDeviceSynchronize();
	printf("%d\n", *x);
	cudaFree(x);
}
EOF
echo '__device__ int helper(int x) { return x * x; }' >helper.cu
run two-files 0 launches calls.cu helper.cu
same two-files-output 49 "$(cat out)"
says two-files-noted 'compiled with -rdc=true'
run one-of-two-files 1 launches calls.cu
says one-of-two-files-says "program's other sources"
run no-main 1 launches helper.cu
says no-main-says 'no source has a main()' 'pmpp-explore run'
for option in -c -ptx; do
	run "no-program-of$option" 2 launches two.cu $option
	says "no-program-of$option-says" 'nvcc made no program' 'leave out'
done
run longest-by-default 0 run two.cu --gpu h200 -- 1024
shows longest-named 'Launch 3 of two.cu 1024' 'two/twice<float>'
grep '^achieved occupancy' out | grep -qv ' 0.0 %' && ok nothing-is-0-for-unknown || not_ok nothing-is-0-for-unknown "$(grep '^achieved occ' out)"
# a name that the compiler did not change may be that of a type to the demangler
cat >plain.cu <<'EOF'
extern "C" __global__ void f(int *x) { x[threadIdx.x] = 1; }
extern "C" __global__ void g(int *x) { x[threadIdx.x] = 2; }
int main()
{
	int *x;
	cudaMalloc(&x, 128);
	f<<<1, 32>>>(x);
	g<<<1, 32>>>(x);
	return cudaFree(x);
}
EOF
run plain-names 0 launches plain.cu --json
same plain-name-of-a-type 'f g' "$(field out launches 0 kernel | tr -d '"') $(field out launches 1 kernel | tr -d '"')"
# exported: all launches as diff reads them, one launch as notes
run export-program 0 export two.cu --gpu h200 --out before.json -- 512
says export-names-its-file before.json
same export-launches 8 "$(field before.json launches 2 grid 0)"
run export-read 0 launches before.json
says export-read-whole 'two.cu 512' '8 · '
run export-again 0 diff before.json two.cu --gpu h200 -- 512
run export-differs 1 diff before.json two.cu --gpu h200 -- 1024
run export-notes 0 export two.cu --gpu h200 --launch 2 --format md --out notes.md
shows export-output-goes-on 'n 256'
grep -q '^# two/own on H200' notes.md && grep -q '^| threads per block | 64 |' notes.md &&
	ok export-notes-are-of-the-launch || not_ok export-notes-are-of-the-launch "$(head -n 3 notes.md)"
run export-check 0 export --check notes.md
run export-no-such-launch 2 export two.cu --gpu h200 --launch 77 --format md --out -
run export-unsigned 2 export two.cu --sign key --out x.json
run by-kernel 0 run two.cu --gpu h200 --kernel own
shows by-kernel-named 'two/own'
run by-kernel-json 0 run two.cu --gpu h200 --launch 4 --json
shows by-kernel-json-named '"variant": "twice<float>"' '"launch": 4'
# architectures: what is named beside the chosen GPU's, and the GPU that is meant by one
for arch in '-arch=sm_75' '-gencode arch=compute_75,code=sm_75' '-gencode arch=compute_80,code=sm_80'; do
	run "built for: $arch" 0 launches two.cu $arch
	says "runs on the usual GPU: $arch" 'A100'
done
run built-for-a-later-one 0 launches two.cu -arch sm_90
says runs-on-that 'H100'
run built-for-a-later-one-asked 0 launches two.cu -arch=sm_90 --gpu a100
says runs-on-the-one-asked-for 'A100'
# machine code and no PTX: the remedy is PTX of the same target
for target in 90 90a; do
	nvcc -gencode arch=compute_$target,code=sm_$target -o "only_$target" two.cu
	run "no-ptx-$target" 1 launches "./only_$target" --gpu h200
	grep -q "machine code for sm_$target only, no PTX" "$dir/err" && grep -q "nvcc -arch=compute_$target\$" "$dir/err" &&
		ok "no-ptx-$target-remedy" || not_ok "no-ptx-$target-remedy" "$(cat "$dir/err")"
done
run a-range 0 run two.cu --launches 2..4 --json
same a-range-has 3 "$(grep -c '^ *"launch": [0-9]*,*$' "$dir/out")"
run no-such-file 2 launches there/is_none.cu
says no-such-file-named "there is no file 'there/is_none.cu'"
run no-such-launch 2 run two.cu --launch 99
says no-such-launch-named 'it made 5' 'twice<float>'
run no-such-kernel 2 launches two.cu --kernel thrice
run bad-range 2 launches two.cu --launches 4..2
run launches-of-kernel 0 launches two.cu --kernel twice --csv
same launches-of-kernel-has 4 "$(wc -l <"$dir/out" | tr -d ' ')"
run stops 0 launches two.cu --stop-after 2 --csv
same stops-there 3 "$(wc -l <"$dir/out" | tr -d ' ')"
run stops-early 0 launches two.cu --stop-after 1
grep -q 'leak:' "$dir/err" && not_ok stops-early-leaks-nothing "$(cat "$dir/err")" || ok stops-early-leaks-nothing
run option-of-others 2 launches two.cu --dump x
says option-of-others-named "'--dump' is no option here" 'it belongs to: run'
run not-of-kernels 2 run vec_add --launch 2
says not-of-kernels-named 'belong to a whole program'
run of-an-unknown-option 2 run vec_add --lanuch 2
says of-an-unknown-option-named "did you mean '--launch'"

# kernels that launch kernels: built without being told how, and each names its parent
cat >nested.cu <<'END'
#include <cstdio>
__global__ void down(int x)
{
	down<<<1, 1>>>(x + 1);
	if (cudaError_t e = cudaGetLastError())
		printf("level %d: %s\n", x, cudaGetErrorName(e));
}
int main()
{
	down<<<1, 1>>>(0);
	return cudaDeviceSynchronize();
}
END
run nested 0 launches nested.cu --json
same nested-parents "0 1 2 24" "$(for i in 0 1 2 24; do
	p=$(field "$dir/out" launches $i parent)
	echo "${p:-0}"
done | tr '\n' ' ' | sed 's/ $//')"
same nested-depth 'level 24: cudaErrorLaunchMaxDepthExceeded\n' "$(field "$dir/out" stdout)"
echo '__global__ void k() { k<<<1, 1>>>(); cudaDeviceSynchronize(); } int main() {}' >waits.cu
run nested-waits 1 launches waits.cu
says nested-waits-said 'cudaStreamTailLaunch'

# two versions, kernel by kernel: from source, and from what was written of them
sed 's/n \/ 64, 64>>>/n \/ 32, 32>>>/' two.cu >new.cu
run diff-programs 1 diff two.cu new.cu --gpu h200 -- 512
shows diff-programs-names 'twice<float>' '8x1x1 64x1x1' '16x1x1 32x1x1'
run diff-same 0 diff two.cu two.cu --gpu h200
"$PMPP" launches two.cu --gpu h200 --json >a.json 2>/dev/null
"$PMPP" launches new.cu --gpu h200 --json >b.json 2>/dev/null
run diff-files 1 diff a.json b.json --json
same diff-files-moved 1 "$(grep -c '"same": false,*$' "$dir/out" | awk '{ print $1 - 1 }')"
run diff-file-and-program 0 diff a.json two.cu --gpu h200
printf '{"schema": "pmpp-explore/1", "launches": [ 1, ] }' >broken.json
run diff-broken 2 diff broken.json a.json

# a kernel in a header has its own file's lines, and its name as it was written
sed 's/(i == n)/n/' inc/header.cuh >inc/bad && mv inc/bad inc/header.cuh
run header-fault 1 launches two.cu --gpu h200
says header-fault-place 'inc/header.cuh:4: twice<float>: '
"$nvcc" -cudart shared -o bare two.cu 2>/dev/null
run without-lines 1 launches ./bare --gpu h200
says without-lines-said 'twice<float>, PTX line' 'compile with nvcc -lineinfo'

# an executable in the cache that is not ours alone is not run, and no link is written through
export XDG_CACHE_HOME="$dir/mine"
run own-program 1 launches two.cu --gpu h200
program=$(echo mine/pmpp-explore/programs/*/program)
cp bare other && cp /bin/true true
for way in 'cp true' 'ln -sf ../../../../../other'; do
	$way "$program"
	[ -h "$program" ] || chmod 777 "$program"
	run "own-program-${way%% *}" 1 launches two.cu --gpu h200
	says "own-program-${way%% *}-built" 'inc/header.cuh:4: twice<float>: '
done
cmp -s bare other && [ ! -h "$program" ] && ok own-program-no-link || not_ok own-program-no-link "$(ls -l "$program")"
chmod 777 "${program%/*}"
run own-program-folder 3 launches two.cu --gpu h200
says own-program-folder-says 'built in the cache folder' 'no folder of yours alone'

# killed, we leave no program behind
"$PMPP" launches ./bare --json -- 256 stay >/dev/null 2>&1 &
explorer=$!
tries=0
while ! awk -v parent="$explorer" '$4 == parent { print $1; found = 1 } END { exit !found }' \
	/proc/[0-9]*/stat >child 2>/dev/null && [ $tries -lt 100 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
sleep 0.5
kill -9 "$explorer"
wait "$explorer" 2>/dev/null
tries=0
while kill -0 "$(cat child)" 2>/dev/null && [ $tries -lt 50 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
[ -s child ] && ! kill -0 "$(cat child)" 2>/dev/null && echo 'ok ends-with-us' ||
	echo 'not ok ends-with-us'
