"""make lint: one style, small functions and files, headers that stand alone, two analysers.

    lint.py TOOLS CACHE [PATH...]   checks all files, or those whose path starts with a PATH
    lint.py TOOLS CACHE --format    rewrites what clang-format would write differently

TOOLS is the folder that src/setup/lint.sh fills. The compiler and its flags come in CC and
LINT_FLAGS. What a tool said of a file is kept in CACHE under a hash of everything it read, so
that only changed files cost time. The exit status is 1 when there is a finding. The rules:

  format      .clang-format                          src views tests
  line        at most 100 columns                    C, CUDA, tables and Python
  file        at most 500 lines                      all of our text
  function    at most 80 lines, complexity 25        C, CUDA and Python
  header      compiles alone                         every .h
  tidy        .clang-tidy                            every .c and kernels' host halves
  cppcheck    CPPCHECK                               every .c and .h
"""
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
import time

MAX_COLUMNS, TAB, MAX_LINES, MAX_FUNCTION_LINES, MAX_COMPLEXITY = 100, 4, 500, 80, 25
OUR_TEXT = (".c", ".h", ".def", ".cu", ".sh", ".py", ".list", ".yaml")
WIDTH = (".c", ".h", ".def", ".cu", ".py")  # a shell line is often one command and its data
# Not ours to shorten: recorded data, programs that stand for what people write, generated text.
NOT_OURS = re.compile(r"^tests/(data|seeds|ptx|fuzz/corpus|gpu/h200-|ui/|programs/)|\.json$")
CPPCHECK = [
    "--enable=warning,performance,portability", "--std=c11", "--language=c", "--platform=unix64",
    "--library=posix", "--library=gnu", "--quiet", "--error-exitcode=1", "-DNULL=((void*)0)",
    "--inline-suppr",
    "--no-check-headers",  # each has a look of its own, not one for every file that includes it
    "--suppress=missingIncludeSystem", "--suppress=shadowFunction",
    "--suppress=uninitvar",  # arrays filled by a loop; clang's analyser follows paths
    "--suppress=nullPointer",  # clang's analyser again; pthread_cond_init(c, NULL) is right
    "--suppress=nullPointerOutOfMemory",  # base/mem.c does not return without memory
    "--suppress=nullPointerOutOfResources",  # the analyser's matter; in tests an assertion's
    "--suppress=ctunullpointerOutOfResources",
    "--suppress=shiftTooManyBitsSigned",  # >> of a negative number is arithmetic with our compilers
    "--suppress=AssignmentAddressToInteger",  # gcc's -Wint-conversion, without false ones
    "--suppress=arrayIndexOutOfBounds:src/cli/verb_doctor.c",  # takes device[8][64] for 63 bytes
    "--suppress=arrayIndexOutOfBoundsCond:src/ui/command.c",  # does not see keys.def in the enum
    "--suppress=syntaxError:src/runtime/guest/driver/driver.def",
    "--suppress=syntaxError:src/runtime/guest/api.def",  # rows after __asm__()
    "--suppress=constStatement",  # (void)a, (void)b;
    "--suppress=leakReturnValNotUsed", "--suppress=ignoredReturnValue",  # dlopen() that stays
    "--template={file}:{line}: {message} [{id}]",
]
# The analyser gives up on a function after this many steps: minutes for all files, not an hour.
ANALYSER_STEPS = int(os.environ.get("LINT_STEPS", "6000"))


