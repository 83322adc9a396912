#!/bin/sh
# Speed of the emulator and of the screen: bench.sh BUILD-FOLDER. Prints figures; judges nothing.
set -eu
b=$1
settings=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-bench-XXXXXX")
trap 'rm -rf "$settings"' EXIT
export XDG_CONFIG_HOME="$settings" # the person's own stay as they are
make --no-print-directory "$b/bench/emu_bench" "$b/bench/floor" "$b/bench/tty_bench"
echo "== emulator: one core, every counter on"
"$b/bench/emu_bench"
echo "== the words of three of these launches moved by a plain loop, in the launch's order: one core"
"$b/bench/floor"
echo "== machine code beside PTX: processor time per warp instruction"
"$b/bench/emu_bench" --levels
echo "== processor time of a launch: no races looked for, a spread of blocks, all blocks"
"$b/bench/emu_bench" --races 5
echo "== screen, 80 x 24, sgemm/naive 1024 running behind it"
"$b/bench/tty_bench" "$b/pmpp-explore" 60
