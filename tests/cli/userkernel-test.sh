#!/bin/sh
# A person's own CUDA file: launched from the command line, refused with what is missing, faults and compile
# errors with their line.
. "$(dirname "$0")/lib.sh"

cd "$dir" || exit 1
cat >my.cu <<'EOF'
// kernels and host code in one file, as people write them
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#include <stdint.h>
#include <assert.h>

#ifndef STEP
#define STEP 1
#endif
struct Timer { cudaEvent_t a, b; };
__device__ float twice(float v) { return 2.0f * v; }

__global__ void saxpy(int n, float a, const float *__restrict__ x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i * STEP] = a * x[i] + twice(y[i]);
}

__global__ void past(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x + 1]; }
__global__ void checks(int n, uint32_t *y) { assert(threadIdx.x < n); y[threadIdx.x] = n; }
__global__ void early(float *y) { __shared__ float s[64]; s[threadIdx.x] = 0; __syncthreads(); s[threadIdx.x] = 1; y[threadIdx.x] = s[63 - threadIdx.x]; }
template <typename T> __global__ void copy(const T *in, T *out) { out[threadIdx.x] = in[threadIdx.x]; }

int main()
{
	std::vector<float> h(1024);
	saxpy<<<4, 256>>>(1024, 2.0f, h.data(), h.data());
	printf("%f\n", h[0]);
}
EOF
launch='--kernel saxpy --grid n/block --block 256 n=100k a=1.5 x=f32[n]:rand y=f32[n]:rand'

# shellcheck disable=SC2086
{
run own-runs 0 run my.cu $launch --json
same own-kernel my "$(field "$dir/out" kernel)"
same own-variant saxpy "$(field "$dir/out" variant)"
same own-param-n 102400 "$(field "$dir/out" params n)"
same own-param-block 256 "$(field "$dir/out" params block)"
same own-grid 400 "$(field "$dir/out" launch grid 0)"
same own-no-reference 'no reference' "$(field "$dir/out" check state)"
same own-not-verified false "$(field "$dir/out" verified)"
same own-loads 6400 "$(field "$dir/out" metrics mem.ld_requests value)"
same own-loads-coalesced 4 "$(field "$dir/out" metrics mem.ld_sectors_per_request value)"
run own-text 0 run my.cu $launch
if grep -q 'no reference: the result is not verified' "$dir/out"; then ok own-text-says; else not_ok own-text-says "$(cat "$dir/out")"; fi
run own-export 0 export my.cu $launch --out one.json
run own-export-again 0 export one.json --format csv --out -
if grep -q '^my,saxpy,A100-SXM4-40GB,mem.ld_requests,6400,requests,counted' "$dir/out"; then
	ok own-export-reads
else
	not_ok own-export-reads "$(head -30 "$dir/out")"
fi
sed 's/"--grid",/"--grod",/' one.json >two.json
run own-export-broken 2 export two.json --out -
says own-export-broken-says two.json selection.own --grid
run own-macro 1 run my.cu --define STEP=2 --kernel saxpy --grid n/block --block 128 n=1k a=1 'x=[n]' 'y=[2*n]:iota' --json
same own-macro-param 2 "$(field "$dir/out" params STEP)"
same own-macro-stores 8 "$(field "$dir/out" metrics mem.st_sectors_per_request value)"
run own-matrix 1 run my.cu --kernel saxpy --grid 1 --block 32,4 n=32 a=0 'x=f32[8,16]' 'y=f32[n,1]'
sed '/^int main/,$d' my.cu >part.cu
# templates are for nvcc
nvcc=$(command -v nvcc || true)
copy=copy
[ -z "$nvcc" ] || copy='copy<float>('
run own-no-kernels 2 run part.cu
says own-lists part.cu:14: 'saxpy(int n, float a, const float *__restrict__ x, float *y)' part.cu:24: "$copy" \
	'pmpp-explore part.cu --kernel saxpy --grid n/block --block 256 n=1M'
run own-screen-too 2 part.cu
says own-screen-lists 'saxpy(int n'
run own-path-too 2 ./part.cu
says own-path-lists 'saxpy(int n' 'pmpp-explore ./part.cu --kernel saxpy'
run own-program-screen 3 my.cu
says own-program-says 'no usable terminal'
# what is not said of one kernel's launch is guessed, and named; the rest is as it was said
run own-no-grid 0 run my.cu --kernel saxpy --block 32
says own-no-grid-says 'guessed: --grid, n, a, x, y' "my.cu --kernel saxpy --grid n/32 --block 32 n=1M"
run own-no-argument 0 run my.cu --kernel saxpy --grid 1 --block 32 n=4 a=2 'x=f32[n]'
says own-no-argument-says 'guessed: y' "--grid 1 --block 32 n=4 a=2 'x=f32[n]' 'y=f32["
run own-guess-kept 0 run my.cu --kernel saxpy --grid 1 --block 32 n=4 a=2 --json
same own-guess-note 'not said, so guessed: x, y' "$(field "$dir/out" run note)"
run own-guess-typed 2 run my.cu --kernel saxpy --grid 1 --block 32 m=4
says own-guess-typed-says "no parameter 'm'"
# nothing is to be guessed of a launch that is whole
run own-whole 0 run my.cu --kernel saxpy --grid 1 --block 32 n=4 a=2 'x=f32[n]' 'y=f32[n]'
if grep -q guessed "$dir/out" "$dir/err"; then not_ok own-whole-silent guessed; else ok own-whole-silent; fi
}
# the line that is proposed works as it is
proposed=$("$PMPP" run part.cu --kernel saxpy 2>&1 | sed -n 's/^  pmpp-explore //p')
if [ -n "$proposed" ] && eval "\"\$PMPP\" run $proposed" >"$dir/out" 2>"$dir/err"; then
	ok own-proposed
