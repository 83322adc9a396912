#!/bin/sh
# What is copied reaches the terminal's clipboard: OSC 52, as tmux receives it.
. "$(dirname "$0")/tmux.sh"

start 24 80
tm set-option -s set-clipboard on
type "clear; $PMPP transpose/naive W=64 H=64 --gpu h100 --backend emu"
check starts see '✓ exact'
press y
check copy_offers see 'command line'
press Enter
check copied_says see 'copied, if the terminal allows it'
in_clipboard() {
	tries=100
	while [ "$tries" -gt 0 ]; do
		case $(tm show-buffer 2>/dev/null) in
		'pmpp-explore transpose/naive W=64 H=64 block_x='*' --gpu h100 --backend emu') return 0 ;;
		esac
		tries=$((tries - 1))
		sleep 0.05
	done
	return 1
}
check in_clipboard in_clipboard
# the panel, as text; and one number of it
press y Down Down Enter
clipboard() { # has PATTERN
	for _ in $(seq 100); do
		tm show-buffer 2>/dev/null | grep -q -e "$1" && return
		sleep 0.05
	done
	return 1
}
check panel_in_clipboard clipboard 'block slots .* 32'
press 4
see 'sectors/req'
press y
tm send-keys -l 'per store'
check a_figure_is_offered see 'sectors per store  *16.0'
press Enter
check number_in_clipboard clipboard '^16.0$'
press 1
see 'block slots'
press '/'
check find_opens see 'filter'
tm send-keys -l 'waves'
check find_filters see 'figure waves'
press Enter
check find_says see 'grid blocks / (blocks per SM'
press '?'
check help_explains see 'theoretical occupancy'
