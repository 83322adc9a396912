#!/usr/bin/env python3
"""Holds the emulator's wavefronts of atomics against those that a card counted.

    tests/gpu/atomic_waves_check.py BINARY COUNTERS.jsonl PROGRAM

COUNTERS: what `sh tests/gpu/micro.sh FOLDER atomic_waves` made of tests/gpu/micro/atomic_waves.cu
under ncu. PROGRAM: that program compiled for the same architecture; it is run in the emulator, with
machine code counted. Shared memory must be equal everywhere, but for additions of floats, which are
loops; of global memory, whose rule is not known to the last pass, 97 of 100 launches must be, the
others within one pass. Status 1 otherwise.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile


def counted(counters, part):
    return sum(v for k, v in counters.items() if part in k and k.endswith(".sum"))


def emulated(binary, program):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [binary, "launches", os.path.abspath(program), "--gpu", "h200", "--level", "sass",
             "--count", "100000", "--json"],
            cwd=folder, env={**os.environ, "MICRO_ONCE": "1"}, stdout=subprocess.PIPE, check=True)
    launches = json.loads(run.stdout)["launches"]
    return [x for x in launches if x["kernel"].startswith("m_")]


def main():
    binary, path, program = sys.argv[1:]
    card = [json.loads(line) for line in open(path)]
    ours = emulated(binary, program)
    if len(card) != len(ours) or not card:
        sys.exit(f"atomic_waves_check.py: {len(card)} launches recorded, {len(ours)} run")
    totals, differ, far = collections.Counter(), collections.Counter(), 0
    loops = 0
    for want, got in zip(card, ours):
        shared = want["case"].startswith("shared")
        key = "shared.atom_wavefronts" if shared else "mem.atom_wavefronts"
        # of shared memory the counter of instructions: no other part of the name has it
        w = counted(want["counters"], "smsp__sass_" if shared else "t_output_wavefronts")
        g = got["metrics"][key]["value"]
        if want["case"] == "shared_red_add_f32":
            loops += g != w
            continue
        totals[shared] += 1
        if g != w:
            differ[shared] += 1
            far += abs(g - w) > 1
            print(want["case"], hex(want["mask"]), want["at"], "card", w, "here", g)
    print(f"shared memory: {totals[True]} launches, {differ[True]} differ ({loops} loops do); "
          f"global memory: {totals[False]}, {differ[False]} differ, {far} of all by more than one")
    return 1 if differ[True] or far or differ[False] > 0.03 * totals[False] else 0


sys.exit(main())
