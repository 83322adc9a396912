#!/bin/sh
# 200x60: four panels live at once, parameters and source beside them; then through other sizes.
. "$(dirname "$0")/tmux.sh"

start 60 200
type "$PMPP sgemm/tiled M=128 N=128 K=128 --gpu a100 --backend emu"
check occupancy see '── 1 Occupancy ──'
check roofline see '── 2 Roofline ──'
check divergence see '── 3 Divergence ──'
check coalescing see '── 4 Coalescing ──'
check verified see '✓'
check all_are_live see 'SIMD efficiency *9[0-9]\.[0-9] % ='
check with_a_point see '▴ tiled'
check source_has_heat see '[0-9]\.[0-9] .*sum +='
check parameter_sheet see '▸'

resize 24 80
check small_again see '^ 1 *Occ'
check one_panel gone '── 2 Roofline ──'
resize 40 120
check two_panels see '── 1 Occupancy ──'
resize 6 20
check tiny_says_so see 'too small'
check tiny_has_a_figure see 'occupancy'
press 2
resize 24 80
check key_while_tiny_counts see '2 *Roof'
for size in '10 60' '8 40' '3 10' '1 1' '70 220' '5 200' '60 30' '24 80'; do
	# shellcheck disable=SC2086
	resize $size
	sleep 0.1
done
check survives_every_size see 'FP32 roof'
press r
resize 60 200
check resized_while_running see '── 2 Roofline ──'
check finishes see '✓'
press_q
check restored restored
