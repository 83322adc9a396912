#!/bin/sh
# The timeline panel after a run on a GPU (the stand-in of tests/unit/cuda): measured, by operation.
fake=$(dirname "${PMPP:-build/pmpp-explore}")/unit/cuda/fake_nvidia.so
case $fake in /*) ;; *) fake=$(pwd)/$fake ;; esac
[ -e "$fake" ] || { echo 'skip streams: the stand-in for a GPU is not built'; exit 0; }
. "$(dirname "$0")/tmux.sh"
start 24 80
type "export PMPP_LIBCUDA=$fake PMPP_LIBCUPTI=$fake PMPP_LIBNVML=$fake PMPP_LIBCUBLAS=$fake; clear"
type "$PMPP vec_add/per_element N=1000003 streams=4 chunks=4 pinned=yes --backend cuda"
check run see '✓ exact'
press 5
check measured see 'makespan [0-9.]* [mu]s ●'
check stream_lanes see '^ s 4 '
check limit see 'limit max('
check init see 'init .* ● once, not in the makespan: context'
press Down Down
check operation see 'k0  SM, stream 1, from'
press_q
check quit restored
