#!/bin/sh
# Everything a real GPU has to show, in one call: sh tests/gpu/check-gpu.sh PROGRAM OUTPUT-FOLDER
# PROGRAM is tests/gpu/gpu_check.c, built; raw results land in the folder, a summary on the screen.
set -u
check=$1
out=$2
mkdir -p "$out"
say() { printf '== %s\n' "$*"; }
timed() { # name command...
	name=$1; shift
	a=$(date +%s.%N)
	"$@" > "$out/$name.jsonl" 2> "$out/$name.err"
	rc=$?
	b=$(date +%s.%N)
	printf '%-10s rc %d, %s lines, %.1f s\n' "$name" "$rc" "$(wc -l < "$out/$name.jsonl")" "$(awk "BEGIN { print $b - $a }")"
}
say "machine"
nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem --format=csv,noheader
timed info "$check" info
cat "$out/info.jsonl"
timed sass "$check" sass
timed faults "$check" faults
cat "$out/faults.jsonl"
# A kernel that never ends shows the watchdog; it is measured on its own.
endless=split_barrier
timed run "$check" run --points "${POINTS:-3}" --skip $endless
timed watchdog "$check" run --only $endless --timeout 3
timed time "$check" run --caps 1 --skip $endless
timed warm "$check" run --caps 1 --warm --skip $endless
timed panels "$check" run --caps 7 --only sgemm/
timed stalls "$check" run --caps 4 --stalls --skip $endless
timed gemm "$check" gemm
if command -v ncu > /dev/null; then
	say "ncu on the same launches"
	a=$(date +%s.%N)
	PMPP_LIBCUPTI=/none timeout "${NCU_S:-200}" ncu --target-processes all --clock-control none --csv --page raw \
		--print-units base --kernel-name-base function --kernel-name 'regex:_v[0-9]' \
		--metrics "$("$check" names)" --log-file "$out/ncu.csv" \
		"$check" run --caps 2 --skip $endless > "$out/ncu.jsonl" 2> "$out/ncu.err"
	printf 'ncu rc %d, %s lines, %.1f s\n' $? "$(wc -l < "$out/ncu.csv")" "$(awk "BEGIN { print $(date +%s.%N) - $a }")"
fi
say "failed or unverified"
grep -h -e '"run":false' -e '"verified":false' "$out"/*.jsonl | cut -c1-600 | head -20
