#!/bin/sh
# Kernels that wait for the host: one that nobody lets go, one that runs when the program ends, and
# copies of what is no memory; lanes that wait for others of their warp, or do not name themselves; loops
# that compute for ever; warps that pause. That they are served is in tests/programs/waiting_kernels.cu.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip waiting: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
cat >waits.cu <<'EOF'
#include <cstdio>
#include <cstring>
__global__ void wait_for(const volatile int *flag, int *out)
{
	while (*flag == 0)
		;
	*out = *flag;
}
int main(int argc, char **argv)
{
	int *flag, *out;
	cudaMallocHost(&flag, sizeof *flag);
	cudaMallocHost(&out, sizeof *out);
	*flag = *out = 0;
	if (argc > 1 && !strcmp(argv[1], "null")) {
		printf("%s\n", cudaGetErrorName(cudaMemcpy(flag, NULL, 4, cudaMemcpyHostToDevice)));
		printf("%s\n", cudaGetErrorName(cudaMemcpy(NULL, flag, 4, cudaMemcpyDeviceToHost)));
		return 0;
	}
	wait_for<<<1, 32>>>(flag, out);
	if (argc > 1)
		return 0;
	const cudaError_t e = cudaDeviceSynchronize();
	printf("%s %d\n", cudaGetErrorName(e), *out);
	return 0;
}
EOF
nvcc -O1 -lineinfo -arch=sm_80 -o waits waits.cu || {
	not_ok compiles nvcc
	exit 0
}
run nobody-comes 1 launches ./waits
same nobody-comes-told 'cudaErrorLaunchTimeout 0' "$(head -n 1 out)"
grep -q 'waits.cu:[56]: .*wait_for.*waits at this line for memory to change, and nobody' err &&
	ok nobody-comes-named || not_ok nobody-comes-named "$(cat err)"
grep -q 'let the host write what the kernel waits for' err && ok nobody-comes-remedy ||
	not_ok nobody-comes-remedy "$(cat err)"
run program-ends 0 launches ./waits -- leave
grep -q 'unfinished (launch 1)' err && ok program-ends-told || not_ok program-ends-told "$(cat err)"
# who has no time for that is told where the program was
cat >endless.cu <<'EOF'
__global__ void quick(int *x) { *x = 1; }
__global__ void endless(float *x)
{
	for (long i = 0; i < 1L << 50; i++)
		*x = *x * 1.5f + i;
}
int main()
{
	float *x;
	cudaMalloc(&x, 4);
	quick<<<1, 1>>>((int *)x);
	endless<<<1, 1>>>(x);
	cudaDeviceSynchronize();
}
EOF
run out-of-time 1 launches endless.cu --timeout 4
grep -q 'still runs after 4 s, in launch 2, endless$' err && ok out-of-time-where ||
	not_ok out-of-time-where "$(cat err)"

# one that never ends, as a barrier is missing: the race is told
cat >again.cu <<'EOF'
__global__ void again(const int *a, int *b)
{
	__shared__ int more;
	int v = a[threadIdx.x];
	do {
		__syncthreads();
		if (threadIdx.x == 0)
			more = 0;
		__syncthreads();
		if (v > 3) {
			v /= 2;
			more = 1;
		}
	} while (more);
	b[threadIdx.x] = v;
}
#ifndef KERNEL_ONLY
int main()
{
	int *x, many[128];
	for (int i = 0; i < 128; i++)
		many[i] = i;
	cudaMalloc(&x, sizeof many);
	cudaMemcpy(x, many, sizeof many, cudaMemcpyHostToDevice);
	again<<<1, 64>>>(x, x + 64);
	cudaDeviceSynchronize();
}
#endif
EOF
run never-again 1 launches again.cu --timeout 4
grep -q 'still runs after 4 s, in launch 1, again$' err &&
	grep -q '^! race (launch 1).*again.cu:1[024]: again: shared-memory race' err &&
	grep -q '^! timeout (launch 1): .*again.cu:[1-9][0-9]*: again: still running' err &&
	ok never-again-tells-races || not_ok never-again-tells-races "$(cat err)"
run never-again-kernel 1 run again.cu -DKERNEL_ONLY --kernel again --grid 1 --block 64 \
	'a=i32[64]:iota' 'b=i32[64]:zero' --timeout 4
grep -q 'before that: again.cu:1[024]: again: shared-memory race' err &&
	ok never-again-kernel-tells-races || not_ok never-again-kernel-tells-races "$(cat err)"
run null-copies 1 launches ./waits -- null
same null-copies-told 'cudaErrorInvalidValue cudaErrorInvalidValue' "$(tr '\n' ' ' <out | sed 's/ $//')"
grep -q 'null-pointer.* a copy from a null pointer' err && ok null-copies-named ||
	not_ok null-copies-named "$(cat err)"

