#!/bin/sh
# Wavefronts of 128-bit shared loads by the lanes that take part and by where they point: a GPU's
# counters, or with BACKEND=emu ours. One JSON object a line.
#   sh tests/gpu/wide_loads.sh build/pmpp-explore >wide_loads.jsonl     (python3)
# MASKS: other lanes, as signed 32-bit numbers.
set -eu
program=$1
here=$(cd "$(dirname "$0")" && pwd)

for mask in ${MASKS:--1 65535 255 16777215 252645135 16711935 61455}; do
	# a b c d e f: one part or two of a lane's unit
	while read -r a b c d e f; do
		"$program" run "$here/wide_loads.cu" --kernel wide_load --grid 1 --block 32 \
			'out=f32[32]:zero' mask=$mask a=$a b=$b c=$c d=$d e=$e f=$f \
			--backend "${BACKEND:-cuda}" ${SHEET:-} --json --no-verify |
			python3 -c '
import json, sys
m = json.load(sys.stdin)["metrics"]
print(json.dumps({"lanes": sys.argv[1], **{k: m[k].get("value") for k in ("shared.ld_requests", "shared.ld_wavefronts")}}))' \
				"mask=$mask $a $b $c $d $e $f"
	done <<EOF
1 32 1 1 1 0
1 4 1 1 1 0
1 4 2 1 1 0
1 8 1 1 1 0
1 16 1 1 1 0
4 8 1 1 1 0
4 8 2 1 1 0
8 4 1 1 1 0
2 16 1 1 1 0
16 2 1 1 1 0
1 2 1 4 8 2
1 4 1 8 4 4
1 4 1 8 4 8
1 2 4 2 16 1
EOF
done
