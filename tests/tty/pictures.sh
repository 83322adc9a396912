#!/bin/sh
# Pictures of the real program in a real terminal: every panel at three sizes on a dark ground and at
# two on a light one, the roofline in every theme, a lesson, some in Chinese; as SVG into the folder
# given (make pictures: build/pictures). And a lesson as an asciicast, tour.cast.
. "$(dirname "$0")/tmux.sh"

here=$(dirname "$0")
out=${1:-build/pictures}
mkdir -p "$out" || exit 1
picture() { # NAME [BACKGROUND]
	sleep 0.3
	tm capture-pane -p -e | python3 "$here/picture.py" --background "${2:-dark}" >"$out/$1.svg" || exit 1
	echo "$out/$1.svg"
}
# ROWS COLS THEME ARGUMENT...: the program at that size, its run done
open_at() {
	rows=$1 cols=$2 theme=$3
	shift 3
	start "$rows" "$cols"
	type "clear; PMPP_THEME=$theme $PMPP $*"
	see '✓' || { screen; exit 1; }
}
for size in '24 80' '40 120' '60 200'; do
	# shellcheck disable=SC2086
	open_at $size dark sgemm/naive M=512 N=512 K=512 --gpu a100 --backend emu
	press v
	see 'tiled_exact' && see '✓ exact'
	for key in 1 2 3 4 5 6 7 8 9; do
		press $key
		[ "$key" != 6 ] || gone 'not run yet'
		picture "panel-$key-${size#* }x${size% *}"
	done
	press 4 B
	picture "two-runs-${size#* }x${size% *}"
	press Escape / m a p Enter
	see 'of the best'
	gone '· ' # every point has run
	picture "map-${size#* }x${size% *}"
	# shellcheck disable=SC2086
	open_at $size dark --preset transpose --gpu h200 --backend emu
	picture "lesson-${size#* }x${size% *}"
done
for size in '24 80' '40 120'; do
	# shellcheck disable=SC2086
	open_at $size light sgemm/tiled M=512 N=512 K=512 --gpu a100 --backend emu
	see '✓ exact'
	for key in 1 2 3 4 5 6 7 8 9; do
		press $key
		[ "$key" != 6 ] || gone 'not run yet'
		picture "light-$key-${size#* }x${size% *}" light
	done
	press Tab Tab Tab Tab # the tour, hardware, comparison; machine code
	see 'ptxas'
	picture "light-sass-${size#* }x${size% *}" light
done
for size in '24 80' '40 120'; do
	# shellcheck disable=SC2086
	open_at $size dark sgemm/tiled M=512 N=512 K=512 --gpu a100 --backend emu --lang zh_CN
	for key in 1 2; do
		press $key
		picture "zh_CN-$key-${size#* }x${size% *}"
	done
	# shellcheck disable=SC2086
	open_at $size dark --preset transpose --gpu h200 --backend emu --lang zh_CN
	picture "zh_CN-lesson-${size#* }x${size% *}"
done
for theme in dark light colour-blind mono; do
	open_at 40 120 $theme sgemm/tiled M=512 N=512 K=512 --gpu a100 --backend emu
	press 2 f
	if [ $theme = light ]; then paper=light; else paper=dark; fi
	picture "theme-$theme" $paper
done
PMPP_THEME=dark python3 "$here/cast.py" 80 24 '~4 ] ~4 ] ~4 ] ~4 4 ~2 enter ~2 esc 6 ~4 q q' \
	"$PMPP" --preset transpose --backend emu >"$out/tour.cast" || exit 1
echo "$out/tour.cast"
