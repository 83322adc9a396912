#!/bin/sh
# The verb sass (S-440): a shipped kernel, a person's file, a cubin, and what is said when it cannot be.
. "$(dirname "$0")/lib.sh"
data=$TEST_ROOT/tests/data/sass

if ! "$PMPP" sass "$data/tiny_sm_90.cubin" >"$dir/out" 2>"$dir/err"; then
	grep -q 'nvdisasm was not found' "$dir/err" && {
		echo 'skip sass: no nvdisasm here'
		exit 0
	}
fi

# instructions under their source lines, with a mix
run kernel 0 sass vec_add/per_element --gpu h200
shown() { # NAME PATTERN
	if grep -qE -e "$2" "$dir/out"; then ok "$1"; else not_ok "$1" "no '$2' in: $(head -n 30 "$dir/out")"; fi
}
shown head '^vec_add_v3_per_element \(kernel\), sm_90: [0-9]+ instructions, [0-9]+ registers'
shown parameters 'parameter 3: 4 bytes at c\[0x0\]\[0x228\]'
shown source-line '^  70 \| .*const float a = x\[i\]'
shown waits 'w- r- wait [-0-5]*[0-5][-0-5]* +FADD R[0-9]+, R[0-9]+, R[0-9]+'
shown guard ' @P0 EXIT'
shown most-live '^  most registers hold a value at 0[0-9a-f]+: [0-9]+'
shown end-reached '^ >[0-9a-f]{4} .* BRA 0x' # the loop behind the end leads to itself
shown mix 'FP32 +1 +[0-9.]+ %'
same one-function 1 "$(grep -c '(kernel)' "$dir/out")"

# the same as JSON; every figure of the first instruction
run json 0 sass vec_add/per_element --gpu h200 --json
same schema pmpp-explore/1 "$(field "$dir/out" schema)"
same architecture sm_90 "$(field "$dir/out" architecture)"
same opcode LDC "$(field "$dir/out" functions 0 instructions 0 opcode)"
same operands 'R1, c[0x0][0x28]' "$(field "$dir/out" functions 0 instructions 0 operands)"
same target null "$(field "$dir/out" functions 0 instructions 0 target)"

# without a variant: all of the family; another architecture
run family 0 sass vec_add --gpu t4
same nine-functions 9 "$(grep -c '(kernel), sm_75' "$dir/out")"
run parameter 0 sass transpose/tiled TILE=16 --gpu h200
shown tile-of-16 'transpose_v2_tiled .* 2 KiB static shared|transpose_v2_tiled .* 2.00 KiB static'

# a person's file needs no launch; a cubin no compiler
cp "$data/tiny.cu" "$dir/tiny.cu"
run file 0 sass "$dir/tiny.cu" --gpu rtx4090
shown file-line '^   2 \| .*__global__ void tiny'
run file-kernel 0 sass "$dir/tiny.cu" --kernel tiny --gpu rtx4090
# a program: with what it includes from beside it, or from where -I says; kernels by their own name
mkdir -p "$dir/beside" "$dir/include"
printf '#define FACTOR 3\n' >"$dir/beside/factor.h"
printf '%s\n' '#include "factor.h"' '#include <cstdio>' 'template <typename T> __global__ void scale(T *x) {' \
	'	x[threadIdx.x] *= FACTOR;' '}' 'int main() { scale<<<1, 32>>>((float *)nullptr); return puts("") < 0; }' >"$dir/beside/program.cu"
