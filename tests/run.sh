#!/bin/sh
# Runs the tests that were built and ends with "N passed, N failed".
#
#   run.sh BUILD-FOLDER          unit tests, then tests/cli and tests/tty
#   run.sh BUILD-FOLDER units    unit tests only
#   run.sh BUILD-FOLDER NAME...  only programs and scripts whose path contains one of the names
#
# Unit tests are cmocka programs; scripts are executable tests/{cli,tty}/*-test.sh that print
# "ok NAME", "not ok NAME" or "skip NAME: reason", and find the program in $PMPP.
# Each runs with a folder of its own as HOME and cache, and with a time limit
# (TEST_TIMEOUT seconds, default 300), TEST_JOBS at a time (default: one per core). Output is shown
# in full for what failed, else one line.
set -u
build=$1
shift
root=$(pwd)
PMPP=$root/$build/pmpp-explore
TEST_ROOT=$root
export PMPP TEST_ROOT
# nvcc of `make programs-compiler`, where no other is there
[ ! -x "$root/$build/cuda/bin/nvcc" ] || PATH=$PATH:$root/$build/cuda/bin
limit=${TEST_TIMEOUT:-300}
# (a program of nvcc has no AddressSanitizer, the runtime that is loaded into it has)
asan=${ASAN_OPTIONS:-verify_asan_link_order=0}
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-tests-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
running=
trap 'kill $running 2>/dev/null; exit 130' INT TERM
passed=0
failed=0
skipped=0
failures=
begun=0
shown=0

# As many tests at a time as there are cores, 8 at most: many wait for terminals. Each free place is
# a line in a pipe.
mkfifo "$work/free"
exec 9<>"$work/free"
cores=$(nproc 2>/dev/null || echo 1)
for _ in $(seq "${TEST_JOBS:-$((cores < 8 ? cores : 8))}"); do echo >&9; done

count() { grep -c "$1" "$work/$number.output"; }

# Test $1: $2 shown name, $3 cmocka or script, the rest the command. Leaves NUMBER.shown, what is
# printed of it, and NUMBER.result, with the numbers of passed, failed and skipped and the reason.
run_one() {
	number=$1
	name=$2
	kind=$3
	shift 3
	home=$work/$number.home
	mkdir -p "$home/tmp"
	start=$(date +%s)
	for _ in 1 2 3; do
		# (a job in the background ignores SIGINT; tests press it)
		TSAN_OPTIONS=${TSAN_OPTIONS:-atexit_sleep_ms=0} ASAN_OPTIONS=$asan HOME=$home XDG_CACHE_HOME=$home/cache XDG_CONFIG_HOME=$home/config TMPDIR=$home/tmp LC_ALL=C.UTF-8 \
			env --default-signal=INT,QUIT timeout -k 5 "$limit" "$@" >"$work/$number.output" 2>&1 </dev/null 9>&- &
		wait $!
		status=$?
		# the looker for leaks may itself crash while threads end: it has then said nothing
		grep -q 'LeakSanitizer has encountered a fatal error' "$work/$number.output" || break
	done
	seconds=$(($(date +%s) - start))
	chmod -R u+rwx "$home" 2>/dev/null
	rm -rf "$home"
	if [ "$kind" = cmocka ]; then
		# a test that began and neither passed nor was skipped failed, whatever ended it
		ok=$(count '^\[       OK \] ')
		# (named twice: when skipped, and in the closing list)
		skip=$(grep '^\[  SKIPPED \] [^0-9]' "$work/$number.output" | sort -u | wc -l)
		bad=$(($(count '^\[ RUN      \] ') - ok - skip))
	else
		ok=$(count '^ok ')
		skip=$(count '^skip ')
		bad=$(count '^not ok ')
	fi
	why=
	case $status in
	0) [ "$ok" -gt 0 ] || [ "$skip" -gt 0 ] || [ "$bad" -gt 0 ] || why='ran no test' ;;
	124 | 137) why="stopped after $limit s" ;;
	*) [ "$status" -lt 128 ] || why="died of signal $((status - 128))" ;;
	esac
	# nothing reported, yet not well: that is one failure
	if [ "$bad" -eq 0 ] && { [ -n "$why" ] || [ "$status" -ne 0 ]; }; then
		bad=1
		[ -n "$why" ] || why="exit status $status"
	fi
	show_one >"$work/$number.shown"
	echo "$ok $bad $skip $name${why:+: $why}" >"$work/$number.part"
	mv "$work/$number.part" "$work/$number.result"
}

show_one() {
	more=
	[ "$skip" -eq 0 ] || more=", $skip skipped"
	[ "$seconds" -lt 2 ] || more="$more, $seconds s"
	if [ "$bad" -eq 0 ]; then
		printf '  ok      %s (%d%s)\n' "$name" "$ok" "$more"
		[ "$skip" -eq 0 ] || grep '^skip ' "$work/$number.output" | sed 's/^/          /'
		return
	fi
	printf '  FAILED  %s (%d passed, %d failed%s)%s\n' "$name" "$ok" "$bad" "$more" "${why:+: $why}"
	sed 's/^/          /' "$work/$number.output"
}

# Prints what has ended, in the order of the beginnings.
show() {
	while [ -e "$work/$((shown + 1)).result" ]; do
		shown=$((shown + 1))
		read -r ok bad skip which <"$work/$shown.result"
		passed=$((passed + ok))
		failed=$((failed + bad))
		skipped=$((skipped + skip))
		[ "$bad" -eq 0 ] || failures="$failures
  $which"
		cat "$work/$shown.shown"
		rm -f "$work/$shown".*
	done
}

# begin NAME KIND COMMAND...: as soon as one may run
begin() {
	read -r _ <&9
	show
	begun=$((begun + 1))
	{
		trap 'kill $!; exit 143' TERM
		run_one "$begun" "$@"
		echo >&9
	} &
	running="$running $!"
}

# Nothing asked for, or one of the words is part of the path.
wanted() {
	[ "$filters" = all ] && return
	for word in $filters; do
		case $1 in *"$word"*) return 0 ;; esac
	done
	return 1
}

filters=all
units_only=
case ${1:-} in
'') ;;
units) units_only=yes ;;
*) filters=$* ;;
esac

# the sources say what there must be: a program that is missing counts, an old one does not
for source in tests/unit/*/test_*.c; do
	if [ ! -e "$source" ] || ! wanted "$source"; then continue; fi
	program=${source#tests/}
	program=$build/${program%.c}
	begin "${source%.c}" cmocka "$program"
done
if [ -z "$units_only" ]; then
	for script in tests/cli/*-test.sh tests/tty/*-test.sh; do
		if [ ! -e "$script" ] || ! wanted "$script"; then continue; fi
		begin "$script" script "$root/$script"
	done
fi

wait
show
[ -z "$failures" ] || printf '\nfailed:%s\n' "$failures"
[ "$skipped" -eq 0 ] || printf '%d skipped\n' "$skipped"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
