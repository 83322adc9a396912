#!/bin/sh
# export: four forms, the same panels from a snapshot as from its run, and files that cannot be
# opened: damaged, foreign or newer.
. "$(dirname "$0")/lib.sh"

sgemm='sgemm/tiled M=96 N=80 K=64 TILE=16 --gpu h100 --backend emu'
# No temporary file of ours, and no other file than these.
only() { # NAME FILE...
	name=$1
	shift
	same "$name" "$(printf '%s\n' "$@" | sort)" "$(ls -A "$dir/work" | sort)"
}
mkdir "$dir/work"

# --- forms
for form in json md csv txt; do
	# shellcheck disable=SC2086
	run "form-$form" 0 export $sgemm --format "$form" --out "$dir/work/run.$form"
done
only forms-leave-four-files run.json run.md run.csv run.txt
same json-schema pmpp-explore/snapshot "$(field "$dir/work/run.json" schema)"
same json-version 1 "$(field "$dir/work/run.json" version)"
same json-origin counted "$(field "$dir/work/run.json" now metrics mem.ld_sectors origin)"
same json-gpu-inline 132 "$(field "$dir/work/run.json" selection gpu sm_count)"
same json-ends-in-newline 1 "$(tail -c 1 "$dir/work/run.json" | wc -l)"
metrics=$(awk '/^METRIC\(/ { n++ } END { print n }' "$TEST_ROOT/src/model/metric.def")
same md-has-every-metric "$metrics" "$(($(grep -c '^| ' "$dir/work/run.md") - 1))"
same csv-has-every-metric $((metrics + 2)) "$(wc -l <"$dir/work/run.csv")" # a head, a digest
same csv-head kernel,variant,gpu,metric,value,unit,origin,recorded,recorded_on "$(head -n 1 "$dir/work/run.csv")"
same csv-columns 9 "$(sed 's/"[^"]*"/x/g' "$dir/work/run.csv" | awk -F, '{ print NF }' | sort -u)"
views=$(grep -L VIEW_OF_PROGRAM "$TEST_ROOT"/views/*.c | wc -l)
same txt-has-every-panel "$views" "$(grep -c '^== .* ==$' "$dir/work/run.txt")"
sed 's/"pcie_gbs":/"pinned_gbs": -5, "pcie_gbs":/' "$dir/work/run.json" >"$dir/far.json"
run link-out-of-range 2 export "$dir/far.json" --out -
says link-out-of-range-says far.json selection.gpu.pinned_gbs 'out of range'
run unknown-form 2 export "$dir/work/run.json" --format pdf --out "$dir/work/x"
says unknown-form-says "'pdf'" 'json, md, csv, txt'

# --- a snapshot opens again: the same document, notes, table and panels
run again-json 0 export "$dir/work/run.json" --out "$dir/work/again.json"
cmp -s "$dir/work/run.json" "$dir/work/again.json" && ok same-document || not_ok same-document differs
for form in md csv txt; do
	run "again-$form" 0 export "$dir/work/run.json" --format "$form" --out -
	# notes say where they are from, and the digest is of that as well
	sed '/^from a file, /,$d; /sha256:/d; /^$/d' "$dir/out" >"$dir/words"
	if sed '/sha256:/d; /^$/d' "$dir/work/run.$form" | cmp -s - "$dir/words"; then
		ok "same-$form"
	else
		not_ok "same-$form" "$(diff "$dir/out" "$dir/work/run.$form" | head -n 5)"
	fi
done

# --- what cannot be opened: said by name and place, and nothing is written
refused() { # NAME FILE WORDS...
	name=$1
	file=$2
	shift 2
	run "$name" 2 export "$file" --out "$dir/work/x.json"
	says "$name-says" "$file" "$@"
	run "$name-no-screen" 2 "$file"
}
head -c 5000 "$dir/work/run.json" >"$dir/cut.json"
refused truncated "$dir/cut.json" 'premature end' 'damaged or cut off'
: >"$dir/empty.json"
refused empty "$dir/empty.json" 'damaged or cut off'
sed 's/"version": 1,/"version": 7,/; s/"tool": "[^"]*"/"tool": "9.5"/' "$dir/work/run.json" >"$dir/newer.json"
refused newer "$dir/newer.json" 'version 7' 'written by pmpp-explore 9.5' 'reads up to version 1' \
	'newer pmpp-explore'
echo 'M = 96' >"$dir/text.json"
refused not-json "$dir/text.json" ':1:'
echo '{"schema": "another/program", "version": 1}' >"$dir/foreign.json"
refused foreign "$dir/foreign.json" 'not a snapshot of this program'
sed 's/"ld_sectors": [0-9]*/"ld_sectors": "many"/' "$dir/work/run.json" >"$dir/hostile.json"
refused wrong-type "$dir/hostile.json" ld_sectors 'whole number'
sed 's/"kernel": "sgemm"/"kernel": "dgemm"/' "$dir/work/run.json" >"$dir/kernel.json"
refused unknown-kernel "$dir/kernel.json" 'none of that name' 'dgemm'
run missing 3 export "$dir/nowhere.json"
says missing-says "$dir/nowhere.json" 'No such file'
