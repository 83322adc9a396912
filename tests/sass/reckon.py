#!/usr/bin/env python3
"""Counts of whole programs' launches, reckoned from their listing by rules of a card's counters.

reckon.py PMPP-EXPLORE PROGRAMS-FOLDER [--gpu SHEET] NAME ...

Each program of the folder is run; for the first launch of each of its kernels the executions of
every machine instruction, as `sass --launch N --json` has them, are added up by what nvdisasm
wrote (opcode, operands, guard), and held against the metrics of `launches --json`. A guarded memory
instruction may have run with no lane on, which is no request: there the sum is an upper bound.
Prints what differs, and how many figures were reckoned; status 1 where one differs.
"""
import argparse
import json
import os
import subprocess
import sys

# metric: (opcodes, what counts of an instruction: warps or lanes, how many for each)
SUMS = {
    "inst.warp_executed": [(None, "warps", 1)],
    "inst.thread_executed": [(None, "lanes", 1)],
    "inst.barriers": [("BAR", "warps", 1)],
    "flop.fp32": [("FADD FMUL FADD32I FMUL32I", "lanes", 1), ("FFMA FFMA32I", "lanes", 2)],
    "flop.fp64": [("DADD DMUL", "lanes", 1), ("DFMA", "lanes", 2)],
    "flop.fp16": [("HADD2 HMUL2", "lanes", 2), ("HFMA2", "lanes", 4)],
    "shared.ld_requests": [("LDS", "warps", 1)],
    "shared.ldm_requests": [("LDSM", "warps", 1)],
    "shared.st_requests": [("STS STSM LDGSTS", "warps", 1)],
    "shared.atom_requests": [("ATOMS", "warps", 1)],
    "mem.ld_requests": [("LDG LDGSTS", "warps", 1)],
    "mem.st_requests": [("STG", "warps", 1)],
    "mem.atom_requests": [("ATOMG ATOM REDG RED", "warps", 1)],
    "mem.local_requests": [("LDL STL", "warps", 1)],
    "div.branches": [("BRA BRX CALL RET JMP", "warps", 1)],
}
REQUESTS = [k for k in SUMS if k.endswith("requests")]


def moves_constant(inst):
    """HFMA2 -RZ, RZ, a, b only moves a number: no arithmetic of the program's."""
    words = [w.strip() for w in inst["operands"].split(",")]
    return inst["opcode"].startswith("HFMA2") and [w.lstrip("-") for w in words[1:3]] == ["RZ"] * 2


def reckon(instructions):
    """{metric: (sum, exact)}; generic LD and ST may go anywhere: their metrics are left out."""
    generic = any(i["opcode"].split(".")[0] in ("LD", "ST", "ATOM") and i["warps"]
                  for i in instructions)
    sums = {}
    for key, terms in SUMS.items():
        total, exact = 0, True
        for names, what, weight in terms:
            for i in instructions:
                if names and i["opcode"].split(".")[0] not in names.split():
                    continue
                if key == "flop.fp16" and moves_constant(i):
                    continue
                total += weight * i[what]
                exact &= key not in REQUESTS or not i["guard"] or not i["warps"]
        if not (generic and key in REQUESTS):
            sums[key] = (total, exact)
    return sums


def ask(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        sys.exit("reckon.py: %s: %s" % (" ".join(words), done.stderr.strip()[-200:]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("folder")
    p.add_argument("names", nargs="+")
    p.add_argument("--gpu", default="h200")
    args = p.parse_args()
    kernels = figures = bounds = wrong = 0
    for name in args.names:
        path = os.path.join(args.folder, name + ".cu")
        with open(path, encoding="utf-8") as f:
            words = " ".join(line[9:] for line in f if line.startswith("// nvcc: ")).split()
        seen = ask(args.program, "launches", "--json", "--backend", "emu", "--gpu", args.gpu, path,
                   "-O1", *words)
        done = set()
        for number, launch in enumerate(seen.get("launches", []), 1):
            if launch["kernel"] in done or "machine code" not in launch.get("level", ""):
                continue
            done.add(launch["kernel"])
            listing = ask(args.program, "sass", path, "-O1", *words, "--gpu", args.gpu, "--json",
                          "--launch", str(number))
            sums = reckon([i for f in listing["functions"] for i in f["instructions"]])
            kernels += 1
            for key, (total, exact) in sums.items():
                value = launch["metrics"][key]["value"]
                figures += exact
                bounds += not exact
                if value != total if exact else value > total:
                    wrong += 1
                    print("%s %s: %s %d, reckoned %s%d" % (name, launch["kernel"], key, value,
                                                           "" if exact else "at most ", total))
    print("%d kernels, %d figures reckoned, %d bounds, %d differ" % (kernels, figures, bounds,
                                                                     wrong))
    return 1 if wrong or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
