#!/bin/sh
# Finds or installs what the build needs and writes it down for make: setup.sh build/setup.mk
#
# 1. Compiler, libraries and tools: probed; what is missing comes from apt (as root, or by sudo
#    without a password). Otherwise the command is printed and nothing is changed.
# 2. CUDA: a toolkit in CUDA_HOME, beside nvcc in PATH, or in /usr/local/cuda; where none is
#    complete, NVIDIA's own wheels, pinned in src/setup/cuda-wheels.txt, are unpacked into build/cuda.
#    PMPP_NO_SYSTEM_CUDA=1 behaves as if no toolkit were installed.
# On a machine that has everything this takes a fraction of a second and changes nothing.
set -u
out=$1
cc=${CC:-gcc}
wheels=src/setup/cuda-wheels.txt
headers=src/setup/cuda-headers.txt
log=build/setup.log

who=setup
[ -r src/setup/wheels.sh ] || {
	echo "$who: run from the top of the source tree." >&2
	exit 1
}
. src/setup/wheels.sh

say() { printf 'setup: %s\n' "$*"; }

# --- packages ------------------------------------------------------------------------------------

# What each package gives: a header, a library or a command.
needs='
gcc                  command gcc
libc6-dev            header  stdio.h
libncurses-dev       header  curses.h
libncurses-dev       library ncursesw
libjansson-dev       header  jansson.h
libjansson-dev       library jansson
libyaml-dev          header  yaml.h
libyaml-dev          library yaml
libcyaml-dev         header  cyaml/cyaml.h
libcyaml-dev         library cyaml
libzstd-dev          header  zstd.h
libzstd-dev          library zstd
liblz4-dev           header  lz4.h
liblz4-dev           library lz4
libcmocka-dev        header  cmocka.h
libcmocka-dev        library cmocka
tmux                 command tmux
'
# For one test only, which is skipped without it: comes along when something is installed anyway.
extra=python3-jsonschema

