"""The layer rule of src/README.md, checked by what files include and by what they call.

    layers.py OBJECTS        checks the tree in the current folder; OBJECTS is build/obj
    layers.py --self-test    plants every kind of violation and sees that each is found

Messages are file:line: what is wrong; the exit status is 1 when there is one. The rule:

 - a folder of src/ is a layer and uses only the layers MAY_USE grants it;
 - the rooms of src/emu stand in the order of EMU_ROOMS: a room uses only rooms before it, and
   includes only their doors: of room vm the header vm/vm.h and tables (.def);
 - no circle between files: not by includes, not by calls. The objects' symbol tables say who
   calls whom, so a declaration written by hand hides nothing; a call through a pointer is free;
 - src/lab/registry.c knows kernels and engines by name, src/cli/view_list.c views (from generated
   tables); code of lab, ui and cli names no kernel, view or parameter in a string;
 - <curses.h> belongs to src/ui/term.c, CUDA's headers to the folders of CUDA_FOLDERS;
 - a file name is used in one folder only.
"""
import collections
import os
import re
import subprocess
import sys

BELOW_ENGINES = "base model timemodel compile ptx sass backend"
MAY_USE = {
    "base": "",
    "model": "base",
    "timemodel": "base model",
    "compile": "base model",
    "ptx": "base model",
    "sass": "base model compile",
    "backend": "base model timemodel compile",
    "emu": BELOW_ENGINES,
    "cuda": "base model timemodel compile backend",
    "runtime": BELOW_ENGINES + " emu cuda",
    "userkernel": "base model compile",
    "lab": "base model timemodel compile sass backend runtime userkernel",
    "ui": "base model",
    "views": "base model",
    "kernels": "base",
    "cli": "base model timemodel compile sass backend runtime userkernel lab ui",
    "main": "base model compile backend userkernel lab ui cli cuda runtime",
    "tool": "base model compile",  # src/compile/tool: programs of the build
}
# Single headers that a layer sees of another one.
MAY_INCLUDE = {
    "views": {"src/ui/view.h", "src/ui/canvas.h"},
    "kernels": {"src/model/kernel.h"},
}
# What those headers declare is defined anywhere in these layers.
MAY_CALL = {"views": "ui", "kernels": "model", "tool": "kernels"}
REGISTRIES = {"src/lab/registry.c", "src/cli/view_list.c"}  # use all of the generated tables
EMU_ROOMS = [
    "lane",
    "ir",
    "lower",
    "analysis",
    "timing",
    "memory",
    "count",
    "check",
    "codegen",
    "vm",
    "launch",
]

SOURCE = (".c", ".h", ".def", ".cu")
GENERATED = {"kernels.def", "views.def", "backends.def", "verbs.def", "guest_names.h"}
TABLE_OWNERS = REGISTRIES | {
    "src/compile/tool/prefill.c", "src/cli/cli.c", "src/runtime/guest/guest.h"
}  # fmt: skip
CURSES = re.compile(r"^(ncursesw?/)?(n?curses|term|panel|form|menu)(_dll)?\.h$")
CUDA = re.compile(
    r"^(cuda|cupti|nvrtc|nvperf|nvml|cublas|curand|cooperative_groups|mma\.h|crt/|nvtx3?|"
    r"nvToolsExt|driver_types|vector_types|device_launch|builtin_types|channel_descriptor|"
    r"generated_)"
)
CUDA_FOLDERS = re.compile(r"^src/(cuda|compile|runtime)/|^src/model/(occupancy|carveout)[^/]*\.c$")

# (folder, word): a word that is also the name of a view or a parameter, and what it means there.
NAMED = {
    ("src/cli", "N"): "a number, in the help of options",
    ("src/cli", "block"): "key of JSON: the launch's block",
    ("src/cli", "blocks"): "key of JSON and row of text: blocks of a grid or an SM",
    ("src/cli", "pinned"): "key of JSON: kind of a host buffer",
    ("src/cli", "source"): "key of JSON and row of text: lines of the kernel",
    ("src/cli", "timeline"): "key of JSON, and a capability in doctor",
    ("src/cli", "occupancy"): "a verb and its key of JSON",
    ("src/cli", "ladder"): "a verb and its key of JSON",
    ("src/lab", "block"): "key of JSON: the launch's block, in a program's file",
    ("src/lab", "pinned"): "key of JSON: kind of a host buffer, in a program's file",
    ("src/ui", "latency"): "a resource of the time model, in the verdict",
    ("src/ui", "K"): "a key",
    ("src/ui", "block"): "a word of the launch line",
}

ERRORS = []


def fail(file, line, message):
    ERRORS.append((file, line, message))


def layer_of(path):
    parts = path.split("/")
    if parts[0] != "src":
        return parts[0]
    if len(parts) == 2:
        return "main"
    return "tool" if parts[1:3] == ["compile", "tool"] else parts[1]


def room_of(path):
    parts = path.split("/")
    return parts[2] if parts[:2] == ["src", "emu"] and len(parts) > 3 else None


