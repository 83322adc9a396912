#!/bin/sh
# Every preset at 80x24 by ']' alone, to its last step: each step's number and title stand in the
# head, words and figures below it, and nothing of the lesson is cut. (What exactly stands there,
# with every claim judged: tests/unit/ui/test_lessons.c.)
. "$(dirname "$0")/tmux.sh"

root=${TEST_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
# The rows of the lesson: from its head to the panel's heading.
lesson() { screen | awk '/^── [0-9]+ of [0-9]+ / { on = 1; print; next } on && /^── / { exit } on'; }
# STEP OF TITLE: the head names it, words stand below, no row of it ends early
whole() {
	see "^── $1 of $2 " 20 || return 1
	text=$(lesson)
	case $text in *"$3"*) ;; *) return 1 ;; esac
	case $text in *…*) return 1 ;; esac
	[ "$(echo "$text" | wc -l)" -ge 3 ]
}
for file in "$root"/presets/*.yaml; do
	preset=$(basename "$file" .yaml)
	steps=$(grep -c '^  - title:' "$file")
	start 24 80
	type "clear; $PMPP --preset $preset --backend emu; echo left with \$?"
	step=1
	while [ "$step" -le "$steps" ]; do
		title=$(sed -n 's/^  - title: *//p' "$file" | sed -n "${step}p" | sed 's/^"\(.*\)"$/\1/')
		check "$preset-$step" whole "$step" "$steps" "$title"
		press ']'
		step=$((step + 1))
	done
	check "$preset-ends" see "this was the last step of $preset"
done
