#!/bin/sh
# 80x24: every panel by its key, live figures, a changed block at once, lists, help, quit.
. "$(dirname "$0")/tmux.sh"

start 24 80
type "echo before; $PMPP vec_add/per_element N=65536 block=256 --gpu a100 --backend emu; echo left with \$?"
check first_frame see '^ 1 *Occ'
check header_names_kernel_gpu_engine see 'vec_add / per_element.*A100-SXM4-40GB.*emu'
check verified see '✓ exact'
check occupancy_counted see 'theoretical 100.0 %'
check limits_are_named see '◀ limits'
check key_bar see '? help  q quit'

# to the block size, wherever the focus starts
for _ in 1 2 3 4 5 6 7 8; do
	screen | grep -q 'block \[' && break
	press Right
	sleep 0.2
done
check parameter_is_focused see 'block \[256\]'
press '#'
press 3 2 Enter
check small_block_at_once see 'theoretical  *50.0 %'
check small_block_is_slot_limited see 'block slots  *1  *32  *32  ◀ limits'
check it_ran_again see '✓ exact'
check delta_is_shown see 'was 100.0 % ▼'
press '#'
press 4 0 9 6 Enter
check illegal_value_is_refused see "'block': 4096: threads per block must be"
press Escape
press '+'
check plus_steps see 'block \[64\]'

press 2
check roofline see 'FP32 roof 19 500 GFLOPS'
check roofline_point see '▴'
check roofline_bound see '^  bound '
press 3
check divergence see 'SIMD efficiency *9[0-9]\.[0-9] % ='
press 4
check coalescing see 'loads  *4.0 = sectors/req  *100.0 % ='
press Enter
check address_lens see 'every byte used'
press Escape
check lens_closes gone 'nothing wasted'

press v
check next_variant see 'vec_add / grid_stride'
press K
check kernel_list see 'choose kernel / variant'
press c h u n k s
check filter see 'filter chunks_'
press Enter
check chunks_chosen see 'vec_add / chunks'
check chunks_are_uncoalesced see 'loads  *32.0 = sectors/req'
press g
press r t x 4 0 9 0 Enter
check gpu_chosen see 'RTX 4090'
press '?'
check help see 'load sectors / load requests'
press Escape
press o
check legend see 'exact: every block executed'
press Escape
press_q
check quit_status see 'left with 0'
check earlier_text_is_back see '^before$'
check terminal_is_restored restored

# a family alone: a variant whose first parameter is the block, so that + does what the README says
type "clear; $PMPP vec_add --gpu a100 --backend emu; echo ended with \$?"
check begins_with_a_grid see '^ vec_add / per_element'
check begins_at_the_block see 'block \[256\]'
see '✓ exact'
press '+'
check plus_is_a_larger_block see 'block \[384\]'
check plus_leaves_the_size see '^ N 1048576'
check plus_has_run see '✓ exact · 2 731 blocks'
press_q
check begins_and_ends see 'ended with 0'
