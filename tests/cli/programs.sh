# Every fourth program of tests/programs as its own source: a test names which, part=0..3, and sources
# this. What they print is what an H200 printed (tests/gpu/programs.sh).
. "$(dirname "$0")/lib.sh"
programs=$TEST_ROOT/tests/programs
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

command -v nvcc >/dev/null || {
	echo "skip whole-programs-$part: no nvcc here to compile them"
	exit 0
}

# What a program needs of nvcc stands in a comment of its own: // nvcc: -lcuda
options_of() {
	sed -n 's|^// nvcc: ||p' "$programs/$1.cu"
}

# NAME: as recorded on the H200; a program without a record must pass its own check
run_program() {
	name=$1
	# shellcheck disable=SC2046 # several words
	(cd "$work" && "$PMPP" launches "$programs/$name.cu" -O1 $(options_of "$name") --gpu h200 >"$name.out" 2>"$name.err" </dev/null)
	sed -n 's/.*  exit \([0-9]*\)$/status \1/p' "$work/$name.err" | head -n 1 >>"$work/$name.out"
	recorded=$(ls "$TEST_ROOT"/tests/gpu/h200-*/programs/"$name".out 2>/dev/null | tail -n 1) # the last one
	if [ -z "$recorded" ]; then
		if grep -q "^$name: passed" "$work/$name.out"; then
			echo "ok $name (no record of a GPU yet)"
			return
		fi
	elif cmp -s "$work/$name.out" "$recorded"; then
		echo "ok $name"
		return
	fi
	if grep -q 'fatal error: curand_kernel.h' "$work/$name.err"; then
		echo "skip $name: no cuRAND headers here"
		return
	fi
	echo "not ok $name"
	[ -z "$recorded" ] || diff "$work/$name.out" "$recorded" | head -n 5
	head -n 5 "$work/$name.err"
}

# as many at a time as there are processors: most of it is nvcc's time
jobs=$(getconf _NPROCESSORS_ONLN)
names=$(cd "$programs" && ls *.cu | sed 's/\.cu$//' | awk -v part="$part" 'NR % 4 == part')
set --
for name in $names; do
	run_program "$name" >"$work/$name.verdict" &
	set -- "$@" $!
	[ $# -lt "$jobs" ] || { wait "$1"; shift; }
done
wait
for name in $names; do
	cat "$work/$name.verdict"
done
