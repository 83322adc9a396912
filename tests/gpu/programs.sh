#!/bin/sh
# The programs of tests/programs on this machine's NVIDIA GPU: what they print, and Nsight Compute's
# counters of every launch.
#   sh tests/gpu/programs.sh [OUTPUT-FOLDER [NAME...]]     (default: build/gpu/programs, all of them)
# LAUNCHES (default 1000): so many launches of a program at most.
# NAME.out: standard output and the exit status; NAME.csv: the counters, a row per launch and metric.
# Programs that say "// emulator only" are left out. Needs nvcc; without ncu, or where it may not
# read counters, there are no tables.
set -u
here=$(cd "$(dirname "$0")/../programs" && pwd)
out=${1:-build/gpu/programs}
[ $# -gt 0 ] && shift
names=${*:-$(cd "$here" && ls ./*.cu | sed 's|^\./||; s|\.cu$||')}
nvcc=${NVCC:-$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")}
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
mkdir -p "$out/bin" || exit 2
for name in $names; do
	source=$here/$name.cu
	! grep -q '^// emulator only' "$source" || continue
	# shellcheck disable=SC2046 # several words
	words=$(sed -n 's|^// nvcc: ||p' "$source")
	case $words in # those of one architecture alone, such as sm_90a
	*-arch=sm_*a*) for_gpu="-gencode arch=compute_${arch:-90}a,code=sm_${arch:-90}a" words= ;;
	*) for_gpu="-gencode arch=compute_${arch:-90},code=[sm_${arch:-90},compute_${arch:-90}]" ;;
	esac
	# shellcheck disable=SC2086 # several words
	"$nvcc" $words -O1 -lineinfo $for_gpu \
		-o "$out/bin/$name" "$source" || echo "programs.sh: $name does not compile" >&2 &
done
wait
metrics=$(printf %s "smsp__inst_executed.sum smsp__thread_inst_executed.sum smsp__thread_inst_executed_pred_on.sum
smsp__sass_branch_targets_threads_divergent.sum smsp__sass_branch_targets_threads_uniform.sum
smsp__sass_inst_executed_op_global_ld.sum smsp__sass_inst_executed_op_global_st.sum
smsp__sass_inst_executed_op_shared_ld.sum smsp__sass_inst_executed_op_shared_st.sum
smsp__sass_inst_executed_op_shared_atom.sum smsp__sass_inst_executed_op_ldsm.sum
smsp__sass_inst_executed_op_ldgsts.sum
smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum
smsp__sass_inst_executed_op_local.sum
smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum
smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
l1tex__t_requests_pipe_lsu_mem_global_op_red.sum l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum
smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_red.sum
smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_atom.sum
smsp__sass_thread_inst_executed_op_fadd_pred_on.sum smsp__sass_thread_inst_executed_op_fmul_pred_on.sum
smsp__sass_thread_inst_executed_op_ffma_pred_on.sum smsp__sass_thread_inst_executed_op_dadd_pred_on.sum
smsp__sass_thread_inst_executed_op_dmul_pred_on.sum smsp__sass_thread_inst_executed_op_dfma_pred_on.sum
smsp__sass_thread_inst_executed_op_hadd_pred_on.sum smsp__sass_thread_inst_executed_op_hmul_pred_on.sum
smsp__sass_thread_inst_executed_op_hfma_pred_on.sum gpu__time_duration.sum" | tr -s "\n " ,)
for name in $names; do
	[ -x "$out/bin/$name" ] || continue
	(cd "$here" && timeout 60 "$out/bin/$name") >"$out/$name.out" 2>/dev/null
	printf 'status %d\n' $? >>"$out/$name.out"
	command -v ncu >/dev/null || continue
	timeout 120 ncu --csv --launch-count "${LAUNCHES:-1000}" --print-units base --metrics "$metrics" "$out/bin/$name" 2>/dev/null |
		grep '^"' >"$out/$name.csv"
	[ -s "$out/$name.csv" ] || rm -f "$out/$name.csv"
done
rm -rf "$out/bin"
ls "$out" | wc -l
