#!/bin/sh
# Everything a real GPU has to show, in one call: sh tests/gpu/check-gpu.sh GPU_CHECK OUTPUT-FOLDER
# GPU_CHECK is the program of tests/gpu/*.c; raw results land in the folder, a summary on the screen.
# SETS chooses of ncu's launches: fast slow (default: both).
# PARTS chooses: info faults run time agree gemm passes ncu speed sanitizer (default: all).
set -u
check=$1
out=$2
parts=${PARTS:-info faults run time agree gemm passes ncu speed sanitizer}
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
if has passes; then
	timed passes.txt "$check" passes
	cat "$out/passes.txt"
fi
# The program without CUPTI, under ncu, which reads the panels' counters of every launch.
under_ncu() { # csv options...
	csv=$1
	shift
	PMPP_LIBCUPTI=/none timeout 300 ncu --target-processes all --clock-control none --csv \
		--page raw --print-units base --kernel-name-base function \
		--kernel-name 'regex:_v[0-9]' --metrics "$("$check" names)" \
		--log-file "$out/$csv" "$check" run --caps 2 "$@" > /dev/null 2>&1
}
counted=20 # capabilities: counters, and the per-line measurement that cache lines come from
if has ncu && command -v ncu > /dev/null; then
	# The same counters of the same launches, by us and by ncu, which exclude each other.
	for set in ${SETS:-fast slow}; do
		pick="--skip $endless,$slow"
		[ $set = fast ] || pick="--only $slow"
		timed counters-$set.jsonl "$check" run --caps $counted $pick
		begin=$(now)
		under_ncu ncu-$set.csv $pick
		echo "ncu-$set       status $?, $(grep -c '^"[0-9]' "$out/ncu-$set.csv") launches, $(since "$begin") s"
		timed ncu-$set.txt "$check" ncu "$out/counters-$set.jsonl" "$out/ncu-$set.csv"
		cat "$out/ncu-$set.txt"
	done
fi
if has speed && command -v ncu > /dev/null; then
	# Wall time of whole processes, over many launches and over one: the difference is the launches'.
	seconds_of() {
		begin=$(now)
		"$@" > /dev/null 2>&1
		awk "BEGIN { printf \"%.3f\", $(now) - $begin }"
	}
	many="--skip $endless,$slow"
	one='--only vec_add/per_element'
	"$check" run --caps 2 $many > /dev/null 2>&1 # fills the compile cache
	n=$("$check" run --caps 2 $many 2> /dev/null | grep -c '"kernel"')
	plain() { PMPP_LIBCUPTI=/none "$check" run --caps 2 "$@"; }
	ours() { "$check" run --caps $counted "$@"; }
	theirs() { under_ncu speed.csv "$@"; }
	for who in plain ours theirs; do
		eval "${who}_one=$(seconds_of $who $one) ${who}_many=$(seconds_of $who $many)"
	done
	awk -v n="$n" -v p1="$plain_one" -v pn="$plain_many" -v o1="$ours_one" -v on="$ours_many" \
		-v u1="$theirs_one" -v un="$theirs_many" 'BEGIN {
		o = ((on - o1) - (pn - p1)) / (n - 1)
		u = ((un - u1) - (pn - p1)) / (n - 1)
		printf "%-22s %12s %12s %20s\n", "whole process, s", "1 launch", n " launches", "ms per launch"
		printf "%-22s %12.2f %12.2f\n", "without counters", p1, pn
		printf "%-22s %12.2f %12.2f %20.1f\n", "with our counters", o1, on, 1000 * o
		printf "%-22s %12.2f %12.2f %20.1f\n", "under Nsight Compute", u1, un, 1000 * u
		printf "\nper launch %.1f times faster; start and the first launch %.2f s against %.2f s; " \
			"all in all %.1f times\n", u / o, o1 - p1, u1 - p1, (un - pn) / (on - pn)
	}' > "$out/speed.txt"
	cat "$out/speed.txt"
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
