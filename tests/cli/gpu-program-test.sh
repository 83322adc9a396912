#!/bin/sh
# A whole program on a GPU: the driver loads our library into it, CUPTI tells what it did, and the
# list is the same as of a program in the emulator. The GPU is the stand-in of
# tests/unit/cuda/fake_nvidia.c. What a real one does: tests/gpu/programs_on_card.sh.
. "$(dirname "$0")/lib.sh"
built=$(dirname "$PMPP")/unit/cuda
fake=$built/fake_nvidia.so
program=$built/injected_program
case $PMPP in *thread/* | *address*)
	echo 'skip gpu-program: a sanitized library does not load into a plain program'
	exit 0
	;;
esac
if [ ! -e "$fake" ] || [ ! -e "$program" ]; then
	echo 'skip gpu-program: the stand-in for a GPU is not built (make test builds it)'
	exit 0
fi
PMPP_LIBCUDA=$fake
PMPP_LIBCUPTI=$fake
PMPP_LIBNVML=$fake
export PMPP_LIBCUDA PMPP_LIBCUPTI PMPP_LIBNVML

on_gpu() { # NAME STATUS WORD...: the program's JSON
	what=$1
	status=$2
	shift 2
	run "$what" "$status" launches "$program" --backend cuda --json "$@"
}
got() { field "$dir/out" "$@"; }
launches() { grep -c '"kernel":' "$dir/out"; }
positive() { # NAME NUMBER
	if awk -v n="$2" 'BEGIN { exit !(n > 0) }'; then ok "$1"; else not_ok "$1" "'$2'"; fi
}

# --- the list ---
on_gpu list 0 5 stream shapes
same list-backend cuda "$(got backend)"
same list-output 'sums are right\nsums are right\n' "$(got stdout)"
same list-launches 9 "$(launches)"
same list-kernel fake_vecadd "$(got launches 0 kernel)"
same list-grid 2 "$(got launches 0 grid 0)"
same list-block 128 "$(got launches 0 block 0)"
same list-stream 0 "$(got launches 4 stream)"
same list-own-stream 1 "$(got launches 5 stream)"
same list-origin measured "$(got launches 8 metrics time.kernel_ns origin)"
positive list-time "$(got launches 8 metrics time.kernel_ns value)"
positive list-call "$(got launches 0 span call_ns)"
same list-facts measured "$(got launches 6 metrics launch.block_threads origin)"
same list-no-counters none "$(got launches 0 metrics inst.warp_executed origin)"
same list-no-counts '' "$(got launches 1 counts_of)"
same list-copy H2D "$(got copies 0 kind)"
same list-pageable false "$(got copies 0 pinned)"
same list-set memset "$(got copies 2 kind)"
same list-before 1 "$(got copies 2 before_launch)"
same list-pinned true "$(got copies 3 pinned)"
same list-behind 6 "$(got copies 3 before_launch)"
same list-of-none 9 "$(got launches 8 number)"

# --- the program is itself: input, arguments, status ---
echo 'a line' | "$PMPP" launches "$program" read 3 hello --backend cuda >"$dir/out" 2>"$dir/err"
same plain-status 0 $?
printf 'read a line\nsums are right\nword hello\n' >"$dir/want"
if cmp -s "$dir/want" "$dir/out"; then ok plain-output; else not_ok plain-output "$(cat "$dir/out")"; fi
says plain-table '3 launches' 'fake_vecadd' 'H200 ●'
on_gpu own-status 1 3 exit=7
same own-status-is 7 "$(got exit)"
same own-status-launches 3 "$(launches)"
run csv 0 launches "$program" 3 shapes --backend cuda --csv
same csv-rows 7 "$(wc -l <"$dir/out")"
run only 0 launches "$program" 3 shapes --backend cuda --csv --kernel fake_increment
same only-rows 4 "$(wc -l <"$dir/out")"
run auto 0 launches "$program" --json 3
same auto-backend cuda "$(got backend)"

# --- how programs end ---
on_gpu refused 0 3 refused
same refused-remark launch-refused "$(got faults 0 kind)"
same refused-launches 3 "$(launches)"
on_gpu fault 1 3 fault
same fault-kind kernel-fault "$(got faults 0 kind)"
same fault-error true "$(got faults 0 error)"
same fault-status 3 "$(got exit)"
same fault-said 'error 700\n' "$(got stderr)"
for how in crash/139 kill/137; do
	on_gpu "${how%/*}" 1 4 "${how%/*}"
	same "${how%/*}-status" "${how#*/}" "$(got exit)"
	same "${how%/*}-launches" 4 "$(launches)"
	same "${how%/*}-remark" "$([ "${how%/*}" = crash ] && echo no-lines || echo cut-short)" "$(got faults 0 kind)"
done
on_gpu hang 1 4 hang --timeout 1
same hang-launches 4 "$(launches)"

# --- counters: a value is 1000 and the length of the counter's name ---
on_gpu count 0 3 shapes --launch 2
same count-launches 1 "$(launches)"
same count-number 2 "$(got launches 0 number)"
same count-value 1023 "$(got launches 0 metrics inst.warp_executed value)"
same count-origin measured "$(got launches 0 metrics dram.read_bytes origin)"
same count-registers 10 "$(got launches 0 metrics launch.registers_per_thread value)"
same count-time measured "$(got launches 0 metrics time.kernel_ns origin)"
on_gpu first 0 3 shapes --count 1
same first-own '' "$(got launches 0 counts_of)"
same first-other 1 "$(got launches 2 counts_of)"
same first-shape '' "$(got launches 4 counts_of)"
same first-again 4 "$(got launches 5 counts_of)"
run shown 0 run "$program" 3 shapes --launch 4 --backend cuda --json
same shown-backend cuda "$(got backend)"
same shown-value 1023 "$(got metrics inst.warp_executed value)"
same shown-time measured "$(got metrics time.kernel_ns origin)"

# --- what the machine code in the executable says ---
if command -v nvcc >/dev/null && command -v objcopy >/dev/null; then
	cat >"$dir/code.cu" <<'CUDA'
extern "C" __global__ void __launch_bounds__(512) fake_vecadd(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] = a[i] + b[i];
}
CUDA
	(cd "$dir" && nvcc -fatbin -lineinfo -gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=sm_80 \
		-o code.fatbin code.cu && objcopy --add-section .nv_fatbin=code.fatbin "$program" coded) || not_ok code "no fatbin"
	run code 0 launches "$dir/coded" --backend cuda --json 2
	same code-origin counted "$(got launches 0 metrics launch.registers_per_thread origin)"
	positive code-registers "$(got launches 0 metrics launch.registers_per_thread value)"
	same code-lines '' "$(got faults 0 kind)"
	run code-table 0 launches "$dir/coded" --backend cuda 2 shapes
	says code-rest '1 of 2 kernels have no line table'
else
	echo 'skip code: no nvcc or objcopy here'
fi

# --- what may be missing ---
FAKE_NVIDIA=cuptiRangeProfilerStart=35 on_gpu denied 0 3 --launch 2
same denied-time measured "$(got launches 0 metrics time.kernel_ns origin)"
same denied-count none "$(got launches 0 metrics inst.warp_executed origin)"
same denied-kind no-counters "$(got faults 0 kind)"
case $(got launches 0 metrics inst.warp_executed reason) in
*ERR_NVGPUCTRPERM*) ok denied-reason ;;
*) not_ok denied-reason "$(got launches 0 metrics inst.warp_executed reason)" ;;
esac
case $(got faults 0 remedy) in
*NVreg_RestrictProfilingToAdminUsers=0*) ok denied-remedy ;;
*) not_ok denied-remedy "$(got faults 0 remedy)" ;;
esac
for call in cuptiSubscribe cuptiRangeProfilerEnable cuptiRangeProfilerSetConfig cuptiProfilerHostInitialize \
	cuptiRangeProfilerDecodeData; do
	FAKE_NVIDIA=$call=1 on_gpu "fails-$call" 0 3 --count 1
	same "fails-$call-launches" 3 "$(launches)"
	same "fails-$call-remark" no-counters "$(got faults 0 kind)"
done
PMPP_LIBCUPTI=/nowhere on_gpu no-cupti 1 3
same no-cupti-output 'sums are right\n' "$(got stdout)"
same no-cupti-kind not-recorded "$(got faults 0 kind)"
FAKE_NVIDIA=cuptiActivityEnable=1 on_gpu no-activity 1 3
same no-activity-kind not-recorded "$(got faults 0 kind)"
FAKE_NVIDIA=dropped=5 on_gpu dropped 1 3
same dropped-kind incomplete "$(got faults 0 kind)"
PMPP_LIBCUDA=/nowhere run no-driver 3 launches "$program" 3 --backend cuda
says no-driver-remedy 'no NVIDIA driver' 'nvidia-smi'
FAKE_DEVICES=0 run no-device 3 launches "$program" 3 --backend cuda
says no-device-remedy 'no CUDA device'
CUDA_INJECTION64_PATH=/somebody.so run attached 3 launches "$program" 3 --backend cuda
says attached-why 'CUDA_INJECTION64_PATH is set'

# --- what only the emulator does ---
run strict 2 launches "$program" 3 --backend cuda --strict
says strict-why '--strict' 'only the emulator'
run again 2 run "$program" 3 --launch 1 --block 64 --backend cuda
says again-why '--block'
run other-sheet 3 launches "$program" 3 --backend cuda --gpu a100
