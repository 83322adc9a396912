#!/bin/sh
# __constant__ and __device__ variables: a kernel's launch sets and shows them; what was never set is told, of
# programs too.
. "$(dirname "$0")/lib.sh"
cd "$dir" || exit 1
cat >taps.cu <<'EOF'
#include <cuda_runtime.h>
#define N 2
__constant__ float taps[N][2];
static __constant__ int shift, given = 3;
__device__ unsigned int calls;
#ifdef NOT_THERE
__device__ int unused_one;
#endif
namespace inside { __constant__ double weight[3]; }
__device__ float half_of(float v) { return v / 2; }
__global__ void weigh(float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = half_of(taps[i / 2 % 2][i % 2]) + shift + given + (float)inside::weight[0];
	atomicAdd(&calls, 1);
}
__global__ void plain(float *y) { y[threadIdx.x] = threadIdx.x; }
EOF
launch='taps.cu --backend emu --kernel weigh --grid 2 --block 32 n=64 y=f32[n]:zero'
first() { field "$dir/out" buffers "$1" first "$2"; }
# shellcheck disable=SC2086
{
run set-list 0 run $launch taps=2,4,6,8 shift=10 weight=0.5 calls=100 --dump y,calls,taps --json
same set-list-result '14.5 15.5 16.5 17.5 14.5' "$(first 0 0) $(first 0 1) $(first 0 2) $(first 0 3) $(first 0 4)"
same variable-after-launch 164.0 "$(first 1 0)"
same constant-shown '2.0 8.0' "$(first 2 0) $(first 2 3)"
run set-as-buffer 0 run $launch taps=f32[4]:6 shift=0 weight=1,1,1 --dump y --json
same set-as-buffer-result 7.0 "$(first 0 3)"
printf '2 4 6 8\n' >taps.txt
run set-by-file 0 run $launch taps=@taps.txt shift=1 weight=0 --dump y --json
same set-by-file-result '5.0 8.0' "$(first 0 0) $(first 0 3)"
run fewer-are-enough 0 run $launch taps=2 shift=0 weight=0 --dump y --json
same rest-is-zero '4.0 3.0' "$(first 0 0) $(first 0 1)"
run too-many 2 run $launch taps=1,2,3,4,5
says too-many-says "'taps' has 16 bytes, the launch gives 20" '4 elements'
run no-number 2 run $launch taps=1,x
says no-number-says "'taps': '1,x' is no list of numbers" 'taps=1,2.5,3'
run no-such-variable 2 run $launch tapes=1
says no-such-variable-says "'tapes'" "did you mean 'taps'?"
run unused-variable 2 run $launch unused_one=1
says unused-variable-says "no variable 'unused_one'"
run told 0 run $launch taps=1
grep -q "constant 'shift' was never set" out && ! grep -q "'taps' was never" out && ! grep -q "'given'" out &&
	ok told-what-was-never-set || not_ok told-what-was-never-set "$(head -n 6 out)"
run told-mangled 0 run $launch taps=1 shift=1
grep -q "weight.*was never set" out && ok told-in-a-namespace || not_ok told-in-a-namespace "$(head -n 6 out)"
run other-kernel 0 run taps.cu --backend emu --kernel plain --grid 1 --block 32 y=f32[32]:zero
grep -q 'never set' out && not_ok other-kernel-is-not-told "$(head -n 6 out)" || ok other-kernel-is-not-told
# a snapshot keeps them
run kept 0 export $launch taps=2,4,6,8 shift=10 weight=0.5 --out kept.json
run kept-again 0 export kept.json --format md --out -
}
command -v nvcc >/dev/null || {
	echo 'skip variables-of-programs: no nvcc here to compile programs'
	exit 0
}
# types that the file names itself; a pointer into a buffer of which the kernel has a const one, too
cat >named.cu <<'EOF'
typedef float real;
using weight = real;
__constant__ weight taps[3];
__global__ void shift(const real *x, real *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] * taps[1]; }
EOF
run named-type 0 run named.cu --kernel shift --grid 1 --block 32 n=4 'x=f32[n]:iota' 'y=f32[n]:zero' taps=1,2,3 --dump y
grep -q '^  0 2 4 6$' out && ok named-type-set || not_ok named-type-set "$(tail -n 3 out)"
run alias-written 0 run named.cu --kernel shift --grid 1 --block 32 n=2 'x=f32[4]:iota' 'y=x+2' taps=1,2,3 --dump x
grep -q '^  0 1 0 2$' out && ok alias-written-seen || not_ok alias-written-seen "$(tail -n 3 out)"
cat >prog.cu <<'EOF'
__constant__ float coef[4];
__constant__ int by_address;
__constant__ int given = 3;
__global__ void k(float *y) { y[threadIdx.x] = coef[threadIdx.x & 3] + by_address + given; }
int main(int argc, char **argv)
{
	float *d, h[4] = { 1, 2, 3, 4 };
	int one = 1;
	void *at;
	cudaMalloc(&d, 128);
	if (argc > 1)
		cudaMemcpyToSymbol(coef, h, sizeof h);
	if (argc > 2) {
		cudaGetSymbolAddress(&at, by_address);
		cudaMemcpy(at, &one, sizeof one, cudaMemcpyHostToDevice);
	}
	k<<<1, 32>>>(d);
	k<<<1, 32>>>(d);
	cudaFree(d);
	return cudaGetLastError();
}
EOF
# in the list of faults and in that of their launch
told() { grep -c '"kind": "never-set"' "$dir/out"; }
run program-told 0 launches prog.cu --json
same program-two-are-told 4 "$(told)"
same program-is-a-remark false "$(field "$dir/out" faults 0 error)"
run program-sets-one 0 launches prog.cu --json -- 1
same program-one-is-told 2 "$(told)"
grep -q "constant 'by_address'" out && ok program-names-it || not_ok program-names-it "$(grep never out)"
run program-sets-both 0 launches prog.cu --json -- 1 2
same program-nothing-to-tell 0 "$(told)"
