#!/bin/sh
# What a warp instruction of other people's style of program costs, every counter on: processor
# time of the programs of tests/programs on one thread, beyond that of a program which launches
# nothing, by the warp instructions of their PTX. Those that execute fewer than LEAST (default
# 300000) are too small to be timed so. The median is the figure.
#
#   programs.sh PMPP-EXPLORE [PROGRAM ...]
set -eu
pmpp=$1
[ -f "$pmpp" ] && [ -x "$pmpp" ] || { echo "programs.sh: no program: $pmpp" >&2; exit 2; }
shift
least=${LEAST:-300000}
here=$(cd "$(dirname "$0")/../programs" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-programs-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# seconds PROGRAM: of user time, the better of two
seconds() {
	for turn in 1 2; do
		(
			"$pmpp" launches "$1" --gpu h200 --level ptx --no-races --threads 1 --count 1000000 \
				>"$work/out" 2>&1 </dev/null || true
			times
		) | awk 'NR == 2 { split($1, t, /[ms]/); print 60 * t[1] + t[2] }'
	done | sort -n | head -n 1
}

# Of all launches of PROGRAM.
warp_instructions() {
	"$pmpp" launches "$1" --gpu h200 --level ptx --no-races --count 1000000 --json 2>/dev/null </dev/null | awk '
		/"inst.warp_executed"/ { here = 1 }
		here && /"value"/ { sum += $2; here = 0 }
		END { printf "%.0f\n", sum }'
}

echo 'int main() { return cudaFree(0); }' >"$work/nothing.cu"
nvcc -o "$work/nothing" -cudart shared "$work/nothing.cu"
start=$(seconds "$work/nothing")
[ $# -gt 0 ] || {
	# shellcheck disable=SC2046 # names without spaces
	set -- $(cd "$here" && ls ./*.cu | sed 's/^..//; s/\.cu$//')
}
for name; do
	# shellcheck disable=SC2046 # several words
	nvcc -O2 -cudart shared -arch=sm_90 -o "$work/program" "$here/$name.cu" \
		$(sed -n 's|^// nvcc: ||p' "$here/$name.cu") >/dev/null 2>&1 || continue
	n=$(warp_instructions "$work/program")
	[ "${n:-0}" -ge "$least" ] || continue
	echo "$name $n $(seconds "$work/program") $start"
done | awk '
	{ printf "%-22s %12d warp instructions %7.2f ns\n", $1, $2, 1e9 * ($3 - $4) / $2 | "cat"; ns[NR] = 1e9 * ($3 - $4) / $2 }
	END {
		close("cat")
		if (!NR) { print "programs.sh: no program executes enough" > "/dev/stderr"; exit 1 }
		for (i = 1; i <= NR; i++)
			for (j = i + 1; j <= NR; j++)
				if (ns[j] < ns[i]) { t = ns[i]; ns[i] = ns[j]; ns[j] = t }
		printf "median of %d programs: %.1f ns per warp instruction\n", NR,
			(ns[int((NR + 1) / 2)] + ns[int(NR / 2) + 1]) / 2
	}'
