#!/bin/sh
# Out of memory: one allocation of a run fails, at POINTS places per scenario, evenly spread over
# all that it makes, or the last OOM_LAST of them. Each time: a message and a status other than 0, or the whole result all the
# same; no death by a signal of ours; the file that was there is whole, and no other one is left.
#
#   sweep.sh PROGRAM FAIL_NTH.so POINTS [SCENARIO...]      prints "ok NAME" or "not ok NAME: why"
set -u
PMPP=$1
preload=$2
points=$3
shift 3
dir=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-oom-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME="$dir/cache" XDG_CONFIG_HOME="$dir/config" TERM=xterm-256color COLUMNS=80 LINES=24
export LSAN_OPTIONS=detect_leaks=0
mkdir "$dir/cache" "$dir/files"
cd "$dir/files" || exit 1

# The scenarios: what is run, with its arguments; the TUI in a terminal of script(1).
scenario() {
	case $1 in
	run) set -- run sgemm/tiled M=32 N=32 K=32 --gpu a100 --threads 1 ;;
	json) set -- run vec_add N=256 --gpu a100 --json --threads 1 ;;
	list) set -- list kernels ;;
	gpus) set -- list gpus --json ;;
	export) set -- export vec_add N=256 --gpu a100 --out session.json ;;
	reopen) set -- export whole.json --format md --out notes.md ;;
	preset) set -- preset sgemm ;;
	own) set -- run own.cu --kernel k --grid 1 --block 32 'a=f32[32]:zero' --threads 1 ;;
	tui) set -- vec_add N=256 --gpu a100 ;;
	esac
	if [ "$name" = tui ]; then
		# the exit status as a line of the terminal, and how the terminal was left
		cat >"$dir/tui.sh" <<-SH
			LD_PRELOAD='$preload' '$PMPP' vec_add N=256 --gpu a100 2>'$dir/err'
			echo \$? >'$dir/status'
			stty -a >'$dir/stty'
		SH
		{ sleep 0.15; printf '+-4vg'; sleep 0.1; printf '\033qq'; } |
			timeout 60 script -qec "sh '$dir/tui.sh'" /dev/null >"$dir/out" 2>&1
		return "$(cat "$dir/status" 2>/dev/null || echo 124)"
	fi
	timeout 60 env LD_PRELOAD="$preload" "$PMPP" "$@" >"$dir/out" 2>"$dir/err" </dev/null
}

not_ok() {
	bad=$((bad + 1))
	wrong=$((wrong + 1))
	echo "not ok $name: allocation $at of $total: $1"
	sed 's/^/#   /' "$dir/err" | head -3
}

# The files that a scenario may leave are whole: the program reads them.
files_whole() {
	for file in *; do
		case $file in
		own.cu | whole.json) ;;
		session.json) "$PMPP" export session.json --format txt --out - >/dev/null 2>&1 ||
			{ echo "$file cannot be opened"; return; } ;;
		notes.md) tail -n 1 notes.md | grep -q '^The lines above: sha256:' || { echo "$file is cut off"; return; } ;;
		*) echo "$file was left" && return ;;
		esac
	done
	ls -A | grep '^\.' | head -1
}

point() {
	rm -f "$dir/files/session.json" "$dir/files/notes.md" "$dir/files"/.[!.]*
	PMPP_OOM_AT=$at scenario "$name"
	status=$?
	# NVRTC's constructors, of C++, end the process themselves, and say so
	if [ "$status" -eq 134 ] && grep -q 'LLVM ERROR: out of memory\|std::bad_alloc' "$dir/err"; then
		:
	elif [ "$status" -ge 124 ]; then
		not_ok "status $status"
	elif [ "$status" -eq 0 ] && [ "$name" != tui ] && ! cmp -s "$dir/out" "$dir/want"; then
		# times differ from run to run
		[ "$(sed 's/[0-9.]*//g; s/[num]*s//g' "$dir/out" | wc -l)" = "$(wc -l <"$dir/want")" ] ||
			not_ok 'status 0, and another output'
	elif [ "$status" -ne 0 ] && [ ! -s "$dir/err" ]; then
		not_ok "status $status without a word"
	elif [ "$name" = tui ] && ! grep -q ' icanon' "$dir/stty"; then
		not_ok 'the terminal was not given back'
	elif [ "$name" = tui ] && [ "$status" -ne 0 ]; then
		ended=$((ended + 1)) # before there is a screen, or what it needs to begin
	fi
	left=$(files_whole)
	[ -z "$left" ] || not_ok "$left"
}

echo '__global__ void k(float *a) { a[threadIdx.x] = 1; }' >own.cu
"$PMPP" export vec_add N=256 --gpu a100 --out whole.json >/dev/null 2>&1 || exit 1
all=0
wrong=0
for name in ${*:-run json list gpus export reopen preset own tui}; do
	bad=0
	ended=
	if [ "$name" = tui ] && ! command -v script >/dev/null; then
		echo 'skip tui: there is no script(1) here'
		continue
	fi
	at=0
	total=0
	scenario "$name" # the compiler's answers are kept from here on
	if ! PMPP_OOM_COUNT=$dir/total scenario "$name" || [ ! -s "$dir/total" ]; then
		not_ok 'it fails with all memory, too'
		continue
	fi
	cp "$dir/out" "$dir/want"
	total=$(cat "$dir/total")
	n=0
	first=0
	[ "${OOM_LAST:-$total}" -ge "$total" ] || first=$((total - OOM_LAST))
	some=$((total - first))
	while [ "$n" -lt "$points" ] && [ "$n" -lt "$some" ]; do
		if [ "$points" -ge "$some" ]; then at=$((first + n + 1)); else at=$((first + 1 + n * (some - 1) / points)); fi
		point
		n=$((n + 1))
	done
	all=$((all + n))
	if [ "$name" = tui ] && [ $((50 * ended)) -gt "$n" ]; then
		not_ok "$ended of $n points ended the screen: its session is lost"
	fi
	[ "$bad" -gt 0 ] || echo "ok $name ($n of $total allocations${ended:+, $ended ended it})"
done
echo "# $all points, $wrong not well"
[ "$wrong" -eq 0 ] && [ "$all" -gt 0 ]
