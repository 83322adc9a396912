#!/bin/sh
# The line behind ':' in a real terminal: completion, a launch that is chosen, a verb that runs
# beside the screen, one that is ended, words that are refused.
. "$(dirname "$0")/tmux.sh"

start 24 80
type "clear; $PMPP vec_add/per_element N=4096 --backend emu --gpu a100; echo left with \$?"
check starts see '✓'
line() { press :; press -l "$1"; }
line 'sw'
press Tab
check verb_is_completed see ': sweep _'
press -l 'vec_add/per_e'
press Tab
check variant_is_completed see 'vec_add/per_element _'
press -l 'N=4096 blo'
press Tab
check parameter_is_completed see 'block=_'
press -l '64,128 --gpu h1'
press Tab
check gpu_is_completed see 'gpu h100 _'
press Enter
check verb_runs_beside see '2 of 2 combinations ran'
check its_line_is_above see ': sweep vec_add/per_element N=4096 block=64,128'
press Escape
check screen_is_as_it_was see '^ vec_add / per_element .*A100'

line 'sgemm/tiled M=64 N=64 K=64 TILE=8 --gpu h200'
press Enter
check launch_is_chosen see '^ sgemm / tiled .*H200'
check launch_runs see '✓ exact · 64 blocks'
line 'TILE=4'
press Enter
check parameter_alone see 'TILE \[\{0,1\}4'
check it_runs see '✓ exact · 256 blocks'
press u
check it_can_be_undone see 'TILE \[\{0,1\}8'

# more keys than are taken before a frame is drawn: none is lost
tm resize-window -x 200 -y 24
many=0123456789abcdefghijklmnopqrstuvwxyz.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.0123456789abcdefghijklmnopqrstuvwxyz
line "$many"
check no_key_is_lost see ": ${many}_"
press Escape
tm resize-window -x 80 -y 24

line 'reduction N=4096'
press Enter
check launch_is_possible see '^ reduction / segmented'
press u
check undone see '^ sgemm / tiled .*H200'

# rows wider than the screen are moved sideways, a line of before comes back, what a verb takes is
# offered, and what people type from habit is understood
line 'diff sgemm/naive sgemm/tiled M=64 N=64 K=64'
press Enter
check wide_rows_say_so see 'columns 1 to 76 of [0-9]*'
press Right Right Right
check wide_rows_move see '[+-][0-9.]* %  time.kernel_ns'
press Left Left Left
check wide_rows_move_back see 'columns 1 to 76'
press Escape
press :
press Up Up Down
check line_comes_back see ': diff sgemm/naive sgemm/tiled M=64 N=64 K=64_'
press Escape
line 'list '
press Tab
check words_of_a_verb see 'kernels  gpus'
press Escape
line 'sass sgemm/tiled'
press Enter
check tabs_are_blanks see '|  const int'
press Escape
line 'help'
press Enter
check help_is_help see 'help; ?'
press Escape

line 'doctr'
press Enter
check near_verb_is_named see "the verb 'doctor'"
press Escape
line 'vec_add --seed 3'
press Enter
check foreign_option_is_refused see 'is not for this screen'
press Escape
line 'run vec_add/nothing'
press Enter
check what_went_wrong_is_shown see "exit status 2"
press Escape
# what is done stands there while the rest runs
line 'sweep sgemm/tiled M=64 N=2048 K=1024 TILE=16,2 --sample 0'
press Enter
of_two() { screen | grep -q 'running … Esc ends it' && screen | grep -q 'TILE=16  *[0-9.]* .s ~ .* GFLOPS'; }
comes_early() {
	for _ in $(seq 200); do
		of_two && return
		sleep 0.05
	done
	return 1
}
check first_result_comes_before_the_end comes_early
check all_come_at_the_end see '2 of 2 combinations ran'
press Escape
# a minute of work, ended by Escape; nothing of it stays
line 'run sgemm/naive_col M=4096 N=4096 K=4096 --timeout 300'
press Enter
check it_runs_on see 'running … Esc ends it'
check says_how_far_it_is see 'running  [0-9]* %   [0-9.]* s'
press Escape
of_ours() { pgrep -f 'run sgemm/naive_col M=4096 N=4096 K=4096 --timeout 300' >/dev/null; }
no_more() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		of_ours || return 0
		sleep 0.2
	done
	return 1
}
check it_is_ended no_more
check screen_still_answers see '^ sgemm / tiled'
line 'q'
press Enter
see 'q again quits\|left with' 5
screen | grep -q 'q again quits' && press q
check quits see 'left with 0'
check terminal_is_fine restored
