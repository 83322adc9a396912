#!/bin/sh
# A stream program on a GPU, from the command line to the worker and back; the GPU is the stand-in of
# tests/unit/cuda/fake_nvidia.c. What a real one did: tests/gpu/streams.sh.
. "$(dirname "$0")/lib.sh"
fake=$(dirname "$PMPP")/unit/cuda/fake_nvidia.so
if [ ! -e "$fake" ]; then
	echo 'skip streams: the stand-in for a GPU is not built (make test builds it)'
	exit 0
fi
PMPP_LIBCUDA=$fake
PMPP_LIBCUPTI=$fake
PMPP_LIBNVML=$fake
PMPP_LIBCUBLAS=$fake
export PMPP_LIBCUDA PMPP_LIBCUPTI PMPP_LIBNVML PMPP_LIBCUBLAS

# program NAME OPERATIONS PARAMETER...: runs it; measured, verified, so many copies and kernels.
program() {
	what=$1
	operations=$2
	shift 2
	run "$what-runs" 0 run vec_add/per_element N=100003 "$@" --backend cuda --json || return
	same "$what-measured" measured "$(field "$dir/out" timeline origin)"
	same "$what-metric" measured "$(field "$dir/out" metrics stream.makespan_ns origin)"
	same "$what-verified" true "$(field "$dir/out" verified)"
	same "$what-note" "${note:-}" "$(field "$dir/out" run note)"
	same "$what-operations" "$operations" "$(grep -c '"engine":' "$dir/out")"
}

program pinned 32 streams=4 chunks=8 pinned=yes
same pinned-init measured "$(field "$dir/out" timeline init origin)"
same pinned-name x0 "$(field "$dir/out" timeline operations 0 name)"
same pinned-engine SM "$(field "$dir/out" timeline operations 2 engine)"
same pinned-stream 2 "$(field "$dir/out" timeline operations 4 stream)"
same pinned-bytes 50000 "$(field "$dir/out" timeline operations 0 bytes)" # 12500 of 100003 elements
program pageable 8 streams=2 chunks=2 pinned=no
same pageable-pins 0 "$(field "$dir/out" timeline init pin_ns)"
program default-stream 4 streams=0 pinned=yes
program resident 1 resident=yes
program engines 16 streams=3 chunks=4 pinned=yes deal=engines
same engines-up 1 "$(field "$dir/out" timeline operations 4 stream)"
same engines-run 2 "$(field "$dir/out" timeline operations 2 stream)"
program trap 16 streams=4 chunks=4 pinned=yes deal=trap
same trap-down 0 "$(field "$dir/out" timeline operations 3 stream)"

# CUPTI refuses, or is not there: events, and the run says so
note='timeline by events: CUPTI is not on this machine'
PMPP_LIBCUPTI=/nowhere program events 32 streams=4 chunks=8 pinned=yes
same events-flag true "$(field "$dir/out" timeline from_events)"
PMPP_LIBCUPTI=$fake
note=

# the same record after it was written and read
run export 0 export vec_add/per_element N=100003 streams=4 chunks=8 pinned=yes --backend cuda \
	--out "$dir/a.json"
run reopen 0 export "$dir/a.json" --out "$dir/b.json"
if cmp -s "$dir/a.json" "$dir/b.json"; then ok same-again; else not_ok same-again "they differ"; fi

# without a GPU the same program is modelled
run model 0 run vec_add/per_element N=100003 streams=4 chunks=8 pinned=yes --backend emu --json
same model-origin modelled "$(field "$dir/out" timeline origin)"
same model-init modelled "$(field "$dir/out" timeline init origin)"
