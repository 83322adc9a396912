"""Holds the emulator's counts of tests/gpu/micro/parts.cu against those that a card gave.

    parts_check.py PMPP-EXPLORE RECORDED.counters.jsonl [GPU]

Prints the launches whose warp instructions, active lanes or lanes with a true predicate differ, and
how many do; status 1 where one does.
"""
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent / "micro" / "parts.cu"
COUNTERS = {"inst.warp_executed": "smsp__inst_executed.sum",
            "inst.thread_active": "smsp__thread_inst_executed.sum",
            "inst.thread_executed": "smsp__thread_inst_executed_pred_on.sum"}


def main():
    program, recorded = sys.argv[1:3]
    gpu = sys.argv[3] if len(sys.argv) > 3 else "h200"
    card = [json.loads(line) for line in open(recorded)]
    run = subprocess.run([program, "launches", "--json", "--backend", "emu", "--gpu", gpu,
                          "--level", "sass", "--count", str(len(card)), str(SOURCE), "-O3",
                          "-std=c++17"], capture_output=True, text=True, check=False,
                         env={**os.environ, "MICRO_ONCE": "1"})
    ours = json.loads(run.stdout).get("launches", [])
    if len(ours) != len(card):
        sys.exit("parts_check.py: %d launches here, %d there" % (len(ours), len(card)))
    wrong = 0
    for mine, line in zip(ours, card):
        differ = ["%s %s here, %.0f there" % (key, mine["metrics"][key]["value"],
                                              line["counters"][name])
                  for key, name in COUNTERS.items()
                  if mine["metrics"][key]["value"] != line["counters"][name]]
        wrong += bool(differ)
        if differ:
            print({k: v for k, v in line.items() if k != "counters"}, "; ".join(differ))
    print("%d launches, %d differ" % (len(card), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
