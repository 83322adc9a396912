#!/bin/sh
# A machine with two GPUs: which one runs is the person's choice, and both count the same.
# sh tests/gpu/two-gpus.sh PROGRAM
set -u
p=$1
nvidia-smi --query-gpu=index,name,pci.bus_id --format=csv,noheader
for device in 0 1; do
	PMPP_CUDA_DEVICE=$device "$p" doctor | grep -A 1 '  cuda  '
done
for choice in '--gpu cuda7' '--backend cuda'; do
	PMPP_CUDA_DEVICE=7 "$p" run sgemm/tiled $choice
done
"$p" ladder sgemm M=1024 N=1024 K=1024 --gpu cuda1 | tail -3
work=$(mktemp -d)
for run in 'sgemm/tiled M=1024 N=1024 K=1024' 'vec_add/per_element N=16M'; do
	for device in 0 1; do
		"$p" run $run --gpu cuda$device | sed 's/ (.*//' > "$work/$device"
	done
	echo "$run on cuda0 and cuda1, what differs:"
	diff "$work/0" "$work/1"
done
rm -rf "$work"