if command -v nvcc >/dev/null; then
	run program 0 sass "$dir/beside/program.cu"
	shown program-line '^   4 \| .*x\[threadIdx.x\] \*= FACTOR;'
	run program-kernel 0 sass "$dir/beside/program.cu" --kernel scale
	shown program-kernel-head '^_Z5scaleIfEvPT_: void scale<float>\(float\*\) \(kernel\), sm_80'
	mv "$dir/beside/factor.h" "$dir/include"
	run program-include 0 sass "$dir/beside/program.cu" -I "$dir/include"
	run program-diff 0 sass "$dir/beside/program.cu" -I "$dir/include" --diff '--gpu h200'
	run program-lacks 1 sass "$dir/beside/program.cu"
	says program-lacks-what factor.h
	printf '%s\n' '#ifndef TIMES' '#define TIMES 1' '#endif' '__global__ void powers(float *x) {' '	float y = x[0];' '#pragma unroll' \
		'	for (int i = 0; i < TIMES; i++)' '		y *= x[i];' '	x[threadIdx.x] = y;' '}' >"$dir/powers.cu"
	run diff-define 0 sass "$dir/powers.cu" --gpu a100 --diff -DTIMES=4
	shown diff-define-mix '^  FMUL +1 +4 +\+3$'
	run diff-redefine 0 sass "$dir/powers.cu" -DTIMES=2 --gpu a100 --diff -DTIMES=4
	shown diff-redefine-mix '^  FMUL +2 +4 +\+2$'
	# two kernels: NVRTC leaves them their names, nvcc does not
	cat "$dir/powers.cu" - >"$dir/two.cu" <<'CUDA'
__global__ void a_much_longer_power(float *x)
{
	x[threadIdx.x] = x[threadIdx.x] * 2.0f;
}
__global__ void power(float *x)
{
	x[threadIdx.x] += 1.0f;
}
CUDA
	run diff-two 0 sass "$dir/two.cu" --gpu a100 --diff -DTIMES=4
	same diff-two-pairs 3 "$(grep -c ': .*two.cu, sm_80 -> [^:]*two.cu -DTIMES=4, sm_80$' "$dir/out")"
	run diff-fast 0 sass "$dir/powers.cu" --gpu a100 --diff -use_fast_math
else
	echo "skip program: no nvcc here"
