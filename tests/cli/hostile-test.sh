#!/bin/sh
# Files of others: what is in them reaches no terminal, file name or command line but as words, and
# takes neither memory nor time beyond their size.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C

controls() { tr -d '\n\t' <"$1" | grep -c '[[:cntrl:]]\|'"$(printf '\302[\200-\237]\|\342\200\256')"; }
no_controls() { # NAME FILE
	same "$1" 0 "$(controls "$2")"
}
printf 'a\033[2Jb' >"$dir/probe"
same the-test-sees-them 1 "$(controls "$dir/probe")"

run export 0 export vec_add N=1k --gpu a100 --out "$dir/s.json"
evil='\\u001b]0;pwned\\u0007\\u009b31m\\u202e'
sed "s/\"name\": \"A100[^\"]*/&$evil \\\\\"x\\\\\",<script>|y\\\\nz/; s/extern /e${evil}xtern /; s/: *\"exact\"/: \"ex${evil}act\"/" \
	"$dir/s.json" >"$dir/evil.json"
for form in md csv txt; do
	run "evil-$form" 0 export "$dir/evil.json" --format $form --out "$dir/evil.$form"
	no_controls "evil-$form-file" "$dir/evil.$form"
	run "evil-$form-shown" 0 export "$dir/evil.json" --format $form --out -
	no_controls "evil-$form-standard-output" "$dir/out"
	no_controls "evil-$form-standard-error" "$dir/err"
done
# words stay words: no row, link or quote of theirs
same csv-fields 9 "$(tr '\n' '\1' <"$dir/evil.csv" | sed 's/"\([^"]\|""\)*"/q/g' | tr '\1' '\n' |
	awk -F, '{ print NF }' | sort -u)"
grep -q '"".*<script>' "$dir/evil.csv" && ok csv-quotes || not_ok csv-quotes "$(sed -n 2p "$dir/evil.csv")"
grep -q '\\<script>\\|y z' "$dir/evil.md" && ok md-words || not_ok md-words "$(head -1 "$dir/evil.md")"
run evil-diff 0 diff "$dir/evil.json" "$dir/s.json"
no_controls evil-diff-shown "$dir/out"

# a sheet and a source
sed "s/^name:.*/name: \"A\\\\e[31mB\"/" "$TEST_ROOT/presets/gpus/a100.yaml" >"$dir/evil.yaml"
run evil-sheet 2 run vec_add N=64 --gpu "$dir/evil.yaml"
says evil-sheet-says "evil.yaml:5" "control character"
no_controls evil-sheet-shown "$dir/err"
printf '__global__ void k(float *a) { a[0] = \033[31mno; }\n' >"$dir/evil.cu"
run evil-source 1 run "$dir/evil.cu" --kernel k --grid 1 --block 1 'a=f32[1]:zero'
no_controls evil-source-said "$dir/err"

# a name becomes part of file names and of command lines to be copied
for id in ../../x 'a;b' 'a b' .x '' '-x'; do
	sed "s|\"id\": \"a100\"|\"id\": \"$id\"|" "$dir/s.json" >"$dir/id.json"
	run "id-'$id'" 2 export "$dir/id.json" --out "$dir/id-out.json"
	says "id-'$id'-says" 'gpu.id' 'is needed'
done
sed 's|"backend": "emu"|"backend": "emu; x"|' "$dir/s.json" >"$dir/backend.json"
run backend 2 export "$dir/backend.json" --format md --out -

# numbers past what a panel has, and more values than any session
sed 's/"timeline_pan": 0/"timeline_pan": 4294967295/; s/"timeline_zoom": 0/"timeline_zoom": 12/' \
	"$dir/s.json" >"$dir/pan.json"
run pan 0 export "$dir/pan.json" --out "$dir/pan-out.json"
same pan-ends 16384 "$(field "$dir/pan-out.json" screen timeline_pan)"
{ printf '{"junk": ['; yes '[],' | head -n 20000000 | tr -d '\n'; printf '0]}'; } >"$dir/many.json"
same sixty-megabytes 60000013 "$(wc -c <"$dir/many.json" | tr -d ' ')"
limit=unlimited
if limits_hold; then limit=1500000; fi
(ulimit -v "$limit" && "$PMPP" export "$dir/many.json" --format md --out -) >"$dir/out" 2>"$dir/err"
same many-values 2 $?
says many-values-says many.json '1048576 values'
rm -f "$dir/many.json"

# a mark of byte order is no part of what is read; an empty or a repeated word is refused
mark=$(printf '\357\273\277')
{ printf %s "$mark"; cat "$dir/s.json"; } >"$dir/mark.json"
run mark-json 0 diff "$dir/mark.json" "$dir/s.json"
{ printf %s "$mark"; echo '__global__ void k(float *a) { a[threadIdx.x] = 1; }'; } >"$dir/mark.cu"
run mark-cu 0 run "$dir/mark.cu" --kernel k --grid 1 --block 32 'a=f32[32]:zero'
run grid-comma 2 run "$dir/mark.cu" --kernel k --grid , --block 32 'a=f32[32]:zero'
says grid-comma-says "'--grid'" empty
run option-twice 2 run vec_add --gpu h100 --gpu a100
says option-twice-says "'--gpu' is given twice"
run define-number 2 run "$dir/mark.cu" --kernel k --grid 1 --block 32 'a=f32[32]:zero' --define 1
run define-no-word 2 run "$dir/mark.cu" --kernel k --grid 1 --block 32 'a=f32[32]:zero' --define A-B=1
says define-no-word-says "'A-B=1' is not of the form NAME=number"
