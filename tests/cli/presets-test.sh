#!/bin/sh
# Every preset: each step runs in the emulator and what it claims holds; a wrong claim is noticed.
# ONLY: names of presets; the others are left out of what is done with each (make cost).
. "$(dirname "$0")/lib.sh"

wanted() { case " ${ONLY:-$1} " in *" $1 "*) ;; *) return 1 ;; esac; }

for file in "$TEST_ROOT"/presets/*.yaml; do
	name=$(basename "$file" .yaml)
	wanted "$name" || continue
	if "$PMPP" preset "$name" --check >"$dir/out" 2>"$dir/err"; then
		ok "preset-$name"
	else
		not_ok "preset-$name" "$(grep -B 9 -e '✗' -e '^  NO ' "$dir/out"; cat "$dir/err")"
	fi
done

# a claim that does not hold fails, with what was found instead
sed -e 's/launch.grid_blocks == 130/launch.grid_blocks == 131/' \
	"$TEST_ROOT/presets/divergence.yaml" >"$dir/wrong.yaml"
run wrong-claim 1 preset "$dir/wrong.yaml" --check
grep -q 'grid_blocks == 131   (left side is 130)' "$dir/out" && ok wrong-claim-says ||
	not_ok wrong-claim-says "$(tail -3 "$dir/out")"

# a recording is a snapshot: every step's run is in its history, and it opens again
run record 0 preset reduction --check --record "$dir/reduction.json"
same record-steps 8 "$(grep -c '^   "source": "' "$dir/reduction.json")"
run record-opens 0 export "$dir/reduction.json" --format md --out "$dir/reduction.md"
run record-refused 3 preset reduction --record "$dir/no/such/folder.json"
says record-refused-says 'folder.json'

# a step that does not exist, and one that cannot run, say so
run no-such-step 2 preset race --step 9
says no-such-step-says 'race' 'steps'
sed -e 's/N=16 block=256/N=16 block=2048/' "$TEST_ROOT/presets/race.yaml" >"$dir/refused.yaml"
run refused 2 preset "$dir/refused.yaml" --check
says refused-says 'step 1' 'block' '1024'

# one object of JSON for all of it, and the text shows narration, the book's figure and what is true
run json 0 preset reduction --check --json
same json-holds true "$(field "$dir/out" holds)"
same json-step true "$(field "$dir/out" steps 0 holds)"
run text 0 preset reduction --step 1
for words in '255 useful additions cost 27' 'resources used, N = 256' '736 lane slots   ours 864' \
	'about this figure' 864; do
	grep -qF "$words" "$dir/out" && ok "text-$words" || not_ok "text-$words" "$(cat "$dir/out")"
done
grep -q 'S-[0-9]' "$dir/out" && not_ok text-without-ids "$(grep 'S-[0-9]' "$dir/out")" ||
	ok text-without-ids

# a printed 0 has ours beside it, a number
run zero 0 preset vec_add --step 6
grep -q 'gain from coarsening, at most .* 0 %   ours -\{0,1\}[0-9]' "$dir/out" && ok zero-has-ours ||
	not_ok zero-has-ours "$(cat "$dir/out")"

# printed figures times seven: every preset that holds one against a figure of ours notices
for file in "$TEST_ROOT"/presets/*.yaml; do
	name=$(basename "$file" .yaml)
	{ wanted "$name" && grep -q '^        ours: ' "$file"; } || continue
	awk '/^        value: / { $0 = "        value: " $2 * 7 } { print }' "$file" >"$dir/seven.yaml"
	"$PMPP" preset "$dir/seven.yaml" --check >"$dir/out" 2>"$dir/err"
	same "seven-$name" 1 $?
	grep -q '~=.*(left side is' "$dir/out" && ok "seven-$name-says" ||
		not_ok "seven-$name-says" "$(cat "$dir/out")"
done
