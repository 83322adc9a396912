#!/bin/sh
# Modelled times of a program's launches, which depend on what came before them: what another SM, a
# set or a copy wrote lies further away, memory that no launch has touched takes longer, and so do
# the nodes of a graph of several (tests/gpu/micro/before.cu, measured on an H200). And time that a kernel
# reads off the GPU's timer.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip program-time: no nvcc'
	exit 0
}

cat >"$dir/before.cu" <<'CU'
#include <cuda_runtime.h>
__global__ void scale(const float *in, float *out)
{
	out[blockIdx.x * 256 + threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x] * 2;
}
static float host[6144];
int main()
{
	float *in, *out;
	cudaStream_t s;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaMalloc(&in, sizeof host);
	cudaMalloc(&out, sizeof host);
	cudaStreamCreate(&s);
	cudaMemset(in, 0, sizeof host);
	scale<<<24, 256>>>(in, out); // 1: all is new
	scale<<<24, 256>>>(in, out); // 2: nothing is
	cudaMemset(in, 0, sizeof host);
	scale<<<24, 256>>>(in, out); // 3: a set wrote it
	scale<<<24, 256>>>(in, out); // 4: read since
	cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
	scale<<<24, 256>>>(in, out); // 5: the host wrote it
	cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
	scale<<<24, 256, 0, s>>>(in, out);
	scale<<<24, 256, 0, s>>>(in, out);
	cudaStreamEndCapture(s, &graph);
	cudaGraphInstantiate(&exec, graph, 0);
	cudaGraphLaunch(exec, s); // 6, 7: nodes of a graph
	return cudaDeviceSynchronize() != cudaSuccess;
}
CU
times_of() { # program [options]: the launches' times, in ns
	"$PMPP" launches "$@" --gpu h200 --backend emu --json >"$dir/out" 2>"$dir/err" </dev/null
	python3 -c '
import json, sys
seen = json.load(open(sys.argv[1]))
print(*(l["metrics"]["time.kernel_ns"]["value"] for l in seen["launches"]))' "$dir/out"
}
times_of "$dir/before.cu" >"$dir/times"
python3 - "$dir/times" <<'PY' >"$dir/said" 2>&1
import sys
first, same, was_set, read, sent, node, behind = map(float, open(sys.argv[1]).read().split())
assert first > same + 150, (first, same)
assert abs(was_set - same - 90) < 20, (was_set, same)
assert abs(read - same) < 1, (read, same)
assert abs(sent - was_set) < 1, (sent, was_set)
assert abs(node - same - 100) < 1 and abs(behind - node) < 1, (node, behind, same)
assert abs(same - 832) < 0.1 * 832, same
PY
same before 0 $?
cat "$dir/said"

# code that two kernels of 18 KiB have displaced comes anew, behind one of them it is kept
# (tests/gpu/micro/displaced.cu)
cat >"$dir/displaced.cu" <<'CU'
#include <cuda_runtime.h>
__global__ void small(float *p) { *p += 1; }
template <int of> __global__ void large(float *p)
{
	float a = *p, b = a + of;
#pragma unroll
	for (int i = 0; i < 575; i++) {
		asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(a) : "f"(b));
		asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(b) : "f"(a));
	}
	*p = a;
}
int main()
{
	float *p;
	cudaMalloc(&p, sizeof *p);
	cudaMemset(p, 0, sizeof *p);
	small<<<1, 1>>>(p);
	small<<<1, 1>>>(p); // 2
	large<1><<<1, 1>>>(p);
	small<<<1, 1>>>(p); // 4: behind one
	large<1><<<1, 1>>>(p);
	large<2><<<1, 1>>>(p);
	small<<<1, 1>>>(p); // 7: behind two
	small<<<1, 1>>>(p); // 8
	return cudaDeviceSynchronize() != cudaSuccess;
}
CU
times_of "$dir/displaced.cu" --count 100 >"$dir/times"
python3 - "$dir/times" <<'PY' >"$dir/said" 2>&1
import sys
t = [0] + [float(x) for x in open(sys.argv[1]).read().split()]
assert abs(t[4] - t[2]) < 1 and abs(t[8] - t[2]) < 1, t
assert abs(t[7] - t[2] - 30) < 1, t
PY
same displaced 0 $?
cat "$dir/said"

# a box is asked for by rows, though its pieces of 16 bytes change places: 5 times 8 blocks of 256 rows
"$PMPP" launches "$TEST_ROOT/tests/programs/hopper_gemm.cu" -arch=sm_90a --gpu h200 --backend emu --json \
	>"$dir/out" 2>"$dir/err" </dev/null
