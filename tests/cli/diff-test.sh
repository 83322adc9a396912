#!/bin/sh
# diff: two snapshots, two runs, or one of each; what moved, in order, with origins; status as diff's.
. "$(dirname "$0")/lib.sh"

size='M=128 N=128 K=128'
# shellcheck disable=SC2086
{
"$PMPP" export sgemm/naive $size --out "$dir/naive.json" 2>/dev/null
"$PMPP" export sgemm/tiled $size --out "$dir/tiled.json" 2>/dev/null
"$PMPP" run sgemm/naive $size --json >"$dir/run.json"
run diff-same 0 diff "$dir/naive.json" "$dir/naive.json"
run diff-same-run 0 diff "$dir/naive.json" "$dir/run.json"
run diff-same-now 0 diff "$dir/run.json" sgemm/naive $size
run diff-now 1 diff sgemm/naive sgemm/tiled $size
cp "$dir/out" "$dir/now.txt"
}
run diff-files 1 diff "$dir/naive.json" "$dir/tiled.json"
same diff-files-as-now "$(sed '1,/moved$/d' "$dir/now.txt")" "$(sed '1,/moved$/d' "$dir/out")"
# time first, then what it is bound by; then metrics by the factor
same diff-order 'time.kernel_ns roof.achieved_gflops' "$(awk '/moved$/ { on = 1; next }
	on && n++ < 2 { # a remark may stand behind the key
		for (i = NF; i > 1 && $i !~ /^[a-z]+\.[a-z_]+$/; i--)
			;
		printf "%s%s", s, $i
		s = " "
	}' "$dir/out")"

run diff-json 1 diff "$dir/naive.json" "$dir/tiled.json" --json
same diff-json-same false "$(field "$dir/out" same)"
same diff-json-kernel sgemm/naive "$(field "$dir/out" a kernel)"
same diff-json-setting kernel "$(field "$dir/out" settings 0 name)"
same diff-json-first time.kernel_ns "$(field "$dir/out" metrics 0 metric)"
same diff-json-origin modelled "$(field "$dir/out" metrics 0 a origin)"

run diff-csv 1 diff "$dir/naive.json" "$dir/tiled.json" --csv
same diff-csv-head metric,unit,a,a_origin,b,b_origin,change_pct,note "$(head -1 "$dir/out")"
# 2 loads per thread and step without tiles, one per 16 of them with tiles of 16
same diff-csv-loads mem.ld_requests,requests,131072,counted,8192,counted,-93.75, \
	"$(grep '^mem.ld_requests,' "$dir/out")"
same diff-csv-barriers inst.barriers,warp\ inst,0,counted,8192,counted,, "$(grep '^inst.barriers,' "$dir/out")"
if grep -q '^flop.fp32,' "$dir/out"; then not_ok diff-csv-only-moved "flop.fp32 is the same"; else ok diff-csv-only-moved; fi
run diff-csv-all 1 diff "$dir/naive.json" "$dir/tiled.json" --csv --all
same diff-csv-all-flop flop.fp32,FLOP,4194304,counted,4194304,counted,0, "$(grep '^flop.fp32,' "$dir/out")"

# origins and units that differ, and a value that only one side has
sed '/"time.kernel_ns": {/,/}/s/"modelled"/"measured"/; /"mem.ld_requests": {/,/}/s/"requests"/"kilorequests"/' \
	"$dir/run.json" >"$dir/other.json"
awk '/"dram.read_bytes": \{/ { on = 1 } on && /"value"/ { sub(/: .*,/, ": null,") }
	on && /"origin"/ { sub(/"origin": .*/, "\"origin\": \"none\",\n    \"reason\": \"nobody looked\""); on = 0 } { print }' \
	"$dir/other.json" >"$dir/third.json"
run diff-odd 1 diff "$dir/run.json" "$dir/third.json" --csv
has() { if grep -q "$2" "$dir/out"; then ok "$1"; else not_ok "$1" "no '$2' in: $(cat "$dir/out")"; fi; }
has diff-odd-unit "^mem.ld_requests,.*not comparable: units 'requests' and 'kilorequests'"
has diff-odd-none '^dram.read_bytes,.*B has none: nobody looked'
run diff-odd-all 1 diff "$dir/run.json" "$dir/third.json" --csv --all
has diff-odd-origin '^time.kernel_ns,.*,modelled,.*,measured,0,origins differ: modelled and measured'

# a kernel this program does not have is read all the same
sed 's/"kernel": "sgemm"/"kernel": "mine"/' "$dir/run.json" >"$dir/mine.json"
run diff-foreign 0 diff "$dir/run.json" "$dir/mine.json"
has diff-foreign-says 'kernel: sgemm/naive -> mine/naive'

# trouble
run diff-one 2 diff "$dir/run.json"
says diff-one-says 'two sides'
run diff-absent 2 diff "$dir/run.json" "$dir/absent.json"
says diff-absent-says absent.json
printf '{ "a": 1' >"$dir/cut.json"
run diff-cut 2 diff "$dir/cut.json" "$dir/run.json"
says diff-cut-says cut.json:1
printf '{ "a": 1 }' >"$dir/alien.json"
run diff-alien 2 diff "$dir/run.json" "$dir/alien.json"
says diff-alien-says alien.json 'neither a snapshot'
# a figure that is none, in either form of file
no_figure() { # FILE SCRIPT NAME WHAT
	sed "$2" "$dir/$1.json" >"$dir/odd.json"
	run "diff-$1-$3" 2 diff "$dir/odd.json" "$dir/run.json"
	says "diff-$1-$3-says" "odd.json: $4"
}
no_figure run '/"time.kernel_ns": {/,/}/s/"value": .*/"value": "soon",/' a-word 'metrics.time.kernel_ns.value: a number is needed'
no_figure naive '/"time.kernel_ns": {/,/}/s/"value": .*/"value": [],/' a-list 'now.metrics.time.kernel_ns.value: a number is needed'
no_figure naive '/"time.kernel_ns": {/,/}/s/"modelled"/"felt"/' an-origin 'now.metrics.time.kernel_ns.origin: not a name'
no_figure run '/"params": {/,/}/s/: 128/: 1.5/' a-parameter 'M: a whole number or a word is needed'
run diff-kernel 2 diff sgemm/naive sgemm/tild
says diff-kernel-says "'tild'" "did you mean 'tiled'"
run diff-parameter 2 diff sgemm/naive sgemm/tiled Q=4
says diff-parameter-says "'Q'"
run diff-parameter-file 2 diff "$dir/run.json" "$dir/mine.json" M=4
says diff-parameter-file-says M=4
run diff-illegal 2 diff sgemm/naive sgemm/tiled TILE=7
says diff-illegal-says "'TILE'"
