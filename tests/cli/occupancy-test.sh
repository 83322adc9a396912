#!/bin/sh
# Occupancy through the command line: the figures of SEEDS S-320 to S-330 and their H200 twins.
. "$(dirname "$0")/lib.sh"

# occupancy NAME GPU BLOCK REGS SMEM BLOCKS PCT
occupancy() {
	"$PMPP" occupancy --gpu "$2" --block "$3" --regs "$4" --smem "$5" --json >"$dir/o.json" || {
		not_ok "$1" 'failed'
		return
	}
	got=$(field "$dir/o.json" metrics occ.blocks_per_sm value)
	pct=$(field "$dir/o.json" metrics occ.theoretical_pct value)
	same "$1" "$6 blocks $7 %" "$got blocks $(printf '%.4g' "$pct") %"
}

occupancy S-320-1024 a100 1024 32 0 2 100
occupancy S-320-512 a100 512 32 0 4 100
occupancy S-320-256 A100 256 32 0 8 100
occupancy S-320-128 a100 128 32 0 16 100
occupancy S-320-64 a100 64 32 0 32 100
occupancy S-321 a100 768 32 0 2 75
occupancy S-322 a100 32 32 0 32 50
for block in 64 128 256 512 1024; do
	occupancy "S-323-$block" a100 $block 64 0 $((1024 / block)) 50
done
occupancy S-324 a100 512 31 0 4 100
occupancy S-325 a100 512 33 0 3 75
occupancy S-326-16 a100 256 32 2048 8 100
occupancy S-326-32 a100 1024 32 8192 2 100
occupancy S-327 a100 256 32 32k 4 50

occupancy S-328 rtx4060ti 256 40 0 6 100
occupancy S-329 rtx4060ti 1024 37 8192 1 66.67
same S-329-limiters 'warps, registers' "$(field "$dir/o.json" metrics occ.limiters value)"
occupancy S-330a rtx4060ti 256 94 8192 2 33.33
same S-330a-limiters registers "$(field "$dir/o.json" metrics occ.limiters value)"
occupancy S-330b rtx4060ti 256 56 4096 4 66.67

# the block limit by shared memory that ncu prints of them: the carve-out's blocks
carveout() {
	"$PMPP" occupancy --gpu "$2" --block "$3" --regs "$4" --smem "$5" $8 --json >"$dir/o.json"
	same "$1" "$6 $7" "$(field "$dir/o.json" carveout blocks) $(field "$dir/o.json" carveout bytes)"
}
carveout S-328-carveout rtx4060ti 256 40 0 16 16384 ''
carveout S-329-carveout rtx4060ti 1024 37 8192 1 16384 ''
carveout S-330a-carveout rtx4060ti 256 94 8192 7 65536 ''
carveout S-330b-carveout rtx4060ti 256 56 4096 12 65536 ''
carveout carveout-preferred h200 256 32 8192 7 65536 '--carveout 25'
"$PMPP" occupancy --gpu rtx4060ti --block 256 --regs 56 --smem 4096 >"$dir/out"
grep -q 'carve-out: 64 KiB (12 blocks); L1 has 64 KiB' "$dir/out" && ok carveout-said ||
	not_ok carveout-said "$(cat "$dir/out")"
"$PMPP" occupancy --gpu h200 --block 256 --regs 32 --carveout 101 >"$dir/out" 2>&1
same carveout-refused "2" "$?"

# the same four launches on an H200
occupancy H200-S-328 h200 256 40 0 6 75
occupancy H200-S-329 h200 1024 37 8192 1 50
occupancy H200-S-330a h200 256 94 8192 2 25
occupancy H200-S-330b h200 256 56 4096 4 50

# every limit is there, with its arithmetic; the book's plain division stands beside
"$PMPP" occupancy --gpu a100 --block 256 --regs 33 --json >"$dir/o.json"
same limits-first warps "$(field "$dir/o.json" limits 0 name)"
same limits-registers '6 true' \
	"$(field "$dir/o.json" limits 1 blocks) $(field "$dir/o.json" limits 1 limits)"
same book '7 87.5' "$(field "$dir/o.json" book blocks_per_sm) $(field "$dir/o.json" book pct)"
"$PMPP" occupancy --gpu a100 --block 256 --regs 33 >"$dir/out"
if grep -q 'roundup(33 x 32, 256)' "$dir/out" && grep -q 'By the book.*7 blocks' "$dir/out"; then
	ok explained
else
	not_ok explained "$(cat "$dir/out")"
fi

# a block that cannot launch is a result with a reason
"$PMPP" occupancy --gpu a100 --block 1024 --regs 65 --json >"$dir/o.json"
same cannot-launch '0 false' \
	"$(field "$dir/o.json" metrics occ.blocks_per_sm value) $(field "$dir/o.json" launchable)"
[ -n "$(field "$dir/o.json" why_not)" ] && ok why-not || not_ok why-not 'no reason'

# nothing is not the same as no word of it
run occupancy-no-threads 2 occupancy --block 0 --regs 32
grep -q "'--block': 0: must be from 1 to 1024" "$dir/err" && ok no-threads-said || not_ok no-threads-said "$(cat "$dir/err")"
run occupancy-no-block 2 occupancy --regs 32
grep -q "'--block' is missing" "$dir/err" && ok no-block-said || not_ok no-block-said "$(cat "$dir/err")"
