"""make cost: what adding a thing costs, in files touched.

    cost.py [THING...]     all things, or some

Each thing of THINGS is added to one scratch copy of the tree, as a person would add it: new files
from tests/habits/cost and rows in tables. Then the copy is built, what make writes by itself is
written anew (golden screens, the README's tables), the layer rule must hold, and the tests that
watch over such things must pass. Counted are the files touched by hand and those that make wrote;
tests/habits/cost.txt says what is allowed. The exit status is 1 when a number grew or a test
failed.

The copy is in the folder that COST_IN of the environment names, and stays there, else in one that
is taken away. What is built already is not built again. All things are added first, so that the
copy is built once. Where that does not work, they are added and built one by one, which tells whose
fault it is.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = "tests/habits/cost/"
EXPECTED = "tests/habits/cost.txt"
BUILD = "build"


def gpu_sheet(copy):
    """Another sheet of a known chip: what a person does first."""
    text = open("presets/gpus/rtx3090.yaml", encoding="utf-8").read()
    text = re.sub(r"(?m)^id: .*", "id: rtx3090x", text)
    text = re.sub(r"(?m)^name: .*", "name: GeForce RTX 3090 X", text)
    open(copy + "/presets/gpus/rtx3090x.yaml", "w", encoding="utf-8").write(text)


def readme_keys(copy):
    """The README's table of keys, as tests/cli/readme-test.sh wants it."""
    table = subprocess.run(["sh", "tests/cli/readme-test.sh", "--table"], cwd=copy,
                           capture_output=True, text=True, check=True).stdout  # fmt: skip
    text = open(copy + "/README.md", encoding="utf-8").read()
    begin, end = text.index("\n", text.index("<!-- keys:")) + 1, text.index("<!-- end of keys -->")
    open(copy + "/README.md", "w", encoding="utf-8").write(text[:begin] + table + text[end:])


# thing -> new files {where: which of HERE}, rows [(file, after the last line like this, row)],
# a function for what is neither, and the tests: words of tests/run.sh
THINGS = {
    "preset": {
        "files": {"presets/two_blocks.yaml": "two_blocks.yaml"},
        "tests": ["model/test_preset", "cli/presets", "cli/list"],
    },
    "GPU": {
        "call": gpu_sheet,
        "tests": ["model/test_gpu", "model/test_occupancy", "cli/list", "cli/occupancy"],
    },
    "kernel": {
        "files": {"kernels/scale.cu": "scale.cu"},
        "tests": ["kernels/test_descriptors", "kernels/test_verified", "kernels/test_sass_run",
                  "cli/list", "cli/run"],
    },
    "verb": {
        "files": {"src/cli/verb_params.c": "verb_params.c"},
        "tests": ["cli/usage", "cli/list"],
    },
    "view": {
        "files": {"views/plain.c": "plain.c"},
        "tests": ["unit/ui/", "cli/list"],
    },
    "opcode": {
        "files": {"tests/ptx/event_stop.ptx": "event_stop.ptx"},
        "rows": [("src/ptx/opcode.def", r"^       0, 0, TS\(U32\), 0, \"s4\"\)",
                  'OPCODE(PMEVENT_STOP, "pmevent.stop", "9.7.19", MISC, 0, nop,\n'
                  '       0, 0, 0, 0, "i*")')],
        "tests": ["emu/test_ptx_cases", "unit/ptx/"],
    },
    "key": {
        "rows": [("src/ui/keys.def", r"^    \"",
                  'KEY(PARAM_LEAP, "*", "", "", params, param_move, +2,\n'
                  '    "the parameter after the next")')],
        "tests": ["unit/ui/", "cli/readme"],
    },
    "metric": {
        "rows": [("src/model/metric.def", r"^       \"\"\)$",
                  'METRIC(INST_PER_BRANCH, "inst.per_branch", "inst", NUM, LAUNCH,\n'
                  '       "warp instructions per branch",\n       "warp instructions / branches",\n'
                  '       "= warp_executed / branches",\n       "")')],
        "tests": ["model/test_metric", "cli/list", "cli/run", "cli/export-test"],
    },
}


# Tests that walk all kernels and presets need see but these: of the others make test sees each.
ADDED = "scale two_blocks"


def run(command, where, **more):
    """(status, output)"""
    done = subprocess.run(
        command,
        cwd=where,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **more,
    )
    return done.returncode, done.stdout


def scratch_folder():
    kept = os.environ.get("COST_IN")
    if not kept:
        return tempfile.TemporaryDirectory(prefix="pmpp-cost-")
    shutil.rmtree(kept, ignore_errors=True)
    return contextlib.nullcontext(kept)


