#!/bin/sh
# Terminals as they are: no colour, no UTF-8, dumb, unknown, none at all.
. "$(dirname "$0")/tmux.sh"

run="vec_add/per_element N=4096 --backend emu --gpu a100"
# Bytes of the screen with its escape sequences.
coloured() { tm capture-pane -p -e | grep -q "$(printf '\033\\[[0-9;]*[34][0-8]')"; }
plain() { ! coloured; }
ascii_only() { ! screen | LC_ALL=C grep -q '[^ -~]'; }

start 24 80
type "$PMPP $run; echo left with \$?"
check colours see 'theoretical'
check there_are_colours coloured
press_q
see 'left with 0'
type "clear; NO_COLOR=1 $PMPP $run; echo then \$?"
check no_color_draws see 'theoretical'
check no_color_has_none plain
press_q
check no_color_quits see 'then 0'
type "clear; PMPP_ASCII=1 $PMPP $run"
check ascii_draws see 'theoretical'
check ascii_verified see '+ exact'
check ascii_is_ascii ascii_only
press 2
check ascii_roofline see '\*\*\*'
check ascii_roofline_is_ascii ascii_only
press_q
see 'ready:$'
type "clear; LC_ALL=C $PMPP $run"
check c_locale_draws see 'theoretical'
check c_locale_is_ascii ascii_only
press_q
see 'ready:$'
type "clear; env -u LC_ALL -u LC_CTYPE -u LANG $PMPP $run"
check no_locale_draws see 'theoretical'
check no_locale_asks_the_terminal see '──'
press 2
check no_locale_keys see 'FP32 roof'
press_q
see 'ready:$'
type "clear; TERM=xterm $PMPP $run"
check eight_colours see 'theoretical'
press_q
see 'ready:$'

# a terminal of direct colours, whose numbers are no palette: described here, as it need not be installed
if command -v tic >/dev/null 2>&1; then
	work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-terminals-XXXXXX") || exit 1
	trap 'finish; rm -rf "$work"' EXIT
	rgb='%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d'
	cat >"$work/direct.ti" <<EOF
pmpp-direct|direct colours,
	RGB, colors#0x1000000, pairs#0x10000,
	setaf=\E[%?%p1%{8}%<%t3%p1%d%e38:2::$rgb%;m,
	setab=\E[%?%p1%{8}%<%t4%p1%d%e48:2::$rgb%;m,
	use=xterm-256color,
EOF
	tic -x -o "$work" "$work/direct.ti"
	type "clear; TERMINFO_DIRS=$work: TERM=pmpp-direct $PMPP $run"
	check direct_colours see 'theoretical'
	grey() { tm capture-pane -p -e | grep -q '38[;:]2[;:]*168[;:]168[;:]168'; }
	check direct_grey_is_grey grey
	press_q
	see 'ready:$'
else
	echo 'skip direct_colours: tic is not installed'
fi
type "clear; TERM=vt100 $PMPP $run; echo vt100 \$?"
check vt100 see 'theoretical'
press_q
check vt100_quits see 'vt100 0'

type "clear; TERM=dumb $PMPP; echo left with \$?"
check dumb_is_refused see 'TERM=dumb cannot place the cursor'
check dumb_says_what_to_do see 'launches PROGRAM, run KERNEL'
check dumb_status see 'left with 3'
type "clear; TERM=no-such-terminal $PMPP; echo left with \$?"
check unknown_is_refused see 'TERM=no-such-terminal is not known here'
check unknown_status see 'left with 3'
type "clear; env -u TERM $PMPP; echo left with \$?"
check unset_is_refused see 'TERM is not set'
type "clear; $PMPP </dev/null; echo left with \$?"
check no_input see 'standard input is not a terminal'
check no_input_status see 'left with 3'
type "clear; $PMPP | cat; echo left"
check no_output see 'standard output is not a terminal'
check shell_is_fine restored
