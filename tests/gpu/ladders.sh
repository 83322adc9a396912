#!/bin/sh
# The ladders, lessons and tile sizes on a real GPU: ladders.sh PROGRAM OUTPUT-FOLDER
# Every table is one command of the program; all results are verified against the CPU reference.
# PARTS chooses: matrix memory lessons sweep tools (default: all). "matrix" takes some five minutes.
# PARTS=record prints nothing: every family's ladders as JSON, one object a line, in ladders.jsonl, for
# model_error.py; results are not verified there. Five minutes as well.
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

record() {
	timeout 200 "$p" "$@" --backend cuda --no-verify --json |
		python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin), separators=(",", ":"), ensure_ascii=False))' \
		>>"$out/ladders.jsonl"
}
if has record; then
	: >"$out/ladders.jsonl"
	record ladder vec_add
	record ladder rgb_to_gray W=8192 H=8192
	record ladder blur W=8192 H=8192
	record ladder blur W=4096 H=4096 RADIUS=3
	record ladder diverge N=16777216
	record ladder diverge N=16777216 work=256
	record ladder latency
	record ladder transpose W=2048 H=2048
	record ladder transpose W=16384 H=16384
	record ladder reduction
	record ladder reduction N=2048 block=1024
	record ladder reduction N=1048576
	record ladder reduction N=268435456 block=512
	record ladder sgemm
	record ladder sgemm block_x=32 block_y=8 TILE=32
	record ladder sgemm M=4096 N=4096 K=4096 block_x=32 block_y=8 TILE=32
	record ladder sgemm_fast
	record ladder sgemm_fast M=2048 N=2048 K=2048
	record ladder sgemm_fast M=4096 N=4096 K=4096
	record ladder sgemm_fast M=4096 N=4096 K=4096 BN=256 TM=16
	for variant in per_element grid_stride coarsened unrolled; do
		record run "vec_add/$variant" N=67108864
	done
fi
