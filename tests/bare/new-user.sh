#!/bin/sh
# What a new user does on a bare machine, in a fresh clone: new-user.sh root|user all|quick|build|programs
#
# As root of the chroot that check-bare.sh made. `make` by a user without rights must print one
# command that installs everything; `user` then runs that command as root and goes on as that user,
# `root` lets make install by itself. Then `make run` in a terminal, then `make test`; and last
# (`all`, or `programs` without the other tests) a compiler for whole programs, and their tests.
set -u
as=$1
tests=$2
work=$(mktemp -d)
chmod 755 "$work"

step() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }
# as_user COMMAND...: by the one who types here
as_user() {
	if [ "$as" = root ]; then "$@"; else runuser -u new -- "$@"; fi
}

step "make, by a user without rights"
if [ "$as" = root ]; then
	cp -r . "$work/clone"
	chown -R new: "$work/clone"
else
	ln -s "$PWD" "$work/clone"
fi
if (cd "$work/clone" && HOME=/home/new runuser -u new -- make) >"$work/out" 2>&1; then
	fail "packages are missing, and make says nothing"
fi
cat "$work/out"
grep 'apt-get install' "$work/out" >"$work/commands"
commands=$(wc -l <"$work/commands")
[ "$commands" = 1 ] || fail "it prints not one command but $commands"
if [ "$as" = user ]; then
	step "that command, as root"
	DEBIAN_FRONTEND=noninteractive sh "$work/commands" >"$work/out" 2>&1 || {
		tail -n 20 "$work/out"
		fail "the command"
	}
fi

step "make run, in a terminal of 24 x 80; then q"
mkfifo "$work/keys"
plain() { sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g; s/\x1b[()][0-9A-Z]//g' "$work/screen"; }
: >"$work/screen"
chown new: "$work/screen"
as_user script -qefc 'stty rows 24 cols 80; make run' "$work/screen" <"$work/keys" >/dev/null 2>&1 &
terminal=$!
exec 3>"$work/keys"
seen=
# while a run would be lost, q asks, and a second one quits
trap '' PIPE # it may end between the look and the key
for turn in $(seq 1200); do
	kill -0 "$terminal" 2>/dev/null || break
	if [ -n "$seen" ] || plain | grep -q 'q quit'; then
		seen=yes
		printf q >&3 2>/dev/null || break
	fi
	sleep 1
	[ "$turn" -lt 1200 ] || kill "$terminal"
done
trap - PIPE
wait "$terminal"
status=$?
exec 3>&-
built() { plain | tr -d '\r' | sed '/^  LINK .*pmpp-explore$/q'; }
if [ -z "$seen" ] || [ "$status" != 0 ]; then
	plain | tail -n 40
	[ -n "$seen" ] || fail "make run shows no first screen (status $status)"
	fail "q does not quit: status $status"
fi
built | grep '^setup:'
plain | grep -q 'Occ' || fail "the first screen has no panels"
grep -q "$(printf '\033\\[?1049l')" "$work/screen" || fail "the terminal was not restored"
step "first screen seen; q quits with status 0"
# a newer compiler's warnings do not stop a user, but are mended here
if built | grep 'warning:'; then fail "the build has warnings"; fi
step "no warning of $(cc --version | head -n 1)"

target='test'
case $tests in
build) exit 0 ;;
quick) target=units ;;
esac
if [ "$tests" != programs ]; then
	step "make $target"
	as_user make "$target" 2>&1 | tee "$work/tests"
	if grep -q 'warning:' "$work/tests"; then fail "the tests' build has warnings"; fi
	tail -n 1 "$work/tests" | grep -qE '^[1-9][0-9]* passed, 0 failed$' || fail "make $target"
fi
[ "$tests" != quick ] || exit 0

# whole programs need a compiler for their host part as well, which nobody else needs
step "make programs-compiler, then the tests of whole programs"
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends g++ >"$work/out" 2>&1 || {
	tail -n 20 "$work/out"
	fail "g++ could not be installed"
}
as_user make programs-compiler || fail "make programs-compiler"
as_user sh tests/run.sh build cli/launches cli/program-test cli/programs-0 \
	cli/program-time cli/program-file cli/varying-counts tty/program 2>&1 |
	tee "$work/tests"
if grep -q 'no nvcc here' "$work/tests"; then fail "nvcc was fetched, but is not found"; fi
tail -n 1 "$work/tests" | grep -qE '^[1-9][0-9]* passed, 0 failed$' || fail "tests of whole programs"
