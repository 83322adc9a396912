#!/bin/sh
# Large work on a real GPU: how long a person waits, start and check of the results included.
#   sh tests/gpu/large.sh build/pmpp-explore
# Prints seconds of each of five runs, after one small run that fills the cache.
set -eu
program=$1

waited() {
	from=$(date +%s.%N)
	"$program" "$@" --backend cuda >/dev/null
	echo "$from $(date +%s.%N) $*" | awk '{ printf "%6.2f s  %s", $2 - $1, $3; for (i = 4; i <= NF; i++) printf " %s", $i; print "" }'
}

waited run vec_add N=1M
for turn in 1 2 3 4 5; do
	waited run vec_add N=1M
	waited run vec_add N=268435456
	waited ladder transpose W=16384 H=16384
done
