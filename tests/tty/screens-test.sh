#!/bin/sh
# The README's screens are what the program draws; the line that says how long a run took may differ.
# screens-test.sh --write puts the present ones into the README.
. "$(dirname "$0")/tmux.sh"

root=${TEST_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-screens-XXXXXX") || exit 1
trap 'finish; rm -rf "$work"' EXIT
write=${1:-}

# NAME DONE-PATTERN KEYS ARGUMENTS...: the screen after the keys, once it stands still
shoot() {
	name=$1 done=$2 keys=$3
	shift 3
	start 24 80
	type "clear && $PMPP $* --backend emu; echo left with \$?"
	see '✓' || return 1
	# shellcheck disable=SC2086
	press $keys
	see "$done" || return 1
	screen >"$work/$name"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.2
		screen >"$work/now"
		cmp -s "$work/now" "$work/$name" && break
		mv "$work/now" "$work/$name"
	done
	sed -i -e 's/ *$//' "$work/$name"
}
# whether a rung is sampled, and so what its marks mean, depends on how fast this machine is
timeless() {
	sed -e '/ run in .* here /d' -e 's/~≈/~=/' -e 's/.* from a sample of the blocks.*//' \
		-e 's/.* too close for the model to tell.*//'
}

for shot in coalescing ladder timeline; do
	case $shot in
	coalescing) shoot $shot 'sectors .*, needed' '4 Enter' sgemm/naive_col M=256 N=256 K=256 ;;
	ladder) shoot $shot 'quads  *[0-9]' '6' transpose/coarsened W=512 H=512 TILE=32 ROWS=8 --gpu h200 ;;
	timeline) shoot $shot 'critical path' '5' vec_add/per_element N=4194304 block=256 streams=4 chunks=4 pinned=yes --gpu h200 ;;
	esac || { echo "not ok $shot (it did not come up)"; screen | sed 's/^/  |/'; continue; }
	if [ "$write" = --write ]; then
		awk -v mark="<!-- screen: $shot -->" -v file="$work/$shot" '
			{ print }
			$0 == mark { getline; print; while ((getline line < file) > 0) print line
			             while ((getline line) > 0 && line != "```") {} print "```" }' \
			"$root/README.md" >"$work/README" && cp "$work/README" "$root/README.md"
	fi
	awk -v mark="<!-- screen: $shot -->" '
		$0 == mark { getline; on = 1; next } on && /^```/ { exit } on { print }' \
		"$root/README.md" >"$work/printed"
	timeless <"$work/$shot" >"$work/drawn"
	timeless <"$work/printed" >"$work/want"
	if cmp -s "$work/drawn" "$work/want"; then
		echo "ok README-$shot"
	else
		echo "not ok README-$shot ('sh tests/tty/screens-test.sh --write' brings it up to date)"
		diff "$work/want" "$work/drawn"
	fi
done