else
	not_ok own-proposed "$proposed: $(cat "$dir/err")"
fi

run own-wrong-kernel 2 run my.cu --kernel saxpi --grid 1 --block 1
says own-wrong-kernel-says "no kernel 'saxpi'" saxpy
run own-wrong-argument 2 run my.cu --kernel saxpy --grid 1 --block 1 n=1 a=1 'x=f32[1]' 'z=f32[1]'
says own-wrong-argument-says "no parameter 'z'"
run own-wrong-type 2 run my.cu --kernel saxpy --grid 1 --block 1 n=1 a=1 'x=f64[1]' 'y=f32[1]'
says own-wrong-type-says "'x'" f64
run own-wrong-name 2 run my.cu --kernel saxpy --grid m/32 --block 32 n=1 a=1 'x=f32[1]' 'y=f32[1]'
says own-wrong-name-says grid "no name 'm'" 'n, block'
if [ -n "$nvcc" ]; then
run own-template 0 run part.cu --kernel 'copy<double>' --grid 1 --block 32 'in=f64[32]:iota' 'out=f64[32]:out'
run own-template-arguments 1 run part.cu --kernel 'copy<nonsense>' --grid 1 --block 32 'in=f64[32]' 'out=f64[32]'
says own-template-arguments-says nonsense
else
	echo 'skip own-template: no nvcc here'
fi
run own-block 2 run my.cu --kernel saxpy --grid 1 --block 2048 n=1 a=1 'x=f32[1]' 'y=f32[1]'
says own-block-says 1024
run own-absent 3 run absent.cu
says own-absent-says absent.cu
run own-options-alone 2 run vec_add --grid 4
says own-options-alone-says --grid 'file of your own'
printf 'void host(void) { }\n' >none.cu
run own-none 2 run none.cu
says own-none-says none.cu __global__

# what stops a run names the line of the file
cat >pairs.cu <<'EOF'
struct pair { float a, b; };
__global__ void sums(pair *p, float *y) { *y = p->a + threadIdx.x; }
EOF
if [ -n "$nvcc" ]; then # a structure as parameter is for nvcc
	run own-race 1 run pairs.cu --kernel sums --grid 1 --block 64 'p=f32[16]:rand' 'y=f32[2]:zero'
	says own-race-names-the-kernel 'pairs.cu:2: sums: global-memory race'
else
	echo 'skip own-race: no nvcc here'