def source_files():
    found = []
    for top in ("src", "views", "kernels"):
        for folder, _, names in os.walk(top):
            found += [os.path.join(folder, n) for n in names if n.endswith(SOURCE)]
    return sorted(found)


# --- C text --------------------------------------------------------------------------------------

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def without_comments(text):
    """The text with comments blanked out; lines and strings stay where they are."""

    def blank(match):
        word = match.group(0)
        return word if word[0] in "\"'" else re.sub(r"[^\n]", " ", word)

    return TOKEN.sub(blank, text)


def directives(text):
    """(line, name, argument, inside __CUDACC__) of each directive."""
    device = [(False, False)]  # (inside the device half, this #if is about __CUDACC__)
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"\s*#\s*(\w+)\s*(.*)", line)
        if not match:
            continue
        name, argument = match.groups()
        if name in ("if", "ifdef", "ifndef"):
            about = "__CUDACC__" in argument
            negated = name == "ifndef" or "!" in argument
            device.append((not negated if about else device[-1][0], about))
        elif name in ("else", "elif") and device[-1][1]:
            device[-1] = (not device[-1][0], True)
        elif name == "endif":
            device.pop()
        yield number, name, argument, device[-1][0]


# --- includes ------------------------------------------------------------------------------------


def system_include(file, line, name, device):
    if CURSES.match(name) and file != "src/ui/term.c":
        fail(file, line, f"<{name}> belongs to src/ui/term.c alone")
    allowed = CUDA_FOLDERS.match(file) or (file.startswith("kernels/") and device)
    if CUDA.match(name) and not allowed:
        fail(file, line, f"CUDA header <{name}> is not for this file")


def own_include(file, line, name, known):
    """The file that a quoted include means; None for generated tables and mistakes."""
    if name in GENERATED:
        if file not in TABLE_OWNERS:
            fail(file, line, f"generated table {name} belongs to {', '.join(sorted(TABLE_OWNERS))}")
        return None
    for target in (os.path.join(os.path.dirname(file), name), "src/" + name):
        if target in known:
            return target
    if CURSES.match(name) or CUDA.match(name):
        system_include(file, line, name, False)
    else:
        fail(file, line, f'"{name}" is no file of src/ (system headers go in <>)')
    return None


def check_use(file, line, target, how):
    """Layers and rooms: may file use target?"""
    mine, theirs = layer_of(file), layer_of(target)
    granted = MAY_USE.get(mine, "").split() + [mine]
    if how.startswith("calls"):
        granted += MAY_CALL.get(mine, "").split()
    if theirs not in granted and target not in MAY_INCLUDE.get(mine, ()):
        fail(file, line, f"{how} {target}: layer {mine} may not use layer {theirs}")
    rooms = room_of(file), room_of(target)
    if None not in rooms and set(rooms) <= set(EMU_ROOMS):
        if EMU_ROOMS.index(rooms[1]) > EMU_ROOMS.index(rooms[0]):
            fail(file, line, f"{how} {target}: emu/{rooms[0]} stands before emu/{rooms[1]}")
    if how == "includes" and rooms[1] and rooms[0] != rooms[1] and not target.endswith(".def"):
        door = f"src/emu/{rooms[1]}/{rooms[1]}.h"
        if target != door:
            fail(file, line, f"includes {target}: the door of that room is {door}")


def include_graph(texts):
    graph = collections.defaultdict(dict)
    for file, text in texts.items():
        for line, name, argument, device in directives(text):
            match = re.match(r'(["<])([^">]+)[">]', argument) if name == "include" else None
            if not match:
                continue
            if match.group(1) == "<":
                system_include(file, line, match.group(2), device)
                continue
            target = own_include(file, line, match.group(2), texts)
            if target:
                graph[file].setdefault(target, (line, "includes"))
                check_use(file, line, target, "includes")
    return graph


# --- calls ---------------------------------------------------------------------------------------


def objects_of(folder, sources):
    """Object -> its source (a file may be compiled several times: x.avx2.o)."""
    found = {}
    for source in sources:
        stem = os.path.splitext(source)[0]
        where = os.path.join(folder, os.path.dirname(stem))
        pattern = re.compile(re.escape(os.path.basename(stem)) + r"(\.\w+)?\.o")
        names = os.listdir(where) if os.path.isdir(where) else []
        objects = [os.path.join(where, n) for n in names if pattern.fullmatch(n)]
        found.update({o: source for o in objects})
        if not objects:
            fail(source, 1, f"has no object in {folder}: run make first")
    return found


def symbols(objects):
    """(source, kind, symbol) of every line of nm."""
    command = ["nm", "-A"] + sorted(objects)
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        name, words = line.split(":", 1)[0], line.split(":", 1)[1].split()
        yield objects[name], words[-2], words[-1]


