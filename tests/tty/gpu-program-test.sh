#!/bin/sh
# A whole program on the screen, measured on a GPU (the stand-in of tests/unit/cuda): list, counters
# of the first launch of each kind, timeline; what only the emulator can do says so.
build=$(dirname "${PMPP:-build/pmpp-explore}")
case $build in /*) ;; *) build=$(pwd)/$build ;; esac
fake=$build/unit/cuda/fake_nvidia.so
program=$build/unit/cuda/injected_program
[ -e "$fake" ] && [ -e "$program" ] || { echo 'skip gpu-program: the stand-in for a GPU is not built'; exit 0; }
case $build in *thread | *address*) echo 'skip gpu-program: sanitized'; exit 0 ;; esac
. "$(dirname "$0")/tmux.sh"
start 24 80
type "export PMPP_LIBCUDA=$fake PMPP_LIBCUPTI=$fake PMPP_LIBNVML=$fake; cd $(dirname "$program"); clear"
type "$PMPP ./injected_program 5 stream shapes --backend cuda"
check list see '9 launches .* on NVIDIA H200 ●'
check backend see 'cuda  ● measured'
check group see 'fake_vecadd  *2 · 128  *6'
check copies see 'copies  H2D 5 . 5 KiB pageable'
check output see 'stdout . sums are right'
check replay see 'counters and time are of'
press Enter
check in_order see 'memset  *1 KiB'
press Escape
press 4
check counters see 'divergent branches 1 047 of 2 092 ●'
press 6
check timeline see 'GPU from first to last [0-9.]* [mu]s ●'
press 1 j
check second see '/ fake_increment'
press Right +
check block see 'on a GPU no launch is kept'
press_q
check quit restored
