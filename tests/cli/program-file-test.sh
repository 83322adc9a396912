#!/bin/sh
# A program's run in a file: written by export, read by every verb that takes a program, with the
# figures, the counts by line and the machine code of the run, and no compiler.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip program-file: no nvcc here to compile a program'
	exit 0
}
# has NAME WORDS: they are in what was printed
has() { if grep -qF "$2" "$dir/out"; then ok "$1"; else not_ok "$1" "$(head -n 5 "$dir/out")"; fi; }
cat >"$dir/two.cu" <<'CUDA'
#include <cstdio>
__global__ void add(int *x) { atomicAdd(x, 1); }
__global__ void walk(const int *x, int *y)
{
	int s = 0;
	for (int k = x[threadIdx.x] % 5; k >= 0; k--)
		s += k;
	y[threadIdx.x + blockIdx.x * blockDim.x] = s;
}
int main()
{
	int *x, *y, h[64];
	for (int i = 0; i < 64; i++)
		h[i] = i;
	cudaMalloc(&x, 256), cudaMalloc(&y, 1024);
	cudaMemcpy(x, h, 256, cudaMemcpyHostToDevice);
	walk<<<4, 64>>>(x, y);
	walk<<<4, 64>>>(x, y);
	add<<<2, 32>>>(y);
	cudaDeviceSynchronize();
	puts("done");
	cudaFree(x);
	return 3;
}
CUDA
cd "$dir" || exit 1
run written 1 export two.cu --gpu h200 --out run.json
rm -f two.cu # all that is needed is in the file
run read 1 launches run.json
same its-output done "$(cat "$dir/out")"
says its-exit 'exit 3'
says its-leak 'leak: 1024 bytes'
run again 1 launches run.json --json
python3 - "$dir/out" "$dir/run.json" <<'PY' >"$dir/same" 2>&1
import json, sys
a, b = (json.load(open(p), parse_float=lambda x: "%.10g" % float(x)) for p in sys.argv[1:])
keys = ("launches", "copies", "faults", "stdout", "exit", "gpu", "backend")
for x in b["launches"]:
	x.pop("code", None)
print(*[k for k in keys if a[k] != b[k]] or ["same"])
PY
same all-figures same "$(cat "$dir/same")"
run one 1 run run.json --launch 2
has kept-fidelity 'exact as on a card'
run panels 1 export run.json --format txt --out -
has its-lines 'for (int k'
has its-machine-code 'EXIT'
run compared 0 diff run.json run.json
run with-options 1 launches ./run.json --color never --json

sed 's/"stdout": "done/"stdout": "\\u001b]0;title\\u0007done/' run.json >title.json
run foreign-output 1 launches title.json
same no-escape-of-a-file '?]0;title?done' "$(cat "$dir/out")"
head -c 2000 run.json >cut.json
run cut-short 2 launches cut.json
says names-the-place 'cut.json:'
sed 's/"signature": "walk/"signature_": "walk/; s/"block": \[/"block": [0,/' run.json >other.json
run not-legal 2 launches other.json
says names-the-field 'launches[0].block'
run other-gpu 2 launches run.json --gpu l4
says says-how 'pmpp-explore two.cu --gpu l4'
run not-again 2 run run.json --launch 1 --block 32
says says-why "holds no launch's memory"