# lanes that wait for others of their warp, fewer and more than those
cat >lanes.cu <<'EOF'
#include <cstdio>
__global__ void wait_for_lanes(int *out, int waiting)
{
	__shared__ volatile int go;
	if (threadIdx.x == 0)
		go = 0;
	__syncwarp();
	if ((int)threadIdx.x < waiting) {
		while (!go)
			;
	} else {
		float x = threadIdx.x;
		for (int i = 0; i < 100 + waiting; i++)
			x = x * 0.5f + 1;
		go = x > 0;
	}
	__syncwarp();
	out[threadIdx.x] += go;
}
int main()
{
	int *out, sum = 0;
	cudaMallocManaged(&out, 32 * sizeof *out);
	for (int waiting = 1; waiting < 32; waiting += 10) {
		wait_for_lanes<<<1, 32>>>(out, waiting);
		cudaDeviceSynchronize();
	}
	for (int i = 0; i < 32; i++)
		sum += out[i];
	printf("%d\n", sum);
	return cudaFree(out);
}
EOF
run lanes-wait 0 launches --json --gpu h200 --count 4 lanes.cu -O1
same lanes-come 128 "$(field out stdout | tr -dc 0-9)"
levels=$(for launch in 0 1 2 3; do field out launches $launch level; done | sort -u)
same lanes-in-machine-code sm_90 "${levels%% *}"

# a loop that computes for ever, and one that comes back to where it was in the end
cat >computes.cu <<'EOF'
#include <cstdio>
__global__ void for_ever(int *out, int end)
{
	int x = threadIdx.x;
	while (x != end)
		x = (x * 3 + 1) & 0xffe;
	*out = x;
}
__global__ void long_but_ends(unsigned *out, unsigned turns)
{
	unsigned x = threadIdx.x, n = 0;
	do {
		x = x * 1664525 + 1013904223;
		n++;
	} while (n < turns);
	out[threadIdx.x] = x;
}
int main()
{
	int *out;
	cudaMalloc(&out, 128);
	long_but_ends<<<1, 32>>>((unsigned *)out, 1 << 22);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	for_ever<<<1, 32>>>(out, 0x1001);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
EOF
run computes-for-ever 1 launches computes.cu
same computes-for-ever-told 'cudaSuccess cudaErrorLaunchTimeout' "$(tr '\n' ' ' <out | sed 's/ $//')"
grep -q 'timeout (launch 2): .*computes.cu:[4-6]: for_ever: this loop never ends' err &&
	ok computes-for-ever-named || not_ok computes-for-ever-named "$(cat err)"

# a lane that waits for others without naming itself
cat >unnamed.cu <<'EOF'
__global__ void unnamed(int *out, unsigned mask)
{
	out[threadIdx.x] = threadIdx.x;
	__syncwarp(mask);
	out[threadIdx.x ^ 1] += 1;
}
int main()
{
	int *out;
	cudaMalloc(&out, 128);
	unnamed<<<1, 32>>>(out, 0xffffffff);
	unnamed<<<1, 16>>>(out, 0xffff);
	unnamed<<<1, 32>>>(out, 0xffff);
	return cudaFree(out);
}
EOF
run unnamed-lane 1 launches unnamed.cu --no-races
grep '^!' err >told
same unnamed-lane-told-once 1 "$(grep -c 'unnamed' told)"
grep -q 'launch 3.*unnamed.cu:4: .*for lanes 0000ffff of warp 0, and block (0,0,0), thread (16,0,0)' told &&
	ok unnamed-lane-named || not_ok unnamed-lane-named "$(cat err)"

# the same of instructions by which lanes exchange values: the results are those of an H200, where all that
# come at once take part; lane 20 is read where it does not come
cat >exchanges.cu <<'EOF'
#include <cstdio>
template <int what> __global__ void exchange(unsigned *out, unsigned mask)
{
	const unsigned lane = threadIdx.x;
	unsigned r = 0;
	int all;
	if (what == 0)
		r = __reduce_add_sync(mask, lane);
	if (what == 1)
		r = __ballot_sync(mask, lane & 1);
	if (what == 2)
		r = __match_any_sync(mask, lane & 1);
	if (what == 3)
		r = __match_all_sync(mask, lane / 8, &all) + all;
	if (what == 4)
		r = __shfl_sync(mask, lane, 20);
	if (what == 5 && lane < 16)
		r = 2 * __shfl_sync(mask, lane, 20);
	if (what == 6)
		r = __any_sync(0xff, lane == 20) + 2 * __all_sync(0xff, lane < 8);
	out[lane] = r;
}
static unsigned *out;
template <int what> static void show(unsigned mask, int threads = 32)
{
	exchange<what><<<1, threads>>>(out, mask);
	cudaDeviceSynchronize();
	if (mask == 0xff)
		printf("%x %x\n", out[0], out[31]);
}
int main()
{
	cudaMallocManaged(&out, 128);
	for (int threads = 16; threads <= 32; threads += 16) {
		show<0>(threads == 16 ? 0xffff : ~0u, threads);
		show<1>(threads == 16 ? 0xffff : ~0u, threads);
		show<2>(~0u, threads);
		show<4>(~0u, threads);
	}
	show<0>(0xff);
	show<1>(0xff);
	show<2>(0xff);
	show<3>(0xff);
	show<4>(0xff);
	show<6>(0xff);
	show<5>(0xffff);
	return cudaFree(out);
}
EOF
run exchanges 1 launches exchanges.cu --gpu h200 --no-races
results=$(grep '^[0-9a-f]* [0-9a-f]*$' out | tr '\n' ' ')
same exchanges-results '1f0 1f0 aaaaaaaa aaaaaaaa 55555555 aaaaaaaa 0 0 14 14 1 1 ' "$results"
grep '^[!-] ' err >told
same exchanges-told 7 "$(grep -c 'exchanges.cu' told)"
same exchanges-unnamed 6 "$(grep -c 'for lanes 000000ff of warp 0, and block (0,0,0), thread (8,0,0), which is none' told)"
grep -q 'undefined (launch 15).*exchanges.cu:18: .*reads lane 20 of warp 0, which its mask does not name' told &&
	ok exchanges-unread || not_ok exchanges-unread "$(cat err)"

# a warp that pauses in its loop lets the others run: it asks as often as on a card, a few times
cat >pauses.cu <<'EOF'
#include <cuda/barrier>
__global__ void barrier_of_the_library(int *out)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> bar;
	__shared__ int s[256];
	if (threadIdx.x == 0)
		init(&bar, blockDim.x);
	__syncthreads();
	for (int k = 0; k < 3; k++) {
		s[threadIdx.x] = threadIdx.x + k;
		bar.arrive_and_wait();
		out[threadIdx.x] = s[255 - threadIdx.x];
		bar.arrive_and_wait();
	}
}
int main()
{
	int *out;
	cudaMalloc(&out, 1024);
	barrier_of_the_library<<<1, 256>>>(out);
	return cudaFree(out);
}
EOF
for level in auto ptx; do
	run "pauses-$level" 0 launches pauses.cu --json --level $level
	n=$(field out launches 0 metrics inst.warp_executed value)
	[ "${n%%.*}" -lt 5000 ] && ok "pauses-few-turns-$level" || not_ok "pauses-few-turns-$level" "$n warp instructions"
