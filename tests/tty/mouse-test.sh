#!/bin/sh
# The mouse in a real terminal, and what is kept from one session to the next: theme, layout, keys,
# the launch that it ended with.
. "$(dirname "$0")/tmux.sh"

work=$(mktemp -d /tmp/pmpp-XXXXXX) || exit 1
trap 'finish; rm -rf "$work"' EXIT
export XDG_CONFIG_HOME="$work"
pane_env="$pane_env XDG_CONFIG_HOME=$work"
file=$work/pmpp-explore/settings
run="vec_add/per_element N=4096 block=64 --backend emu --gpu h100"

# The row and column where the screen first shows @1.
row_of() { screen | grep -n -F -e "$1" | head -1 | cut -d : -f 1; }
column_of() {
	line=$(screen | grep -F -e "$1" | head -1)
	printf '%sx' "${line%%"$1"*}" | wc -m
}
click_on() { click "$(row_of "$1")" "$(column_of "$1")"; }

start 24 80
type "clear; $PMPP $run; echo left with \$?"
check starts see '✓'
# the curve over block sizes: pressed, and drawn along
row=$(row_of 'block size ')
at_512=$(($(column_of ' 512 ') + 1)) at_256=$(($(column_of ' 256 ') + 1))
mouse hold "$row" "$at_512"
check block_of_a_curve see 'block \[512\]'
mouse drag "$row" "$at_256"
check block_is_dragged see 'block \[256\]'
mouse drop "$row" "$at_256"
see '✓ exact'
click_on '5Time'
see 'makespan'
press z z
check axis_is_near see '◀ zoom 4 ▶'
stands_still # the run of the block chosen before has ended
before=$(screen | sed -n 6,8p)
other_part() { [ "$(screen | sed -n 6,8p)" != "$before" ]; }
moved() { for _ in $(seq 60); do other_part && return; sleep 0.05; done; return 1; }
# On a busy machine a press may come while the panel is drawn anew: as a person would, once more.
drag() {
	for _ in 1 2 3; do
		mouse hold 8 60
		mouse drag 8 25
		moved && return
		mouse drop 8 25
	done
	return 1
}
check axis_is_dragged drag
mouse drop 8 25
press Z Z
click_on '4Coal'
check tab_is_pressed see 'sectors/req'
click_on '? help'
check key_bar_is_pressed see 'once more, or Enter'
press Escape
press L T
check theme_is_said see 'theme light'
press_q
check quits see 'left with 0'
check mouse_is_given_back restored

check settings_are_kept grep -qx 'theme = light' "$file"
check layout_is_kept grep -qx 'layout = profile' "$file"
check launch_is_kept grep -q '^start = vec_add/per_element .*block=256.* --gpu h100' "$file"
printf '# mine\nkey G = gpu\n' >>"$file"
type "clear; $PMPP; echo then \$?"
check starts_where_it_ended see '^ vec_add / per_element .*H100'
check with_its_values see 'block \[256\]\|block 256'
press G
check own_key see 'choose the GPU'
press Escape T
check next_theme see 'theme colour-blind'
press_q
check quits_again see 'then 0'
check other_lines_stay grep -qx '# mine' "$file"
check changed_line_is_changed grep -qx 'theme = colour-blind' "$file"

sed -i 's/^theme = .*/theme = pink/' "$file"
type "clear; $PMPP doctor | grep -o 'no theme is called .*'"
check doctor_names_it see "no theme is called 'pink'"
type "clear; PMPP_MOUSE=0 $PMPP; echo at last \$?"
check wrong_line_is_named see 'settings:[0-9]*: no theme' # the path may fill the row
check mouse_may_be_off test "$(tm display-message -p '#{mouse_any_flag}')" = 0
press m
on() { for _ in $(seq 600); do [ "$(tm display-message -p '#{mouse_any_flag}')" = 1 ] && return; sleep 0.1; done; return 1; }
check mouse_by_key on
press_q
check ends see 'at last 0'
