#!/bin/sh
# The checklist keeps in step: every id is covered or has a reason; what is forgotten is noticed.
. "$(dirname "$0")/lib.sh"
cd "$TEST_ROOT" || exit 1
build=$(dirname "$PMPP")
build=${build#"$TEST_ROOT"/}

# expect NAME STATUS WORDS: the static check of $dir/ids
expect() {
	SEEDS_IDS=$dir/ids sh tests/seeds.sh "$build" --static >"$dir/out" 2>&1
	got=$?
	if [ "$got" -ne "$2" ]; then
		not_ok "$1" "exit status $got: $(cat "$dir/out")"
	elif ! grep -qF -e "$3" "$dir/out"; then
		not_ok "$1" "no '$3' in: $(cat "$dir/out")"
	else
		ok "$1"
	fi
}

cp tests/seeds/ids.txt "$dir/ids"
expect every-id 0 ', 0 failed'
{ cat tests/seeds/ids.txt; echo 'S-499 something new'; } >"$dir/ids"
expect uncovered 1 'S-499 (something new) has neither coverage nor a reason'
sed 's/^S-371 .*/& | prose: no/' tests/seeds/ids.txt >"$dir/ids"
expect stale-reason 1 'S-371 has a reason for not being covered'
grep -v '^S-305 ' tests/seeds/ids.txt >"$dir/ids"
expect unlisted 1 'S-305 is mentioned'
{ cat tests/seeds/ids.txt; echo 'S-300 again'; } >"$dir/ids"
expect twice 1 'S-300 is listed twice'
