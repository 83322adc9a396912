#!/usr/bin/env python3
"""Plants the faults of faults.txt one by one in a copy of the tree and runs what may find them.

    mutants.py BUILD-FOLDER [PATTERN]

PATTERN: only faults of files whose path has it. A fault is found when one of its test programs
fails or passes its time limit. Survivors are listed; fewer than 95 of 100 found, a fault that does
not compile, and one whose place is gone fail.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIMIT_S = 120  # of one test program
SHARE = 0.95


def read_faults(path):
    """[(file, tests, from, to)], in the file's order."""
    faults, file, tests = [], None, []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        if line.startswith("file "):
            file, tests = line[5:], []
        elif line.startswith("tests "):
            tests = line[6:].split()
        elif line.startswith("\t") and " => " in line and file:
            old, new = line[1:].split(" => ")
            faults.append((file, tests, old, new))
        else:
            sys.exit(f"{path}:{number}: 'file', 'tests', or a tab and 'this => that' is needed")
    return faults


def copy_tree(build, to):
    """What git knows or does not ignore, and the build with its times: little is made again."""
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z"],
        check=True, capture_output=True).stdout.split(b"\0")
    for name in filter(None, map(os.fsdecode, names)):
        if name.startswith("tests/gpu/") or not os.path.exists(os.path.join(ROOT, name)):
            continue
        target = os.path.join(to, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, name), target)
    shutil.copytree(os.path.join(ROOT, build), os.path.join(to, "build"), symlinks=True,
                    ignore=shutil.ignore_patterns("mutants", "bare", "fuzz", "lint", "clang"))


def run(command, tree, limit=None):
    """Its exit status; None = it did not end in time."""
    try:
        return subprocess.run(command, cwd=tree, stdin=subprocess.DEVNULL, timeout=limit,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        return None


def make(tree, targets):
    return run(["make", "-s", "B=build", "CC=" + os.environ.get("CC", "gcc"), *targets], tree) == 0


def found_by(tree, file, tests):
    """The test that finds the fault; "" = none; None = it does not compile."""
    if file.startswith("presets/"):
        command = ["build/pmpp-explore", "preset", file, "--check"]
        return "preset" if run(command, tree, LIMIT_S) != 0 else ""
    if not make(tree, ["build/unit/" + t for t in tests]):
        return None
    for test in tests:
        if run(["build/unit/" + test], tree, LIMIT_S) != 0:
            return test
    return ""


def plant(tree, file, old, new):
    """False: what stands there is not there, or twice."""
    path = os.path.join(tree, file)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if text.count(old) < 1 or (text.count(old) > 1 and not file.startswith("presets/")):
        return False
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace(old, new, 1))
    return True


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    faults = [f for f in read_faults(os.path.join(HERE, "faults.txt")) if only in f[0]]
    tree = tempfile.mkdtemp(prefix="pmpp-mutants-")
    found, bad, survivors = 0, [], []
    try:
        copy_tree(build, tree)
        for tests in sorted({(f, tuple(t)) for f, t, _, _ in faults}):
            for test in tests[1]:
                if not make(tree, ["build/unit/" + test]) or run(["build/unit/" + test], tree) != 0:
                    sys.exit(f"mutants: {test} fails without any fault")
        for number, (file, tests, old, new) in enumerate(faults, 1):
            shown = f"{file}: {old.strip()} => {new.strip()}"
            if not plant(tree, file, old, new):
                bad.append("gone: " + shown)
                result = "gone"
            else:
                by = found_by(tree, file, tests)
                shutil.copy(os.path.join(ROOT, file), os.path.join(tree, file))
                result = ("does not compile" if by is None
                          else "found by " + by if by else "SURVIVES")
                found += bool(by)
                if by is None:
                    bad.append("does not compile: " + shown)
                elif not by:
                    survivors.append(shown)
            print(f"{number}/{len(faults)} {result}: {shown}", flush=True)
    finally:
        shutil.rmtree(tree, ignore_errors=True)
    print(f"\n{found} of {len(faults)} faults found")
    for line in survivors:
        print("survives: " + line)
    for line in bad:
        print(line)
    return 1 if bad or found < SHARE * len(faults) else 0


if __name__ == "__main__":
    sys.exit(main())
