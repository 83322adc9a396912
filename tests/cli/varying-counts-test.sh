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
	int *x, *y;
	cudaMalloc(&m, 4096);
	cudaMalloc(&x, 16384);
	cudaMalloc(&y, 16);
	cudaMemset(m, 1, 4096);
	cudaMemset(x, 0, 16384);
	cudaMemset(y, 0, 16);
	columns<<<1, 32, 45 * 17 * 4>>>(m, m + 900, 45, 17, 1);
	kept<<<3, 128>>>(x + 2048, x, x + 2047, 1000);
	last<<<3, 32>>>(y + 3, y);
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

# From one launch to the next: what is left in another order each time, unless it is set anew; and
# what is read where others write, what the driver does, who sleeps, calls that overtake one another.
cat >"$dir/left.cu" <<'CUDA'
#include <cstdio>
__global__ void queue(int *q, int *n) { q[atomicAdd(n, 1)] = threadIdx.x + blockIdx.x * blockDim.x; }
__global__ void walk(const int *q, int *out)
{
	int i = threadIdx.x + blockIdx.x * blockDim.x, s = 0;
	for (int k = q[i] % 7; k >= 0; k--)
		s += k ^ i;
	out[i] = s;
}
__global__ void mark(const int *q, int *out) { out[q[threadIdx.x + blockIdx.x * blockDim.x]] = 3; }
__global__ void last(int *n, int *out)
{
	if (threadIdx.x == 0 && atomicAdd(n, 1) == gridDim.x - 1)
		out[0] = 5;
}
__global__ void jump(int *p) { int i = threadIdx.x + blockIdx.x * blockDim.x; while (p[i] != p[p[i]]) p[i] = p[p[i]]; }
__global__ void says(int *x) { if (threadIdx.x == 3) printf("%d\n", *x); }
__global__ void naps(int *x, unsigned ns) { if (threadIdx.x == 3) __nanosleep(ns); x[threadIdx.x] = 1; }
__device__ int place(int n, int row, unsigned c, unsigned l, unsigned r)
{
	if (row == n)
		return 1;
	int s = 0;
	for (unsigned free = ((1u << n) - 1) & ~(c | l | r); free; free &= free - 1) {
		unsigned b = free & -free;
		s += place(n, row + 1, c | b, (l | b) << 1, (r | b) >> 1);
	}
	return s;
}
__global__ void queens(int n, int *out)
{
	unsigned a = threadIdx.x;
	if (a < n)
		out[a] = place(n, 1, 1u << a, 2u << a, (1u << a) >> 1);
}
// who goes round again is chance, and whether the warp is together again for the next load, too
__global__ void swap(const int *in, int *sum)
{
	for (int i = threadIdx.x; i < 256; i += 64) {
		int *p = sum + (in[i] & 7), old = *p, seen;
		do {
			seen = old;
			old = atomicCAS(p, seen, seen + 3);
		} while (old != seen);
	}
}
int main()
{
	const int n = 256;
	int *q, *r, *out, *c, *m, next[n];
	for (int i = 0; i < n; i++)
		next[i] = i ? i - 1 : 0;
	cudaMalloc(&q, n * 4), cudaMalloc(&r, n * 4), cudaMalloc(&out, n * 4), cudaMalloc(&c, 8), cudaMalloc(&m, n * 4);
	cudaMemset(c, 0, 8);
	queue<<<4, 64>>>(q, c);
	walk<<<4, 64>>>(q, out); // 2: left
	cudaMemcpy(r, q, n * 4, cudaMemcpyDeviceToDevice);
	mark<<<4, 64>>>(r, m); // 3: where, but not what
	walk<<<4, 64>>>(m, out); // 4: not left
	walk<<<4, 64>>>(r, q);   // 5: left, a copy
	cudaMemset(r, 0, n * 4);
	walk<<<4, 64>>>(r, q); // 6: not any more
	last<<<4, 64>>>(c + 1, r);
	walk<<<4, 64>>>(r, out); // 8: not left
	cudaMemcpy(r, next, n * 4, cudaMemcpyHostToDevice);
	jump<<<4, 64>>>(r);
	says<<<1, 32>>>(c);
	naps<<<1, 32>>>(q, 20);
	queens<<<1, 32>>>(7, q);
	swap<<<1, 64>>>(r, q);
	return cudaDeviceSynchronize();
}
CUDA
cat >"$dir/whys.py" <<'PY'
import json, sys
for l in json.load(open(sys.argv[1]))["launches"]:
	print(l["number"], l["kernel"], *(v["why"] for v in l.get("varies", [])))
	if l["kernel"] == "swap":
		named = {m for v in l["varies"] for m in v["metrics"]}
		print(*sorted(named & {"mem.ld_requests", "mem.ld_sectors", "mem.st_requests"}))
PY
run left 1 launches "$dir/left.cu" --gpu h200 --level sass --count 9 --json
same why-it-varies '1 queue places
2 walk left
3 mark left
4 walk
5 walk left
6 walk
7 last places
8 walk
9 jump races
10 says driver
11 naps sleeps
12 queens parts
13 swap places races left parts
mem.ld_requests mem.ld_sectors' "$(python3 "$dir/whys.py" "$dir/out")"
