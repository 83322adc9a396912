#!/bin/bash
# Builds HEAD with a compiler that finds the headers of the packages that setup.sh names and of
# NVIDIA's wheels, and no other: what check-bare.sh falls back to where it can make no chroot.
#
# First it checks itself: a header taken out of the packages' folder, which this machine's compiler
# finds in its default folders, must stop the build. Needs the packages, gcc and dpkg.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-include-XXXXXX")
trap 'rm -rf "$work"' EXIT
say() { printf 'include-path: %s\n' "$*"; }
log=$PWD/build/bare/include-path.log
mkdir -p "${log%/*}"

command -v dpkg-query >/dev/null || {
	say "needs Debian's dpkg to know which header is whose"
	exit 1
}
multiarch=$(gcc -print-multiarch)
printf '[safe]\n\tdirectory = *\n' >"$work/.gitconfig"
HOME=$work XDG_CONFIG_HOME=$work git clone -q --depth 1 "file://$PWD" "$work/clone"

# The -dev packages that setup.sh names, and those that they need (of alternatives, what is there).
packages() {
	local left names
	left=$(sed -n "/^needs='/,/^'/s/^\([a-z0-9.+-]*-dev\) .*/\1/p" src/setup/setup.sh | sort -u)
	while [ -n "$left" ]; do
		left=$(for p in $left; do
			dpkg-query -W -f '${Package} ${Status}\n' "$p" 2>/dev/null |
				sed -n 's/ install ok installed//p'
		done)
		printf '%s\n' "$left"
		names=$(for p in $left; do dpkg-query -W -f '${Depends}\n' "$p"; done | tr ',|' '\n')
		left=$(printf '%s\n' "$names" | sed 's/^ *//; s/[ (:].*//' | sed -n '/-dev$/p' | sort -u)
	done | sort -u
}
# Links to their headers.
include=$work/include
for package in $(packages); do
	dpkg-query -L "$package" | grep '^/usr/include/' | while read -r file; do
		[ ! -d "$file" ] || continue
		mkdir -p "$work$(dirname "${file#/usr}")"
		ln -sf "$file" "$work${file#/usr}"
	done
done
cat >"$work/cc" <<X
#!/bin/sh
unset CPATH C_INCLUDE_PATH
exec gcc -nostdinc -isystem $(gcc -print-file-name=include) \
	-isystem $include/$multiarch -isystem $include "\$@"
X
chmod +x "$work/cc"

say "self-test: without curses.h, which gcc finds here, src/ui/term.c must not compile"
cp -r "$include" "$work/planted"
rm "$work/planted/curses.h"
sed "s|$include|$work/planted|g" "$work/cc" >"$work/cc-planted"
chmod +x "$work/cc-planted"
flags='-std=c11 -D_POSIX_C_SOURCE=200809L -Isrc -fsyntax-only'
# shellcheck disable=SC2086
"$work/cc" $flags src/ui/term.c || { say "FAILED: it does not compile with it either"; exit 1; }
# shellcheck disable=SC2086
if ! gcc $flags src/ui/term.c || "$work/cc-planted" $flags src/ui/term.c 2>"$work/err"; then
	say "FAILED: the header was found in a folder that is no package's"
	exit 1
fi
grep -q 'curses.h: No such file' "$work/err" || { cat "$work/err"; exit 1; }

headers=$(find "$include" -type l | wc -l)
say "the build, with $headers headers of $(packages | wc -l) packages; log: ${log#"$PWD"/}"
cd "$work/clone"
unset CUDA_HOME CUDA_PATH MAKEFLAGS MAKELEVEL MAKEOVERRIDES MFLAGS
if ! PMPP_NO_SYSTEM_CUDA=1 make CC="$work/cc" test-programs >"$log" 2>&1; then
	tail -n 20 "$log"
	say "FAILED"
	exit 1
fi
say "ok: the program and its tests build"
