#!/bin/sh
# Bad input: a clear message each, the right exit status, nothing on standard output but JSON.
. "$(dirname "$0")/lib.sh"

run kernel 2 run vec_ad
says kernel-suggests "'vec_ad'" "did you mean 'vec_add'" sgemm reduction
run variant 2 run sgemm/tild
says variant-suggests "'tild'" "did you mean 'tiled'" naive
run parameter 2 run sgemm/tiled TILF=16
says parameter-suggests "'TILF'" "did you mean 'TILE'"
run gpu 2 run sgemm --gpu a1000
says gpu-suggests "'a1000'" "did you mean 'a100'" h200
run backend 2 run sgemm --backend emo
says backend-suggests "'emo'" "did you mean 'emu'"
run device-not-emulated 2 run sgemm --gpu cuda0 --backend emu
says device-not-emulated-says cuda0 "'emu'" 'list gpus'
run option 2 run sgemm --gpus a100
says option-suggests "'--gpus'" "did you mean '--gpu'"
run verb 2 rum
says verb-suggests "'rum'" "did you mean 'run'"
run list-of 2 list kernel
says list-suggests "'kernel'" "did you mean 'kernels'"

run block-4096 2 run vec_add block=4096
says block-4096-says "'block'" 4096 1024
run block-4096-matrix 2 run sgemm/naive block_x=1024 block_y=4
says block-4096-matrix-says "'block" 1024
run negative 2 run reduction N=-1
says negative-says "'N'" -1
run not-a-number 2 run reduction N=lots
says not-a-number-says "'N'" "'lots'"
run no-value 2 run reduction N
run given-twice 2 run reduction N=64 N=128
says given-twice-says "'N' is given twice: N=64 and N=128"
run given-twice-sweep 2 sweep reduction N=64,128 N=256
run given-twice-in-another-case 2 run reduction N=64 n=128
says given-twice-in-another-case-says "'n' is given twice: N=64 and n=128"
run given-twice-in-another-case-sweep 2 sweep reduction N=64,128 n=256
run given-twice-in-another-case-ladder 2 ladder reduction n=64 N=128
run empty-list 2 sweep sgemm/tiled TILE=,
says empty-list-says "'TILE'"
run empty-item 2 sweep sgemm/tiled TILE=8,,16
run empty-option 2 run reduction --gpu ''
says empty-option-says "'--gpu'" empty
run step-zero 2 preset reduction --step 0
says step-zero-says "option '--step': '0' is not a whole number of 1 or more"
run threads-too-many 2 run reduction --threads 4294967296
says threads-too-many-says "'--threads'" 1024
run timeout-infinite 2 run reduction --timeout inf
says timeout-infinite-says "'--timeout'" "'inf'"
run no-kernel 2 run
says no-kernel-says 'which kernel' vec_add
run missing-option-value 2 run reduction --gpu
run occupancy-block 2 occupancy --block 4096 --regs 32
says occupancy-block-says "'--block'" 4096 1024
run occupancy-regs 2 occupancy --block 256
says occupancy-regs-says --regs
run occupancy-word 2 occupancy 256

# a GPU sheet that ends in the middle, and one with an unknown key: line and caret
"$PMPP" list gpus >/dev/null
sheet=$TEST_ROOT/presets/gpus/a100.yaml
head -c 700 "$sheet" >"$dir/short.yaml"
run truncated-sheet 2 run vec_add N=256 --gpu "$dir/short.yaml"
says truncated-sheet-says "$dir/short.yaml"
sed 's/^sm_count:/sm_cuont:/' "$sheet" >"$dir/typo.yaml"
run unknown-key 2 run vec_add N=256 --gpu "$dir/typo.yaml"
says unknown-key-says "$dir/typo.yaml:" sm_cuont '^'
run no-sheet 3 run vec_add N=256 --gpu "$dir/none.yaml"
cp "$sheet" "$dir/own.yaml"
run own-sheet 0 run vec_add N=256 --gpu "$dir/own.yaml"

