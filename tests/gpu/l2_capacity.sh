#!/bin/sh
# How much L2 holds, by the bytes that come from DRAM: random reads of one buffer by many blocks, and
# local memory of many threads, each over a range of sizes. One JSON object a line.
#   sh tests/gpu/l2_capacity.sh build/pmpp-explore >l2_capacity.jsonl     (python3; a GPU with counters)
set -eu
program=$1
here=$(cd "$(dirname "$0")" && pwd)

line() {
	"$program" run "$@" --backend cuda --json --no-verify | python3 -c '
import json, sys
m = json.load(sys.stdin)["metrics"]
keys = "time.kernel_ns", "dram.read_bytes", "dram.write_bytes", "l2.sectors"
print(json.dumps({"run": sys.argv[1], **{k: m[k].get("value") for k in keys}}))' "$*"
}

cd "$here"
for mib in 4 8 12 16 20 24 28 32 36 40 48 56 64 80 128; do
	line latency/chase N=$((mib << 18)) block=256 blocks=2112 hops=256 ballast=1 CHAINS=2
done
for mib in 8 16 24 32 40 48 64; do # half of the SMs
	line latency/chase N=$((mib << 18)) block=256 blocks=66 hops=2048 ballast=1 CHAINS=2
done
for words in 8 16 32 64 128 256; do
	for blocks in 66 132 264 528 1056 4224; do
		line families/keyed.cu --kernel local_bins --plugin N=4194304 block=256 blocks=$blocks data=0 \
			WORDS=$words
	done
done
