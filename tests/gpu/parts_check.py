"""Holds the emulator's counts of parts, loops, recursion and leaving (tests/gpu/micro) against
a card's.

    parts_check.py PMPP-EXPLORE RECORDED.counters.jsonl [GPU] [--only CASE ...]

Prints the launches of which a recorded counter differs, warp instructions, active lanes, lanes with
a true predicate, branches and local memory, and how many do; status 1 where one does.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "micro"
TARGETS = "smsp__sass_branch_targets_threads_"
# our metric: counters whose sum it is
COUNTERS = {"inst.warp_executed": ("smsp__inst_executed.sum",),
            "inst.thread_active": ("smsp__thread_inst_executed.sum",),
            "inst.thread_executed": ("smsp__thread_inst_executed_pred_on.sum",),
            "div.branches": (TARGETS + "divergent.sum", TARGETS + "uniform.sum"),
            "div.divergent_branches": (TARGETS + "divergent.sum",),
            "mem.local_requests": ("smsp__sass_inst_executed_op_local.sum",)}


def differences(mine, counters):
    for key, names in COUNTERS.items():
        if any(name not in counters for name in names):
            continue
        here, there = mine.get(key, {}).get("value", 0), sum(counters[name] for name in names)
        if here != there:
            yield "%s %.0f here, %.0f there" % (key, here, there)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("recorded")
    p.add_argument("gpu", nargs="?", default="h200")
    p.add_argument("--only", nargs="*", default=[])
    args = p.parse_args()
    card = [json.loads(line) for line in open(args.recorded)]
    source = FOLDER / (card[0]["bench"] + ".cu")
    run = subprocess.run([args.program, "launches", "--json", "--backend", "emu", "--gpu", args.gpu,
                          "--level", "sass", "--count", str(len(card)), str(source), "-O3",
                          "-std=c++17"], capture_output=True, text=True, check=False,
                         env={**os.environ, "MICRO_ONCE": "1"})
    ours = json.loads(run.stdout).get("launches", [])
    if len(ours) != len(card):
        sys.exit("parts_check.py: %d launches here, %d there" % (len(ours), len(card)))
    wrong = compared = 0
    for mine, line in zip(ours, card):
        if args.only and line["case"] not in args.only:
            continue
        compared += 1
        differ = list(differences(mine["metrics"], line["counters"]))
        wrong += bool(differ)
        if differ:
            print({k: v for k, v in line.items() if k not in ("counters", "kernel", "figure")},
                  "; ".join(differ))
    print("%d launches, %d differ" % (compared, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