# a compiler that dies takes nothing with it; what is compiled already needs none
fake=$(dirname "$PMPP")/unit/compile/fake_nvrtc.so
if [ -e "$fake" ]; then
	export PMPP_NVRTC=$fake FAKE_NVRTC=SIGILL
	run compiler-dies 1 run sgemm/tiled M=32 N=32 K=32 TILE=2 --gpu h200 --backend emu
	says compiler-dies-says sgemm.cu 'NVRTC 13.9' 'signal 4' crash- CUDA_HOME
	run built-in-needs-no-compiler 0 run sgemm/tiled M=32 N=32 K=32 --gpu h200 --backend emu
	unset PMPP_NVRTC FAKE_NVRTC
fi

# to compile takes no driver: NVRTC would look into the driver's cache, and start it for that
XDG_CACHE_HOME=$dir/no-driver LD_DEBUG=libs LD_DEBUG_OUTPUT=$dir/libs \
	run compiles 0 run sgemm/tiled M=32 N=32 K=32 TILE=2 --gpu h200 --backend emu
if [ -d "$dir/no-driver" ] && grep -q 'find library=libstdc++' "$dir"/libs.* &&
	! grep 'find library=libcuda\.so' "$dir"/libs.*; then
	ok compiles-without-a-driver
else
	not_ok compiles-without-a-driver "libraries that were looked for: $(ls "$dir")"
fi

# a cache that cannot be written, or is no folder: the run works without it, doctor says so
mkdir "$dir/cache"
chmod 500 "$dir/cache"
XDG_CACHE_HOME=$dir/cache run read-only-cache 0 run sgemm/tiled M=32 N=32 K=32 TILE=8
: >"$dir/file"
XDG_CACHE_HOME=$dir/file run cache-is-a-file 0 run sgemm/tiled M=32 N=32 K=32 TILE=4
XDG_CACHE_HOME=$dir/file run cache-doctor 0 doctor
grep -q 'cache.*' "$dir/out" && grep -q XDG_CACHE_HOME "$dir/out" &&
	ok cache-doctor-says || not_ok cache-doctor-says "$(cat "$dir/out")"
mkdir -p "$dir/open/pmpp-explore"
chmod 777 "$dir/open/pmpp-explore"
XDG_CACHE_HOME=$dir/open run open-cache-doctor 0 doctor
grep -q 'writable for everybody (chmod o-w mends it)' "$dir/out" && ok open-cache-doctor-says ||
	not_ok open-cache-doctor-says "$(grep cache "$dir/out")"

# a folder is no program
run folder-as-program 2 launches "$dir"
says folder-as-program-says 'is a folder' prog.cu ./a.out
run folder-behind-options 2 launches -O3 "$dir"
says folder-behind-options-says "'$dir' is a folder" prog.cu ./a.out
run options-alone 2 launches -O3
says options-alone-says "'-O3' is an option, and no program is named" prog.cu ./a.out
run folder-as-kernel 2 run "$dir"
says folder-as-kernel-says 'is a folder' prog.cu ./a.out
run folder-as-word 2 "$dir"
says folder-as-word-says 'is a folder' prog.cu ./a.out

# errors as JSON too
run json-error 2 run vec_ad --json
same json-error-code usage "$(field "$dir/out" error code)"
same json-error-schema pmpp-explore/1 "$(field "$dir/out" schema)"
[ -n "$(field "$dir/out" error message)" ] && [ -n "$(field "$dir/out" error remedy)" ] &&
	ok json-error-text || not_ok json-error-text "$(cat "$dir/out")"
[ -s "$dir/err" ] && ok json-error-on-stderr || not_ok json-error-on-stderr empty
run text-error 2 run vec_ad
[ -s "$dir/out" ] && not_ok nothing-on-stdout "$(cat "$dir/out")" || ok nothing-on-stdout