def listed():
    """Every file git knows or would know."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    return [n for n in sorted(set(names)) if n and os.path.isfile(n)]


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


class Reader:
    """What a C file reads of ours: itself and what it includes, as one hash."""

    def __init__(self, folders):
        self.folders, self.seen = folders, {}

    def closure(self, path, found):
        if path in found:
            return
        found.add(path)
        if path not in self.seen:
            text = read(path).decode("utf-8", "replace")
            names = re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M)
            self.seen[path] = [self.place(os.path.dirname(path), name) for name in names]
        for name in self.seen[path]:
            if name:
                self.closure(name, found)

    def place(self, folder, name):
        for where in [folder] + self.folders:
            if os.path.isfile(os.path.join(where, name)):
                return os.path.normpath(os.path.join(where, name))
        return None

    def hash(self, path, *more):
        found = set()
        self.closure(path, found)
        digest = hashlib.sha256("\0".join(more).encode())
        for name in sorted(found):
            digest.update(name.encode() + b"\0" + read(name) + b"\0")
        return digest.hexdigest()


# --- rules without a tool ------------------------------------------------------------------------


def text_findings(path):
    lines = read(path).decode("utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        columns = len(line.expandtabs(TAB))
        if columns > MAX_COLUMNS and path.endswith(WIDTH) and not re.search(r"https?://", line):
            yield f"{path}:{number}: {columns} columns, more than {MAX_COLUMNS} [line]"
        if line != line.rstrip():
            yield f"{path}:{number}: blanks at the end of the line [line]"
    if len(lines) - 1 > MAX_LINES and not path.endswith((".def", ".list")):
        yield f"{path}:1: {len(lines) - 1} lines, more than {MAX_LINES} [file]"


def function_findings(path):
    import lizard

    for f in lizard.analyze_file(path).function_list:
        where, paths = f"{path}:{f.start_line}: {f.name}()", f.cyclomatic_complexity
        if f.length > MAX_FUNCTION_LINES:
            yield f"{where} has {f.length} lines, more than {MAX_FUNCTION_LINES} [function]"
        if paths > MAX_COMPLEXITY:
            yield f"{where} has complexity {paths}, more than {MAX_COMPLEXITY} [function]"


# --- rules with a tool ---------------------------------------------------------------------------


def said(command, keep):
    """The lines of a tool's output that are findings; a tool that fails otherwise is one."""
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    here = os.getcwd() + "/"
    lines = [line.replace(here, "") for line in run.stdout.split("\n")]
    found = [line for line in lines if re.search(keep, line)]
    if run.returncode and not found:
        found = [f"lint: {' '.join(command)} failed: {' '.join(lines)[:300]}"]
    # a system's header may be named in a finding; what is wrong is then not ours to mend
    return [line for line in found if not line.startswith("/")]


def is_own_header(path):
    # those of nvcc/ are C++, for programs
    return path.endswith(".h") and not re.search("/(shim|nvcc)/", path)


def commands(tools, compiler, flags):
    """Rule -> (which files, command of files that are alike, pattern of a finding)."""
    tidy = tools + "/clang_tidy/data/bin/clang-tidy"
    cppcheck = tools + "/cppcheck/Cppcheck/cppcheck"
    style = tools + "/clang_format/data/bin/clang-format"
    steps = ["-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={ANALYSER_STEPS}"]
    own_flags = [f for f in flags if not f.startswith("-W")]
    folders = [f for f in flags if f.startswith("-I")]
    language = lambda path: ["-x", "c"] if path.endswith((".cu", ".h")) else []
    return {
        "format": (
            lambda path: not path.startswith("kernels/") and path.endswith((".c", ".h")),
            lambda paths: [style, "--dry-run", "-Werror"] + paths,
            r"(error|warning): .*clang-format",
        ),
        "header": (
            is_own_header,
            lambda paths: compiler + flags + ["-fsyntax-only", "-x", "c"] + paths,
            r":\d+:\d+: (fatal )?(error|warning):",
        ),
        "tidy": (
            lambda path: path.endswith(".c") or path.startswith("kernels/"),
            lambda paths: [tidy, "--quiet", *paths, "--"] + own_flags + language(paths[0]) + steps,
            r":\d+:\d+: (warning|error):",
        ),
        "cppcheck": (
            lambda path: path.endswith(".c") or is_own_header(path),
            lambda paths: [cppcheck] + CPPCHECK + folders + paths,
            r"\[\w+\]$",
        ),
    }


# --- all of it -----------------------------------------------------------------------------------


OWN_RULES = read(__file__).decode()


