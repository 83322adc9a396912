#!/bin/sh
# Figures of the book through "run --json": sectors, intensity, divergence of the reduction.
. "$(dirname "$0")/lib.sh"

# metric KEY: of the last run
metric() { field "$dir/out" metrics "$1" value; }
tag() { field "$dir/out" tags "$1" metrics "$2" value; }

# --- vec_add: coalescing
run chunks 0 run vec_add/chunks N=65536 block=256 --json
same chunks-verified true "$(field "$dir/out" verified)"
same chunks-load-sectors 32 "$(metric mem.ld_sectors_per_request)"
same chunks-store-sectors 32 "$(metric mem.st_sectors_per_request)"
same chunks-origin counted "$(field "$dir/out" metrics mem.ld_sectors origin)"
run interleaved 0 run vec_add/one_block N=65536 block=256 --json
same interleaved-load-sectors 4 "$(metric mem.ld_sectors_per_request)"
same interleaved-store-sectors 4 "$(metric mem.st_sectors_per_request)"

# --- sgemm: the roofline by the book (S-333, S-336)
run naive 0 run sgemm/naive M=256 N=256 K=256 --gpu a100 --json
same naive-verified true "$(field "$dir/out" verified)"
same S-333-intensity 0.25 "$(metric roof.book_intensity_flop_per_byte)"
near S-333-attainable 389 "$(metric roof.book_attainable_gflops)" 0.1
same S-333-origin book "$(field "$dir/out" metrics roof.book_intensity_flop_per_byte origin)"
run tiled 0 run sgemm/tiled M=250 N=130 K=70 TILE=16 --gpu a100 --json
same tiled-verified true "$(field "$dir/out" verified)"
same S-336-intensity 4 "$(metric roof.book_intensity_flop_per_byte)"
near S-336-attainable 6220 "$(metric roof.book_attainable_gflops)" 0.1
same tiled-every-line-known counted "$(field "$dir/out" tags fma metrics flop.fp32 origin)"

# --- reduction: S-371, S-372, S-373; S-381 is right: 864, not 736. The tagged line holds two
# loads, the addition and one store, so its stores are its executions.
reduction() { # VARIANT WARPS LINES SEED
	run "$1" 0 run "reduction/$1" N=256 block=128 --json
	same "$1-verified" true "$(field "$dir/out" verified)"
	same "$4-lanes" 255 "$(tag add flop.fp32)"
	same "$4-warps" "$2" "$(tag add mem.st_requests)"
	same "$4-loads" $((2 * $2)) "$(tag add mem.ld_requests)"
	same "S-373-$1" "$3" $(($(tag add mem.ld_lines) + $(tag add mem.st_lines)))
}
reduction simple 27 141 S-371
reduction convergent 12 36 S-372

# --- what every run must have
keys='launch.grid_blocks launch.block_threads launch.registers_per_thread
launch.shared_bytes_per_block launch.waves occ.blocks_per_sm occ.warps_per_sm occ.theoretical_pct
occ.limiters inst.warp_executed inst.thread_executed inst.threads_per_warp_inst div.branches
div.divergent_branches div.branch_efficiency_pct div.simd_efficiency_pct mem.ld_requests
mem.ld_sectors mem.ld_lines mem.ld_sectors_per_request mem.ld_efficiency_pct mem.st_requests
mem.st_sectors mem.st_lines mem.st_sectors_per_request mem.st_efficiency_pct shared.ld_requests
shared.ld_wavefronts shared.ld_excess_wavefronts shared.st_requests shared.st_wavefronts
shared.st_excess_wavefronts flop.fp16 flop.fp32 flop.fp64 dram.read_bytes dram.write_bytes
roof.intensity_flop_per_byte roof.book_intensity_flop_per_byte roof.attainable_gflops
roof.achieved_gflops roof.bound time.kernel_ns'
run fitting 0 run reduction N=4096 --json # the first variant takes 256 elements at most
same fitting-variant segmented "$(field "$dir/out" variant)"
run every 0 run reduction/segmented N=4096 block=256 --json
missing=
for key in $keys; do
	[ -n "$(field "$dir/out" metrics "$key" origin)" ] || missing="$missing $key"
done
same every-key '' "$missing"
same schema pmpp-explore/1 "$(field "$dir/out" schema)"
same params 4096 "$(field "$dir/out" params N)"
same backend emu "$(field "$dir/out" backend)"
same gpu a100 "$(field "$dir/out" gpu id)"
same time-is-modelled modelled "$(field "$dir/out" metrics time.kernel_ns origin)"
same occupancy-is-modelled modelled "$(field "$dir/out" metrics occ.achieved_pct origin)"
run no-arithmetic 0 run transpose/naive W=64 H=64 --backend emu --json
same unknown-is-null 'null none' \
	"$(field "$dir/out" metrics roof.achieved_gflops value) $(field "$dir/out" metrics roof.achieved_gflops origin)"

# --- the same launch twice gives the same numbers
"$PMPP" run sgemm/naive M=64 N=64 K=64 --json --backend emu | grep -v '"wall_s"' >"$dir/a"
"$PMPP" run sgemm/naive M=64 N=64 K=64 --json --backend emu | grep -v '"wall_s"' >"$dir/b"
cmp -s "$dir/a" "$dir/b" && ok reproducible || not_ok reproducible "$(diff "$dir/a" "$dir/b" | head -5)"