def scratch_copy(folder):
    """The tree and its build, so that only what a thing touches is compiled."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in subprocess.run(command, capture_output=True, text=True).stdout.split("\0"):
        if name and os.path.exists(name):
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            shutil.copy2(name, os.path.join(folder, name))
    for name in ("obj", "lib", "gen", "unit", "modules", "setup.mk", "flags", "prefill", "cuda"):
        where = os.path.join(BUILD, name)
        if os.path.exists(where):
            subprocess.run(["cp", "-a", where, os.path.join(folder, BUILD, name)], check=True)


def commit(copy, message):
    """Files that changed since the last one."""
    git = ["git", "-c", "user.name=cost", "-c", "user.email=cost@localhost"]
    run(git + ["add", "-A"], copy)
    changed = run(git + ["diff", "--cached", "--name-only"], copy)[1].split()
    run(git + ["commit", "-q", "--allow-empty", "-m", message], copy)
    return changed


def add_row(path, like, row):
    lines = open(path, encoding="utf-8").read().split("\n")
    at = max(i for i, line in enumerate(lines) if re.search(like, line))
    lines.insert(at + 1, row)
    open(path, "w", encoding="utf-8").write("\n".join(lines))


def add(copy, thing):
    for target, source in thing.get("files", {}).items():
        shutil.copy(HERE + source, os.path.join(copy, target))
    for file, like, row in thing.get("rows", []):
        add_row(os.path.join(copy, file), like, row)
    if "call" in thing:
        thing["call"](copy)


def programs(tests):
    """The unit tests that the words mean."""
    found = []
    for folder, _, names in os.walk("tests/unit"):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if re.match(r"test_.*\.c$", name) and any(word in path for word in tests):
                found.append(BUILD + path[len("tests") : -2])
    return found


def built(tests, copy):
    """Builds the copy and runs the tests, whose goldens are written anew: "", or what failed."""
    make = ["make", "--no-print-directory", "CC=" + os.environ.get("CC", "cc")]
    # other flags would build everything anew
    make += [name + "=" + os.environ.get(name, "") for name in ("WERROR", "CFLAGS", "SIMD_OPT")]
    alone = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    status, output = run(make + ["all", "check-layers"] + programs(tests), copy, env=alone)
    if status:
        return "it does not build:\n" + output[-3000:]
    readme_keys(copy)
    patient = dict(os.environ, TEST_TIMEOUT="1200", ONLY=ADDED)
    test = ["sh", "tests/run.sh", BUILD] + tests
    status, output = run(test, copy, env=patient)
    if status:  # what the tests compare with may have to be written first
        test = test[:3] + re.findall(r"(?m)^  FAILED  (\S+)", output)
        run(test, copy, env=dict(patient, BLESS="1"))
        status, output = run(test, copy, env=patient)
    return output[-3000:] if status else ""


def expected():
    """thing -> [by hand, written by make]"""
    rows = [line.split() for line in open(EXPECTED, encoding="utf-8") if line[0] not in "#\n"]
    return {row[0]: [int(row[1]), int(row[2])] for row in rows}


def add_all(names, copy):
    """(thing -> files touched by hand, files that make wrote, what failed)"""
    by_hand, tests = {}, set()
    for name in names:
        add(copy, THINGS[name])
        by_hand[name] = commit(copy, name)
        tests.update(THINGS[name]["tests"])
    why = built(sorted(tests), copy)
    return by_hand, commit(copy, "written by make"), why


def grown(names, by_hand, written, allowed):
    """Prints what each thing cost; True if that is more than @allowed."""
    grew = False
    for name in names:
        most = allowed.get(name, [0, 0])[0]
        print(f"cost: {name} {len(by_hand[name])} ({', '.join(by_hand[name])})")
        if len(by_hand[name]) > most:
            print(f"cost: {name} grew: {EXPECTED} allows {most} by hand")
            grew = True
    most = sum(allowed.get(name, [0, 0])[1] for name in names)
    if written or most:
        print(f"cost: and {len(written)} written by make ({', '.join(written)})")
    if len(written) > most:
        print(f"cost: make writes more: {EXPECTED} allows {most}")
    return grew or len(written) > most


def main():
    allowed, failed = expected(), False
    wanted = sys.argv[1:] or list(THINGS)
    with scratch_folder() as copy:
        os.makedirs(os.path.join(copy, BUILD))
        scratch_copy(copy)
        run(["git", "init", "-q"], copy)
        commit(copy, "before")
        before = run(["git", "rev-parse", "HEAD"], copy)[1].strip()
        groups = [wanted]
        while groups:
            names = groups.pop(0)
            by_hand, written, why = add_all(names, copy)
            if why and len(names) > 1:
                print(f"cost: together they do not work: {why[-1000:]}", flush=True)
                groups += [[name] for name in names]
            elif why:
                print(f"cost: {names[0]}: that is not enough: {why}")
                failed = True
            if why:  # what does not work must not spoil the next thing
                run(["git", "reset", "-q", "--hard", before], copy)
                continue
            before = run(["git", "rev-parse", "HEAD"], copy)[1].strip()
            failed = grown(names, by_hand, written, allowed) or failed
            sys.stdout.flush()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
