#!/bin/sh
# Warps that loops and calls divide count what an H200 counts (tests/gpu/parts_check.py).
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip divided warps: no nvcc here'
	exit 0
}
recorded=$TEST_ROOT/tests/gpu/h200-2026-11-27/micro

# Of recursion.cu one differs, by one warp instruction.
for one in loops:0 recursion:1; do
	name=${one%:*}
	if python3 -B "$TEST_ROOT/tests/gpu/parts_check.py" "$PMPP" "$recorded/$name.counters.jsonl" \
		h200 --differ "${one#*:}" >"$dir/out" 2>&1; then
		echo "ok divided-warps-$name"
	else
		echo "not ok divided-warps-$name"
		tail -5 "$dir/out"
	fi
done
