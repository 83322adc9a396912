#!/bin/sh
# What is said of counts that a card may give differently each time, in machine code, which puts one
# value after another into a register: only of what comes from waits, atomics and clocks.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip varying-counts: no nvcc here to compile programs'
	exit 0
}
"$PMPP" sass "$TEST_ROOT/tests/data/sass/tiny_sm_90.cubin" >/dev/null 2>"$dir/err" || {
	echo "skip varying-counts: $(head -n 1 "$dir/err")"
	exit 0
}
cat >"$dir/counts.cu" <<'CUDA'
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// columns of one matrix a warp: sums that end in shared memory alone, roots and quotients of others
__device__ float warp_sum(float v)
{
	for (int o = 16; o > 0; o /= 2)
		v += __shfl_xor_sync(~0u, v, o);
	return v;
}
__global__ void columns(float *mats, float *diag, int rows, int cols, int count)
{
	extern __shared__ float tile[];
	const int lane = threadIdx.x, id = blockIdx.x * blockDim.y + threadIdx.y, ld = cols | 1;
	if (id >= count)
		return;
	float *a = tile + threadIdx.y * rows * ld;
	for (int i = lane; i < rows * cols; i += 32)
		a[i / cols * ld + i % cols] = mats[i];
	__syncwarp();
	for (int k = 0; k < cols; k++) {
		float s = 0;
		for (int r = k + lane; r < rows; r += 32)
			s += a[r * ld + k] * a[r * ld + k];
		s = warp_sum(s);
		const float at = a[k * ld + k], alpha = at > 0 ? -sqrtf(s) : sqrtf(s), v = at - alpha;
		const float beta = 2 / (s - at * at + v * v);
		__syncwarp();
		if (lane == 0)
			a[k * ld + k] = v;
		__syncwarp();
		for (int c = k + 1; c < cols; c++) {
			float d = 0;
			for (int r = k + lane; r < rows; r += 32)
				d += a[r * ld + k] * a[r * ld + c];
			d = warp_sum(d) * beta;
			for (int r = k + lane; r < rows; r += 32)
				a[r * ld + c] -= d * a[r * ld + k];
			__syncwarp();
		}
		if (lane == 0)
			diag[id * cols + k] = alpha;
	}
	for (int i = lane; i < rows * cols; i += 32)
		mats[i] = a[i / cols * ld + i % cols];
}
// one atomic for all lanes that come; who was first is where they write
__device__ int place(int *counter)
{
	auto g = cg::coalesced_threads();
	int base = 0;
	if (g.thread_rank() == 0)
		base = atomicAdd(counter, (int)g.size());
	return g.shfl(base, 0) + g.thread_rank();
}
__global__ void kept(const int *in, int *out, int *count, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
		if (in[i] % 3 == 0)
			out[place(count)] = in[i];
}
// who comes last does the rest
__global__ void last(int *count, int *out)
{
	if (threadIdx.x == 0 && atomicAdd(count, 1) == gridDim.x - 1)
		for (int i = 0; i < *out; i++)
			out[i] = 2 * i;
}
int main()
{
	float *m;
	int *x;
	cudaMalloc(&m, 4096);
	cudaMalloc(&x, 16384);
	cudaMemset(m, 1, 4096);
	cudaMemset(x, 0, 16384);
	columns<<<1, 32, 45 * 17 * 4>>>(m, m + 900, 45, 17, 1);
	kept<<<3, 128>>>(x + 2048, x, x + 2047, 1000);
	last<<<3, 32>>>(x + 2046, x);
	return cudaDeviceSynchronize();
}
CUDA
cat >"$dir/varies.py" <<'PY'
import json, sys
for l in json.load(open(sys.argv[1]))["launches"]:
	print(l["kernel"], l["level"].split(",")[0], *(f'{v["why"]}: {" ".join(v["metrics"])}' for v in l.get("varies", [])))
PY
run counts 0 launches "$dir/counts.cu" --gpu h200 --level sass --json
same only-what-varies 'columns sm_90 machine code
kept sm_90 machine code places: mem.st_sectors
last sm_90 machine code places: inst.warp_executed inst.thread_active inst.thread_executed div.branches div.divergent_branches mem.ld_requests mem.ld_sectors mem.st_requests mem.st_sectors' \
	"$(python3 "$dir/varies.py" "$dir/out")"
