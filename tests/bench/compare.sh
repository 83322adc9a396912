#!/bin/sh
# Speed of the emulator now against that of an earlier commit, in one run:
#
#   compare.sh BUILD-FOLDER COMMIT     builds COMMIT in BUILD-FOLDER/base/SHA, prints the ratios
#   compare.sh --ratios BEFORE AFTER   the same from two files with the output of emu_bench
#
# The two take turns, line by line, and the best of all turns counts: what else the machine does
# hits both alike. ROUNDS (default 5) turns of REPEAT (default 5) launches each. LINES="0 15": only
# these. INSTRUCTIONS=1 counts the processor's instructions under valgrind instead, of a launch on
# one thread and one on two: slow, but the same on a busy machine (it has no AVX-512).
set -eu

ratios() {
	awk -v what="${what:-ns}" '
	FNR == 1 { file++ }
	/ ms +x[0-9.]+$/ {
		name = substr($0, 1, 36)
		split(substr($0, 37), field, " ")
		if (!(name in seen)) { seen[name] = 1; order[++n] = name }
		if (!((file, name) in best) || field[2] + 0 < best[file, name])
			best[file, name] = field[2] + 0
		work[file, name] = field[1]
	}
	END {
		printf "%-36s %9s %9s %7s\n", what " per warp instruction", "before", "after", "ratio"
		for (i = 1; i <= n; i++) {
			name = order[i]
			if (!((1, name) in best) || !((2, name) in best)) {
				printf "%s only in one of the two\n", name
				continue
			}
			r = best[2, name] / best[1, name]
			note = work[1, name] == work[2, name] ? "" : "  (other work)"
			printf "%s %9.2f %9.2f %7.3f%s\n", name, best[1, name], best[2, name], r, note
			if (note == "") { sum += log(r); m++ }
		}
		if (!m) { print "compare.sh: no line is in both" > "/dev/stderr"; exit 1 }
		printf "%-36s %9s %9s %7.3f\n", "geometric mean", "", "", exp(sum / m)
	}' "$1" "$2"
}

if [ "$1" = --ratios ]; then
	ratios "$2" "$3"
	exit
fi

b=$1
sha=$(git rev-parse --verify --quiet "$2^{commit}") || {
	echo "make bench: BASE=$2 is no commit of this repository" >&2
	exit 1
}
base=$b/base/$sha
if [ ! -x "$base/build/bench/emu_bench" ]; then
	mkdir -p "$base/build"
	git archive "$sha" | tar -x -C "$base"
	# compiled kernels and the way to CUDA are the same for both
	[ ! -d build/modules ] || [ -d "$base/build/modules" ] || cp -R build/modules "$base/build/"
	env -u MAKEFLAGS -u MAKELEVEL -u MAKEOVERRIDES make -C "$base" build/bench/emu_bench \
		>"$base/build.log" 2>&1 || {
		tail -n 20 "$base/build.log" >&2
		echo "make bench: $2 does not build here: all of it in $base/build.log" >&2
		exit 1
	}
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-bench-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
before=$base/build/bench/emu_bench
after=$b/bench/emu_bench
lines=${LINES:-$(seq 0 $(($("$after" --lines) - 1)))}

# instructions REPEAT: of a whole run of $program at $line; what it showed is in $work/shown
instructions() {
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
		"$program" "$1" "$line" 2>"$work/said" >"$work/shown" || {
		cat "$work/said" >&2
		exit 1
	}
	sed -n 's/.*I *refs: *//p' "$work/said" | tr -d ,
}

# One turn of $1 at $line, added to file $2.
turn() {
	program=$1
	if [ "${INSTRUCTIONS:-}" = 1 ]; then
		once=$(instructions 1)
		awk -v n="$(($(instructions 2) - once))" '
			/ ms +x[0-9.]+$/ {
				split(substr($0, 37), field, " ")
				printf "%s %s %.3f 0 ms 0 ms x1\n", substr($0, 1, 36), field[1], n / field[1] / 2
			}' "$work/shown" >>"$2"
	else
		"$program" "${REPEAT:-5}" "$line" >>"$2"
	fi
}

[ "${INSTRUCTIONS:-}" != 1 ] || {
	ROUNDS=1
	what=instructions
}
for line in $lines; do
	round=0
	while [ $round -lt "${ROUNDS:-5}" ]; do
		turn "$before" "$work/before"
		turn "$after" "$work/after"
		round=$((round + 1))
	done
done
echo "== emulator: $(git log -1 --format='%h %s' "$sha") against the working tree"
ratios "$work/before" "$work/after"
