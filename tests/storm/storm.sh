#!/bin/sh
# A storm over one build of the program: storm.sh BUILD KEYS. What a sanitizer says is shown.
set -u
build=$1
keys=$2
dir=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-storm-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/work" "$dir/home"
cd "$dir/work" || exit 1
export HOME="$dir/home" XDG_CACHE_HOME="$dir/home/cache" XDG_CONFIG_HOME="$dir/home/config" LC_ALL=C.UTF-8
export ASAN_OPTIONS="log_path=$dir/said:detect_leaks=1" TSAN_OPTIONS="log_path=$dir/said:atexit_sleep_ms=0"
export UBSAN_OPTIONS="log_path=$dir/said:print_stacktrace=1"
# a GPU that is none, and takes its time: its back end is a process that can be killed
fake=$build/unit/cuda/fake_nvidia.so
export PMPP_LIBCUDA="$fake" PMPP_LIBCUPTI="$fake" PMPP_LIBNVML="$fake" PMPP_LIBCUBLAS="$fake"
export FAKE_NVIDIA='cuLaunchKernel=nap'
"$build/storm/storm" "$keys" $((keys / 10)) "${SEED:-1}" "$build/pmpp-explore" vec_add N=4k --gpu a100
status=$?
for said in "$dir"/said*; do
	[ -e "$said" ] || continue
	head -n 40 "$said"
	status=1
done
exit $status
