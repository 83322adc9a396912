#!/bin/sh
# Speed of the emulator and of the screen: bench.sh BUILD-FOLDER. Prints figures; judges nothing.
set -eu
b=$1
make --no-print-directory "$b/bench/emu_bench" "$b/bench/tty_bench"
echo "== emulator: one core, every counter on"
"$b/bench/emu_bench"
echo "== screen, 80 x 24, sgemm/naive 1024 running behind it"
"$b/bench/tty_bench" "$b/pmpp-explore" 60