fi
run program-word 2 sass "$dir/beside/program.cu" N=4
# a file of kernels takes no options of nvcc: what it takes is told
printf '__global__ void k(int *p) { *p = 1; }\n' >"$dir/kernels.cu"
run no-nvcc-option 2 sass "$dir/kernels.cu" -rdc=true
says no-nvcc-option-what 'options of nvcc are for whole programs, with main()'
# names of C++ as they are written, where there is a C++ library to ask
if command -v nvcc >/dev/null && ls /usr/lib/*/libstdc++.so.6 >/dev/null 2>&1; then
	printf 'namespace deep { template <class T> __global__ void scale(T *x) { *x *= 2; } }\n%s\n' \
		'template __global__ void deep::scale(float *);' >"$dir/deep.cu"
	nvcc -cubin -arch=sm_90 -o "$dir/deep.cubin" "$dir/deep.cu"
	run readable-name 0 sass "$dir/deep.cubin"
	shown readable-name-head '^_ZN4deep5scaleIfEEvPT_: void deep::scale<float>\(float\*\) \(kernel\)'
	run readable-name-json 0 sass "$dir/deep.cubin" --json
	same readable-name-key 'void deep::scale<float>(float*)' "$(field "$dir/out" functions 0 signature)"
	run readable-name-chosen 0 sass "$dir/deep.cubin" --kernel 'deep::scale<float>'
	run readable-name-short 0 sass "$dir/deep.cubin" --kernel deep::scale
	run readable-name-part 2 sass "$dir/deep.cubin" --kernel eep::scale
	says readable-name-part-what 'functions: void deep::scale<float>(float*)'
	run readable-name-diff 0 sass "$dir/deep.cubin" --diff "$data/tiny_sm_90.cubin"
	shown readable-name-diff-head '^_ZN4deep5scaleIfEEvPT_: void deep::scale<float>\(float\*\): .*deep.cubin, sm_90 -> tiny: .*tiny_sm_90.cubin, sm_90$'
	# the source that a cubin's lines name, unless it was written since
	nvcc -cubin -lineinfo -arch=sm_90 -o "$dir/deep.cubin" "$dir/deep.cu"
	run cubin-source 0 sass "$dir/deep.cubin"
	shown cubin-source-line '^   1 \| namespace deep \{ template <class T> __global__'
	touch -d '+2 seconds' "$dir/deep.cu"
	run cubin-later-source 0 sass "$dir/deep.cubin"
	shown cubin-later-source-line '^   1 \| .*deep\.cu$'
else
	echo 'skip readable-name: no nvcc or no C++ library here'
fi
# the GPU has one name, and a cubin no screen: both are told
run no-arch 2 sass "$dir/beside/program.cu" -arch=sm_90
says no-arch-what 'named by --gpu'
run no-screen 2 "$data/tiny_sm_90.cubin"
says no-screen-what "pmpp-explore sass $data/tiny_sm_90.cubin"
run cubin 0 sass "$data/tiny_sm_75.cubin"
shown cubin-head '^tiny \(kernel\), sm_75'

# two of them held against each other: a parameter, an architecture, a changed file
run diff-parameter 0 sass sgemm/tiled TILE=16 --gpu h200 --diff TILE=32
shown diff-head '^sgemm_v3_tiled: sgemm/tiled TILE=16, sm_90 -> sgemm/tiled TILE=32, sm_90'
shown diff-mix '^  FFMA +16 +32 +\+16$'
shown diff-line '^ *[0-9]+ \| .*sum \+= As.*\([0-9]+, [0-9]+\)$'
run diff-gpu 0 sass vec_add/per_element --gpu a100 --diff '--gpu h200'
shown diff-gpu-head 'sm_80 -> .*sm_90'
shown diff-went '^  - MOV R1, c\[0x0\]\[0x28\]'
shown diff-came '^  \+ +LDC R1, c\[0x0\]\[0x28\]'
run diff-same 0 sass vec_add/per_element --diff '--gpu a100'
same diff-none 1 "$(grep -c '^  none$' "$dir/out")"
# a line put in above: the others are still held against their own
sed 's/^extern/\n\nextern/' "$data/tiny.cu" >"$dir/moved.cu"
run diff-moved 0 sass "$dir/tiny.cu" --gpu rtx4090 --diff "$dir/moved.cu"
same diff-moved-none 1 "$(grep -c '^  none$' "$dir/out")"
sed 's/void tiny/void __launch_bounds__(32) tiny/; s/+ k/* k/' "$data/tiny.cu" >"$dir/changed.cu"
run diff-file 0 sass "$dir/tiny.cu" --gpu rtx4090 --diff "$dir/changed.cu"
same diff-file-differs 0 "$(grep -c '^  none$' "$dir/out")"
# fewer registers; as JSON
run diff-registers 0 sass sgemm/tiled --gpu h200 --diff '--maxrregcount 24' --json
same diff-registers-before 32 "$(field "$dir/out" functions 0 facts 0 before)"
same diff-registers-after 24 "$(field "$dir/out" functions 0 facts 0 after)"
same diff-registers-words 'sgemm/tiled --maxrregcount 24' "$(field "$dir/out" functions 0 after words)"
[ -n "$(field "$dir/out" functions 0 lines 0 instructions 0 before)" ] && ok diff-registers-lines || not_ok diff-registers-lines "$(head -n 40 "$dir/out")"
run registers 0 sass sgemm/tiled --gpu h200 --maxrregcount 24
shown registers-head ', sm_90: [0-9]+ instructions, 24 registers'
# the assembler passes --maxrregcount over where a kernel has launch bounds, and that is said
printf '%s\n' '__global__ void __launch_bounds__(128) bound(float *x) { x[threadIdx.x] *= 2; }' \
	'__global__ void unbound(float *x) { x[threadIdx.x] *= 3; }' >"$dir/bounds.cu"
run bounds 0 sass "$dir/bounds.cu" --gpu h200 --maxrregcount 24
same bounds-said 1 "$(grep -c -e '--maxrregcount 24 has no effect on this kernel.*at most 128 threads' "$dir/out")"
run bounds-json 0 sass "$dir/bounds.cu" --gpu h200 --maxrregcount 24 --json
same bounds-json-both 'false true' "$(grep -o '"ignores_max_registers": [a-z]*' "$dir/out" | sed 's/.* //' | sort | tr '\n' ' ' | sed 's/ $//')"
run bounds-diff 0 sass "$dir/bounds.cu" --gpu h200 --diff '--maxrregcount 24'
same bounds-diff-said 1 "$(grep -c 'has no effect on this kernel' "$dir/out")"
run bounds-plain 0 sass "$dir/bounds.cu" --gpu h200
same bounds-plain-said 0 "$(grep -c 'has no effect' "$dir/out")"
# spills are told with the lines that they come from, most first, and add up
cat >"$dir/spills.cu" <<'CUDA'
__global__ void __launch_bounds__(256, 8) spills(float *o, const float *in)
{
	float a[64];
	for (int k = 0; k < 64; k++)
		a[k] = in[k * 256 + threadIdx.x];
	for (int j = 0; j < 8; j++)
		for (int k = 0; k < 64; k++)
			a[k] = a[k] * a[(k + 1) % 64] + 1.0f;
	for (int k = 0; k < 64; k++)
		o[threadIdx.x] += a[k];
}
CUDA
run spills 0 sass "$dir/spills.cu" --gpu h200
same spills-by-line "$(grep -c '// spill$' "$dir/out") yes" "$(sed -n '/ of them spill registers/,$p' "$dir/out" |
	awk '$2 ~ /^[0-9]+$/ && $3 == "|" { sum += $1; falls = falls || (n++ && $1 > last); last = $1 } END { print sum, falls || !n ? "no" : "yes" }')"
run diff-json-same 0 sass vec_add/per_element --diff '--gpu a100' --json
same diff-json-none '' "$(field "$dir/out" functions 0 lines 0 line)"
run registers-most 2 sass sgemm/tiled --maxrregcount 300
says registers-most-words 'at most 255 registers'
run registers-cubin 2 sass "$data/tiny_sm_75.cubin" --maxrregcount 32
says registers-cubin-words 'compiled already'
run registers-word 2 sass sgemm/tiled --diff '--maxrregcount x'
says registers-word-words 'wants a number'
run diff-nothing-common 2 sass vec_add --diff transpose
says diff-nothing-common-words 'no function in common'
run diff-word 2 sass vec_add --diff '--blocks 3'
says diff-word-words "'--blocks' is neither a parameter"
run diff-value 2 sass vec_add --diff '--gpu'
says diff-value-words '--gpu wants a value'

# a launch in the emulator: how often every instruction ran, beside it and in sum
run counted 0 sass diverge/if_else N=65536 --gpu h200 --counts
shown counted-row '^  0000 +2048 +0\.1 +32\.0 .* LDC R1, c\[0x0\]\[0x28\]$'
shown counted-never '^ >0[0-9a-f]{3} +0 +- +- .* BRA 0x0[0-9a-f]*$'
shown counted-sum '^  Executed: 1 660 928 . warp instructions, 21\.4 of 32 lanes on average'
shown counted-line '^ +[0-9.]+ % +[0-9 ]+  [0-9.]+ +39 \| 		for \(int s = 0'
shown counted-loop '^    [0-9a-f]{4}-[0-9a-f]{4} +[0-9.]+ % +[0-9 ]+  [0-9]+-[0-9]+$'
run counted-json 0 sass diverge/if_else N=65536 --gpu h200 --counts --json
same counted-json-origin counted "$(field "$dir/out" functions 0 executed origin)"
same counted-json-warps 1660928 "$(field "$dir/out" functions 0 executed warps)"
same counted-json-lanes 35520512 "$(field "$dir/out" functions 0 executed lanes)"
same counted-json-grid 256 "$(field "$dir/out" functions 0 executed grid 0)"
summed() { awk -F'[:,]' -v key="\"$1\"" '/"executed":/ { inside = 1 } /"instructions":/ { inside = 0 } $0 ~ key && !inside { n += $2 } END { print n }' "$dir/out"; }
same counted-json-sum-warps 1660928 "$(summed warps)"
same counted-json-sum-lanes 35520512 "$(summed lanes)"
run counted-none-json 0 sass diverge/if_else --gpu h200 --json
same counted-none 0 "$(grep -c '"warps"\|"executed"' "$dir/out")"
# of a file: launched as run does; of a program: of one launch, and two of them beside each other
printf '%s\n' '__global__ void half(int n, float *x) {' '	int i = blockIdx.x * blockDim.x + threadIdx.x;' '	if (i < n)' \
	'		x[i] *= 0.5f;' '}' '__global__ void one(float *x) {' '	*x = 1;' '}' >"$dir/half.cu"
sed 's/\*= 0.5f/= x[i] * 0.5f + 1/' "$dir/half.cu" >"$dir/more.cu"
run counted-file 0 sass "$dir/half.cu" --gpu h200 --counts --kernel half --grid 4 --block 64 n=100 'x=f32[n]:rand'
shown counted-file-launch '^    grid 4 x 1 x 1, block 64 x 1 x 1$'
shown counted-file-partial '@P0 EXIT'
run counted-alike 0 sass "$dir/half.cu" --gpu h200 --counts --kernel half --grid 4 --block 64 n=100 'x=f32[n]:rand' --diff "$dir/more.cu --kernel half"
shown counted-alike-mix '^  FFMA +0 +1 +\+1$'
shown counted-alike-line '^ +4 \| 		x\[i\] \*= 0\.5f;.*ran [0-9]+, 0$'
run counted-diff 0 sass diverge/if_else N=65536 --gpu h200 --counts --diff N=128k --json
same counted-diff-before 1660928 "$(field "$dir/out" functions 0 facts 2 before)"
same counted-diff-after 3321856 "$(field "$dir/out" functions 0 facts 2 after)"
[ "$(field "$dir/out" functions 0 lines 1 warps_after)" -gt "$(field "$dir/out" functions 0 lines 1 warps_before)" ] && ok counted-diff-lines || not_ok counted-diff-lines "$(head -n 40 "$dir/out")"
if command -v nvcc >/dev/null; then
	{ cat "$dir/half.cu"; printf '%s\n' 'int main() {' '	float *x;' '	cudaMalloc(&x, 4096);' '	cudaMemset(x, 0, 4096);' \
		'	half<<<4, 64>>>(100, x);' '	one<<<1, 1>>>(x);' '	half<<<8, 64>>>(500, x);' '	return cudaDeviceSynchronize();' '}'; } >"$dir/prog.cu"
	run launch 0 sass "$dir/prog.cu" --launch 2 --gpu h200
	shown launch-head '^_Z3onePf: one\(float\*\) \(kernel\), sm_90'
	shown launch-which '^  Launch 2 of .*prog.cu'
	shown launch-sum '^  Executed: 6 . warp instructions, 1\.0 of 32 lanes'
	run launches 0 sass "$dir/prog.cu" --launch 1 --gpu h200 --diff '--launch 3'
	shown launches-mix '^  executed warp instructions +[0-9]+ +[0-9]+ +\+[0-9]+$'
	nvcc -ptx -arch=compute_90 -o "$dir/half.ptx" "$dir/half.cu"
	run ptx-file 0 sass "$dir/half.ptx" --gpu h200
	same ptx-file-functions 2 "$(grep -c '(kernel), sm_90' "$dir/out")"
	run ptx-file-counted 0 sass "$dir/half.ptx" --gpu h200 --counts --kernel _Z3onePf --grid 1 --block 32 'p0=f32[32]:zero'
	shown ptx-file-sum '^  Executed: [0-9]+ . warp instructions'
	nvcc -arch=sm_90 -o "$dir/prog" "$dir/prog.cu"
	run executable 2 sass "$dir/prog"
	says executable-remedy 'once it has run' '--counts'
	run launch-none 2 sass "$dir/prog.cu" --launch 9
	says launch-none-words 'no such launch'
	run template-diff 0 sass "$dir/beside/program.cu" -I "$dir/include" --kernel scale --diff '--gpu h200'
	shown template-diff-head '^_Z5scaleIfEvPT_: '
fi
run counts-cubin 2 sass "$data/tiny_sm_90.cubin" --counts
says counts-cubin-words 'has no launch' '--launch 1'
run counts-registers 2 sass sgemm/tiled --counts --maxrregcount 24
says counts-registers-words 'leave --counts out'
run counts-block 2 sass "$dir/half.cu" --block 64
says counts-block-words 'belong to a launch' 'add --counts'
run launch-kernel 2 sass sgemm/tiled --launch 2
says launch-kernel-words 'belongs to a whole program'

# machine code runs: the counts that an H200 recorded for this launch (tests/gpu)
emulated() { # NAME STATUS LEVEL
	run "$1" "$2" run diverge/if_else N=65536 --backend emu --gpu h200 --level "$3" --json
}
emulated level-sass 0 sass
same level-sass-whose 'sm_90 machine code, ptxas' "$(field "$dir/out" run level | sed 's/ [0-9.]*$//')"
same level-sass-warps 1660928 "$(field "$dir/out" metrics inst.warp_executed value)"
same level-sass-lanes 35520512 "$(field "$dir/out" metrics inst.thread_executed value)"
same level-sass-branches 403456 "$(field "$dir/out" metrics div.branches value)"
same level-sass-verified true "$(field "$dir/out" verified)"
# where a part of a warp splits while others wait an H200 counts its lanes once more (run.jsonl of
# tests/gpu/h200-2026-11-30)
run level-parts 0 run blur/tiled W=507 H=382 RADIUS=1 TILE=16 --backend emu --gpu h200 --level sass --no-verify --json
same level-parts-warps 1053552 "$(field "$dir/out" metrics inst.warp_executed value)"
same level-parts-lanes 29564440 "$(field "$dir/out" metrics inst.thread_executed value)"
same level-parts-active 31402798 "$(field "$dir/out" metrics inst.thread_active value)"
# registers that are cleared by HFMA2 are no half-precision arithmetic
run level-moves 0 run sgemm/tiled M=64 N=64 K=64 --backend emu --gpu h200 --level sass --json
same level-moves-fp16 0 "$(field "$dir/out" metrics flop.fp16 value)"
same level-moves-counted 20480 "$(field "$dir/out" metrics inst.half_moves value)"
same level-moves-fp32 524288 "$(field "$dir/out" metrics flop.fp32 value)"
# kinds of instructions: they add up, by class and by pipe
sum_of() { awk -v want="$1" '/"inst\.mix\./ { take = (/"inst\.mix\.pipe_/ ? "pipe" : "class") == want } take && /"value":/ { sub(/,/, "", $2); n += $2; take = 0 } END { print n }' "$dir/out"; }
emulated level-mix 0 sass
same mix-classes 1660928 "$(sum_of class)"
same mix-pipes 1660928 "$(sum_of pipe)"
[ "$(field "$dir/out" metrics inst.mix.flow value)" -gt 403455 ] && ok mix-flow || not_ok mix-flow "$(field "$dir/out" metrics inst.mix.flow value)"
emulated level-ptx 0 ptx
same mix-ptx null "$(field "$dir/out" metrics inst.mix.flow value)"
same level-ptx-whose PTX "$(field "$dir/out" run level)"
same level-ptx-warps 2430976 "$(field "$dir/out" metrics inst.warp_executed value)"
run level-text 0 run vec_add/per_element N=4k --backend emu --gpu t4 --level auto
shown level-text-whose '^counts, time and bottleneck: sm_75 machine code, ptxas [0-9.]+'
emulated level-unknown 2 both
says level-unknown-words "'both' is none of ptx, sass, auto"

# refusals
run no-function 2 sass "$data/tiny_sm_75.cubin" --kernel tony
says no-function-names "no function 'tony'" 'functions: tiny'
run no-file 3 sass /nowhere/x.cubin
says no-file-path /nowhere/x.cubin
head -c 3000 "$data/tiny_sm_75.cubin" >"$dir/cut.cubin"
run cut 2 sass "$dir/cut.cubin"
says cut-words cut.cubin 'cut short or damaged'
printf 'not machine code' >"$dir/text.cubin"
run text 2 sass "$dir/text.cubin"
says text-words text.cubin 'not an ELF file'
run no-kernel 2 sass vec_ad
says no-kernel-near "did you mean 'vec_add'"
PMPP_NVDISASM=/nowhere/nvdisasm
export PMPP_NVDISASM
run cached 0 sass vec_add/per_element --gpu h200
run absent 3 sass vec_add/per_element --gpu rtx5090
says absent-words 'machine code cannot be shown' PMPP_NVDISASM
# without a disassembler the counts of the PTX stand, and say so
run level-absent 3 run vec_add/per_element N=4k --backend emu --gpu rtx5090 --level sass
says level-absent-words 'machine code: ' PMPP_NVDISASM
run level-auto 0 run vec_add/per_element N=4k --backend emu --gpu rtx5090 --level auto --json
same level-auto-whose PTX "$(field "$dir/out" run level)"
same level-auto-why 'counts of the PTX, not of machine code' "$(field "$dir/out" run note | cut -c1-38)"
run level-auto-csv 0 run vec_add/per_element N=4k --backend emu --gpu rtx5090 --level auto --csv
says level-auto-csv-says 'counts of the PTX, not of machine code'
