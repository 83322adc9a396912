#!/usr/bin/env python3
"""Plants the faults of a list one by one in a copy of the tree and runs what may find them.

    mutants.py [-j N] BUILD-FOLDER LIST [PATTERN]
    mutants.py --places      only looks whether each place is where the lists say (make lint)

LIST: faults.txt, of which 95 of 100 are to be found, or cures.txt, of which all are. PATTERN: only
faults of files whose path has it. N: so many at a time, in a copy of the tree each. A fault is
found when one of its test programs fails or passes its time limit. Survivors are listed; too few
found, a fault that does not compile, and one whose place is gone fail.
"""
import argparse
import concurrent.futures
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIMIT_S = 600  # of one test program; a busy machine is slow
SHARE = {"faults.txt": 0.95, "cures.txt": 1}


def read_faults(path):
    """[(file, tests, from, to)], in the file's order. What needs a program that is not here is left
    out, and said."""
    faults, file, tests, here = [], None, [], True
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        if line.startswith("file "):
            file, tests, here = line[5:], [], True
        elif line.startswith("needs "):
            here = shutil.which(line[6:]) is not None
            if not here:
                print(f"not tried: {file}: there is no {line[6:]} here")
        elif line.startswith("tests "):
            tests = line[6:].split()
        elif line.startswith("\t") and " => " in line and file:
            old, new = line[1:].split(" => ")
            if here:
                faults.append((file, tests, old, new))
        else:
            sys.exit(f"{path}:{number}: 'file', 'tests', 'needs', or a tab and 'this => that'")
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
    os.symlink(os.path.join(ROOT, "tests/gpu"), os.path.join(to, "tests/gpu"))  # recordings
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


def is_script(test):
    """cli/x-test.sh, tty/x-test.sh; all else is model/test_x of build/unit."""
    return test.endswith(".sh")


def targets(tests):
    """The libraries that stand in for NVIDIA's are in the copy already."""
    return (["all"] if any(map(is_script, tests)) else []) + [
        "build/unit/" + t for t in tests if not is_script(t)]


def fails(tree, test):
    """What it says that is not well, "" = nothing. A script is ended at its first word of it."""
    home = tempfile.mkdtemp(prefix="home-", dir=tree)
    os.mkdir(home + "/tmp")
    env = dict(os.environ, PMPP=os.path.join(tree, "build/pmpp-explore"), TEST_ROOT=tree, HOME=home,
               TMPDIR=home + "/tmp", XDG_CACHE_HOME=home + "/cache",
               XDG_CONFIG_HOME=home + "/config", LC_ALL="C.UTF-8")
    command = ["sh", "tests/" + test] if is_script(test) else ["build/unit/" + test]
    bad = "not ok " if is_script(test) else "[  ERROR   ] --- "
    said, end = "", time.monotonic() + LIMIT_S
    with tempfile.TemporaryFile("w+", dir=home, errors="replace") as out:
        process = subprocess.Popen(command, cwd=tree, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        while True:
            status = process.poll()
            out.seek(0)
            said = next((x.strip() for x in out if x.startswith(bad)), "")
            late = time.monotonic() > end
            if status is not None or late or (said and is_script(test)):
                break
            time.sleep(0.1)
        if status is None:
            end_group(process)
    shutil.rmtree(home, ignore_errors=True)
    if said:
        return said
    return f"takes longer than {LIMIT_S} s" if late else f"status {status}" if status else ""


def end_group(process):
    """A script ends its terminals when it is told to."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def found_by(tree, file, tests):
    """(The test that finds the fault, what it said), "" = none; None = it does not compile."""
    if file.startswith("presets/"):
        command = ["build/pmpp-explore", "preset", file, "--check"]
        return ("preset", "") if run(command, tree, LIMIT_S) != 0 else ("", "")
    if not make(tree, targets(tests)):
        return None
    for test in tests:
        said = fails(tree, test)
        if said:
            return test, said
    return "", ""


def plant(path, old, new):
    """The file as it was; None: what stands there is not there, or twice."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if text.count(old) < 1 or (text.count(old) > 1 and "/presets/" not in path):
        return None
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace(old, new, 1))
    return text


def places():
    """The faults of both lists that have no place any more."""
    gone = []
    for name in SHARE:
        for file, _, old, _ in read_faults(os.path.join(HERE, name)):
            with open(os.path.join(ROOT, file), encoding="utf-8") as f:
                n = f.read().count(old)
            if n < 1 or (n > 1 and not file.startswith("presets/")):
                gone.append(f"tests/mutants/{name}: {file} has this {n} times: {old}")
    return gone


def check_tests(tree, faults):
    """All of them hold while there is no fault."""
    for test in sorted({test for _, tests, _, _ in faults for test in tests}):
        said = "it does not compile" if not make(tree, targets([test])) else fails(tree, test)
        if said:
            sys.exit(f"mutants: {test} fails without any fault: {said}")


def try_fault(tree, file, tests, old, new):
    """(in words, "found" or "survives" or "bad")"""
    path = os.path.join(tree, file)
    was = plant(path, old, new)
    if was is None:
        return "gone", "bad"
    found = found_by(tree, file, tests)
    with open(path, "w", encoding="utf-8") as f:
        f.write(was)
    if found is None:
        return "does not compile", "bad"
    by, said = found
    return (f"found by {by} ({said[:100]})", "found") if by else ("SURVIVES", "survives")


def try_all(trees, faults, each):
    """Tries every fault in whichever tree is free; calls each(fault, words, end) as they end."""
    free = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)

    def one(fault):
        tree = free.get()
        try:
            return fault, *try_fault(tree, *fault)
        finally:
            free.put(tree)

    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, f) for f in faults]):
            each(*done.result())


def main():
    if sys.argv[1:] == ["--places"]:
        gone = places()
        print("\n".join(gone + [""]), end="")
        return 1 if gone else 0
    words = argparse.ArgumentParser(usage="mutants.py [-j N] BUILD-FOLDER LIST [PATTERN]")
    words.add_argument("-j", type=int, default=1)
    words.add_argument("build")
    words.add_argument("list", choices=SHARE)
    words.add_argument("pattern", nargs="?", default="")
    words = words.parse_args()
    faults = [f for f in read_faults(os.path.join(HERE, words.list)) if words.pattern in f[0]]
    ends = {"found": [], "survives": [], "bad": []}

    def report(fault, said, end):
        shown = f"{said}: {fault[0]}: {fault[2].strip()} => {fault[3].strip()}"
        ends[end].append(shown)
        print(f"{sum(map(len, ends.values()))}/{len(faults)} {shown}", flush=True)

    with tempfile.TemporaryDirectory(prefix="pmpp-mutants-", ignore_cleanup_errors=True) as folder:
        trees = [os.path.join(folder, str(i)) for i in range(max(1, min(words.j, len(faults))))]
        for tree in trees:
            copy_tree(words.build, tree)
        check_tests(trees[0], faults)
        try_all(trees, faults, report)
    print(f"\n{len(ends['found'])} of {len(faults)} found")
    for line in ends["survives"] + ends["bad"]:
        print(line)
    return 1 if ends["bad"] or len(ends["found"]) < SHARE[words.list] * len(faults) else 0


if __name__ == "__main__":
    sys.exit(main())
