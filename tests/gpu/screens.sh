#!/bin/sh
# The real screen on a real GPU, as text: sh tests/gpu/screens.sh PROGRAM OUTPUT-FOLDER
# Needs tmux. Also: a session exported and opened again must be the same.
set -u
here=$(cd "$(dirname "$0")" && pwd)
PMPP=$1
out=$2
mkdir -p "$out"
"$PMPP" export sgemm/tiled M=512 N=512 K=512 --backend cuda --out "$out/tiled.json" 2> /dev/null
"$PMPP" export "$out/tiled.json" --out - | cmp - "$out/tiled.json" && echo 'ok reopened_equal'
rm -f "$out/tiled.json"
. "$here/../tty/tmux.sh"
shot() {
	sleep 0.5
	screen > "$out/tui-$1.screen"
}
start 50 160
type "$PMPP sgemm/tiled --backend cuda ${GPU:+--gpu $GPU}"
check first_run see '✓ exact' 30
shot all
resize 40 100
for key in 2:roofline 5:timeline 6:ladder; do
	press "${key%%:*}"
	[ "$key" != 6:ladder ] || check library see 'cuBLAS' 60
	shot "${key#*:}"
done
press Tab Tab Tab Tab Tab
check stalls see 'why warps waited' 20
shot hardware
press q
