"""Plants every kind of violation in a small tree; layers.py must name the file and the reason."""
import os
import subprocess
import tempfile

import layers

GOOD = {
    "src/base/text.h": "#include <stdio.h>\nint text_length(void);",
    "src/base/text.c": '#include "base/text.h"\nint text_length(void) { return 1; }',
    "src/model/kernel.h": '#include "base/text.h"\nstruct param_desc { const char *name; };',
    "src/model/gpu.h": '#include "base/text.h"',
    "src/model/gpu.c": '#include "model/gpu.h"\nint gpu_count(void) { return text_length(); }',
    "src/model/occupancy.c": "#ifdef NEVER\n#include <cuda_occupancy.h>\n#endif",
    "src/compile/compile.c": "#ifdef NEVER\n#include <nvrtc.h>\n#endif",
    "src/compile/tool/prefill.c": '#include "kernels.def"',
    "src/ptx/ptx.h": '#include "model/gpu.h"',
    "src/backend/backend.h": '#include "model/gpu.h"',
    "src/emu/backend_emu.c": '#include "backend/backend.h"',
    "src/emu/ir/ir.h": "enum op { OP_ADD };",
    "src/emu/vm/warp.h": "struct warp;",
    "src/emu/vm/vm.h": '#include "emu/ir/ir.h"\nint machine_run(void);',
    "src/emu/vm/machine.c": '#include "emu/vm/vm.h"\nint machine_run(void) { return 0; }',
    "src/cuda/driver.h": '#include "backend/backend.h"',
    "src/cuda/driver.c": "#ifdef NEVER\n#include <cuda.h>\n#endif",
    "src/ui/canvas.h": '#include "model/gpu.h"\nint canvas_text(void);',
    "src/ui/canvas.c": '#include "ui/canvas.h"\nint canvas_text(void) { return 0; }',
    "src/ui/view.h": '#include "ui/canvas.h"',
    "src/ui/screen.h": '#include "ui/view.h"',
    "src/ui/term.c": "#ifdef NEVER\n#include <curses.h>\n#endif",
    "src/lab/registry.c": '#include "kernels.def"\nint view_roofline(void);\n'
    "int registry(void) { return view_roofline(); }",
    "src/lab/session.h": '#include "model/gpu.h"',
    "views/roofline.c": '#include "ui/view.h"\nint view_roofline(void) { return canvas_text(); }',
    "kernels/gemm.cu": '#include "model/kernel.h"\nstatic const struct param_desc params[N] = {\n'
    '\t[0] = { .name = "TILE" },\n\t[1] = SIZE("M", "rows"),\n\t[2] = KNOB(BK, 1),\n};',
    "kernels/half.cu": "#ifdef __CUDACC__\n#include <mma.h>\n#else\n#include <math.h>\n#endif",
}