# A name with a '/' means that the compiler found the file.
library_file() {
	for kind in a so; do
		file=$($cc -print-file-name="lib$1.$kind" 2>/dev/null)
		case $file in */*) printf '%s\n' "$file"; return 0 ;; esac
	done
	return 1
}

# cmocka.h wants four standard headers before it.
prelude='#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>'

have_headers() {
	{ printf '%s\n' "$prelude"; for h; do printf '#include <%s>\n' "$h"; done; } |
		$cc -E -xc - >/dev/null 2>&1
}

present() {
	case $1 in
	command) have_command "$2" ;;
	header) have_headers "$2" ;;
	library) library_file "$2" >/dev/null ;;
	esac
}

# All headers in one run of the compiler; one by one only when that fails.
all_present() {
	have_command "${cc%% *}" || return 1
	headers=
	while read -r _ kind name; do
		case $kind in
		'') ;;
		header) headers="$headers $name" ;;
		*) present "$kind" "$name" || return 1 ;;
		esac
	done <<-LIST
	$needs
	LIST
	# shellcheck disable=SC2086
	have_headers $headers
}

missing_packages() {
	while read -r package kind name; do
		[ -n "$kind" ] || continue
		case " $missing " in *" $package "*) continue ;; esac
		present "$kind" "$name" || missing="$missing $package"
	done <<-LIST
	$needs
	LIST
}

# apt_install WHY PACKAGE...
apt_install() {
	reason=$1
	shift
	command="apt-get install -y --no-install-recommends $*"
	have_command apt-get || die "$reason; this machine has no apt-get." \
		"Install the equivalent of these Debian packages, then run make again:" "  $*"
	as_root=
	if [ "$(id -u)" != 0 ]; then
		if have_command sudo && sudo -n true 2>/dev/null; then
			as_root='sudo -n'
		else
			root_shell='sudo sh -c'
			have_command sudo || root_shell='su -c'
			die "$reason. Run this, then make again:" \
				"  $root_shell 'apt-get update && $command'"
		fi
	fi
	say "$reason: installing $* by apt"
	mkdir -p build
	export DEBIAN_FRONTEND=noninteractive
	# shellcheck disable=SC2086
	set -- $command
	: >"$log"
	lists=
	for file in /var/lib/apt/lists/*_Packages*; do
		[ -e "$file" ] && lists=1
	done
	# stale lists name files that are gone: refresh them once and try again
	if [ -z "$lists" ] || ! $as_root "$@" >>"$log" 2>&1 </dev/null; then
		$as_root apt-get update >>"$log" 2>&1 </dev/null
		if ! $as_root "$@" >>"$log" 2>&1 </dev/null; then
			grep -E '^(E|W|Err):?' "$log" | tail -n 8 >&2
			die "apt could not install them (all of its words: $log). The command was:" \
				"  apt-get update && $command"
		fi
	fi
}

# Also what fetching wheels will need, so that one command installs everything.
setup_packages() {
	python=
	[ "$cuda_root" ] || have_pip || python='python3 python3-pip'
	all_present && [ -z "$python" ] && return
	if [ "$cc" != gcc ] && ! have_command "${cc%% *}"; then
		die "the compiler CC=$cc was not found."
	fi
	missing=
	missing_packages
	[ -n "$missing$python" ] || die "$cc cannot read the system's headers:" \
		"$(printf '#include <cyaml/cyaml.h>\n#include <curses.h>\n' | $cc -E -xc - 2>&1 >/dev/null |
			head -n 3)"
	for python3 in python3 /usr/bin/python3; do
		"$python3" -c 'import jsonschema' 2>/dev/null && extra=
	done
	[ "$python" ] || have_disassembler || have_pip || extra="$extra python3 python3-pip"
	# shellcheck disable=SC2086
	apt_install "packages are missing" $missing $python $extra
	missing=
	missing_packages
	[ -z "$missing" ] || die "still not usable after installation:$missing" \
		"($cc finds no header or library of theirs)"
	[ -z "$python" ] || have_pip || die "python3 -m pip does not work after installation."
}

# Archives where there are any, so that the program can be carried to another machine.
static_libs() {
	mode=
	for lib in cyaml yaml jansson ncursesw tinfo; do
		file=$(library_file "$lib") || continue # tinfo is part of ncurses in places
		case $file in *.a) want=static ;; *) want=dynamic ;; esac
		[ "$mode" = $want ] || printf ' -Wl,-B%s' "$want"
		mode=$want
		printf ' -l%s' "$lib"
	done
	[ "$mode" = dynamic ] || printf ' -Wl,-Bdynamic'
}

# --- CUDA ----------------------------------------------------------------------------------------

cuda_headers=$(sed 's/#.*//' "$headers")

# The part of toolkit $1 that is missing; empty = complete.
cuda_lacks() {
	for h in $cuda_headers; do
		[ -r "$1/include/$h" ] || [ -r "$1/extras/CUPTI/include/$h" ] || {
			printf 'include/%s' "$h"
			return
		}
	done
	for lib in "$1"/lib64 "$1"/lib "$1"/targets/*/lib; do
		for v in 13 12; do
			[ -r "$lib/libnvrtc.so.$v" ] && return
		done
	done
	printf 'lib/libnvrtc.so.13'
}

# Sets cuda_root when the toolkit in $1 (found through $2) is complete.
try_cuda() {
	[ -z "$cuda_root" ] && [ -n "$1" ] || return 0
	if [ ! -d "$1" ]; then
		looked="$looked
$2: $1 does not exist"
		return 0
	fi
	lacks=$(cuda_lacks "$1")
	if [ -z "$lacks" ]; then
		cuda_root=$1
	else
		looked="$looked
$2: $1 has no $lacks"
	fi
}

find_cuda() {
	case ${PMPP_NO_SYSTEM_CUDA:-} in '' | 0) ;; *)
		looked='
PMPP_NO_SYSTEM_CUDA is set'
		return ;;
	esac
	if [ -n "${CUDA_HOME:-}" ]; then
		try_cuda "$CUDA_HOME" CUDA_HOME
	fi
	nvcc=$(command -v nvcc 2>/dev/null) && {
		nvcc=$(readlink -f "$nvcc")
		try_cuda "$(dirname "$(dirname "$nvcc")")" "nvcc in PATH"
	}
	try_cuda /usr/local/cuda /usr/local/cuda
}

fetch_wheels() {
	machine=$(uname -s)-$(uname -m)
	why="no complete CUDA Toolkit was found:$looked"
	[ "$machine" = Linux-x86_64 ] ||
		die "$why" "NVIDIA's wheels are pinned for Linux-x86_64 only, and this is $machine." \
			"Install the CUDA Toolkit 13 and set CUDA_HOME to its folder."
	say "$why"
	say "fetching NVIDIA's wheels (106 MB) into build/cuda"
	rm -rf build/cuda build/cuda.tmp
	mkdir -p build/cuda.tmp
	pip_into_or_say build/cuda.tmp "$wheels" ||
		die "pip could not fetch NVIDIA's wheels; its words are above and in $log." \
			"Make PyPI reachable (https_proxy, PIP_INDEX_URL), or install the CUDA Toolkit 13" \
			"and set CUDA_HOME to its folder."
	# never opened: second builds of NVRTC, static libraries, CMake files
	rm -rf build/cuda.tmp/nvidia/cu13/lib/*.alt.so* build/cuda.tmp/nvidia/cu13/lib/*.a \
		build/cuda.tmp/nvidia/cu13/lib/cmake
	mkdir build/cuda.tmp/nvidia/cu13/licenses
	for info in build/cuda.tmp/*.dist-info; do
		name=$(basename "$info" .dist-info)
		cp "$info"/licenses/* "build/cuda.tmp/nvidia/cu13/licenses/$name.txt" 2>/dev/null
	done
	cp "$wheels" build/cuda.tmp/nvidia/cu13/wheels.txt
	mv build/cuda.tmp/nvidia/cu13 build/cuda
	rm -rf build/cuda.tmp
	lacks=$(cuda_lacks build/cuda)
	[ -z "$lacks" ] || die "NVIDIA's wheels, unpacked into build/cuda, have no $lacks."
}

# Shows machine code; not every toolkit has it. Nothing else needs it, so its absence is no failure.
disassembler=bin/nvdisasm
have_disassembler() {
	[ -x "$cuda_root/$disassembler" ] || [ -x "build/cuda/$disassembler" ] || have_command nvdisasm
}

fetch_disassembler() {
	have_disassembler && return
	have_pip || {
		say "no nvdisasm, and no pip to fetch it: listings of machine code need it later"
		return
	}
	[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || return
	say "fetching nvdisasm (5 MB) into build/cuda"
	rm -rf build/cuda.tmp
	mkdir -p build/cuda.tmp "build/cuda/${disassembler%/*}"
	grep '^nvidia-cuda-nvdisasm' "$wheels" >build/cuda.tmp/wheel.txt
	if pip_into build/cuda.tmp/wheel build/cuda.tmp/wheel.txt; then
		mv "build/cuda.tmp/wheel/nvidia/cu13/$disassembler" "build/cuda/$disassembler"
	else
		say "pip could not fetch it (its words: $log); listings of machine code need it later"
	fi
	rm -rf build/cuda.tmp
}

wheels_present() {
	cmp -s "$wheels" build/cuda/wheels.txt && [ -z "$(cuda_lacks build/cuda)" ]
}

# --- all of it -----------------------------------------------------------------------------------

mkdir -p build
cuda_root=
looked=
find_cuda
[ -n "$cuda_root" ] || ! wheels_present || cuda_root=build/cuda
setup_packages
[ -n "$cuda_root" ] || {
	fetch_wheels
	cuda_root=build/cuda
}
fetch_disassembler
flags="-isystem $cuda_root/include"
[ ! -d "$cuda_root/extras/CUPTI/include" ] ||
	flags="$flags -isystem $cuda_root/extras/CUPTI/include"
{
	printf '# Written by src/setup/setup.sh. make writes it anew when CUDA_HOME changes.\n'
	printf 'SETUP_FROM := %s|%s\n' "${CUDA_HOME:-}" "${PMPP_NO_SYSTEM_CUDA:-}"
	printf 'CUDA_ROOT := %s\n' "$cuda_root"
	printf 'CUDA_CFLAGS := %s\n' "$flags"
	printf 'STATIC_LIBS :=%s\n' "$(static_libs)"
} >"$out.tmp" && mv "$out.tmp" "$out"
