#!/bin/sh
# What a person chooses on the screen is in the settings a second later, whatever ends the program;
# a file that cannot be written is told, and nothing is lost for it.
. "$(dirname "$0")/tmux.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-kept-XXXXXX") || exit 1
trap 'finish; rm -rf "$work"' EXIT
XDG_CONFIG_HOME=$work
export XDG_CONFIG_HOME
file=$work/pmpp-explore/settings
run="$PMPP vec_add/per_element N=4096 --backend emu --gpu a100"

start 24 80
type "XDG_CONFIG_HOME=$work $run"
see 'theoretical'
press T
see 'theme light'
press L
see 'layout profile'
press +
see 'block \[384\]'
sleep 1
kill -9 "$(program)"
check theme_outlives_a_kill grep -qx 'theme = light' "$file"
check layout_outlives_a_kill grep -qx 'layout = profile' "$file"
check launch_outlives_a_kill grep -q '^start = vec_add/per_element .*block=384' "$file"

start 24 80
type "XDG_CONFIG_HOME=$work $run"
see 'theoretical'
sed 's/^theme = .*/theme = mono/' "$file" >"$file.new" && mv "$file.new" "$file"
press A
see '中文'
press_q
gone '4Coal'
sleep 1
check others_lines_stay grep -qx 'theme = mono' "$file"
check own_line_is_written grep -qx 'lang = zh_CN' "$file"

start 24 80
type "clear; XDG_CONFIG_HOME=/proc/1 $run; echo left with \$?"
see 'theoretical'
press T
see 'theme'
press_q
check refusal_is_told see 'settings are not kept: /proc'
check refusal_is_no_failure see 'left with 0'