# what, the file that breaks the rule, its text, a part of the message
INCLUDES = [
    ("base to model", "src/base/a.c", '#include "model/gpu.h"', "base may not use layer model"),
    ("model to ptx", "src/model/a.c", '#include "ptx/ptx.h"', "model may not use layer ptx"),
    ("compile to ptx", "src/compile/a.c", '#include "ptx/ptx.h"', "may not use layer ptx"),
    ("ptx to seam", "src/ptx/a.c", '#include "backend/backend.h"', "may not use layer backend"),
    ("engine to ui", "src/emu/a.c", '#include "ui/canvas.h"', "may not use layer ui"),
    ("emu to cuda", "src/emu/a.c", '#include "cuda/driver.h"', "may not use layer cuda"),
    ("ui to seam", "src/ui/a.c", '#  include "backend/backend.h"', "may not use layer backend"),
    ("ui to lab", "src/ui/a.c", '#include "lab/session.h"', "may not use layer lab"),
    ("lab to ui", "src/lab/a.c", '#include "ui/view.h"', "may not use layer ui"),
    ("no such file", "src/ui/a.c", '#include "ui/absent.h"', "no file of src/"),
    ("view to screen", "views/a.c", '#include "ui/screen.h"', "views may not use layer ui"),
    ("view to seam", "views/a.c", '#include "backend/backend.h"', "views may not use"),
    ("kernel to gpu", "kernels/a.cu", '#include "model/gpu.h"', "kernels may not use layer model"),
    ("CUDA in host half", "kernels/a.cu", "#include <cuda_runtime.h>", "CUDA header"),
    ("CUDA in model", "src/model/a.c", "#include <cuda.h>", "CUDA header"),
    ("CUPTI in emu", "src/emu/a.c", "#include <cupti.h>", "CUDA header"),
    ("curses in ui", "src/ui/a.c", "#include <curses.h>", "term.c alone"),
    ("quoted curses", "views/a.c", '#include "curses.h"', "term.c alone"),
    ("room order", "src/emu/ir/a.c", '#include "emu/vm/vm.h"', "emu/ir stands before emu/vm"),
    ("past the door", "src/emu/launch/a.c", '#include "emu/vm/warp.h"', "the door of that room is"),
    ("same name", "src/ptx/compile.c", "", "the name compile is taken by a file in src/compile"),
    ("table elsewhere", "src/ui/a.c", '#include "kernels.def"', "kernels.def belongs to"),
    ("new folder", "src/extra/a.c", "", "folder of no layer"),
    ("new room", "src/emu/extra/a.c", "", "room of no place"),
    ("header circle", "src/base/text.h", '#include "base/b.h"', "a circle of 2 files"),
    ("view by name", "src/lab/a.c", 'const char *a = "roofline";', '"roofline" names a view'),
    ("kernel by name", "src/ui/a.c", 'const char *a = "gemm";', '"gemm" names a kernel'),
    ("parameter by name", "src/cli/a.c", 'const char *a = "TILE";', '"TILE" names a parameter'),
    ("parameter of a macro", "src/cli/a.c", 'const char *a = "M";', '"M" names a parameter'),
    ("bare parameter", "src/cli/a.c", 'const char *a = "BK";', '"BK" names a parameter'),
    ("unread parameters", "kernels/a.cu", "struct param_desc p;", "no parameter names found"),
]
# These are compiled: the symbol tables must show them although no header is included.
CALLS = [
    ("call above", "src/base/a.c", "int gpu_count(void);\nint a(void) { return gpu_count(); }",
     "calls gpu_count() of src/model/gpu.c: layer base may not use layer model"),
    ("call of a view", "src/lab/a.c",
     "int view_roofline(void);\nint a(void) { return view_roofline(); }",
     "layer lab may not use layer views"),
    ("call to a later room", "src/emu/ir/a.c",
     "int machine_run(void);\nint a(void) { return machine_run(); }",
     "emu/ir stands before emu/vm"),
    ("circle of calls", "src/model/a.c", "int b(void);\nint a(void) { return b(); }",
     "calls b() of src/model/b.c: a circle of 2 files"),
]
COMPANIONS = {
    "header circle": ("src/base/b.h", '#include "base/text.h"'),
    "circle of calls": ("src/model/b.c", "int a(void);\nint b(void) { return a(); }"),
}


def put(file, text):
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w", encoding="utf-8") as stream:
        stream.write("/* a \"file\" */\n" + text + "\n")


def compile_file(file):
    """An object for every source; the kernels of the small tree are not real C."""
    command = os.environ.get("CC", "cc").split() + ["-w", "-Isrc", "-Igen", "-o", object_of(file)]
    source = ["-c", file] if file.endswith(".c") else ["-x", "c", "-c", os.devnull]
    subprocess.run(command + source, check=True)


def object_of(file):
    target = "obj/" + os.path.splitext(file)[0] + ".o"
    os.makedirs(os.path.dirname(target), exist_ok=True)
    return target


def message_of(case, calls):
    """What the check says of the file of the case, planted in the good tree."""
    what, file, text, _ = case
    planted = {file: text}
    if what in COMPANIONS:
        planted.update([COMPANIONS[what]])
    for name, body in planted.items():
        put(name, body)
        if calls:
            compile_file(name)
    errors, _ = layers.check("obj" if calls else None)
    for name in planted:
        if name in GOOD:
            put(name, GOOD[name])
        else:
            os.remove(name)
            if not os.listdir(os.path.dirname(name)):
                os.rmdir(os.path.dirname(name))
    return "\n".join(f"{f}:{line}: {m}" for f, line, m in errors if f == file)


def run():
    """0 when the good tree passes and every violation is found."""
    failures = []
    here = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="pmpp-layers-") as scratch:
        os.chdir(scratch)
        put("gen/kernels.def", "")
        for file, text in GOOD.items():
            put(file, text)
            if file.endswith((".c", ".cu")):
                compile_file(file)
        errors, _ = layers.check("obj")
        failures += [f"a good tree is refused: {e}" for e in errors]
        for cases, calls in ((INCLUDES, False), (CALLS, True)):
            for case in cases:
                said = message_of(case, calls)
                if case[3] not in said:
                    failures.append(f"not caught: {case[0]}\n  said: {said or 'nothing'}")
        put("src/base/unbuilt.c", "")
        if not any("has no object" in e[2] for e in layers.check("obj")[0]):
            failures.append("not caught: a file without an object")
        os.chdir(here)
    for line in failures:
        print("self-test:", line)
    if not failures:
        print(f"layers: {len(INCLUDES) + len(CALLS) + 1} kinds of violation are caught")
    return 1 if failures else 0