# --- a sample says so
run sample 0 run vec_add/per_element N=1M block=256 --sample 16 --json
same sample-not-verified false "$(field "$dir/out" verified)"
same sample-origin sampled "$(field "$dir/out" metrics mem.ld_sectors origin)"
same sample-of 16 "$(field "$dir/out" metrics mem.ld_sectors blocks_sampled)"

# --- nor does a result that nobody compared claim to be right
run no-verify 0 run vec_add/per_element N=4096 block=256 --no-verify --json
same no-verify-false false "$(field "$dir/out" verified)"
same no-verify-state 'not run' "$(field "$dir/out" check state)"
same no-verify-counted counted "$(field "$dir/out" metrics mem.ld_sectors origin)"
run ladder-no-verify 0 ladder transpose W=64 H=64 --no-verify
grep -q '6 of 6 results not verified' "$dir/out" && ok ladder-no-verify-says || not_ok ladder-no-verify-says "$(tail -2 "$dir/out")"
run csv 0 run transpose/naive W=64 H=64 --csv --backend emu
same csv-is-regular 5 "$(python3 -c 'import csv, sys
rows = list(csv.reader(open(sys.argv[1])))
print(*{len(row) for row in rows})' "$dir/out")"
grep -q '^launch.grid_blocks,16,blocks,counted,' "$dir/out" && ok csv-value || not_ok csv-value "$(head -3 "$dir/out")"
run csv-dump 0 run vec_add N=64 --csv --dump r --backend emu
says csv-dump-beside 'Buffers after the launch' 'r: '
same csv-dump-rows 'key,value,unit,origin,title 0' "$(head -n 1 "$dir/out") $(grep -c Buffers "$dir/out")"
run csv-or-json 2 run transpose/naive --csv --json
says csv-or-json-says 'not both'
run ladder-failed 1 ladder sgemm M=1024 N=1024 K=1024 --timeout 0.000001 --no-verify --backend emu
grep -q '10 of 10 rungs have no figures' "$dir/out" && ok ladder-failed-says || not_ok ladder-failed-says "$(tail -2 "$dir/out")"

# --- tensor cores: each step names what moved, and a rung what it asks of a GPU
run ladder-tensor 0 ladder hgemm M=256 N=256 K=128 --gpu h200 --backend emu --csv
same ladder-tensor-moved 'wmma_tiled mma wgmma' "$(python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
print(*[row["variant"] for row in rows[1:] if row["moved"] and "nothing" not in row["moved"]])' "$dir/out")"
run ladder-tf32 0 ladder gemm_tf32 M=256 N=256 K=128 --gpu h200 --backend emu --csv
same ladder-tf32-moved 'mma wgmma' "$(python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
print(*[row["variant"] for row in rows[1:] if row["moved"] and "nothing" not in row["moved"]])' "$dir/out")"
same ladder-tf32-peak '494700 494700 494700' "$(python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
print(*[round(100 * float(row["gflops"]) / float(row["pct_of_peak"])) for row in rows])' "$dir/out")"
run ladder-level 0 ladder sgemm_async M=256 N=256 K=256 --gpu h200 --backend emu --level sass --csv
same ladder-level-moved 'banks' "$(grep -F 'register-bank conflicts' "$dir/out" | cut -d, -f1)"
run ladder-of-an-older-gpu 0 ladder hgemm M=256 N=256 K=64 --gpu t4 --backend emu
for words in 'hgemm/mma needs compute capability 8.0 or above; T4 has 7.5' \
	'hgemm/wgmma needs compute capability 9.0 and no other; T4 has 7.5' '2 of 4 rungs have no figures'; do
	grep -qF "$words" "$dir/out" && ok "older-gpu-$words" || not_ok "older-gpu-$words" "$(tail -3 "$dir/out")"
done
run older-gpu 2 run hgemm/wgmma M=128 N=256 K=64 --gpu a100 --backend emu
says older-gpu-says 'hgemm/wgmma needs compute capability 9.0 and no other' 'h100, h200'
run newer-gpu 2 run hgemm/wgmma M=128 N=256 K=64 --gpu b200 --backend emu
run tensor-roof 0 run hgemm/wgmma M=256 N=256 K=256 --gpu h200 --backend emu --json
same tensor-flop "$((2 * 256 * 256 * 256))" "$(python3 -c 'import json, sys
m = json.load(open(sys.argv[1]))["metrics"]
print(round(m["roof.achieved_gflops"]["value"] * m["time.kernel_ns"]["value"]))' "$dir/out")"
same tensor-roof-is-its-own true "$(python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
print(str(r["metrics"]["roof.attainable_gflops"]["value"] > 67000).lower())' "$dir/out")"

# --- text for people: the verdict, the bottleneck, aligned metrics with marks
run text 0 run sgemm/tiled M=64 N=64 K=64
for words in 'sgemm/tiled' 'Result: ' 'verified' 'Bottleneck: ' 'mem.ld_sectors_per_request' \
	'Occupancy: ' 'Tagged lines' 'Origin:'; do
	grep -qF "$words" "$dir/out" && ok "text-$words" || not_ok "text-$words" missing
done
