#!/bin/sh
# The ladders, lessons and tile sizes on a real GPU: ladders.sh PROGRAM OUTPUT-FOLDER
# Every table is one command of the program; all results are verified against the CPU reference.
# PARTS chooses: matrix memory lessons sweep tools (default: all). "matrix" takes some five minutes.
set -u
p=$1
out=$2
parts=${PARTS:-matrix memory lessons sweep tools}
mkdir -p "$out"
has() { case " $parts " in *" $1 "*) return 0 ;; esac; return 1; }
run() {
	name=$1
	shift
	echo "== pmpp-explore $*"
	timeout 200 "$p" "$@" 2>&1 | tee "$out/$name.txt"
}
if has memory; then
	run transpose-16384 ladder transpose W=16384 H=16384 --backend cuda
	run reduction ladder reduction N=268435456 block=512 --backend cuda
	run vec_add ladder vec_add N=1048576 --backend cuda
fi
if has lessons; then
	for preset in vec_add sgemm sgemm_fast sgemm_occupancy transpose reduction divergence; do
		run "preset-$preset" preset "$preset" --check --backend cuda
	done
fi
if has tools; then
	run doctor doctor
	"$p" export sgemm/tiled --backend cuda --out "$out/sgemm-tiled.json"
	"$p" doctor --json > "$out/doctor.json"
	nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv
fi
if has sweep; then
	run sweep-2048 sweep sgemm_fast/pipelined M=2048 N=2048 K=2048 BM=64,128,256 BN=64,128,256 \
		TM=4,8,16 TN=4,8 --backend cuda --top 54
fi
if has matrix; then
	run sgemm-4096 ladder sgemm M=4096 N=4096 K=4096 block_x=32 block_y=8 TILE=32 --backend cuda
	run sgemm_fast-4096 ladder sgemm_fast M=4096 N=4096 K=4096 --backend cuda
	run sgemm_fast-4096-best ladder sgemm_fast M=4096 N=4096 K=4096 BM=256 TM=16 --backend cuda
fi
