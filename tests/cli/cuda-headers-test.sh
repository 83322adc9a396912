#!/bin/sh
# CUDA's headers: sources include only those of src/setup/cuda-headers.txt, which the build finds on
# every machine; and what src/cuda/cublas_decl.h declares is what NVIDIA's own header declares.
set -u
cd "$TEST_ROOT" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# strangers FOLDER...: file:line:name of every CUDA header included that is not on the list
strangers() {
	grep -rnE --include='*.[ch]' --include='*.cu' --include='*.def' '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' "$@" |
		sed 's/^\([^:]*:[0-9]*\):[^<"]*[<"]\([^>"]*\).*/\1:\2/' |
		awk -F: -v list=src/setup/cuda-headers.txt '
		BEGIN { while ((getline name < list) > 0) if (name !~ /^#/) known[name] = 1 }
		$3 ~ /^cuda\// || $3 ~ /^curses/ || $3 in known { next }
		$3 ~ /^(cu|nv|crt\/|cooperative_groups|mma\.h|(builtin|device|driver|host|library|surface|texture|vector)_)/ ||
		$3 ~ /^(channel_descriptor|math_constants|generated_cu|sm_[0-9])/ { print }'
}

mkdir "$work/planted"
printf '#include <cuda.h>\n#include <cublas_v2.h>\n# include "nvml.h"\n' >"$work/planted/a.c"
found=$(strangers "$work/planted" | sed 's/.*://' | tr '\n' ' ')
if [ "$found" = 'cublas_v2.h nvml.h ' ]; then
	echo 'ok planted headers are found'
else
	echo "not ok planted headers are found: '$found'"
fi

strange=$(strangers src views kernels tests | grep -vE "^(tests/programs|tests/gpu/micro|tests/data/own|tests/data/machine|src/compile/nvcc)/|^tests/gpu/carveout_sizes.cu:") # those are for nvcc
if [ -z "$strange" ]; then
	echo 'ok sources include only the CUDA headers of the list'
else
	printf '%s\n' "$strange" | sed 's/$/ is not in src\/setup\/cuda-headers.txt/'
	echo 'not ok sources include only the CUDA headers of the list'
fi

root=$(sed -n 's/^CUDA_ROOT := //p' build/setup.mk)
flags=$(sed -n 's/^CUDA_CFLAGS := //p' build/setup.mk)
lacking=
for h in $(sed 's/#.*//' src/setup/cuda-headers.txt); do
	[ -r "$root/include/$h" ] || [ -r "$root/extras/CUPTI/include/$h" ] || lacking="$lacking $h"
done
if [ -z "$lacking" ]; then
	echo 'ok the CUDA that was found has every header of the list'
else
	echo "not ok the CUDA that was found ($root) has every header of the list: no$lacking"
fi

cat >"$work/cublas.c" <<'C'
#include <cublas_v2.h>
#include "cuda/cublas_decl.h"
#define X(type, name, value) _Static_assert((int)name == value && sizeof(type) == 4, #name);
CUBLAS_ENUMERATORS(X)
C
name="cuBLAS is declared as NVIDIA's header does"
# shellcheck disable=SC2086
if ! echo '#include <cublas_v2.h>' | cc $flags -E -xc - >/dev/null 2>&1; then
	echo "skip $name: no cublas_v2.h here"
elif cc -std=c11 -Werror -Isrc $flags -fsyntax-only "$work/cublas.c" 2>"$work/err"; then
	echo "ok $name"
else
	cat "$work/err"
	echo "not ok $name"
fi
