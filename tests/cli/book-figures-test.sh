#!/bin/sh
# What the presets print as the book's is held against what the program finds: with every printed
# figure multiplied by 7, every row that has ours beside it fails; and a row either has ours, made
# of what the program finds and not of constants, or says why it has none.
. "$(dirname "$0")/lib.sh"

# the same preset, with each `value:` of its book rows times 7 (50 for a 0)
times_7() {
	awk '
	/^    book:/ { book = 1 }
	/^    [a-z]/ && !/^    book:/ { book = 0 }
	/^  - title:/ { book = 0 }
	book && /^        value: / { printf "        value: %.10g\n", $2 ? 7 * $2 : 50; next }
	{ print }' "$1" >"$2"
}

for file in "$TEST_ROOT"/presets/*.yaml; do
	name=$(basename "$file" .yaml)
	rows=$(grep -c '^        ours:' "$file")
	[ "$rows" -gt 0 ] || continue
	times_7 "$file" "$dir/$name.yaml"
	"$PMPP" preset "$dir/$name.yaml" --check --json >"$dir/out" 2>"$dir/err"
	# a claim's verdict stands deeper than a step's
	same "$name-all-rows-fail" "$rows" "$(grep -c '^     "holds": false' "$dir/out")"
done

# ours is something found: a row of numbers alone would hold whatever the program does
constants=$(awk '/^        ours: [-0-9(]/ && !/[a-z]\.[a-z]/ { print FILENAME ": " $0 }' \
	"$TEST_ROOT"/presets/*.yaml)
same no-constants '' "$constants"

# neither ours nor a reason: refused
awk '/^        ours: occ.theoretical_pct/ && !gone { gone = 1; next } { print }' \
	"$TEST_ROOT/presets/sgemm_occupancy.yaml" >"$dir/bare.yaml"
run neither 2 preset "$dir/bare.yaml" --check
says neither-says "'ours'" "'note'"
