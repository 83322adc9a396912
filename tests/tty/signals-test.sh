#!/bin/sh
# Whatever ends or stops the program, the terminal is given back; what was stopped goes on.
. "$(dirname "$0")/tmux.sh"

run="vec_add/per_element N=4096 --backend emu --gpu a100"
open() {
	start 24 80
	type "echo before"
	see '^before$' && see '^ready:$' # from here on no line ends in it until the shell is back
	type "$PMPP $run"
	see 'theoretical'
}

open
check mouse_is_reported [ "$(reports_mouse)" = 1 ]
press C-c
check interrupt_restores restored
check interrupt_leaves_earlier_text see '^before$'

for s in TERM HUP; do
	open
	kill -s "$s" "$(program)"
	check "sig${s}_restores" restored
done
for s in QUIT USR1 USR2 ALRM VTALRM PROF XCPU PWR RTMIN RTMAX 16 29; do
	open
	kill -s "$s" "$(program)"
	check "sig${s}_restores" restored
done
for s in SEGV ABRT TRAP SYS; do
	open
	kill -s "$s" "$(program)"
	check "sig${s}_says_so" see 'a bug ended the program'
	check "sig${s}_restores" restored
done

# in the middle of repaints, too
stops_while_drawing() {
	for _ in 1 2 3 4 5 6 7 8; do
		press 2 1 2 1 2 1 2 1 2 C-z
		see 'ready:$' || return
		type 'clear; fg'
		see 'FP32 roof' || return
	done
}
open
check stops_while_drawing stops_while_drawing
press 1
see 'theoretical'
press C-z
check stop_gives_the_shell_back see 'ready:$'
check stop_restores_echo restored
type 'clear; fg'
check continues see 'theoretical'
press 2
check keys_work_after_it see 'FP32 roof'
kill -STOP "$(program)" # the shell takes the terminal as it is, full of our screen
see 'ready:$'
press f g C-j
# (what is typed before the program has its terminal back is thrown away: the key is given again)
on_again() { for _ in $(seq 60); do press 1; see 'theoretical' 1 && return; done; return 1; }
check goes_on_after_stop_from_outside on_again
press_q
check quits see 'ready:$'

# the terminal disappears: the program must not stay behind
open
pid=$(program)
tm kill-server
left() {
	for _ in $(seq 1200); do
		kill -0 "$pid" 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}
if left; then echo "ok ends_with_its_terminal"; else echo "not ok ends_with_its_terminal"; kill -9 "$pid"; fi
