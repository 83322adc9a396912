#!/bin/sh
# export: four forms, the same panels from a snapshot as from its run, and nothing lost whatever
# goes wrong: killed at any moment, full disk, read-only folder, damaged, foreign or newer file.
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

# --- what cannot be written: the old file stays, nothing else appears
rm "$dir"/work/*
"$PMPP" export vec_add N=4096 --backend emu --out "$dir/work/kept.json" 2>/dev/null
cp "$dir/work/kept.json" "$dir/kept"
"$PMPP" export vec_add N=8192 --backend emu --out "$dir/new.json" 2>/dev/null
kept() { # NAME
	cmp -s "$dir/kept" "$dir/work/kept.json" && ok "$1-old-file-stays" || not_ok "$1-old-file-stays" changed
	only "$1-leaves-nothing" kept.json
}
(ulimit -f 8 && "$PMPP" export "$dir/new.json" --out "$dir/work/kept.json" >"$dir/out" 2>"$dir/err")
same file-limit 3 $?
says file-limit-says kept.json 'File too large' 'nothing was written'
kept file-limit
run full-device 3 export "$dir/new.json" --out /dev/full
says full-device-says /dev/full 'No space left'
[ -c /dev/full ] && ok a-device-stays-one || not_ok a-device-stays-one 'it was replaced by a file'
"$PMPP" export "$dir/new.json" --out - >/dev/full 2>"$dir/err"
same full-output 3 $?
says full-output-says 'standard output'
run no-folder 3 export "$dir/new.json" --out "$dir/nowhere/x.json"
says no-folder-says "$dir/nowhere/x.json" 'No such file'
run a-folder 3 export "$dir/new.json" --out "$dir/work"
says a-folder-says 'Is a directory'
kept a-folder
# a small disk, in a mount name space of its own where this machine lets us have one
# shellcheck disable=SC2016
in_tmpfs='mount -t tmpfs -o size=64k none "$1/work" && cp "$1/kept" "$1/work/kept.json" && {
	"$2" export "$1/new.json" --out "$1/work/kept.json" >"$1/out" 2>"$1/err"
	echo $? >"$1/status"
	cmp -s "$1/kept" "$1/work/kept.json" && ls -A "$1/work" >"$1/list"
}'
if unshare -rm sh -c "$in_tmpfs" - "$dir" "$PMPP" 2>/dev/null; then
	same full-disk 3 "$(cat "$dir/status")"
	says full-disk-says kept.json 'No space left' 'nothing was written'
	same full-disk-old-file-stays kept.json "$(cat "$dir/list")"
else
	echo "skip full-disk: no mount name space may be made here"
fi
# root may write anywhere
chmod a-w "$dir/work"
if [ -w "$dir/work" ]; then
	chmod a+rx "$dir"
	"$PMPP" export "$dir/new.json" --out /proc/sys/kernel.json >"$dir/out" 2>"$dir/err"
	same read-only 3 $?
	says read-only-says /proc/sys/kernel.json
else
	run read-only 3 export "$dir/new.json" --out "$dir/work/kept.json"
	says read-only-says kept.json 'Permission denied'
fi
chmod u+w "$dir/work"
kept read-only

# --- killed at random moments: the old document or the new one, whole
# two large snapshots that differ, each as the program writes it
large() { # LINE
	awk -v line="$1" '
	/^ "screen"/ { screen = 1 }
	screen && /"line"/ { sub(/[0-9]+/, line); screen = 0 }
	/"spans": \[\],?$/ && !done {
		done = 1
		last = /,$/ ? "]," : "]"
		print "  \"spans\": ["
		for (i = 0; i < 6000; i++)
			printf "{\"name\":\"k%d\",\"stream\":0,\"correlation\":%d,\"start_ns\":%d,\"end_ns\":%d,\"queued_ns\":0,\"bytes\":0,\"kind\":\"kernel\"}%s\n", i, i, i * 10, i * 10 + 9, i < 5999 ? "," : ""
		print last
		next
	}
	{ print }' "$dir/new.json" >"$dir/raw.json"
	"$PMPP" export "$dir/raw.json" --out "$dir/large$1.json" 2>"$dir/err" || cat "$dir/err"
}
large 0
large 1
# the span of time in which an export can be killed: the fastest of three, as a busy machine's slow
# one would leave most of them alone
span=
for _ in 1 2 3; do
	t0=$(date +%s%N)
	"$PMPP" export "$dir/large1.json" --out "$dir/work/kept.json" 2>/dev/null
	t1=$(date +%s%N)
	[ -n "$span" ] && [ $(((t1 - t0) / 1000)) -ge "$span" ] || span=$(((t1 - t0) / 1000))
done
cmp -s "$dir/large1.json" "$dir/work/kept.json" && ok large-is-a-snapshot || not_ok large-is-a-snapshot differs
size=$(wc -c <"$dir/large1.json")
[ "$size" -gt 500000 ] && ok large-is-large || not_ok large-is-large "$size bytes"
killed=0
broken=0
changed=0
times=220
awk -v n=$times -v t="$span" -v s="$$" 'BEGIN { srand(s); for (i = 0; i < n; i++) printf "%.6f\n", rand() * 1.1 * t / 1e6 }' >"$dir/delays"
now=1
turn=0
while read -r delay; do
	"$PMPP" export "$dir/large$turn.json" --out "$dir/work/kept.json" 2>/dev/null &
	pid=$!
	sleep "$delay"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	[ $? -ne 137 ] || killed=$((killed + 1))
	if cmp -s "$dir/large$turn.json" "$dir/work/kept.json"; then
		[ $now = $turn ] || changed=$((changed + 1))
		now=$turn
	elif ! cmp -s "$dir/large$now.json" "$dir/work/kept.json"; then
		broken=$((broken + 1))
	fi
	turn=$((1 - turn))
done <"$dir/delays"
same "killed-$times-times-nothing-broken" 0 $broken
[ $killed -ge 100 ] && ok killed-while-it-worked || not_ok killed-while-it-worked "only $killed of $times"
run opens-after-kills 0 export "$dir/work/kept.json" --format csv --out -

# --- what a killed writer could leave: ours and old goes at the next export, anything else stays
rm -f "$dir"/work/.kept.json.pmpp-*
touch -d '2 hours ago' "$dir/work/.kept.json.pmpp-a1b2c3" "$dir/work/kept.json.backup" \
	"$dir/work/.other.json.pmpp-a1b2c3"
touch "$dir/work/.kept.json.pmpp-d4e5f6"
run export-sweeps 0 export "$dir/new.json" --out "$dir/work/kept.json"
only sweeps-only-its-own-stale kept.json kept.json.backup .other.json.pmpp-a1b2c3 .kept.json.pmpp-d4e5f6
