#!/bin/sh
# `make bench BASE=commit`: the best turn of each line counts, other work is no comparison, and
# what cannot be compared is an error.
. "$(dirname "$0")/lib.sh"
compare=$TEST_ROOT/tests/bench/compare.sh

row() { printf '%-9s %-26s %14d %12.2f %7.1f ms %6.1f ms x%.2f\n' "$1" "$2" "$3" "$4" 10 5 2; }
{ echo 'PTX emulator, 2 threads'; row a one 100 5; row a one 100 4; row b 'two, tile 3' 100 2; row c old 1 1; } >"$dir/before"
{ row a one 100 9; row b 'two, tile 3' 100 1; row a one 100 8; row d new 1 1; row b other 1 1; } >"$dir/after"
sh "$compare" --ratios "$dir/before" "$dir/after" >"$dir/out" 2>&1

ratio() { sed -n "s/^$1 .*  *\([0-9.]*\)$/\1/p" "$dir/out"; }
same 'the best of all turns is compared' 2.000 "$(ratio 'a  *one')"
same 'one line per setting' 0.500 "$(ratio 'b  *two, tile 3')"
same 'the mean is geometric' 1.000 "$(ratio 'geometric mean')"
same 'a setting of one side only is told' 3 "$(grep -c 'only in one of the two' "$dir/out")"

{ row a one 101 8; row b 'two, tile 3' 100 1; } >"$dir/after"
sh "$compare" --ratios "$dir/before" "$dir/after" >"$dir/out" 2>&1
same 'other work is marked' 1 "$(grep -c '(other work)$' "$dir/out")"
same 'and left out of the mean' 0.500 "$(ratio 'geometric mean')"

row e none 1 1 >"$dir/after"
if sh "$compare" --ratios "$dir/before" "$dir/after" >"$dir/out" 2>&1; then
	not_ok 'nothing in common is an error' 'it exits 0'
else
	ok 'nothing in common is an error'
fi
