#!/bin/sh
# The program alone, as on a machine with no CUDA: it links none, starts, and runs what it brings.
set -u
export PMPP_NVRTC=/nonexistent/libnvrtc.so PMPP_NO_SYSTEM_CUDA=1
out=$(mktemp)
trap 'rm -f "$out"' EXIT

verdict() { # NAME WANTED-STATUS WANTED-WORDS COMMAND...
	name=$1
	want=$2
	words=$3
	shift 3
	"$@" >"$out" 2>&1
	status=$?
	if [ "$status" -eq "$want" ] && grep -qF -e "$words" "$out"; then
		echo "ok $name"
	else
		echo "not ok $name (status $status, not $want; or no '$words')"
		cat "$out"
	fi
}

if ldd "$PMPP" >"$out" 2>&1 && grep -q 'libc\.so' "$out" &&
	! grep -E 'libcuda|nvrtc|cupti|cublas|nvperf|nvidia' "$out"; then
	echo 'ok links no CUDA library'
else
	echo 'not ok links no CUDA library'
	cat "$out"
fi
verdict 'starts' 0 pmpp-explore "$PMPP" --version
verdict 'runs a kernel from its own cache' 0 '"verified"' \
	"$PMPP" run vec_add --backend emu --gpu a100 --json
verdict 'refuses what it would have to compile, and says why' 3 '/nonexistent/libnvrtc.so' \
	"$PMPP" run sgemm/tiled TILE=8 --backend emu --gpu a100
