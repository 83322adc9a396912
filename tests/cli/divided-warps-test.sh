#!/bin/sh
# Warps that loops and calls divide count what an H200 counts (tests/gpu/parts_check.py).
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip divided warps: no nvcc here'
	exit 0
}
"$PMPP" sass "$TEST_ROOT/tests/data/sass/tiny_sm_90.cubin" >/dev/null 2>"$dir/err" || {
	echo "skip divided warps: $(head -n 1 "$dir/err")"
	exit 0
}
recorded=$TEST_ROOT/tests/gpu/h200-2026-11-27/micro

for name in loops recursion; do
	if python3 -B "$TEST_ROOT/tests/gpu/parts_check.py" "$PMPP" "$recorded/$name.counters.jsonl" \
		h200 >"$dir/out" 2>&1; then
		echo "ok divided-warps-$name"
	else
		echo "not ok divided-warps-$name"
		tail -5 "$dir/out"
	fi
done

# counted FOLDER NAME...: programs count what an H200 counted (tests/gpu/programs_compare.py).
counted() {
	folder=$TEST_ROOT/tests/gpu/$1/programs
	shift
	for name; do
		if python3 -B "$TEST_ROOT/tests/gpu/programs_compare.py" "$PMPP" "$TEST_ROOT/tests/programs" \
			"$folder" h200 "$name" >"$dir/out" 2>&1; then
			echo "ok as-counted-$name"
		else
			echo "not ok as-counted-$name"
			tail -5 "$dir/out"
		fi
	done
}

# Lanes that sleep; copies that lie across sectors; weights of texels, which decide what is printed.
counted h200-2026-11-30 sleeping copied_pieces volumes_between quotients_in_branches zero_copies

# YIELD lets others of the warp go on, and those who are then at one place go on together; lanes
# that meet, and exchange, at several places; barriers of the block in a branch. What polls is left out, with the reason
# (programs_left_out.py).
counted h200-2026-11-28 lanes_wait warp_meetings barriers_in_calls divergent_barriers

# Sides of branches out of loops, which no barrier gathers: of one place they go on together once
# another branch divides the warp. Groups that WARPSYNC.EXCLUSIVE takes apart, BRA.DIV under a guard.
# Counters of an H200: warp instructions, active lanes, lanes with a true predicate, divergent
# branches.
cat >"$dir/maze.cu" <<'CUDA'
__device__ __noinline__ int kind(int v, int k)
{
	if (v < 0)
		return -1;
	for (int i = 0; i < k; i++) {
		if (v % (i + 2) == 0)
			return i;
		if (v < i * i)
			break;
		v -= i;
	}
	return v & 3 ? k : k + 1;
}
__device__ inline int maze(const int *d, int n, int i)
{
	int acc = 0, x = d[i];
	for (int a = 0; a < 5; a++) {
		if (x & 1 << a)
			continue;
		for (int b = a; b < 7; b++) {
			int y = d[(i + a * 3 + b) % n];
			if (y % 7 == 0)
				goto next;
			if (y % 11 == 0)
				goto out;
			if ((y > x && (b & 1)) || (y < x / 2 && a > 1) || (y == x && b > 3)) {
				acc += 3;
			} else if (y & 4) {
				for (int t = y; t > 3;) {
					t = t / 3 - 1;
					acc++;
					if (acc > 90)
						return -acc;
				}
			} else {
				do {
					acc ^= b;
					y -= 37;
				} while (y > 100);
			}
		}
		acc += 100;
	next:
		acc += a;
	}
out:
	switch (acc % 9) {
	case 0: acc += 5;
	case 1: acc *= 2; break;
	case 2:
		for (int k = 0; k < (x & 7); k++) {
			acc += k;
			if (acc % 13 == 5)
				return acc;
		}
		break;
	case 3:
	case 4: acc = acc > 50 ? acc - 50 : 50 - acc;
	case 7: acc += kind(acc, 6); break;
	case 8:
		if (x > 500)
			break;
		acc = -acc;
	default: acc += x & 15;
	}
	for (int k = 0; k <= 6; k++) {
		if (acc < 0) {
			acc += 11;
		} else if ((acc ^ x) & 1) {
			acc += k;
			if (k > 2 && acc % 5 == 0)
				break;
		} else {
			acc -= kind(acc + k, 3);
		}
	}
	return acc;
}
__global__ void walk(const int *d, int *o, int n, int z)
{
	int i = z + threadIdx.x;
	if (i >= n)
		return;
	o[i] = maze(d, n, i);
}
int main()
{
	const int n = 999;
	int d[n], *a, *b;
	unsigned s = 77;
	for (int &x : d) {
		s = s * 1664525 + 1013904223;
		x = (s >> 12) % 1000;
	}
	cudaMalloc(&a, sizeof d);
	cudaMalloc(&b, sizeof d);
	cudaMemcpy(a, d, sizeof d, cudaMemcpyHostToDevice);
	for (int z : { 0, 32, 192, 288, 608, 736 })
		walk<<<1, 32>>>(a, b, n, z);
	return cudaDeviceSynchronize();
}
CUDA
cat >"$dir/groups.cu" <<'CUDA'
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void tile_sums(const int *in, int *out, int n)
{
	auto block = cg::this_thread_block();
	auto tile = cg::tiled_partition<4>(block);
	int i = block.group_index().x * block.size() + block.thread_rank();
	int v = i < n ? in[i] : 0;
	int s = cg::reduce(tile, v, cg::plus<int>());
	int m = cg::reduce(tile, v, cg::greater<int>());
	int ex = cg::exclusive_scan(tile, v);
	if (i < n)
		out[i] = s * 3 + m - ex + tile.shfl(v, 3) + tile.shfl_xor(v, 1);
}
__global__ void by_label(const int *in, int *bins, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	auto here = cg::coalesced_threads();
	int label = in[i] % 5;
	auto same = cg::labeled_partition(here, label);
	if (same.thread_rank() == 0)
		atomicAdd(&bins[label], same.size());
	auto half = cg::binary_partition(here, in[i] & 1);
	int s = cg::reduce(half, in[i], cg::plus<int>());
	if (half.thread_rank() == 0)
		atomicAdd(&bins[5 + (in[i] & 1)], s);
}
int main()
{
	const int n = 1003;
	int in[n], *d, *r;
	for (int i = 0; i < n; i++)
		in[i] = (i * 7919 + 13) % 1000;
	cudaMalloc(&d, sizeof in);
	cudaMalloc(&r, sizeof in);
	cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice);
	tile_sums<<<8, 128>>>(d, r, n);
	by_label<<<16, 64>>>(d, r, n);
	return cudaDeviceSynchronize();
}
CUDA
cat >"$dir/counts.py" <<'PY'
import json, sys
for l in json.load(open(sys.argv[1]))["launches"]:
	m = l["metrics"]
	print(l["kernel"], *(m[k]["value"] for k in sys.argv[2:]))
PY
run maze 0 launches "$dir/maze.cu" --gpu h200 --level sass --json
same maze-as-on-the-card 'walk 15988 23776 88
walk 14933 21738 78
walk 14023 23946 91
walk 14948 24742 87
walk 13771 23065 98
walk 18116 28487 106' "$(python3 "$dir/counts.py" "$dir/out" inst.warp_executed inst.thread_active div.divergent_branches)"
run groups 0 launches "$dir/groups.cu" --gpu h200 --level sass --json
same groups-as-on-the-card 'tile_sums 1952 62107 60999 0
by_label 1824 42817 41590 64' "$(python3 "$dir/counts.py" "$dir/out" inst.warp_executed inst.thread_active inst.thread_executed div.divergent_branches)"
