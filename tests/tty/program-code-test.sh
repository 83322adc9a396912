#!/bin/sh
# The panel Machine code for launches of a whole program: what the chosen launch ran of its kernel,
# another launch's, one that is run again alone, and an executable's.
. "$(dirname "$0")/tmux.sh"

command -v nvcc >/dev/null 2>&1 || {
	echo 'skip program-code: no nvcc here to compile programs'
	exit 0
}
"$PMPP" sass "$TEST_ROOT/tests/data/sass/tiny_sm_90.cubin" >/dev/null 2>&1 || {
	echo 'skip program-code: no nvdisasm here'
	exit 0
}
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-program-XXXXXX") || exit 1
trap 'finish; rm -rf "$work"' EXIT
cat >"$work/two.cu" <<'CUDA'
__global__ void twice(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = 2 * x[i];
}
__global__ void often(float *x, int n)
{
	float s = 0;
	for (int k = 0; k < n; k++)
		s += x[k];
	x[threadIdx.x] = s;
}
int main()
{
	float *x;
	cudaMalloc(&x, 8192);
	cudaMemset(x, 0, 8192);
	often<<<1, 128>>>(x, 100);
	twice<<<8, 256>>>(x, 2048);
	return cudaDeviceSynchronize();
}
CUDA
start 24 80
type "cd $work && $PMPP two.cu --gpu h200"
check opens see 'exit 0' 120
check longest see 'two / often'
press /
see filter && type 'panel Machine'
check title see 'sm_90 machine code, ptxas .* registers'
check loop see 'warp instructions   the PTX has .* loop [0-9a-f]*-[0-9a-f]* [1-9]'
check hot see '▸[0-9a-f]* *[1-9][0-9]* .*[A-Z]'
press Home
check first see '▸0000  *4  *[0-9.]* '
press Down Down
check moves see '▸0020  *4 '
press Enter
check detail see 'ptx\|PTX'
press Escape
press 1
press j
check other-chosen see 'two / twice'
press /
see filter && type 'panel Machine'
press Home
check other-counts see '▸0000  *64 '
# the launch alone, with blocks of another size
press Right
press +
check again see 'block \[512\].*grid 4'
check again-counts see '▸0000  *64 '
check again-head see 'sm_90 machine code'
check again-before see previous
press B
check beside see '0000  *6.7 .*0000  *6.7 '
press_q
check restored restored
nvcc -arch=sm_90 -lineinfo -o "$work/two" "$work/two.cu" || exit 1
start 50 200
type "cd $work && $PMPP ./two --gpu h200"
check executable see 'exit 0' 60
press /
see filter && type 'panel Machine'
press f
check executable-source see '11 *s += x\[k\]'
check executable-ptx see 'ld\.global'
check executable-code see 'LDG\.E'
press_q
# spills, counts that a card gives differently, long instructions: whole at 80 columns, and after a resize
cat >"$work/spill.cu" <<'CUDA'
__global__ void __launch_bounds__(256, 8) spill(float *o, const float *in, unsigned *places)
{
	float a[64];
	for (int k = 0; k < 64; k++)
		a[k] = in[k * 256 + threadIdx.x];
	for (int j = 0; j < 64; j++)
		for (int k = 0; k < 64; k++)
			a[k] = a[k] * a[(k + 1) % 64] + 1.0f;
	for (int k = 0; k < 64; k++)
		o[threadIdx.x] += a[k];
	if (atomicAdd(places, 1u) % 3 == 0)
		o[256 + threadIdx.x] = 1;
}
int main()
{
	float *x;
	cudaMalloc(&x, 1 << 20);
	cudaMemset(x, 0, 1 << 20);
	spill<<<1, 256>>>(x, x + 1024, (unsigned *)x + 100000);
	return cudaDeviceSynchronize();
}
CUDA
start 24 80
type "cd $work && NO_COLOR=1 $PMPP spill.cu --gpu a100"
check spill-opens see 'exit 0' 120
press /
see filter && type 'panel Machine'
check spill-count see '32 registers   ✗ [0-9]* spills$'
check spill-varies see 'warp instructions   may vary on a card (line 11)'
check spill-loop see '^  loop [0-9a-f]*-[0-9a-f]* [0-9.]* %   '
press Home
check spill-whole see '^  ── 0000 [A-Z0-9.]* R1, .*c\[0x0\]\[0x28\] ──'
resize 40 120
check spill-wide see '✗ [0-9]* spills, [0-9]* of line 8 *[0-9]* instructions'
resize 24 80
check spill-narrow see '32 registers   ✗ [0-9]* spills$'
press_q
check spill-restored restored
