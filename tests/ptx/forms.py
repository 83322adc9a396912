#!/usr/bin/env python3
"""Opcode form -> cases -> emulator -> H200, as a table in Markdown.

forms.py TEST-PROGRAM [OPCODE...]: runs the cases of this folder in the emulator (the unit test
test_ptx_cases) and reads what a card made of them: the newest tests/gpu/*/cases.txt, which
`gpu_check cases` writes. A form is a mnemonic as cases have it, without what only hints. "none":
no case has it (textures and tensor maps are made by programs: tests/programs). Ends with status 1
if a case fails.
"""
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HINT = re.compile(r"\.(L[12]::\w+|uni|sync|aligned|evict\w*)(?=\.|$)")


def opcodes():
    names = []
    for table in ("opcode.def", "opcode_map.def"):
        with open(os.path.join(ROOT, "src/ptx", table), encoding="utf-8") as f:
            names += re.findall(r'^OPCODE\(\w+, "([^"(]+)"', f.read(), re.M)
    return sorted(names, key=lambda n: -n.count("."))


def statements(path):
    """Mnemonics of a case, each once."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"//.*|/\*.*?\*/", "", f.read())
    text = re.sub(r"\.section\s+\.\w+\s*\{[^}]*\}", "", text)
    found = set()
    for part in re.split(r"[;{}\n]", text):
        m = re.match(r"(?:[\w$]+:)?\s*(?:@!?%?\w+\s+)?([a-z][\w.:]*)\b", part.strip())
        if m:
            found.add(m.group(1))
    return found


def opcode_of(word, known):
    for name in known:
        if word == name or word.startswith(name + "."):
            return name
    return None


def emulator(program):
    run = subprocess.run([program], capture_output=True, text=True, check=False,
                         env={**os.environ, "TEST_ROOT": ROOT})
    out = run.stdout + run.stderr
    good = set(re.findall(r"\[\s+OK \] (\S+)", out))
    return {n: n in good for n in re.findall(r"\[ RUN\s+\] (\S+)", out)}


def card():
    """What the newest record says of each case, and the day of the record."""
    said, day = {}, None
    for path in sorted(glob.glob(os.path.join(ROOT, "tests/gpu/*/cases.txt"))):
        day = os.path.basename(os.path.dirname(path))
        with open(path, encoding="utf-8") as f:
            said = dict(re.findall(r"^(\w+)\t(as expected|differs|left out)$", f.read(), re.M))
    return said, day


def outcome(cases, said, words):
    """One word for all cases of a form: the worst that was said of one, and of how many nothing."""
    of = [said.get(c) for c in cases]
    for w in words:
        if w in of:
            return w
    return "waits for a card" if None in of else of[0]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    known, wanted = opcodes(), set(sys.argv[2:])
    forms = {}
    for path in sorted(glob.glob(os.path.join(HERE, "*.ptx"))):
        name = os.path.basename(path)[:-4]
        for word in statements(path):
            op = opcode_of(word, known)
            if op:
                forms.setdefault(op, {}).setdefault(HINT.sub("", word), []).append(name)
    runs = emulator(sys.argv[1])
    said, day = card()
    print("| form | cases | emulator | %s |\n|---|---|---|---|" % (day or "H200: no record yet"))
    bad = sum(not good for good in runs.values())
    n = 0
    for op in sorted(known):
        if wanted and op not in wanted:
            continue
        if op not in forms:
            print("| `%s` | none | | |" % op)
        for form, cases in sorted(forms.get(op, {}).items()):
            n += 1
            shown = ", ".join(cases[:3]) + (" and %d more" % (len(cases) - 3) if cases[3:] else "")
            emu = "as expected" if all(runs.get(c) for c in cases) else "fails"
            hw = outcome(cases, said, ("differs",)) if said else "waits for a card"
            print("| `%s` | %s | %s | %s |" % (form, shown, emu, hw))
    print("\n%d forms of %d opcodes, %d cases, %d of them fail; opcodes without a case: %d" %
          (n, len(known), len(runs), sum(not g for g in runs.values()),
           len(known) - len(forms)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