python3 - "$dir/out" <<'PY' >"$dir/said" 2>&1
import json, sys
m = json.load(open(sys.argv[1]))["launches"][0]["metrics"]
assert m["bulk.ld_requests"]["value"] == 10240, m["bulk.ld_requests"]
assert m["bulk.ld_sectors"]["value"] == 40960, m["bulk.ld_sectors"]
PY
same rows 0 $?
cat "$dir/said"


# shared memory of the block beside is far; PTX and machine code alike
# (tests/gpu/micro/clusters.cu)
cat >"$dir/beside.cu" <<'CU'
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) walk(unsigned beside, unsigned turns, unsigned *out)
{
	__shared__ unsigned next[256];
	cg::cluster_group cluster = cg::this_cluster();
	unsigned at = threadIdx.x;
	for (unsigned i = at; i < 256; i += 32)
		next[i] = (i * 5 + 3) % 256;
	cluster.sync();
	unsigned *const there = cluster.map_shared_rank(next, cluster.block_rank() ^ beside);
	for (unsigned i = 0; i < turns; i++)
		at = there[at];
	cluster.sync();
	out[blockIdx.x * 32 + threadIdx.x] = at;
}
int main()
{
	unsigned *out;
	cudaMalloc(&out, 512 * 4);
	walk<<<2, 32>>>(0, 64, out); // one warp, which waits for each load
	walk<<<2, 32>>>(1, 64, out);
	return cudaDeviceSynchronize() != cudaSuccess;
}
CU
for level in ptx sass; do
	times_of "$dir/beside.cu" -arch=sm_90 --level $level >"$dir/times"
	python3 - "$dir/times" <<'PY' >"$dir/said" 2>&1
import sys
own, beside = map(float, open(sys.argv[1]).read().split())
assert 64 * 70 < beside - own < 64 * 160, (own, beside)
PY
	same "beside $level" 0 $?
	cat "$dir/said"
done

# sleeps end at the timer's next multiple of a power of two: the first one takes half of that, in the mean
cat >"$dir/sleeps.cu" <<'CU'
#include <cuda_runtime.h>
__global__ void sleeps(unsigned ns, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		__nanosleep(ns - threadIdx.x);
}
int main()
{
	sleeps<<<2, 32>>>(31, 1); // where the code is fetched
	sleeps<<<2, 32>>>(31, 1);
	sleeps<<<2, 32>>>(60000, 1); // 65,536 / 2
	sleeps<<<2, 32>>>(60000, 3); // 65,536 * 5 / 2
	sleeps<<<9, 64>>>(60000, 8); // unrolled
	return cudaDeviceSynchronize() != cudaSuccess;
}
CU
for level in ptx sass; do
	times_of "$dir/sleeps.cu" -arch=sm_90 --level $level >"$dir/times"
	python3 - "$dir/times" <<'PY' >"$dir/said" 2>&1
import sys
_, short, once, three, eight = map(float, open(sys.argv[1]).read().split())
assert abs(once - short - 32752) < 10, (once, short)
assert abs(three - once - 2 * 65536) < 600, (three, once)
assert abs(eight - once - 7 * 65536) < 2000, (eight, once)
PY
	same "sleeps $level" 0 $?
	cat "$dir/said"
done
# the timer goes in nanoseconds, by the clock of the GPU that is chosen; its halves, too
cat >"$dir/timer.cu" <<'END'
#include <cstdio>
__device__ long long timer()
{
	long long ns;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}
__device__ unsigned low_half()
{
	unsigned ns;
	asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(ns));
	return ns;
}
__global__ void wait(long long *out, long long ns)
{
	const long long begin = timer(), cycles = clock64();
	const unsigned low = low_half();
	while (timer() - begin < ns)
		;
	out[0] = clock64() - cycles;
	out[1] = low_half() - low;
}
int main()
{
	long long *out;
	int khz;
	cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
	cudaMallocManaged(&out, 16);
	wait<<<1, 1>>>(out, 1000000);
	cudaDeviceSynchronize();
	const double cycles = out[0], ns = out[1];
	printf("%s\n", cycles > 0.99 * khz && cycles < 1.01 * khz && ns > 0.99e6 && ns < 1.01e6 ? "a millisecond" : "another time");
	printf("%g cycles, %g ns\n", cycles, ns);
	return cudaFree(out);
}
END
for on in 'a100 ptx' 'h200 ptx' 'h200 sass' 't4 sass'; do
	# shellcheck disable=SC2086 # two words
	set -- $on
	PMPP_RESULTS_OF=$2 "$PMPP" launches "$dir/timer.cu" --gpu "$1" --level "$2" >"$dir/out" 2>/dev/null
	same "timer-in-nanoseconds-$1-$2" 'a millisecond' "$(head -n 1 "$dir/out")" || cat "$dir/out"
done