# no terminal: says so and what works instead
run no-terminal 3 sgemm/tiled
says no-terminal-says terminal 'run'

# wrong results: status 1, the first difference
run wrong-result 1 run vec_add/race N=4096 --json
same wrong-verified false "$(field "$dir/out" verified)"
same wrong-first r "$(field "$dir/out" check first buffer)"
says wrong-says 'wrong result' 'r[' 'want 768'
# a kernel that does what it must not goes on: status 1, line, block and thread, and a remedy
run fault 1 run sgemm/no_load_barrier M=64 N=64 K=64 --json
same fault-verified false "$(field "$dir/out" verified)"
same fault-kind uninitialised "$(field "$dir/out" run faults 0 kind)"
says fault-says 'sgemm.cu:' sgemm_v10_no_load_barrier 'thread (0,0,0)' __syncthreads

# help and version
for verb in run occupancy list doctor preset; do
	run "help-$verb" 0 $verb --help
	grep -q "^Usage: pmpp-explore $verb" "$dir/out" && ok "help-$verb-text" ||
		not_ok "help-$verb-text" "$(head -3 "$dir/out")"
done
run help 0 --help
run version 0 --version
grep -Eq '^pmpp-explore [0-9]+\.[0-9]+\.[0-9]+$' "$dir/out" && ok version-text ||
	not_ok version-text "$(cat "$dir/out")"

# a reader that leaves, a full disk
"$PMPP" list metrics 2>"$dir/err" | head -1 >/dev/null
[ -s "$dir/err" ] && not_ok closed-pipe "$(cat "$dir/err")" || ok closed-pipe
if [ -w /dev/full ]; then
	"$PMPP" list metrics >/dev/full 2>"$dir/err"
	same full-disk 3 $?
	says full-disk-says 'standard output'
fi
if [ -w /dev/full ]; then
	"$PMPP" list metrics --json >/dev/full 2>"$dir/err"
	same full-disk-json 3 $?
fi
# what the reader wanted, it has: more than a pipe holds, written after it left
{ "$PMPP" sweep vec_add/per_element block=32,64,96,128 N=1k 2>"$dir/err"; echo $? >"$dir/status"; } | true
same reader-left 0 "$(cat "$dir/status")"
[ -s "$dir/err" ] && not_ok reader-left-silent "$(cat "$dir/err")" || ok reader-left-silent

# closed descriptors: no file of ours takes their numbers, and nothing is lost silently
"$PMPP" list metrics >&- 2>"$dir/err"
same closed-stdout 3 $?
says closed-stdout-says 'standard output'
"$PMPP" run vec_add/per_element N=1k <&- >"$dir/out" 2>&-
same closed-others 0 $?
# (the pipe of a compiler would take what is written)
echo '__global__ void k(float *a) { a[threadIdx.x] = 1; }' >"$dir/closed.cu"
"$PMPP" run "$dir/closed.cu" --kernel k --grid 1 --block 32 'a=f32[32]:zero' >&- 2>"$dir/err"
same closed-stdout-compiler 3 $?

# input that might never end: refused, not waited for
mkfifo "$dir/pipe.cu" "$dir/pipe.json"
run pipe-kernel 3 run "$dir/pipe.cu"
says pipe-kernel-says pipe.cu 'a pipe or a device'
run pipe-snapshot 3 export "$dir/pipe.json" --out -
ln -s /dev/zero "$dir/zero.json"
run device 2 diff "$dir/zero.json" "$dir/zero.json"

# how far long work is, for whoever asks
run progress-closed 2 list --progress-fd 77
says progress-closed-says 'progress-fd' 'open descriptor'
run progress-word 2 list --progress-fd=x
"$PMPP" run sgemm/naive_col M=1024 N=1024 K=1024 --no-verify --progress-fd 9 9>"$dir/far" >/dev/null 2>&1
same progress-run 0 $?
grep -Eq '^running  [0-9]+ %   [0-9.]+ s' "$dir/far"
same progress-rows 0 $?