fi
run own-bounds 1 run my.cu --kernel past --grid 1 --block 32 'x=f32[32]' 'y=f32[32]'
says own-bounds-says my.cu:21 'out of bounds' 'x[32]' 'thread (31,0,0)'
run own-assert 1 run my.cu --kernel checks --grid 1 --block 32 n=16 'y=u32[32]'
says own-assert-says my.cu:22 trap
run own-race 1 run my.cu --kernel early --grid 1 --block 64 'y=f32[64]'
says own-race-says my.cu:23 early
run own-race-off 0 run my.cu --kernel early --grid 1 --block 64 'y=f32[64]' --no-races
run own-race-both 2 run my.cu --kernel early --grid 1 --block 64 'y=f32[64]' --no-races --races
says own-race-both-says --races --no-races
run own-race-many 1 run my.cu --kernel early --grid 9000 --block 64 'y=f32[64]' --json
same own-race-kind race "$(field "$dir/out" run faults 0 kind)"
same own-race-blocks 9000 "$(field "$dir/out" run races blocks)"
[ "$(field "$dir/out" run races blocks_checked)" -lt 9000 ] && ok own-race-part || not_ok own-race-part all
run own-race-all 1 run my.cu --kernel early --grid 9000 --block 64 'y=f32[64]' --races
grep -q 'races looked for in every block' "$dir/out" && ok own-race-every || not_ok own-race-every -
cat >dynamic.cu <<'END'
__global__ void dynamic(int *y) { extern __shared__ int s[]; s[threadIdx.x] = 1; y[threadIdx.x] = s[threadIdx.x]; }
__global__ void share(int *y, int n) { y[threadIdx.x] = 100 / (n - (int)threadIdx.x); }
END
run own-no-dynamic 1 run dynamic.cu --kernel dynamic --grid 1 --block 32 'y=i32[32]'
says own-no-dynamic-says dynamic.cu:1 'out of bounds' '--shared BYTES'
run own-dynamic 0 run dynamic.cu --kernel dynamic --grid 1 --block 32 --shared 128 'y=i32[32]'
run own-division 1 run dynamic.cu --kernel share --grid 1 --block 32 n=9 'y=i32[32]' --json
same own-division-kind division "$(field "$dir/out" run faults 0 kind)"
says own-division-says dynamic.cu:2 'division by zero' 'thread (9,0,0)'
sed 's/if (i < n)/if (i < n) __syncthreads();/' my.cu >stuck.cu
run own-barrier 1 run stuck.cu --kernel saxpy --grid 1 --block 64 n=40 a=0 'x=f32[64]' 'y=f32[64]'
says own-barrier-says stuck.cu:17 saxpy
run own-unwritten 1 run my.cu --kernel saxpy --grid 1 --block 32 n=16 a=0 'x=f32[32]' 'y=f32[32]:out'
says own-unwritten-says my.cu:18 'y['
sed 's/twice(y\[i\])/thrice(y[i])/' my.cu >broken.cu
# shellcheck disable=SC2086
run own-compile-error 1 run broken.cu $launch
says own-compile-error-says broken.cu:18 thrice
# what is wrong in the source comes before what is not said of the launch
if [ -n "$nvcc" ]; then # which alone is asked for that
	printf '__global__ void k(int *a)\n{\n\ta[0] = nowhere;\n}\n' >wrong.cu
	run own-compile-error-first 1 run wrong.cu
	says own-compile-error-first-says wrong.cu:3 nowhere
else
	echo 'skip own-compile-error-first: no nvcc here'
fi