def call_graph(folder, sources, texts):
    defined, wanted = {}, collections.defaultdict(set)
    for source, kind, symbol in symbols(objects_of(folder, sources)):
        if kind in "TDBRVWCG":
            defined[symbol] = source
        elif kind in "Uwv":
            wanted[source].add(symbol)
    graph = collections.defaultdict(dict)
    for source in sorted(wanted):
        for symbol in sorted(wanted[source]):
            target = defined.get(symbol, source)
            if target == source or target in graph[source]:
                continue
            graph[source][target] = (line_of(texts[source], symbol), f"calls {symbol}() of")
            if source not in REGISTRIES:
                check_use(source, graph[source][target][0], target, f"calls {symbol}() of")
    return graph


def line_of(text, word):
    match = re.search(r"\b" + re.escape(word) + r"\b", text)
    return text.count("\n", 0, match.start()) + 1 if match else 1


def circles(graph):
    """Groups of files of which each reaches every other (Tarjan's components)."""
    number, low, stack, found = {}, {}, [], []

    def visit(file):
        number[file] = low[file] = len(number)
        stack.append(file)
        for target in graph.get(file, ()):
            if target not in number:
                visit(target)
                low[file] = min(low[file], low[target])
            elif target in stack:
                low[file] = min(low[file], number[target])
        if low[file] == number[file]:
            at = stack.index(file)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for file in sorted(graph):
        if file not in number:
            visit(file)
    return found


def report_circles(graph):
    for circle in circles(graph):
        for file in circle:
            for target, (line, how) in sorted(graph[file].items()):
                if target in circle:
                    fail(file, line, f"{how} {target}: a circle of {len(circle)} files")


# --- names ---------------------------------------------------------------------------------------


def parameter_names(texts):
    names = set()
    for file, text in texts.items():
        if not file.startswith("kernels/"):
            continue
        before = len(names)
        for table in re.finditer(r"struct param_desc \w+\[\w*\] = \{(.*?)\n\};", text, re.S):
            for entry in re.split(r"\[\w+\] = ", table.group(1))[1:]:
                match = re.match(r'\{.*?\.name = "(\w+)"|\w+\("?(\w+)"?', entry, re.S)
                if match:
                    names.add(match.group(1) or match.group(2))
        if "struct param_desc" in text and not re.search(r"\[\w+\] = ", text):
            fail(file, 1, f"no parameter names found in {file}: parameter_names() cannot read it")
    return names


def check_strings(texts):
    stem = lambda path: os.path.splitext(os.path.basename(path))[0]
    names = {stem(f): "view" for f in texts if f.startswith("views/")}
    names.update({stem(f): "kernel" for f in texts if f.startswith("kernels/")})
    names.update({n: "parameter" for n in parameter_names(texts)})
    for file, text in texts.items():
        if layer_of(file) not in ("lab", "ui", "cli"):
            continue
        for match in TOKEN.finditer(text):
            word = match.group(0)[1:-1]
            if re.search(r'(PRI\w+|")\s*$', text[: match.start()][-40:]):
                continue  # a part of a longer string
            allowed = word not in names or (os.path.dirname(file), word) in NAMED
            if match.group(0)[0] == '"' and not allowed:
                line = text.count("\n", 0, match.start()) + 1
                fail(file, line, f'"{word}" names a {names[word]}: ask registry or descriptor')


def check_file_names(texts):
    first = {}
    for file in texts:
        if file.startswith("src/") and not file.endswith(".def"):
            folder, name = os.path.split(file)
            stem = os.path.splitext(name)[0]
            if first.setdefault(stem, folder) != folder:
                fail(file, 1, f"the name {stem} is taken by a file in {first[stem]}")


# --- all of it -----------------------------------------------------------------------------------


def check(objects):
    """Sorted findings of the tree in the current folder; calls only when objects are given."""
    ERRORS.clear()
    texts = {}
    for file in source_files():
        with open(file, encoding="utf-8") as stream:
            texts[file] = without_comments(stream.read())
        if layer_of(file) not in MAY_USE:
            fail(file, 1, "a folder of no layer: add it to MAY_USE in tests/habits/layers.py")
        if file.startswith("src/emu/") and room_of(file) not in EMU_ROOMS + [None]:
            fail(file, 1, "a room of no place: add it to EMU_ROOMS in tests/habits/layers.py")
    report_circles(include_graph(texts))
    if objects:
        sources = [f for f in texts if f.endswith((".c", ".cu"))]
        report_circles(call_graph(objects, sources, texts))
    check_strings(texts)
    check_file_names(texts)
    return sorted(set(ERRORS)), len(texts)


def main():
    sys.setrecursionlimit(10000)
    if len(sys.argv) != 2:
        sys.exit("usage: layers.py OBJECTS | --self-test")
    if sys.argv[1] == "--self-test":
        import layers_test

        sys.exit(layers_test.run())
    errors, files = check(sys.argv[1])
    for file, line, message in errors:
        print(f"{file}:{line}: {message}")
    sys.stdout.flush()
    if errors:
        sys.exit(f"layers: {len(errors)} violations in {files} files")
    print(f"layers: {files} files keep the rule")


if __name__ == "__main__":
    main()
