#!/bin/sh
# Which ids of the checklist (tests/seeds/ids.txt) are shown, and by what.
#
#   seeds.sh BUILD-FOLDER           runs what covers an id and prints id, result, where
#   seeds.sh BUILD-FOLDER --static  runs nothing: is every id covered, or has a reason?
#
# Coverage is found, not listed: `seeds:` and `seed:` of presets' steps, `.seeds` of kernels'
# variants, ids in the comments and names (s_305_...) of unit tests, ids in tests/cli scripts, and
# `seeds:` of pages and of whole programs.
# An id with neither coverage nor a reason, a reason for an id that is covered, and an id that
# nobody listed fail. SEEDS_IDS names another list (the test of this script).
set -u
build=$1
static=${2:-}
ids=${SEEDS_IDS:-tests/seeds/ids.txt}
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-seeds-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# awk: every id of a line, with ranges ("S-217 to S-219"), printed through found(id)
scan_ids='
function scan(line,    first, last, n, id) {
	last = 0
	while (match(line, /S-[0-9][0-9][0-9][ab]?/)) {
		id = substr(line, RSTART, RLENGTH)
		n = substr(id, 3, 3) + 0
		if (last && substr(line, 1, RSTART - 1) ~ /^ to $/)
			for (first = last + 1; first < n; first++)
				found(sprintf("S-%03d", first))
		if (id == "S-330") { # both rows
			found("S-330a")
			found("S-330b")
		} else
			found(id)
		last = n
		line = substr(line, RSTART + RLENGTH)
	}
}'

