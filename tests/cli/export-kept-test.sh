#!/bin/sh
# export: nothing is lost whatever goes wrong: full disk, read-only folder, killed at any moment.
. "$(dirname "$0")/lib.sh"

# No temporary file of ours, and no other file than these.
only() { # NAME FILE...
	name=$1
	shift
	same "$name" "$(printf '%s\n' "$@" | sort)" "$(ls -A "$dir/work" | sort)"
}
mkdir "$dir/work"

# --- what cannot be written: the old file stays, nothing else appears
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
# a small disk, which has room for one document, in a mount name space of its own where this machine
# lets us have one
size=$(($(wc -c <"$dir/kept") + 32768))
# shellcheck disable=SC2016
in_tmpfs='mount -t tmpfs -o size="$3" none "$1/work" && cp "$1/kept" "$1/work/kept.json"
	"$2" export "$1/new.json" --out "$1/work/kept.json" >"$1/out" 2>"$1/err"
	echo $? >"$1/status"
	cmp -s "$1/kept" "$1/work/kept.json" && ls -A "$1/work" >"$1/list"'
if unshare -rm mount -t tmpfs none "$dir/work" 2>/dev/null; then
	unshare -rm sh -c "$in_tmpfs" - "$dir" "$PMPP" "$size"
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
