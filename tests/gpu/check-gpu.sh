#!/bin/sh
# Everything a real GPU has to show, in one call: sh tests/gpu/check-gpu.sh GPU_CHECK OUTPUT-FOLDER
# GPU_CHECK is the program of tests/gpu/*.c; raw results land in the folder, a summary on the screen.
# PARTS chooses: info faults run time agree gemm ncu sanitizer (default: all).
set -u
check=$1
out=$2
parts=${PARTS:-info faults run time agree gemm ncu sanitizer}
mkdir -p "$out"
# A kernel that never ends shows the watchdog; it is measured on its own.
endless=split_barrier
# These take seconds per launch under a profiler.
slow=one_thread,vec_add/race,vec_add/atomic

has() { case " $parts " in *" $1 "*) return 0 ;; esac; return 1; }
now() { date +%s.%N; }
since() { awk "BEGIN { printf \"%.1f\", $(now) - $1 }"; }
timed() { # file command...
	file=$1
	shift
	begin=$(now)
	"$@" > "$out/$file" 2> "$out/$file.err"
	rc=$?
	[ -s "$out/$file.err" ] || rm -f "$out/$file.err"
	printf '%-14s status %d, %s lines, %s s\n' "$file" "$rc" "$(wc -l < "$out/$file")" "$(since "$begin")"
}

printf 'machine: '
nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader
if has info; then
	timed info.jsonl "$check" info
	timed sass.jsonl "$check" sass
	cat "$out/info.jsonl"
fi
if has faults; then
	timed faults.jsonl "$check" faults
	cat "$out/faults.jsonl"
	timed watchdog.jsonl "$check" run --only $endless --timeout 3
fi
if has run; then
	timed run.jsonl "$check" run --points 3 --skip $endless,$slow
	timed run-slow.jsonl "$check" run --only $slow
	timed stalls.jsonl "$check" run --caps 4 --stalls --skip $endless,$slow
fi
if has time; then
	timed time.jsonl "$check" run --caps 1 --skip $endless
	timed warm.jsonl "$check" run --caps 1 --warm --skip $endless
fi
if has agree; then
	timed agree.txt "$check" agree --points 3 --skip $endless,$slow
	tail -40 "$out/agree.txt"
fi
if has gemm; then
	timed gemm.jsonl "$check" gemm
	cat "$out/gemm.jsonl"
fi
if has ncu && command -v ncu > /dev/null; then
	# The same counters of the same launches, by us and by ncu, which exclude each other.
	for set in fast slow; do
		pick="--skip $endless,$slow"
		[ $set = fast ] || pick="--only $slow"
		timed counters-$set.jsonl "$check" run --caps 4 $pick
		begin=$(now)
		PMPP_LIBCUPTI=/none timeout 300 ncu --target-processes all --clock-control none --csv \
			--page raw --print-units base --kernel-name-base function \
			--kernel-name 'regex:_v[0-9]' --metrics "$("$check" names)" \
			--log-file "$out/ncu-$set.csv" "$check" run --caps 2 $pick > /dev/null 2>&1
		echo "ncu-$set       status $?, $(grep -c '^"[0-9]' "$out/ncu-$set.csv") launches, $(since "$begin") s"
		timed ncu-$set.txt "$check" ncu "$out/counters-$set.jsonl" "$out/ncu-$set.csv"
		cat "$out/ncu-$set.txt"
	done
fi
if has sanitizer && command -v compute-sanitizer > /dev/null; then
	for tool in memcheck racecheck; do
		begin=$(now)
		# no_load_barrier, no_use_barrier and vec_add/race are wrong on purpose.
		PMPP_LIBCUPTI=/none timeout 200 compute-sanitizer --tool $tool --target-processes all \
			--log-file "$out/$tool.txt" "$check" run --caps 2 --first 1 --points 2 \
			--skip "$endless,no_load_barrier,no_use_barrier,vec_add/race" --timeout 100 \
			> "$out/$tool.jsonl" 2>&1
		echo "$tool status $?, $(since "$begin") s, $(wc -l < "$out/$tool.jsonl") launches: $(tail -1 "$out/$tool.txt")"
	done
fi
echo 'failed or unverified (three variants are wrong on purpose):'
cat "$out"/*.jsonl | grep -e '"run":false' -e '"verified":false' | cut -c1-200 | sort | uniq | head -20
