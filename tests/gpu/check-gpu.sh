#!/bin/sh
# Everything a real GPU has to show, in one call: sh tests/gpu/check-gpu.sh GPU_CHECK OUTPUT-FOLDER
# GPU_CHECK is the program of tests/gpu/*.c; raw results land in the folder, a summary on the screen.
# SETS chooses of ncu's launches: fast slow (default: both).
# PARTS chooses: info faults cases run time agree gemm passes ncu speed sanitizer (default: all), or random:
# COUNT (default 240) random legal launches of SEED (default 1) and every launch of tests/programs, and how
# far the model is from them.
set -u
check=$1
out=$2
parts=${PARTS:-info faults cases run time agree gemm passes ncu speed sanitizer}
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
if has cases; then
	timed cases.txt "$check" cases
	tail -1 "$out/cases.txt"
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
if has random; then
	seed=${SEED:-1}
	timed "random-$seed.jsonl" "$check" random --seed "$seed" --count "${COUNT:-240}" --caps 1 --timeout 10
	tail -3 "$out/random-$seed.jsonl.err" 2>/dev/null
	here=$(dirname "$0")
	pmpp=$(dirname "$check")/../pmpp-explore
	timed "random-$seed-error.txt" python3 "$here/model_error.py" "$pmpp" "${SHEET:-h200}" \
		"$out/random-$seed.jsonl" --out "$out/random-$seed-modelled.jsonl"
	sed -n '/^random /,$p' "$out/random-$seed-error.txt"
	timed programs-recorded.txt python3 "$here/programs_time.py" record "$pmpp" "$out/programs-time.jsonl"
	timed programs-error.txt python3 "$here/programs_time.py" compare "$pmpp" "${SHEET:-h200}" \
		"$out/programs-time.jsonl" --beside "$out/random-$seed-modelled.jsonl"
	cat "$out/programs-error.txt"
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
	# When each launch's line is printed: without counters, with ours, with the per-line table as
	# well (which ncu is not asked for), and under ncu. What is between
	# two lines is one launch with its compilation, copies and verification; without counters it is
	# these alone.
	stamp() {
		now
		while IFS= read -r line; do
			case $line in '{"kernel"'*) now ;; esac
		done
		now
	}
	plain() { PMPP_LIBCUPTI=/none "$check" run --caps 2 "$@"; }
	ours() { "$check" run --caps 4 "$@"; }
	lines() { "$check" run --caps $counted "$@"; }
	theirs() {
		PMPP_LIBCUPTI=/none timeout 300 ncu --target-processes all --clock-control none --csv \
			--page raw --kernel-name-base function --kernel-name 'regex:_v[0-9]' \
			--metrics "$("$check" names)" --log-file "$out/speed.csv" "$check" run --caps 2 "$@"
	}
	pick="--skip $endless,$slow"
	plain $pick > "$out/launches" 2>&1 # fills the compile cache
	for who in plain ours lines theirs; do
		$who $pick 2> /dev/null | stamp > "$out/stamps-$who"
	done
	grep -o '"kernel":"[a-z_0-9]*","variant":"[a-z_0-9]*"' "$out/launches" |
		sed 's/"kernel":"\(.*\)","variant":"\(.*\)"/\1\/\2/' > "$out/names"
	{ echo start; cat "$out/names"; echo end; } |
		paste - "$out/stamps-plain" "$out/stamps-ours" "$out/stamps-lines" "$out/stamps-theirs" |
		awk 'function median(v, n,   i, j, t) {
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
			return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
		}
		BEGIN { form = "%-28s %9.1f %9.1f %9.1f %8.1f\n"
			printf "%-28s %9s %9s %9s %8s\n", "ms more than without", "counters", "+ lines", "ncu", "times" }
		$1 == "start" { p0 = p = $2; o0 = o = $3; l0 = l = $4; u0 = u = $5; next }
		$1 == "end" { pe = $2 - p0; oe = $3 - o0; le = $4 - l0; ue = $5 - u0; next }
		{
			base = $2 - p
			ours = 1000 * ($3 - o - base); lines = 1000 * ($4 - l - base); theirs = 1000 * ($5 - u - base)
			p = $2; o = $3; l = $4; u = $5
			if (!first) { first = 1; of = ours; lf = lines; uf = theirs; next }
			n++; a[n] = ours; c[n] = lines; b[n] = theirs; r[n] = theirs / ours
			so += ours; sl += lines; su += theirs
			printf form, $1, ours, lines, theirs, r[n]
		}
		END {
			print ""
			printf form, "median", median(a, n), median(c, n), median(b, n), median(b, n) / median(a, n)
			printf form, "mean", so / n, sl / n, su / n, su / so
			printf form, "start and first launch", of, lf, uf, uf / of
			printf "%-28s %9.2f %9.2f %9.2f   without counters %.2f\n", "whole process, s", oe, le, ue, pe
		}' > "$out/speed.txt"
	cat "$out/speed.txt"
	rm -f "$out/launches" "$out/names" "$out"/stamps-* "$out/speed.csv"
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