def configuration(rule, path):
    """What a tool reads besides its command and the file."""
    if rule == "format":
        return [read(".clang-format").decode()]
    if rule == "tidy":
        more = ["tests/.clang-tidy"] if path.startswith("tests/") else []
        return [read(name).decode() for name in [".clang-tidy"] + more]
    return []


def shell_words(text):
    return [word for word in text.split() if word]


class Cache:
    """What was found in a file, under a hash of all that was read."""

    def __init__(self, folder, tools):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.hits = folder, 0
        self.reader = Reader(["src", "build/gen", "tests/unit"])
        self.tools_version = read(tools + "/wheels.txt").decode()

    def place(self, path, rule, key):
        name = self.reader.hash(path, rule, self.tools_version, *key)
        return os.path.join(self.folder, name)

    def known(self, place):
        if not os.path.exists(place):
            return None
        self.hits += 1
        return read(place).decode().split("\n")

    def keep(self, place, found):
        with open(place + ".tmp", "w", encoding="utf-8") as stream:
            stream.write("\n".join(found))
        os.replace(place + ".tmp", place)
        return found


def look(cache, jobs):
    """Findings of files that one command can look at together, jobs = [(place, path, work)]. Only
    where something is found, or a tool fails, does each get a look of its own, and an answer."""
    found = []
    left = []
    for place, path, work in jobs:
        known = cache.known(place)
        found += known or []
        left += [] if known is not None else [(place, path, work)]
    clean = len(left) > 1 and not left[0][2]([path for _, path, _ in left])
    for place, path, work in left:
        found += cache.keep(place, [] if clean else work([path]))
    return found


# A tool reads its tables once for so many files.
TOGETHER = 12


def lint(tools, folder, paths, rules):
    """(findings, answers, answers from the cache)"""
    cache = Cache(folder, tools)
    groups = {}

    def add(path, rule, key, work):
        kind = (rule, path.rsplit(".", 1)[1])
        groups.setdefault(kind, []).append((cache.place(path, rule, key), path, work))

    def each(findings):
        return lambda paths: [line for path in paths for line in findings(path)]

    for path in paths:
        if path.endswith(OUR_TEXT):
            add(path, "text", [OWN_RULES], each(text_findings))
        if path.endswith((".c", ".h", ".cu", ".py")):
            add(path, "function", [OWN_RULES], each(function_findings))
        for rule, (wants, command, keep) in rules.items():
            if wants(path):
                key = command([path]) + [keep] + configuration(rule, path)
                add(path, rule, key, lambda paths, c=command, k=keep: said(c(paths), k))
    batches = [
        jobs[n : n + TOGETHER] for jobs in groups.values() for n in range(0, len(jobs), TOGETHER)
    ]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = {line for lines in pool.map(lambda b: look(cache, b), batches) for line in lines}
    return sorted(found - {""}), sum(map(len, batches)), cache.hits


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: lint.py TOOLS CACHE [--format | PATH...]")
    tools, cache, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    sys.path.insert(0, tools)
    flags = shell_words(os.environ.get("LINT_FLAGS", ""))
    rules = commands(tools, shell_words(os.environ.get("CC", "cc")), flags)
    paths = [p for p in listed() if not NOT_OURS.search(p)]
    if wanted == ["--format"]:
        style = tools + "/clang_format/data/bin/clang-format"
        files = [p for p in paths if rules["format"][0](p)]
        for _ in range(3):  # a rewritten macro may be wrapped anew the next time
            subprocess.run([style, "-i"] + files, check=True)
        return
    if wanted:
        paths = [p for p in paths if p.startswith(tuple(wanted))]
    start = time.monotonic()
    found, jobs, hits = lint(tools, cache, paths, rules)
    print("\n".join(found + [""]) if found else "", end="")
    seconds = time.monotonic() - start
    known = f"{seconds:.0f} s, {hits} of {jobs} answers known"
    print(f"lint: {len(found)} findings in {len(paths)} files ({known})")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
