#!/bin/sh
# Checks the layer rule by what each file includes:
#
#   base <- model <- {compile, ptx, sass} <- backend <- {emu, cuda} <- userkernel <- lab <- cli
#   model <- ui <- cli; emu and cuda do not know each other, ui knows neither them nor lab
#   views see ui/view.h, ui/canvas.h, model/, base/; kernels see model/kernel.h and base/
#   <curses.h> only in src/ui/term.c; CUDA's headers only in src/cuda, src/compile,
#   src/model/occupancy*.c and the device half of kernels
#   file names are unique within src/ (src/cli apart: one file per verb)
#
#   layers.sh [FOLDER]      checks the tree (default: here)
#   layers.sh --self-test   checks that every kind of violation is caught
# The self-test also runs before every check. Messages are file:line: what is wrong.
set -u

check() {
	find src views kernels -name '*.[ch]' -o -name '*.cu' 2>/dev/null | LC_ALL=C sort | awk '
	function fail(file, line, message) {
		printf "%s:%d: %s\n", file, line, message
		bad = 1
	}
	function layer_of(path,    n, part) {
		n = split(path, part, "/")
		if (part[1] != "src")
			return part[1]
		return n == 2 ? "main" : part[2]
	}
	function dir_of(path) {
		sub("/[^/]*$", "", path)
		return path
	}
	function is_curses(name) {
		return name ~ /^(ncurses[w]?\/)?(n?curses|term|panel|form|menu)(_dll)?\.h$/
	}
	function is_cuda(name) {
		return name ~ /^(cuda|cupti|nvrtc|nvperf|nvml|cublas|curand|cooperative_groups|mma\.h|crt\/|nvtx3?|nvToolsExt|driver_types|vector_types|device_launch|builtin_types|channel_descriptor|generated_)/
	}
	function cuda_allowed(file, device) {
		return file ~ /^src\/(cuda|compile)\// || file ~ /^src\/model\/occupancy[^\/]*\.c$/ ||
			(file ~ /^kernels\// && device)
	}
	BEGIN {
		may["base"] = " base "
		may["model"] = " base model "
		may["compile"] = " base model compile "
		may["ptx"] = " base model ptx "
		may["sass"] = " base model compile sass "
		may["backend"] = " base model compile backend "
		may["emu"] = " base model compile ptx sass backend emu "
		may["cuda"] = " base model compile backend cuda "
		may["userkernel"] = " base model compile userkernel "
		may["lab"] = " base model compile backend userkernel lab "
		may["ui"] = " base model ui "
		may["views"] = " base model "
		may["kernels"] = " base "
		may["cli"] = " base model compile backend userkernel lab ui cli "
		may["main"] = " base model compile backend userkernel lab ui cli cuda "
	}
	# a file of the program, quoted: resolved as the compiler does (its own folder, then src/)
	function quoted(file, line, name, from,    target, to) {
		if (name == "kernels.def" || name == "views.def") {
			if (file != "src/lab/registry.c" && file !~ /^src\/compile\/tool\//)
				fail(file, line, "generated table " name " belongs to src/lab/registry.c")
			return
		}
		target = (dir_of(file) "/" name) in known ? dir_of(file) "/" name : "src/" name
		if (name ~ /\.def$/)
			target = dir_of(target) "/."
		else if (!(target in known)) {
			if (is_curses(name) || is_cuda(name))
				system_header(file, line, name, 0)
			else
				fail(file, line, "\"" name "\" is no file of src/ (system headers go in <>)")
			return
		}
		to = layer_of(target)
		if (index(may[from], " " to " ")) {
			return
		}
		if (from == "views" && (target == "src/ui/view.h" || target == "src/ui/canvas.h"))
			return
		if (from == "kernels" && target == "src/model/kernel.h")
			return
		if (from == "views" && to == "ui")
			fail(file, line, "views see only ui/view.h and ui/canvas.h of ui, not " name)
		else if (from == "kernels" && to == "model")
			fail(file, line, "kernels see only model/kernel.h of model, not " name)
		else
			fail(file, line, from " may not include " name " (layer " to ")")
	}
	function system_header(file, line, name, device) {
		if (is_curses(name) && file != "src/ui/term.c")
			fail(file, line, "<" name "> belongs to src/ui/term.c alone")
		if (is_cuda(name) && !cuda_allowed(file, device))
			fail(file, line, "CUDA header <" name "> is not for this file")
	}
	function scan(file,    line, text, n, from, depth, device, name, cond) {
		from = layer_of(file)
		if (!(from in may))
			fail(file, 1, "folder of no layer: add it to tests/layers.sh")
		while ((getline text < file) > 0) {
			line++
			if (text !~ /^[ \t]*#/)
				continue
			sub(/^[ \t]*#[ \t]*/, "", text)
			# which half of a kernel file: device[depth] says "inside __CUDACC__"
			if (text ~ /^if/) {
				cond = text
				depth++
				device[depth] = device[depth - 1]
				if (cond ~ /^ifdef[ \t]+__CUDACC__/ || cond ~ /^if[ \t]+defined[ (]*__CUDACC__/)
					device[depth] = 1
				else if (cond ~ /^ifndef[ \t]+__CUDACC__/ || cond ~ /^if[ \t]+!defined[ (]*__CUDACC__/)
					device[depth] = 0
				isif[depth] = cond ~ /__CUDACC__/
			} else if (text ~ /^else/ && isif[depth]) {
				device[depth] = !device[depth]
			} else if (text ~ /^endif/) {
				depth--
			} else if (text ~ /^include/) {
				n = split(text, name, /["<>]/)
				if (text ~ /^include[ \t]*"/)
					quoted(file, line, name[2], from)
				else if (n >= 2)
					system_header(file, line, name[2], device[depth])
			}
		}
		close(file)
	}
	{ known[$0] = 1; files[++count] = $0 }
	END {
		for (i = 1; i <= count; i++) {
			file = files[i]
			scan(file)
			if (file !~ /^src\/cli\// && file ~ /^src\//) {
				base = file
				sub(/.*\//, "", base)
				if (base in first)
					fail(file, 1, "the name " base " is taken by " first[base])
				else
					first[base] = file
			}
		}
		exit bad
	}'
}

# --- self-test -----------------------------------------------------------------------------------

put() { # file, line to put into it
	mkdir -p "$(dirname "$1")"
	printf '/* a file */\n%s\n' "$2" >"$1"
}

# A tree that keeps the rule.
good_tree() {
	put src/base/text.h '#include <stdio.h>'
	put src/model/kernel.h '#include "base/text.h"'
	put src/model/gpu.h '#include "base/text.h"'
	put src/model/occupancy.c '#include <cuda_occupancy.h>'
	put src/compile/compile.c '#include <nvrtc.h>'
	put src/ptx/ptx.h '#include "model/gpu.h"'
	put src/backend/backend.h '#include "model/gpu.h"'
	put src/emu/engine.c '#include "backend/backend.h"'
	put src/cuda/driver.c '#include <cuda.h>'
	put src/cuda/driver.h '#include "backend/backend.h"'
	put src/ui/canvas.h '#include "model/gpu.h"'
	put src/ui/view.h '#include "ui/canvas.h"'
	put src/ui/screen.h '#include "ui/view.h"'
	put src/ui/term.c '#include <curses.h>'
	put src/lab/registry.c '#include "kernels.def"'
	put src/lab/app.h '#include "model/gpu.h"'
	put src/lab/app.c '#include "backend/backend.h"'
	put src/cli/app.c '#include "backend/backend.h"'
	put views/roofline.c '#include "ui/view.h"'
	put kernels/gemm.cu '#include "model/kernel.h"'
	printf '#ifdef __CUDACC__\n#include <mma.h>\n#else\n#include <math.h>\n#endif\n' >kernels/half.cu
}

failures=0
# What, the file that breaks the rule, its second line, a part of the expected message.
expect() {
	rm -rf src views kernels
	good_tree
	put "$2" "$3"
	got=$(check)
	status=$?
	case $got in
	"$2"*"$4"*) [ "$status" -ne 0 ] && return ;;
	esac
	printf 'self-test: not caught: %s\n  got (status %d): %s\n' "$1" "$status" "$got"
	failures=$((failures + 1))
}

self_test() {
	here=$(pwd)
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-layers-XXXXXX") || return 1
	cd "$scratch" || return 1
	good_tree
	got=$(check) || {
		printf 'self-test: a good tree is refused:\n%s\n' "$got"
		failures=1
	}
	expect 'base to model' src/base/a.c '#include "model/gpu.h"' ':2: base may'
	expect 'model to ptx' src/model/a.c '#include "ptx/ptx.h"' 'model may not include'
	expect 'compile to ptx' src/compile/a.c '#include "ptx/ptx.h"' 'compile may not include'
	expect 'ptx to backend' src/ptx/a.c '#include "backend/backend.h"' 'ptx may not include'
	expect 'backend to ui' src/emu/a.c '#include "ui/canvas.h"' 'may not include'
	expect 'emu to cuda' src/emu/a.c '#include "cuda/driver.h"' 'emu may not include'
	expect 'ui to backend' src/ui/a.c '#  include "backend/backend.h"' 'ui may not include'
	expect 'ui to app' src/ui/a.c '#include "lab/app.h"' 'ui may not include'
	expect 'no such file' src/ui/a.c '#include "ui/absent.h"' 'no file of src/'
	expect 'view to screen' views/a.c '#include "ui/screen.h"' 'views see only'
	expect 'view to backend' views/a.c '#include "backend/backend.h"' 'views may not include'
	expect 'kernel to gpu' kernels/a.cu '#include "model/gpu.h"' 'kernels see only'
	expect 'kernel to ui' kernels/a.cu '#include "ui/view.h"' 'kernels may not include'
	expect 'CUDA in host half' kernels/a.cu '#include <cuda_runtime.h>' 'CUDA header'
	expect 'CUDA in model' src/model/a.c '#include <cuda.h>' 'CUDA header'
	expect 'CUPTI in emu' src/emu/a.c '#include <cupti.h>' 'CUDA header'
	expect 'curses in ui' src/ui/a.c '#include <curses.h>' 'term.c alone'
	expect 'quoted curses' views/a.c '#include "curses.h"' 'term.c alone'
	expect 'same name' src/ptx/compile.c '#include <stdio.h>' 'is taken by src/compile/compile.c'
	expect 'table elsewhere' src/ui/a.c '#include "kernels.def"' 'belongs to src/lab/registry.c'
	expect 'new folder' src/extra/a.c '#include <stdio.h>' 'folder of no layer'
	cd "$here" || return 1
	rm -rf "$scratch"
	[ "$failures" -eq 0 ]
}

self_test || exit 1
[ "${1:-}" != --self-test ] || {
	echo 'layers: every kind of violation is caught'
	exit 0
}
cd "${1:-.}" || exit 1
check || exit 1
echo "layers: $(find src views kernels -name '*.[ch]' -o -name '*.cu' | wc -l) files keep the rule"
