#!/bin/sh
# Every combination of parameter values: legal ones ranked, illegal ones counted, and a modelled time
# that lacks the traffic of spilled registers never on top.
. "$(dirname "$0")/lib.sh"

run tiles 0 sweep sgemm_fast/pipelined M=256 N=256 K=64 BM=128,256 BN=128,256 TM=4,8 TN=8 --gpu rtx4060laptop
for words in 'fastest first' '7 of 8 combinations ran' '1 not legal' 'stands last'; do
	grep -qF "$words" "$dir/out" && ok "tiles-$words" || not_ok "tiles-$words" "$(cat "$dir/out")"
done
same spilled-is-last 1 "$(sed -n '/BM=/p' "$dir/out" | tail -1 | grep -c 'spilled: slower')"
same first-is-not 0 "$(sed -n '/BM=/p' "$dir/out" | head -1 | grep -c 'spilled: slower')"
same none-after-spilled 0 "$(awk '/spilled: slower/ { on = 1; next } on && /BM=/' "$dir/out" | wc -l)"
run tiles-json 0 sweep sgemm_fast/pipelined M=256 N=256 K=64 BM=128,256 BN=128,256 TM=8 TN=8 \
	--gpu rtx4060laptop --json
same json-combinations 4 "$(field "$dir/out" combinations)"
same json-first false "$(field "$dir/out" points 0 too_short)"
same json-last true "$(field "$dir/out" points 3 too_short)"
run no-such-parameter 2 sweep sgemm_fast/pipelined QQ=1,2
says no-such-parameter-says QQ
