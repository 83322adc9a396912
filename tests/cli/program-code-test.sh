#!/bin/sh
# The machine code of a program's launches: its listing with what each launch ran of it, of source
# and executables alike, and what the panel of an export shows of it.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip program-code: no nvcc here to compile programs'
	exit 0
}
"$PMPP" sass "$TEST_ROOT/tests/data/sass/tiny_sm_90.cubin" >/dev/null 2>"$dir/err" || {
	echo "skip program-code: $(head -n 1 "$dir/err")"
	exit 0
}
cat >"$dir/two.cu" <<'CUDA'
__global__ void twice(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = 2 * x[i];
}
template <int N> __global__ void often(float *x)
{
	float s = 0;
	for (int k = 0; k < N * blockDim.y; k++)
		s += x[threadIdx.x] * k;
	x[threadIdx.x] = s;
}
int main()
{
	float *x;
	cudaMalloc(&x, 4096);
	cudaMemset(x, 0, 4096);
	twice<<<4, 256>>>(x, 1024);
	twice<<<2, 256>>>(x, 512);
	often<3><<<1, 128>>>(x);
	return cudaDeviceSynchronize();
}
CUDA
# Of each launch: kernel, instructions that ran as told by instruction and in all. Of each kernel's
# listing: instructions, those with a line of the source, those with their PTX.
cat >"$dir/sums.py" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
for l in d["launches"]:
	warps = sum(c["warps"] for c in l.get("code", []))
	print(l["kernel"], "told" if warps == l["metrics"]["inst.warp_executed"]["value"] else "%d not told" % warps)
for m in d["listings"]:
	ptx = {p["number"] for p in m["ptx"]}
	i = m["insts"]
	print(m["kernel"].split("(")[0], m["title"].split(",")[0], "some" if len(i) > 8 else len(i),
		"lines" if sum("line" in x for x in i) * 2 > len(i) else "no lines",
		"PTX" if sum(x.get("ptx_line") in ptx for x in i) * 2 > len(i) else "no PTX")
	offsets = {x["offset"] for x in i}
	for l in d["launches"]:
		if l["signature"] == m["kernel"]:
			assert {c["offset"] for c in l["code"]} <= offsets
PY
told='twice told
twice told
often<3> told
twice sm_90 machine code some lines PTX
void often<3> sm_90 machine code some lines PTX'
sums() { # name, program
	name=$1
	shift
	run "$name" 0 export "$@" --gpu h200 --out "$dir/doc.json"
	same "$name-sums" "$told" "$(python3 "$dir/sums.py" "$dir/doc.json" 2>&1)"
}
cd "$dir" || exit 1
sums source "$dir/two.cu"
nvcc -arch=sm_90 -lineinfo -o static two.cu && sums static ./static
nvcc -arch=sm_90 -lineinfo -cudart shared -o shared two.cu && sums shared ./shared
# another GPU than it was built for: the assembler makes the code of its PTX
nvcc -lineinfo -gencode arch=compute_75,code=compute_75 -o older two.cu && sums assembled ./older

run panel 0 export two.cu --gpu h200 --launch 3 --format txt --out -
sed -n '/^== Machine code/,/^== Map/p' "$dir/out" >"$dir/panel"
grep -q 'warp instructions   the PTX has ' "$dir/panel" && grep -q 'loop [0-9a-f]*-[0-9a-f]* ' "$dir/panel" &&
	grep -q ' [1-9][0-9]* .* FFMA ' "$dir/panel" && ok panel-counts || not_ok panel-counts "$(cat "$dir/panel")"
# tiles of several warps ask where the shared memory lies that the system reserves
for gpu in a100 h200; do
	run "large-tiles-$gpu" 0 launches "$TEST_ROOT/tests/programs/large_tiles.cu" -std=c++17 --gpu $gpu --json
	same "large-tiles-$gpu-by-machine-code" 2 "$(grep -c '"level": "sm_[89]0 machine code' "$dir/out")"
done
# main() from a macro of the file, or in another source: what names a launch is a program
sed '/^int main/,$d' two.cu >kernels.cu
{ echo '#define TEST_MAIN(name) int main()' && sed 's/^int main()/TEST_MAIN(all)/' two.cu; } >macro.cu
{
	echo '__global__ void twice(float *x, int n);' && echo 'template <int N> __global__ void often(float *x);'
	sed -n '/^int main/,$p' two.cu
	echo '#include "kernels.cu"'
} >calls.cu
{ echo '#define ALL(n) int main()' >all.h && echo '#include "all.h"' && sed 's/^int main()/ALL(1)/' two.cu; } >header.cu
echo '__global__ void none() { }' >none.cu
for words in macro.cu 'none.cu calls.cu' header.cu; do
	run "sass-$words" 0 sass $words --launch 2 -O3
	same "first-$words" 16 "$(awk '$1 == "0000" { print $2; exit }' "$dir/out")"
done
run run-macro 0 run macro.cu --launch 3
same run-macro-launch 1 "$(grep -c '^macro/often' "$dir/out")"
