#!/bin/sh
# Whole programs on this machine's NVIDIA GPU, run as they are and under `launches --backend cuda`:
# the same output and status, every launch with its grid, block, stream and time, as many as the
# emulator makes; what recording costs; counters of chosen launches against Nsight Compute.
#   sh tests/gpu/programs_on_card.sh [PMPP-EXPLORE [FOLDER [NAME...]]]
# Needs nvcc and python3; without ncu the counters are only read. FOLDER (default
# build/gpu/on-card) keeps what was seen. Prints a table and lines "ok" or "not ok"; status 1 where
# one is not.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
pmpp=$(realpath "${1:-$root/build/pmpp-explore}")
out=${2:-$root/build/gpu/on-card}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] && shift
names=${*:-vector_add matmul transpose reduction scan histogram stencil streams graphs nbody spmv bfs
	radix_sort managed_list pools driver_api device_printf cooperative_tiles grid_sync textures
	library_style thrust_basics launch_errors cluster_launch symbols threads zero_copy nested_launches
	graph_editing warp_intrinsics}
nvcc=${NVCC:-$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")}
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
mkdir -p "$out/bin" || exit 2
out=$(cd "$out" && pwd)
export XDG_CACHE_HOME="$out/cache" PMPP_LANG=en

build() { # NAME SOURCE OPTIONS...
	binary=$out/bin/$1
	source=$2
	shift 2
	"$nvcc" "$@" -O1 -lineinfo -gencode "arch=compute_${arch:-90},code=[sm_${arch:-90},compute_${arch:-90}]" \
		-o "$binary" "$source" >"$binary.log" 2>&1 ||
		echo "not ok build-$(basename "$binary"): $(head -n 3 "$binary.log")"
}

cat >"$out/bin/many.cu" <<'CU'
#include <chrono>
#include <cstdio>
#include <cstdlib>
__global__ void tiny(int *x) { if (x) x[threadIdx.x]++; }
int main(int, char **argv)
{
	const int n = atoi(argv[1]);
	int *x;
	cudaMalloc(&x, 256 * sizeof *x);
	cudaMemset(x, 0, 256 * sizeof *x);
	for (int i = 0; i < 100; i++)
		tiny<<<1, 256>>>(x);
	cudaDeviceSynchronize();
	auto begin = std::chrono::steady_clock::now();
	for (int i = 0; i < n; i++)
		tiny<<<1, 256>>>(x);
	cudaDeviceSynchronize();
	const std::chrono::duration<double> s = std::chrono::steady_clock::now() - begin;
	fprintf(stderr, "us %.3f\n", 1e6 * s.count() / n);
	return 0;
}
CU
cat >"$out/bin/illegal.cu" <<'CU'
#include <cstdio>
__global__ void right(int *x) { x[threadIdx.x] = 1; }
__global__ void wrong(int *x) { x[threadIdx.x] = 2; }
int main()
{
	int *x;
	cudaMalloc(&x, 4096);
	right<<<1, 32>>>(x);
	cudaDeviceSynchronize();
	wrong<<<1, 32>>>((int *)16);
	cudaError_t e = cudaDeviceSynchronize();
	printf("%s\n", cudaGetErrorName(e));
	return e == cudaSuccess ? 0 : 5;
}
CU
cat >"$out/bin/abandon.cu" <<'CU'
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>
#include <unistd.h>
#include <cstdlib>
__global__ void right(int *x) { x[threadIdx.x] = 1; }
int main(int, char **argv)
{
	int *x;
	cudaMalloc(&x, 4096);
	for (int i = 0; i < 5; i++)
		right<<<1, 32>>>(x);
	cudaDeviceSynchronize();
	if (argv[1][0] == '_') // nothing of ours is called: only what was told until now is kept
		std::this_thread::sleep_for(std::chrono::milliseconds(200));
	if (argv[1][0] == 'w')
		for (;;)
			pause();
	if (argv[1][0] == 's')
		raise(SIGSEGV);
	if (argv[1][0] == 'a')
		abort();
	if (argv[1][0] == '_')
		_Exit(4);
	if (argv[1][0] == 'r')
		cudaDeviceReset();
	return 0;
}
CU

begin=$(date +%s)
for name in $names; do
	source=$root/tests/programs/$name.cu
	if [ ! -e "$source" ]; then
		echo "not ok $name: there is no such program"
		continue
	fi
	# shellcheck disable=SC2046 # several words
	build "$name" "$source" $(sed -n 's|^// nvcc: ||p' "$source" | sed 's/-arch=[^ ]*//') &
done
for name in many illegal abandon; do
	build $name "$out/bin/$name.cu" &
done
build many_static "$out/bin/many.cu" -cudart static &
build many_shared "$out/bin/many.cu" -cudart shared &
wait
echo "built in $(($(date +%s) - begin)) s"
# shellcheck disable=SC2086 # several words
python3 -B "$root/tests/gpu/programs_on_card.py" "$pmpp" "$out" "$root/tests/programs" $names
status=$?
echo "in all $(($(date +%s) - begin)) s"
exit $status
