#!/bin/sh
# src/README.md: every folder of src/ has its paragraph and every paragraph its folder, every
# function named in the walks is defined, and the glossary is in order, each word once.
cd "${TEST_ROOT:-$(dirname "$0")/../..}" || exit 1
page=src/README.md
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-map-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
status=0

# verdict NAME FINDINGS: passed if there are none
verdict() {
	if [ -z "$2" ]; then
		echo "ok $1"
	else
		echo "not ok $1: $(echo "$2" | tr '\n' ' ')"
		status=1
	fi
}

# Folders that hold files; empty ones are no part of the program.
find src -mindepth 2 -type f | sed 's|^src/||; s|/[^/]*$||' | LC_ALL=C sort -u >"$work/folders"
sed -n 's|^\*\*\([a-z0-9_/]*\)/\*\* .*|\1|p' "$page" | LC_ALL=C sort >"$work/paragraphs"
verdict every_folder_has_a_paragraph "$(LC_ALL=C comm -23 "$work/folders" "$work/paragraphs")"
verdict every_paragraph_has_a_folder "$(LC_ALL=C comm -13 "$work/folders" "$work/paragraphs")"

# A definition begins a line with its type or ends one up to its name; calls are indented.
sed -n '/^## Two walks/,/^## Glossary/p' "$page" | grep -o '`[a-z0-9_]*()`' | tr -d '`()' |
	sort -u >"$work/functions"
find src views -name '*.c' -exec cat {} + | sed -n 's/^[a-z][a-z0-9_ *]*[ *]\([a-z0-9_]*\)(.*/\1/p' |
	sort -u >"$work/defined"
verdict every_function_of_the_walks_exists "$(comm -23 "$work/functions" "$work/defined")"
[ "$(wc -l <"$work/functions")" -ge 30 ]
verdict the_walks_name_functions "$([ $? -eq 0 ] || echo 'fewer than 30')"

sed -n '/^## Glossary/,$s/^| \([a-z][^|]*\) |.*/\1/p' "$page" | sed 1d >"$work/words"
LC_ALL=C sort -u "$work/words" >"$work/sorted"
verdict the_glossary_is_in_order "$(diff "$work/words" "$work/sorted" | grep '^[<>]')"
for word in 'affine form' 'speculative program' 'conservative program' 'reference program' \
	deoptimise 'basic block' wave 'critical path' fingerprint 'reference run' 'user kernel'; do
	grep -qx "$word" "$work/words" || echo "$word"
done >"$work/missing"
verdict the_glossary_has_the_words_of_the_field "$(cat "$work/missing")"
exit $status