done

# locks, turns and tickets of lanes of one warp, in PTX and in the machine code of several cards
for gpu in h200 a100 rtx5090; do
	run lanes-wait-$gpu 0 launches --gpu $gpu --level sass "$TEST_ROOT/tests/programs/lanes_wait.cu"
	same lanes-come-$gpu 'lanes_wait: passed' "$(grep lanes_wait: out)"
done
run lanes-wait-json 0 launches --json --gpu h200 "$TEST_ROOT/tests/programs/lanes_wait.cu"
levels=$(for launch in 0 1 2 3 4 5; do field out launches $launch level; done | sort -u)
same lanes-wait-level sm_90 "${levels%% *}"


# a kernel that serves a queue of the host's, round by round, and returns in the middle of one: the
# lanes that wait for the first one come to the same barrier as it does
cat >served.cu <<'EOF'
#include <atomic>
#include <cstdio>
#include <cstring>
#include <unistd.h>
struct queue {
	volatile unsigned head, tail, stop;
	volatile int item[64], result[64];
};
__global__ void serve(queue *q)
{
	__shared__ int job;
	__shared__ unsigned at;
	while (true) {
		if (threadIdx.x == 0) {
			while (q->tail == q->head && !q->stop)
				__nanosleep(200);
			__threadfence_system();
			if (q->tail == q->head) {
				job = -1;
			} else {
				at = q->tail;
				job = q->item[at % 64];
			}
		}
		__syncthreads();
		if (job < 0)
			return;
		int v = job * (threadIdx.x + 1);
		for (int o = 16; o; o /= 2)
			v += __shfl_xor_sync(~0u, v, o);
		if (threadIdx.x == 0) {
			q->result[at] = v;
			__threadfence_system();
			q->tail = at + 1;
		}
		__syncthreads();
	}
}
int main()
{
	queue *q, *d;
	int bad = 0;
	cudaHostAlloc(&q, sizeof *q, cudaHostAllocMapped);
	memset((void *)q, 0, sizeof *q);
	cudaHostGetDevicePointer(&d, q, 0);
	serve<<<1, 32>>>(d);
	for (int i = 0; i < 50; i++) {
		q->item[i] = i;
		std::atomic_thread_fence(std::memory_order_seq_cst);
		q->head = i + 1;
		if (i % 10 == 0)
			usleep(2000);
	}
	while (q->tail != 50)
		usleep(100);
	q->stop = 1;
	cudaDeviceSynchronize();
	for (int i = 0; i < 50; i++)
		bad += q->result[i] != i * 528;
	cudaFreeHost(q);
	return bad;
}
EOF
run served 0 launches served.cu
same served-without-fault 0 "$(grep -c '^!' err)"
