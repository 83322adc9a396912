#!/bin/sh
# Colour of what verbs print: on a terminal that has some, unless NO_COLOR; by --color anywhere;
# never in what a machine reads; and what a file says never becomes an escape sequence.
. "$(dirname "$0")/lib.sh"

unset NO_COLOR COLORTERM PMPP_THEME
XDG_CONFIG_HOME="$dir/config"
LC_ALL=C.UTF-8
export XDG_CONFIG_HOME LC_ALL
esc=$(printf '\033')

# on_terminal TERM ARGUMENT...: its output on a terminal of its own, into $dir/out
on_terminal() {
	TERM=$1
	export TERM
	shift
	python3 - "$PMPP" "$@" >"$dir/out" 2>"$dir/err" <<'PYTHON'
import os, pty, sys
def keep(fd):
    data = os.read(fd, 65536)
    return data
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], keep, lambda fd: b"")))
PYTHON
}
has() { # NAME WORDS
	if grep -qF -e "$2" "$dir/out"; then ok "$1"; else not_ok "$1" "no '$2' in: $(cat -v "$dir/out")"; fi
}
none() { # NAME
	if [ -s "$dir/out" ] && ! grep -q "$esc" "$dir/out"; then ok "$1"; else not_ok "$1" "$(cat -v "$dir/out")"; fi
}

if ! command -v python3 >/dev/null; then
	echo 'skip colour: no python3 on this machine'
	exit 0
fi
on_terminal xterm-256color doctor
has terminal-has-colour "${esc}[0;38;5;77m✓${esc}[0m"
on_terminal linux doctor
has eight-colours "${esc}[0;32m✓${esc}[0m"
on_terminal dumb doctor
none dumb-terminal
NO_COLOR=1 on_terminal xterm-256color doctor
none no-color
on_terminal xterm-256color doctor --color never
none never
on_terminal xterm-256color --color=never doctor
none never-before-the-verb
NO_COLOR=1 on_terminal xterm-256color doctor --color always
has always-on-a-terminal "${esc}[0;38;5;77m✓"
PMPP_THEME=light on_terminal xterm-256color doctor
has theme-of-the-screen "${esc}[0;38;5;22m✓"
mkdir -p "$dir/config/pmpp-explore"
echo 'theme = colour-blind' >"$dir/config/pmpp-explore/settings"
on_terminal xterm-256color doctor
has theme-that-is-kept "${esc}[0;38;5;75m✓"
rm "$dir/config/pmpp-explore/settings"

TERM=xterm-256color
export TERM
"$PMPP" doctor >"$dir/out"
none pipe
"$PMPP" doctor --color always >"$dir/out"
has always "${esc}[0;38;5;77m✓"
"$PMPP" doctor --color always | sed "s/$esc\[[0-9;]*m//g" >"$dir/coloured"
"$PMPP" doctor >"$dir/plain"
if cmp -s "$dir/coloured" "$dir/plain"; then ok same-text; else not_ok same-text "$(diff "$dir/coloured" "$dir/plain")"; fi

# every table has a bold head or names, verdicts have their colour
always() { # NAME WORDS ARGUMENT...
	name=$1 words=$2
	shift 2
	"$PMPP" "$@" --color always >"$dir/out" 2>"$dir/err"
	has "$name" "$words"
}
always run-verdict "${esc}[0;38;5;77mResult: ✓ verified" run vec_add N=4096
always occupancy-limit "${esc}[0;38;5;220mlimits" occupancy --block 96 --regs 60
always ladder-head "${esc}[0;1mvariant" ladder vec_add N=4096
always ladder-faster "${esc}[0;38;5;77m" ladder vec_add N=4096
always sweep-head "${esc}[0;1mparameters" sweep vec_add/per_element N=4096 block=64,128
always list-names "${esc}[0;1ma100" list gpus
always diff-better "${esc}[0;38;5;77m-" diff sgemm/naive_col sgemm/naive M=128 N=128 K=128
always preset-holds "${esc}[0;38;5;77m✓" preset vec_add --step 2 --check
always options-bold "${esc}[0;1m--check" preset --help

# machines get none of it
for args in 'run vec_add N=4096 --json' 'run vec_add N=4096 --csv' 'ladder vec_add N=4096 --csv' 'list gpus --json'; do
	# shellcheck disable=SC2086
	"$PMPP" $args --color always >"$dir/out" 2>"$dir/err"
	none "plain ($args)"
done

# what a file says stays text
printf '__global__ void k(int *p) { *p = 1; }\n' >"$dir/a$esc[31m.cu"
"$PMPP" run "$dir/a$esc[31m.cu" --color always >"$dir/out" 2>"$dir/err"
if grep -q "$esc\[31m" "$dir/out" "$dir/err"; then not_ok file-name-stays-text 'an escape came through'; else ok file-name-stays-text; fi

"$PMPP" list gpus --color sometimes >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ] && grep -q "there are: auto, always, never" "$dir/err" && ok unknown-value || not_ok unknown-value "$(cat "$dir/err")"
"$PMPP" list gpus --color >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ] && ok no-value || not_ok no-value "$(cat "$dir/err")"