# id, kind, key (what a result is looked up by), words
coverage() {
	for file in presets/*.yaml; do
		name=$(basename "$file" .yaml)
		awk -v name="$name" "$scan_ids"'
		function found(id) {
			if (step)
				printf "%s\tpreset\t%s %d\tpreset %s step %d\n", id, name, step, name, step
			else
				printf "%s\tpreset\t%s\tpreset %s\n", id, name, name
		}
		/^  - title:/ { step++ }
		/^#/ || /^ *-? *seeds?:/ { scan($0) }' "$file"
	done
	for file in kernels/*.cu; do
		name=$(basename "$file" .cu)
		awk -v name="$name" "$scan_ids"'
		function found(id) {
			printf "%s\tkernel\tkernels/test_verified every_variant_at_many_sizes\tkernel %s/%s\n",
				id, name, variant
		}
		/KERNEL_VARIANT\(/ { variant = $0; sub(/.*KERNEL_VARIANT\([^)]*, /, "", variant); sub(/\).*/, "", variant) }
		/\.seeds = "/ { sub(/.*\.seeds = /, ""); scan($0) }' "$file"
	done
	for file in tests/unit/*/test_*.c; do
		program=${file#tests/unit/}
		awk -v program="${program%.c}" "$scan_ids"'
		function found(id) {
			if (inside)
				here(id)
			else if (header)
				printf "%s\ttest\t%s\ttest %s\n", id, program, program
			else
				waiting[++n] = id
		}
		function here(id) {
			printf "%s\ttest\t%s %s\ttest %s %s\n", id, program, test, program, test
		}
		NR == 1 && /^\/\*/ { header = 1 }
		/^TEST(_WITH)?\(/ || /^static void [a-z0-9_]+\(void \*\*state\)/ {
			test = $0
			sub(/^TEST(_WITH)?\(|^static void /, "", test)
			sub(/[^a-z0-9_].*/, "", test)
			inside = 1
			for (i = 1; i <= n; i++)
				here(waiting[i])
			n = 0
			if (match(test, /^s_[0-9][0-9][0-9][ab]?_/))
				here("S-" substr(test, 3, RLENGTH - 3))
		}
		{ scan($0) }
		header && /\*\// { header = 0 }
		/^}/ { inside = 0 }' "$file"
	done
	for file in pages/*.txt; do
		name=$(basename "$file" .txt)
		awk -v name="$name" "$scan_ids"'
		function found(id) {
			printf "%s\ttest\tmodel/test_page every_file_is_a_page\tpage %s\n", id, name
		}
		/^seeds:/ { scan($0) }' "$file"
	done
	number=0
	for file in tests/programs/*.cu; do # every fourth is run by one script
		number=$((number + 1))
		script=tests/cli/programs-$((number % 4))-test.sh
		awk -v script="$script" -v name="$(basename "$file" .cu)" "$scan_ids"'
		function found(id) { printf "%s\tscript\t%s\tprogram %s\n", id, script, name }
		/^\/\/ seeds:/ { scan($0) }' "$file"
	done
	for file in tests/cli/*-test.sh; do
		[ "$file" != tests/cli/seeds-test.sh ] || continue
		awk -v file="$file" "$scan_ids"'
		function found(id) { printf "%s\tscript\t%s\tscript %s\n", id, file, file }
		{ scan($0) }' "$file"
	done
}

# key, passed or FAILED, of everything that covers something
results() {
	for name in $(awk -F "\t" '$2 == "preset" { split($3, k, " "); print k[1] }' \
		"$work/coverage" | sort -u); do
		LC_ALL=C "$build/pmpp-explore" preset "$name" --check >"$work/out" 2>&1
		status=$?
		awk -v name="$name" -v status="$status" '
		function done() { if (step) printf "%s %d\t%s\n", name, step, bad ? "FAILED" : "passed" }
		/^[0-9]+\/[0-9]+  / { done(); step = $1 + 0; bad = 0 }
		/^  NO / { bad = 1 }
		END { done(); printf "%s\t%s\n", name, status ? "FAILED" : "passed" }' "$work/out"
	done
	for program in $(awk -F '\t' '$2 == "test" || $2 == "kernel" { split($3, k, " "); print k[1] }' \
		"$work/coverage" | sort -u); do
		"$build/unit/$program" >"$work/out" 2>&1
		status=$?
		sed -n "s|^\[       OK \] |$program |p" "$work/out" | sed 's/$/	passed/'
		[ "$status" -eq 0 ] && echo "$program	passed" || echo "$program	FAILED"
	done
	for script in $(awk -F '\t' '$2 == "script" { print $3 }' "$work/coverage" | sort -u); do
		PMPP=$(pwd)/$build/pmpp-explore TEST_ROOT=$(pwd) sh "$script" >"$work/out" 2>&1 &&
			! grep -q '^not ok ' "$work/out" && echo "$script	passed" || echo "$script	FAILED"
	done
}

coverage | sort -u >"$work/coverage"
: >"$work/results"
[ "$static" = --static ] || results >"$work/results"

awk -F '\t' -v static="$static" -v ids="$ids" -v coverage="$work/coverage" \
	-v results="$work/results" '
function problem(text) { print text; problems++ }
FILENAME == results { result[$1] = $2; next }
FILENAME == coverage {
	where[$1] = where[$1] (where[$1] == "" ? "" : "; ") $4
	state = static ? "covered" : $3 in result ? result[$3] : "FAILED"
	if (state == "FAILED")
		bad[$1] = bad[$1] "; " $4
	covered[$1] = 1
	next
}
/^#/ || /^ *$/ { next }
{
	id = $0
	sub(/ .*/, "", id)
	if (id in listed)
		problem(ids ": " id " is listed twice")
	listed[id] = 1
	text = reason = $0
	sub(/^[^ ]+ /, "", text)
	sub(/ *\|.*/, "", text)
	reason = index($0, "|") ? substr($0, index($0, "|") + 2) : ""
	order[++n] = id
	subject[id] = text
	why[id] = reason
}
END {
	for (i = 1; i <= n; i++) {
		id = order[i]
		if (id in covered && why[id] != "")
			problem(ids ": " id " has a reason for not being covered, but is: " where[id])
		if (!(id in covered) && why[id] == "")
			problem(id " (" subject[id] ") has neither coverage nor a reason in " ids)
		if (id in bad)
			problem(id " FAILED: " substr(bad[id], 3))
		state = id in bad ? "FAILED" : id in covered ? (static ? "covered" : "passed") : "-"
		count[state]++
		if (!static)
			printf "%-7s %-28s %-7s %s\n", id, subject[id], state, id in covered ? where[id] : why[id]
	}
	for (id in covered) {
		if (!(id in listed))
			problem(id " is mentioned (" where[id] "), but not listed in " ids)
	}
	printf "%d ids: %d %s, %d with a reason, %d failed\n", n,
		count[static ? "covered" : "passed"], static ? "covered" : "passed", count["-"], problems
	exit problems > 0
}' "$work/results" "$work/coverage" "$ids"
