#!/bin/sh
# The test tools themselves: a failure, a crash, a hang and an empty program must count as failures.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
root=$TEST_ROOT
cd "$work" || exit 1
mkdir -p tests/unit/x tests/cli tests/tty build/unit/x

# program NAME: a stand-in for a cmocka program, its body from stdin
program() {
	: >"tests/unit/x/test_$1.c"
	{ echo '#!/bin/sh'; cat; } >"build/unit/x/test_$1"
	chmod +x "build/unit/x/test_$1"
}

# check NAME WANTED-LAST-LINE WANTED-STATUS: runs the runner over what is there, then clears it
check() {
	got=$(TEST_TIMEOUT=1 sh "$root/tests/run.sh" build 2>&1)
	status=$?
	last=$(printf '%s\n' "$got" | tail -n 1)
	if [ "$last" = "$2" ] && [ "$status" -eq "$3" ]; then
		echo "ok $1"
	else
		echo "not ok $1: '$last', status $status"
		printf '%s\n' "$got"
	fi
	rm -f tests/unit/x/* build/unit/x/* tests/cli/*
}

program good <<'X'
printf '[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n[       OK ] b\n'
X
check 'runner counts passes' '2 passed, 0 failed' 0

program bad <<'X'
printf '[ RUN      ] a\n[  FAILED  ] a\n[ RUN      ] b\n[       OK ] b\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] a\n'
exit 1
X
check 'runner counts a failure once' '1 passed, 1 failed' 1

program crash <<'X'
printf '[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n'
kill -ABRT $$
X
check 'runner counts a crash' '1 passed, 1 failed' 1

program early <<'X'
kill -SEGV $$
X
program good <<'X'
printf '[ RUN      ] a\n[       OK ] a\n'
X
check 'runner counts a crash before the first test' '1 passed, 1 failed' 1

program late <<'X'
printf '[ RUN      ] a\n[       OK ] a\n'
exit 1
X
check 'runner counts a bad exit after good tests' '1 passed, 1 failed' 1

program hang <<'X'
printf '[ RUN      ] a\n'
sleep 20
X
check 'runner ends a hang' '0 passed, 1 failed' 1

program empty <<'X'
exit 0
X
check 'runner counts a program without tests' '0 passed, 1 failed' 1

: >tests/unit/x/test_absent.c
check 'runner counts a program that was not built' '0 passed, 1 failed' 1

program skip <<'X'
printf '[ RUN      ] a\n[  SKIPPED ] a\n[ RUN      ] b\n[       OK ] b\n[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] a\n'
X
check 'runner counts a skip as neither' '1 passed, 0 failed' 0

printf '#!/bin/sh\necho "ok one"\necho "not ok two: 3, not 4"\necho "skip three: no GPU"\ntest -d "$HOME" && test -w "$HOME" && echo "ok home"\n' >tests/cli/a-test.sh
chmod +x tests/cli/a-test.sh
check 'runner counts script lines' '2 passed, 1 failed' 1

cd "$root" || exit 1
if ! command -v python3 >/dev/null; then
	echo 'skip layer check catches violations: no python3 on this machine'
elif python3 -B tests/habits/layers.py --self-test >"$work/out" 2>&1; then
	echo 'ok layer check catches violations'
else
	echo 'not ok layer check catches violations'
	cat "$work/out"
fi
