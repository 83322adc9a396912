#!/bin/sh
# Fetches nvcc for whole programs (pmpp-explore prog.cu) where there is no CUDA Toolkit:
#   sh src/setup/compiler.sh build/cuda
# It comes from PyPI, pinned in src/setup/compiler-wheels.txt, and is unpacked beside the headers and
# libraries that src/setup/setup.sh put there; nothing outside that folder changes.
set -u
out=$1
who=programs-compiler
log=$out.log
wheels=src/setup/compiler-wheels.txt
. src/setup/wheels.sh

have_command g++ ||
	die "nvcc needs a C++ compiler for the host part of programs. Run this, then make again:" \
		"  apt-get install g++"
# Names that nvcc's linker asks for. The driver's library (-lcuda) comes with a GPU: the toolkit has a
# stand-in to link with, the wheels have none, so one is made with the driver functions that
# src/runtime serves; it does nothing and is never loaded.
link_names() {
	[ -e "$out/lib64" ] || ln -s lib "$out/lib64"
	for library in cudart nvrtc; do
		[ -e "$out/lib/lib$library.so" ] || ln -s "lib$library.so.13" "$out/lib/lib$library.so"
	done
	[ -e "$out/lib/stubs/libcuda.so" ] && return
	mkdir -p "$out/lib/stubs"
	sed -nE 's/^(API|ALIAS|STUB)\((cu[A-Za-z0-9_]+).*/void \2(void) {}/p' \
		src/runtime/guest/driver/driver.def | sort -u |
		g++ -shared -fPIC -Wl,-soname,libcuda.so.1 -x c -o "$out/lib/stubs/libcuda.so" - ||
		die "libcuda.so, which -lcuda asks for, could not be made with g++."
}

if [ -x "$out/bin/nvcc" ] && [ -r "$out/lib/libcudadevrt.a" ] &&
	cmp -s "$wheels" "$out/compiler.txt"; then
	link_names
	exit 0
fi
on_linux_x86_64 "NVIDIA's wheels are" "Install the CUDA Toolkit 13 and set CUDA_HOME to its folder."
need_pip it
list=$out.compiler.txt
rm -rf "$out.tmp"
mkdir -p "$out" "$out.tmp"
grep -v '^#' "$wheels" >"$list"
# the static libraries that nvcc links with come with the runtime; src/setup/setup.sh drops them
parts='runtime'
[ -r "$out/include/cuda_runtime.h" ] || parts='runtime|crt|cccl'
grep -E "^nvidia-cuda-($parts)=" src/setup/cuda-wheels.txt >>"$list"
printf '  FETCH   %s/bin/nvcc (100 MB from PyPI)\n' "$out"
if ! pip_into_or_say "$out.tmp" "$list"; then
	rm -f "$list"
	die "pip could not fetch it; its words are above and in $log." \
		"Make PyPI reachable (https_proxy, PIP_INDEX_URL), or install the CUDA Toolkit 13."
fi
cp -R "$out.tmp/nvidia/cu13/." "$out/"
rm -rf "$out.tmp" "$list"
link_names
chmod +x "$out"/bin/* "$out"/nvvm/bin/* 2>/dev/null
cp "$wheels" "$out/compiler.txt"
