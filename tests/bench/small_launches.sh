#!/bin/sh
# What a whole program pays for being run here: the start, beyond the program alone, and each of 10,000 small
# launches, with no memory reserved and with 8 GiB. Processor time, the mean of 20 (start) and of two.
#
#   small_launches.sh PMPP-EXPLORE
set -eu
pmpp=$1
[ -f "$pmpp" ] && [ -x "$pmpp" ] || { echo "small_launches.sh: no program: $pmpp" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-small-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
nvcc -O2 -cudart shared -o "$work/small" "$(dirname "$0")/small_launches.cu"

# mean TIMES COMMAND...: milliseconds of processor time, user and system, of all of its processes
mean() {
	times=$1
	shift
	(
		for _ in $(seq "$times"); do
			"$@" >"$work/out" 2>&1 || cat "$work/out" >&2
		done
		times
	) | awk -v n="$times" 'NR == 2 {
		for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); v += 60 * t[1] + t[2] }
		print 1000 * v / n
	}'
}

cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
LD_LIBRARY_PATH=$cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
alone=$(mean 20 "$work/small")
started=$(mean 20 "$pmpp" launches "$work/small")
none=$(mean 20 "$pmpp" launches "$work/small" -- 0 0)
echo "start: $alone ms alone, $started ms here; $none ms with memory taken"
for mib in 0 8192; do
	all=$(mean 2 "$pmpp" launches "$work/small" -- 10000 $mib)
	echo "$mib $all $none" | awk '{ printf "10000 launches with %d MiB reserved: %.2f s, %.4f ms each\n",
		$1, $2 / 1000, ($2 - $3) / 10000 }'
done