# a file with a descriptor of its own: variants, reference and cost, as the built-in ones
root=${TEST_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
sed 's/kernel_latency/kernel_mine/; s/\.name = "latency"/.name = "mine"/' "$root/kernels/latency.cu" >mine.cu
printf '/* struct kernel_desc kernel_evil = */\n// struct kernel_desc kernel_evil =\nconst char *s = "struct kernel_desc kernel_evil =";\n' >comment.cu
printf '__attribute__((constructor)) static void evil(void) { }\n__global__ void k(int *p) { *p = 1; }\n' >>comment.cu
run plugin-in-a-comment 0 run comment.cu
says plugin-in-a-comment-says 'guessed: --grid, --block, p'
cat mine.cu - >evil.cu <<'EOT'
#ifndef __CUDACC__
#include <stdlib.h>
__attribute__((constructor)) static void evil(void) { system("touch ran"); }
#endif
EOT
run plugin-unasked 2 run evil.cu
says plugin-unasked-says evil.cu: kernel_mine --plugin
run plugin-unasked-screen 2 evil.cu
run plugin-unasked-sweep 2 sweep evil.cu block=64,128
run plugin-unasked-sass 2 sass evil.cu
if [ -e ran ]; then not_ok plugin-unasked-runs-nothing 'its constructor ran'; else ok plugin-unasked-runs-nothing; fi
run plugin-runs 0 run mine.cu --plugin --json
same plugin-kernel mine "$(field "$dir/out" kernel)"
same plugin-variant chase "$(field "$dir/out" variant)"
same plugin-verified true "$(field "$dir/out" verified)"
run plugin-variant-named 0 run mine.cu --plugin --kernel ticket block=64 --json
same plugin-second ticket "$(field "$dir/out" variant)"
same plugin-param 64 "$(field "$dir/out" params block)"
run plugin-sweep 0 sweep mine.cu --plugin block=64,128
run plugin-no-variant 2 run mine.cu --plugin --kernel tiket
says plugin-no-variant-says "'tiket'" chase ticket
run plugin-no-param 2 run mine.cu --plugin blok=64
says plugin-no-param-says "'blok'" "did you mean 'block'"
run plugin-no-launch 2 run mine.cu --plugin --grid 4
says plugin-no-launch-says kernel_mine --grid
cp "$root/kernels/latency.cu" latency.cu
run plugin-same-name 0 run latency.cu --plugin --json
same plugin-other-name own_latency "$(field "$dir/out" kernel)"
# every built-in file with a descriptor finds what it calls
for file in $(grep -l '^const struct kernel_desc kernel_' "$root"/kernels/*.cu); do
	built_in=$(basename "$file" .cu)
	cp "$file" own.cu
	run "plugin-of-$built_in" 2 run own.cu --plugin --kernel none
	says "plugin-of-$built_in-loads" "no variant 'none'"
done
sed 's/N_PARAMS };/N_PARAMS }/' mine.cu >worse.cu
run plugin-compile-error 1 run worse.cu --plugin
says plugin-compile-error-says worse.cu: 'expected'
sed 's/fill_uniform_u32\|kernel_launch_legal/no_such_function/' mine.cu >missing.cu
run plugin-unknown-function 1 run missing.cu --plugin
says plugin-unknown-function-says no_such_function
# a mistake in the file is no reason to install a compiler
echo '__global__ void wrong(float *y) { y[threadIdx.x] = nonsense; }' >wrong.cu
cp "$PMPP" alone
PMPP_NO_SYSTEM_CUDA=1 ./alone run wrong.cu --kernel wrong --grid 1 --block 32 'y=f32[32]:zero' --backend emu >out 2>err
if grep -q nonsense err; then
	! grep -q programs-compiler err && ok mistake-without-nvcc || not_ok mistake-without-nvcc "$(cat err)"
else
	echo 'skip mistake-without-nvcc: no NVRTC outside of the build here'
fi
rm alone

# what only one architecture has is compiled for that (sm_90a), and an older GPU says which to choose
cat >newest.cu <<'EOF'
__global__ void newest(float *y)
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
	y[threadIdx.x] = threadIdx.x;
}
EOF
if command -v nvcc >/dev/null; then
	run newest 0 run newest.cu --kernel newest --grid 1 --block 128 'y=f32[128]:zero' --gpu h100 --backend emu
	run newest-elsewhere 1 run newest.cu --kernel newest --grid 1 --block 128 'y=f32[128]:zero' --gpu a100 --backend emu
	says newest-elsewhere-says '--gpu h100' "not supported on .target 'sm_80'"
fi
mkdir empty
PATH_WAS=$PATH
PATH=$dir/empty
run plugin-no-compiler 3 run mine.cu --plugin
PATH=$PATH_WAS
says plugin-no-compiler-says cc 'C compiler'
