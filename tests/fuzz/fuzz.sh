#!/bin/sh
# Every fuzz target for a while, and what came of it.
#
#   fuzz.sh FOLDER SECONDS [TARGET...]      FOLDER holds the programs; libFuzzer's, or of mutate.c
#
# Inputs that led somewhere new stay in build/corpus/TARGET (libFuzzer), those that went wrong in
# build/corpus. Ends with status 1 if one did.
set -u
folder=$1
seconds=$2
shift 2
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=1:allocator_may_return_null=1}
all=0
bad=0
printf '  %-18s %12s %8s %6s %6s\n' target executions crashes hangs leaks
for target; do
	found=build/corpus/$target
	log=build/corpus/$target.log
	mkdir -p "$found"
	set -- tests/fuzz/corpus/"$target"
	case $target in
	fuzz_ptx | fuzz_sass_listing | fuzz_cubin | fuzz_fatbin) set -- "$@" tests/data ;;
	fuzz_source) set -- "$@" tests/data/own ;;
	fuzz_yaml) set -- "$@" presets/gpus ;;
	esac
	for kept; do
		shift
		[ ! -e "$kept" ] || set -- "$@" "$kept"
	done
	if grep -q LLVMFuzzerRunDriver "$folder/$target"; then
		dict=tests/fuzz/${target#fuzz_}.dict
		"$folder/$target" -max_total_time="$seconds" -max_len=6144 -timeout=10 -rss_limit_mb=4096 -verbosity=0 \
			-print_final_stats=1 -artifact_prefix="$found-" $([ ! -e "$dict" ] || echo "-dict=$dict") \
			"$found" "$@" >"$log" 2>&1
	else
		(cd build/corpus && exec "../../$folder/$target" "$seconds" "$(date +%s)" \
			$(for kept; do echo "../../$kept"; done)) >"$log" 2>&1
	fi
	status=$?
	n=$(sed -n 's/^stat::number_of_executed_units: *//p; s/^\([0-9]*\) executions$/\1/p' "$log" | tail -n 1)
	crashes=0 hangs=0 leaks=0
	if [ "$status" -ne 0 ]; then
		bad=$((bad + 1))
		if grep -q 'LeakSanitizer' "$log"; then leaks=1
		elif grep -q 'ERROR: libFuzzer: timeout\|is in hang-' "$log"; then hangs=1
		else crashes=1; fi
	fi
	printf '  %-18s %12s %8s %6s %6s\n' "$target" "${n:-?}" "$crashes" "$hangs" "$leaks"
	[ "$status" -eq 0 ] || grep -m 12 'ERROR\|SUMMARY\|broken promise\|runtime error\|    #[0-9]\|Test unit written\|the input is in' "$log"
	all=$((all + ${n:-0}))
done
printf '  %-18s %12s\n' "all" "$all"
[ "$bad" -eq 0 ]
