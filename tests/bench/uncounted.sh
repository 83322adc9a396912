#!/bin/sh
# What a launch of a program costs that is counted, and one that only does its work: processor time
# of 20 launches of each kernel of uncounted.cu.
#
#   uncounted.sh PMPP-EXPLORE
set -eu
pmpp=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-uncounted-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
nvcc -O2 -cudart shared -o "$work/uncounted" "$(dirname "$0")/uncounted.cu"

# seconds KERNEL LAUNCHES COUNTED: of user time
seconds() {
	(
		"$pmpp" launches "$work/uncounted" --level ptx --no-races --count "$3" -- "$1" "$2" \
			>"$work/out" 2>&1
		times
	) | awk 'NR == 2 { split($1, t, /[ms]/); print 60 * t[1] + t[2] }'
}

for kernel in saxpy gather histogram grey own_array; do
	one=$(seconds $kernel 1 1)
	echo "$kernel $one $(seconds $kernel 21 1) $(seconds $kernel 21 99)" |
		awk '{ printf "%-10s counted %6.1f ms, not counted %6.1f ms a launch: %.1f times as fast\n",
			$1, 50 * ($4 - $2), 50 * ($3 - $2), ($4 - $2) / ($3 - $2) }'
done
