#!/bin/sh
# The ladders, lessons and tile sizes on a real GPU: ladders.sh PROGRAM OUTPUT-FOLDER
# Every table is one command of the program; all results are verified against the CPU reference.
set -u
p=$1
out=$2
mkdir -p "$out"
run() {
	name=$1
	shift
	echo "== pmpp-explore $*"
	timeout 200 "$p" "$@" 2>&1 | tee "$out/$name.txt"
}
run sgemm-4096 ladder sgemm M=4096 N=4096 K=4096 block_x=32 block_y=8 TILE=32 --backend cuda
run sgemm_fast-4096 ladder sgemm_fast M=4096 N=4096 K=4096 --backend cuda
run warp_tile-4096 ladder sgemm_fast M=4096 N=4096 K=4096 BN=256 TM=16 --backend cuda
run transpose ladder transpose --backend cuda
run transpose-16384 ladder transpose W=16384 H=16384 --backend cuda
run reduction ladder reduction N=268435456 block=512 --backend cuda
run vec_add ladder vec_add N=4194304 --backend cuda
run sweep-2048 sweep sgemm_fast/warp_tile M=2048 N=2048 K=2048 BM=64,128,256 BN=64,128,256 BK=8,16 TM=4,8,16 TN=4,8 --backend cuda --top 30
for preset in vec_add sgemm sgemm_fast sgemm_occupancy transpose reduction divergence; do
	run "preset-$preset" preset "$preset" --check --backend cuda
done
run doctor doctor
"$p" export sgemm/tiled --backend cuda --out "$out/sgemm-tiled.json"
"$p" doctor --json > "$out/doctor.json"
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv
