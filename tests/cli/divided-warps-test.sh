#!/bin/sh
# Warps that loops and calls divide count what an H200 counts (tests/gpu/parts_check.py).
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip divided warps: no nvcc here'
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

# YIELD lets others of the warp go on, and those who are then at one place go on together; lanes
# that meet, and exchange, at several places; barriers of the block in a branch. What polls is left out, with the reason
# (programs_left_out.py).
for name in lanes_wait warp_meetings barriers_in_calls divergent_barriers; do
	if python3 -B "$TEST_ROOT/tests/gpu/programs_compare.py" "$PMPP" "$TEST_ROOT/tests/programs" \
		"$TEST_ROOT/tests/gpu/h200-2026-11-28/programs" h200 "$name" >"$dir/out" 2>&1; then
		echo "ok divided-warps-$name"
	else
		echo "not ok divided-warps-$name"
		tail -5 "$dir/out"
	fi
done
