#!/bin/sh
# What a launch of a program costs that is counted, and one that only does its work: processor time
# of a launch of each kernel of uncounted.cu, and of a warp instruction of its PTX, on one thread.
#
#   uncounted.sh PMPP-EXPLORE [KERNEL ...]
set -eu
pmpp=$1
[ -f "$pmpp" ] && [ -x "$pmpp" ] || { echo "uncounted.sh: no program: $pmpp" >&2; exit 2; }
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-uncounted-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
nvcc -O2 -cudart shared -o "$work/uncounted" "$(dirname "$0")/uncounted.cu"

launches() {
	"$pmpp" launches "$work/uncounted" --level ptx --no-races --threads 1 "$@"
}

# seconds KERNEL LAUNCHES COUNTED: of user time
seconds() {
	(
		launches --count "$3" -- "$1" "$2" >"$work/out" 2>&1
		times
	) | awk 'NR == 2 { split($1, t, /[ms]/); print 60 * t[1] + t[2] }'
}

# Of one launch of KERNEL.
warp_instructions() {
	launches --json -- "$1" 1 2>/dev/null | awk '
		/"inst.warp_executed"/ { here = 1 }
		here && /"value"/ { print $2 + 0; exit }'
}

[ $# -gt 0 ] || set -- saxpy gather histogram global_atomics grey own_array stencil matmul \
	matmul_naive bodies options mandelbrot mandelbrot_double collatz sort
for kernel; do
	one=$(seconds "$kernel" 1 1)
	counted=$(seconds "$kernel" 11 1)
	echo "$kernel $one $counted $(seconds "$kernel" 11 99) $(warp_instructions "$kernel")" |
		awk '{
			c = ($4 - $2) / 10
			u = ($3 - $2) / 10
			printf "%-17s counted %6.1f ms, %6.2f ns; not counted %6.1f ms, %6.2f ns: %.1f times as fast\n",
				$1, 1e3 * c, 1e9 * c / $5, 1e3 * u, 1e9 * u / $5, c / u
		}'
done
