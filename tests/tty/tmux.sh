# Real keys into the real program in a real terminal (tmux), for tests/tty/*-test.sh.
#
#   start ROWS COLS        a shell in a terminal of that size
#   type TEXT              types a line into it, with Enter
#   press KEY...           key names as tmux knows them: a, Left, Enter, Escape, Tab, BTab
#   click ROW COLUMN       presses and lets go the mouse there, counted from 1
#   mouse WHAT ROW COLUMN  hold, drag or drop: it is pressed, moved while pressed, let go
#   screen                 what the terminal shows now
#   see PATTERN [SECONDS]  waits until the screen shows it (basic regular expression), 60 at most
#   gone PATTERN           waits until it does not
#   check NAME COMMAND...  "ok NAME" or "not ok NAME", then with the screen
# Each script has its own tmux server, which ends with it.

PMPP=${PMPP:-build/pmpp-explore}
case $PMPP in /*) ;; *) PMPP=$(pwd)/$PMPP ;; esac
sock=pmpp-test-$$
starts=0
pane_env='PS1=ready:'
unset TMUX NO_COLOR PMPP_ASCII
LC_ALL=C.UTF-8
export LC_ALL

if ! command -v tmux >/dev/null 2>&1; then
	echo "skip $(basename "$0" -test.sh): tmux is not installed"
	exit 0
fi
tm() { tmux -L "$sock" "$@"; }
# settings of its own: the tester's stay as they are
if [ -z "${XDG_CONFIG_HOME:-}" ]; then
	settings=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-settings-XXXXXX") || exit 1
	export XDG_CONFIG_HOME="$settings"
fi
finish() {
	tm kill-server 2>/dev/null
	[ -z "${settings:-}" ] || rm -rf "$settings"
}
trap finish EXIT
trap 'exit 130' INT TERM

start() {
	tm kill-server 2>/dev/null
	starts=$((starts + 1)) # a new server: the old one may still be closing its socket
	sock=pmpp-test-$$-$starts
	tm -u -f /dev/null new-session -d -x "$2" -y "$1" "env $pane_env TERM=tmux-256color sh" \; \
		set-option -g status off \; set-option -s escape-time 0 \; set-option -g window-size manual \; \
		set-option -g remain-on-exit on >/dev/null || exit 1
	tm resize-window -x "$2" -y "$1"
	see '^ready:' || { echo "not ok $(basename "$0" -test.sh) (no shell in tmux)"; exit 1; }
}
type() { tm send-keys -l "$1"; tm send-keys Enter; }
press() { tm send-keys "$@"; }
# q, and once more where the program asks.
press_q() {
	press q
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		screen | grep -q 'q again quits' && press q && return
		screen | grep -q 'left with' && return
		sleep 0.05
	done
}
# What terminals report of the mouse at ROW COLUMN, counted from 1: by 1006 where terminfo asks for
# that. A button moved while it is held is numbered 32 more.
byte() { printf "\\$(printf %03o $(($1 + 32)))"; }
mouse() { # hold, drag or drop
	case $(TERM=tmux-256color tput kmous 2>/dev/null | cat -v) in
	*'<')
		case $1 in
		hold) tm send-keys -l "$(printf '\033[<0;%d;%dM' "$3" "$2")" ;;
		drag) tm send-keys -l "$(printf '\033[<32;%d;%dM' "$3" "$2")" ;;
		drop) tm send-keys -l "$(printf '\033[<0;%d;%dm' "$3" "$2")" ;;
		esac
		;;
	*)
		case $1 in hold) button=0 ;; drag) button=32 ;; drop) button=3 ;; esac
		tm send-keys -l "$(printf '\033[M')$(byte $button)$(byte "$3")$(byte "$2")"
		;;
	esac
}
click() {
	mouse hold "$1" "$2"
	mouse drop "$1" "$2"
}
screen() { tm capture-pane -p; }
see() {
	tries=$((${2:-60} * 20))
	while [ "$tries" -gt 0 ]; do
		screen | grep -q -e "$1" && return 0
		tries=$((tries - 1))
		sleep 0.05
	done
	return 1
}
gone() {
	tries=1200
	while [ "$tries" -gt 0 ]; do
		screen | grep -q -e "$1" || return 0
		tries=$((tries - 1))
		sleep 0.05
	done
	return 1
}
resize() { tm resize-window -x "$2" -y "$1"; }
check() {
	name=$1
	shift
	if "$@"; then
		echo "ok $name"
	else
		echo "not ok $name"
		echo "  ($*) with the screen:"
		screen | sed 's/^/  |/'
	fi
}
# Until the screen is the same for a second.
stands_still() {
	still=0
	for _ in $(seq 200); do
		last=$(screen)
		sleep 0.1
		if [ "$(screen)" = "$last" ]; then still=$((still + 1)); else still=0; fi
		[ "$still" -lt 10 ] || return 0
	done
}
# 1: the terminal reports its mouse to what runs in it; 0: it does not.
reports_mouse() { tm display-message -p '#{mouse_any_flag}'; }
# The program's process, a child of the pane's shell. The kernel's list may miss one that is there,
# as proc(5) says: it is read until it has it.
program() {
	shell=$(tm display-message -p '#{pane_pid}')
	tries=1200
	while [ "$tries" -gt 0 ]; do
		child=$(cut -d ' ' -f 1 "/proc/$shell/task/$shell/children")
		[ -z "$child" ] || { echo "$child"; return; }
		tries=$((tries - 1))
		sleep 0.05
	done
	return 1
}
# The shell is back, echoes what is typed, has no reports of a mouse, and its earlier text is there
# again.
restored() {
	see 'ready:$' && [ "$(reports_mouse)" = 0 ] || return 1
	type 'stty -a | tr " " "\n" | grep -x -e "-*echo" -e "-*icanon" -e "-*isig"; echo status of it: $?'
	see '^echo$' && see '^icanon$' && see '^isig$' && see 'status of it: 0'
}
