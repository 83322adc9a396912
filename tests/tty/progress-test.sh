#!/bin/sh
# Long work of the command line on a terminal: how far it is and what is left, in one row; Ctrl-C
# keeps what is done and says so in the status. Without a terminal there is no such row.
. "$(dirname "$0")/tmux.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-progress-XXXXXX") || exit 1
trap 'finish; rm -rf "$work"' EXIT

start 24 100
type "clear; $PMPP ladder sgemm M=1024 N=1024 K=2048 --no-verify --backend emu; echo left with \$?"
check ladder_progress see '^[2-9] of 10  [a-z_]*  *[0-9]* %  .* s, about .* to go'
check ladder_shows_what_is_done see '^  naive_col  *[0-9.]* .s ~  *[0-9.]* GFLOPS$'
press C-c
check ladder_cancelled see 'left with 1'
check ladder_keeps_first see 'naive_col  *[0-9.]* .s ~'
check ladder_says_so see 'not run: cancelled'
check row_is_gone gone 'about .* to go'
check results_are_shown_once [ "$(screen | grep -c '^  naive_col ')" = 1 ]

type "clear; $PMPP sweep sgemm/tiled M=1024 N=1024 K=2048 TILE=8,16,32 --sample 0 --backend emu; echo left with \$?"
check sweep_progress see '^[1-3] of 3  TILE=[0-9]*  *[0-9]* %'
press C-c
check sweep_cancelled see 'left with 1'
check sweep_says_so see 'not run: cancelled'

# a single run on the screen
type "clear; $PMPP sgemm/tiled M=1024 N=1024 K=2048 TILE=4 --backend emu; echo left with \$?"
check run_progress see ' %  .* blocks a second, .* left'
press q
check run_is_not_dropped_at_once see 'q again quits; a run is under way'
press q
check run_ends see 'left with 0'

$PMPP ladder sgemm M=512 N=512 K=512 --no-verify --backend emu >"$work/out" 2>"$work/err"
check no_row_in_a_file test ! -s "$work/err"
