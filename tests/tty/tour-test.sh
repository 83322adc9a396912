#!/bin/sh
# The whole way by real keys: kernel, preset to its end, another block size, ladder, streams,
# timeline, export, quit; the snapshot opens again without an engine, and every panel is the same.
. "$(dirname "$0")/tmux.sh"

root=${TEST_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-tour-XXXXXX") || exit 1
trap 'finish; rm -rf "$work"' EXIT
mkdir "$work/one" "$work/two"

# the rows between tabs and status line
panel() { screen | sed -n '5,22p'; }
all='1 2 3 4 5 6 7 8 9 Tab' # the tenth has no digit
# Every one of $all into $work/NAME.N once it stands still.
panels() {
	for key in $all; do
		press $key
		sleep 0.1
		panel >"$work/$1.$key"
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			sleep 0.1
			panel >"$work/now"
			cmp -s "$work/now" "$work/$1.$key" && break
			mv "$work/now" "$work/$1.$key"
		done
	done
}
differ() { # NAME NAME: panels that are not the same
	for key in $all; do
		cmp -s "$work/$1.$key" "$work/$2.$key" && continue
		echo "panel $key:"
		diff "$work/$1.$key" "$work/$2.$key"
	done
	return 0
}
same_panels() {
	differ "$1" "$2" >"$work/difference"
	[ ! -s "$work/difference" ]
}
steps() { awk '/^  - title:/ { n++ } END { print n }' "$root/presets/$1.yaml"; }
step() { # N times ]
	n=$1
	while [ "$n" -gt 0 ]; do
		press ']'
		n=$((n - 1))
	done
}
quit() {
	press_q
	see 'left with 0'
}

start 24 80
type "cd $work/one && clear && $PMPP vec_add/per_element N=4096 --gpu a100 --backend emu; echo left with \$?"
check starts see '✓ exact'

# a kernel, and its preset from the first step to the last
press K
check kernel_list see 'choose kernel'
press s g e m m / n a i v e Enter
check kernel_chosen see '^ sgemm / naive'
press p
check preset_list see 'choose a preset'
press s g e m m Enter
check preset_begins see 'M 256  N 256  K 256'
step $(($(steps sgemm) - 1))
check last_step see '^ sgemm / two_rows'
check last_step_runs see '✓ exact · 128 blocks'
press ']'
check preset_ends see 'this was the last step of sgemm'
check tour_says_where see "$(steps sgemm) of $(steps sgemm)"

# another block size: occupancy and result follow, the tour says that this is not its step
for _ in 1 2 3 4 5 6 7 8; do
	screen | grep -q 'TILE \[' && break
	press Right
	sleep 0.1
done
press +
check block_changed see 'TILE \[32\]'
check block_changed_result see '✓ exact · 32 blocks'

# the ladder: the rungs that are missing run by themselves
press 6
check ladder_climbs see 'coarsened .* %'
rungs_done() { see 'two_rows .* %' && gone 'running …' && gone 'not run yet'; }
check ladder_is_complete rungs_done
check ladder_marks_this_one see '▸ two_rows'
panels before
press 6 e
check export_says_where see 'written: sgemm-two_rows-a100-'
check quits quit
file=$(ls "$work/one")
check one_file_is_left test -s "$work/one/$file"

# again, with no compiler cache and no toolkit: nothing may run
type "clear; env -u CUDA_HOME XDG_CACHE_HOME=$work/none PATH=/nowhere $PMPP $file; echo left with \$?"
check reopens see '▸ two_rows'
panels after
check same_screens same_panels before after
[ ! -s "$work/difference" ] || sed 's/^/  /' "$work/difference"
check quits_again quit

# S-010 on the timeline: four streams (its ladder begins with a minute of one thread: not here)
all='1 2 3 4 5 7 8 9 Tab'
type "cd $work/two && clear && $PMPP --preset streams --backend emu; echo left with \$?"
check streams_begin see '^ vec_add / per_element'
check default_stream see 'overlap hides 0 %'
step 3
press f
check four_streams see '^ s 4 '
check four_streams_overlap see 'overlap hides [2-9][0-9] %'
press z z '>' Down Down Down
check zoomed see '◀ zoom 4 ▶'
check operation see 'r0  D2H, stream 1, .* GB/s'
press Enter
check waves see 'waves: 16 384 blocks on 108 SMs × 8'
press Escape f
check lesson_holds see 'claims of this step hold'
panels timeline
press 5 e
check export_again see 'written: vec_add-per_element-a100-'
check quits_streams quit
type "clear; $PMPP *.json; echo left with \$?"
check reopens_zoomed see '◀ zoom 4 ▶'
panels reopened
check same_timeline same_panels timeline reopened
[ ! -s "$work/difference" ] || sed 's/^/  /' "$work/difference"
check quits_at_last quit

# what was written is a snapshot by the schema, ladder and all
python=
for try in python3 /usr/bin/python3; do
	[ -n "$python" ] || ! "$try" -c 'import jsonschema' 2>/dev/null || python=$try
done
if [ -z "$python" ]; then
	echo "skip exported_snapshots_are_valid: python3-jsonschema is not installed"
	exit 0
fi
valid() {
	[ "$("$python" "$root/tests/cli/validate.py" --closed "$root/src/model/snapshot.schema.json" "$1" 2>&1)" = valid ]
}
check exported_ladder_is_valid valid "$work/one/$file"
check exported_timeline_is_valid valid "$(ls "$work"/two/*.json)"
