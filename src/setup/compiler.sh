#!/bin/sh
# Fetches nvcc for whole programs (pmpp-explore prog.cu) where there is no CUDA Toolkit:
#   sh src/setup/compiler.sh build/cuda
# It comes from PyPI, pinned in src/setup/compiler-wheels.txt, and is unpacked beside the headers and
# libraries that src/setup/setup.sh put there; nothing outside that folder changes.
set -u
out=$1
wheels=src/setup/compiler-wheels.txt

die() {
	printf 'programs-compiler: %s\n' "$1" >&2
	shift
	for line; do printf '                   %s\n' "$line" >&2; done
	exit 1
}

command -v g++ >/dev/null ||
	die "nvcc needs a C++ compiler for the host part of programs. Run this, then make again:" \
		"  apt-get install g++"
if [ -x "$out/bin/nvcc" ] && [ -r "$out/lib/libcudadevrt.a" ] &&
	cmp -s "$wheels" "$out/compiler.txt"; then
	exit 0
fi
machine=$(uname -s)-$(uname -m)
[ "$machine" = Linux-x86_64 ] ||
	die "NVIDIA's wheels are pinned for Linux-x86_64 only, and this is $machine." \
		"Install the CUDA Toolkit 13 and set CUDA_HOME to its folder."
command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 ||
	die "python3 with pip is needed to fetch it. Run this, then make again:" \
		"  apt-get install python3 python3-pip"
list=$out.compiler.txt
rm -rf "$out.tmp"
mkdir -p "$out" "$out.tmp"
grep -v '^#' "$wheels" >"$list"
# the static libraries that nvcc links with come with the runtime; src/setup/setup.sh drops them
parts='runtime'
[ -r "$out/include/cuda_runtime.h" ] || parts='runtime|crt|cccl'
grep -E "^nvidia-cuda-($parts)=" src/setup/cuda-wheels.txt >>"$list"
printf '  FETCH   %s/bin/nvcc (100 MB from PyPI)\n' "$out"
if ! PIP_USER=0 PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet \
	--disable-pip-version-check --no-input --no-deps --no-compile --only-binary :all: \
	--require-hashes --no-warn-conflicts --target "$out.tmp" -r "$list" >"$out.log" 2>&1 </dev/null
then
	grep -v '^WARNING: Retrying' "$out.log" | tail -n 12 >&2
	rm -rf "$out.tmp" "$list"
	die "pip could not fetch it; its words are above and in $out.log." \
		"Make PyPI reachable (https_proxy, PIP_INDEX_URL), or install the CUDA Toolkit 13."
fi
cp -R "$out.tmp/nvidia/cu13/." "$out/"
rm -rf "$out.tmp" "$list"
# where nvcc looks for libraries, and the name that its linker asks for
[ -e "$out/lib64" ] || ln -s lib "$out/lib64"
[ -e "$out/lib/libcudart.so" ] || ln -s libcudart.so.13 "$out/lib/libcudart.so"
chmod +x "$out"/bin/* "$out"/nvvm/bin/* 2>/dev/null
cp "$wheels" "$out/compiler.txt"
