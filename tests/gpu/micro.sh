#!/bin/sh
# The microbenchmarks of tests/gpu/micro on this machine's NVIDIA GPU: one JSON object a line.
#   sh tests/gpu/micro.sh [OUTPUT-FOLDER] [NAME...]       (default: build/gpu/micro, all of them)
# Needs nvcc alone. Where Nsight Compute (ncu) is found and may read counters, the programs of
# COUNTED are run once more under it, each measured kernel once: NAME.counters.jsonl.
# COUNTERS=0 leaves that out, COUNTERS=only leaves out the rest. BUILD=only compiles (no GPU needed).
set -u
here=$(cd "$(dirname "$0")/micro" && pwd)
out=${1:-build/gpu/micro}
[ $# -gt 0 ] && shift
COUNTED='scatter local l2 stream l1 atomic_waves copy_waves kept parts loops recursion leaving'
names=${*:-$(cd "$here" && ls ./*.cu | sed 's|^\./||; s|\.cu$||')}
nvcc=${NVCC:-$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")}
[ -x "$nvcc" ] || {
	echo "micro.sh: no nvcc ($nvcc): set NVCC or CUDA_HOME" >&2
	exit 2
}
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
mkdir -p "$out/bin" || exit 2
failed=0

for name in $names; do
	[ -f "$here/$name.cu" ] || {
		echo "micro.sh: no $here/$name.cu; there are: $(cd "$here" && ls ./*.cu | tr '\n' ' ')" >&2
		exit 2
	}
	code="-arch=sm_${arch:-90}"
	grep -q 'compute capability 9.0a' "$here/$name.cu" &&
		code='-gencode arch=compute_90a,code=sm_90a'
	# shellcheck disable=SC2086 # several words
	"$nvcc" -O3 -std=c++17 $code -o "$out/bin/$name" "$here/$name.cu" \
		>"$out/bin/$name.log" 2>&1 || echo "$name" >>"$out/bin/failed" &
done
wait
if [ -s "$out/bin/failed" ]; then
	for name in $(cat "$out/bin/failed"); do
		echo "micro.sh: $name.cu does not compile:" >&2
		cat "$out/bin/$name.log" >&2
	done
	rm -f "$out/bin/failed"
	exit 1
fi
[ "${BUILD:-}" != only ] || exit 0

for name in $names; do
	[ "${COUNTERS:-}" != only ] || break
	begin=$(date +%s)
	timeout 200 "$out/bin/$name" >"$out/$name.jsonl" 2>"$out/$name.err"
	status=$?
	[ -s "$out/$name.err" ] || rm -f "$out/$name.err"
	[ $status -eq 0 ] || {
		failed=1
		cat "$out/$name.err" >&2
	}
	printf '%-10s status %d, %s lines, %s s\n' "$name" $status "$(wc -l <"$out/$name.jsonl")" \
		$(($(date +%s) - begin)) >&2
done

metrics=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum
metrics=$metrics,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_requests_srcunit_tex.sum
metrics=$metrics,lts__t_sectors_srcunit_tex.sum,lts__t_sectors_srcunit_tex_lookup_miss.sum
metrics=$metrics,dram__bytes_read.sum,dram__bytes_write.sum,sm__cycles_elapsed.max
waves=smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum
waves=$waves,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum
waves=$waves,l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_atom.sum
waves=$waves,l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_red.sum
waves=$waves,smsp__sass_inst_executed_op_shared_atom.sum,smsp__inst_executed.sum
copies=smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum
copies=$copies,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
lanes=smsp__inst_executed.sum,smsp__thread_inst_executed.sum,smsp__thread_inst_executed_pred_on.sum
sides=$lanes,smsp__sass_branch_targets_threads_divergent.sum
sides=$sides,smsp__sass_branch_targets_threads_uniform.sum,smsp__sass_inst_executed_op_local.sum
for name in $names; do
	case " $COUNTED " in *" $name "*) ;; *) continue ;; esac
	asked=$metrics
	[ "$name" != atomic_waves ] || asked=$waves
	[ "$name" != copy_waves ] || asked=$copies
	[ "$name" != parts ] || asked=$lanes
	case $name in loops | recursion | leaving) asked=$sides ;; esac
	[ "$name" != kept ] || asked=dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_srcunit_tex.sum
	[ "${COUNTERS:-1}" != 0 ] && command -v ncu >/dev/null || continue
	begin=$(date +%s)
	# caches stay as the program leaves them; passes repeat the whole program, not one kernel
	MICRO_ONCE=1 timeout 500 ncu --cache-control none --clock-control none --replay-mode application \
		--csv --page raw --print-units base --kernel-name-base function --kernel-name 'regex:^m_' \
		--metrics "$asked" --log-file "$out/$name.csv" "$out/bin/$name" >"$out/$name.once" 2>&1
	status=$?
	python3 "$here/counters.py" "$out/$name.once" "$out/$name.csv" >"$out/$name.counters.jsonl" ||
		failed=1
	printf '%-10s counters: ncu %d, %s lines, %s s\n' "$name" $status \
		"$(wc -l <"$out/$name.counters.jsonl")" $(($(date +%s) - begin)) >&2
	rm -f "$out/$name.once"
done
cat "$out"/*.jsonl
exit $failed
