"""Joins the lines of a microbenchmark with the counters a profiler read of its kernels.

    counters.py LINES NCU-CSV

LINES: what a program of this folder printed with MICRO_ONCE=1 (under several passes: the same
lines again and again; the last run counts). NCU-CSV: ncu --csv --page raw of the same run. The
n-th kernel belongs to the n-th measurement: a line stands for as many kernels as it has figures
that end in "ns" or "cycles", or are named "untimed". Prints the lines with "counters" added, one
object a kernel.
"""
import csv
import json
import sys


GIVEN = ("skew_cycles", "spin_cycles")


def figures(line):
    return [k for k in line
            if (k in ("ns", "untimed") or k.endswith(("_ns", "cycles"))) and k not in GIVEN]


def measurements(path):
    runs = []
    for text in open(path, errors="replace"):
        if not text.startswith("{"):
            continue
        line = json.loads(text)
        if line["case"] == "device":
            runs.append([])
        elif runs:
            runs[-1].append(line)
    complete = [r for r in runs if r]
    if not complete:
        sys.exit(f"counters.py: {path}: no measurement in it")
    return complete[-1]


def kernels(path):
    rows = list(csv.reader(t for t in open(path) if t.startswith('"')))
    if len(rows) < 3:
        sys.exit(f"counters.py: {path}: no kernel in it: may counters be read here?")
    head = rows[0]
    name = head.index("Kernel Name")
    for row in rows[2:]:
        values = {}
        for key, value in zip(head, row):
            if "." in key and "__" in key:  # others are facts of the device, such as its name
                values[key] = float(value.replace(",", "")) if value else None
        yield row[name], values


def main():
    lines = measurements(sys.argv[1])
    wanted = [(line, figure) for line in lines for figure in figures(line)]
    found = list(kernels(sys.argv[2]))
    if len(wanted) != len(found):
        print(f"counters.py: {len(wanted)} measurements, {len(found)} kernels: not joined",
              file=sys.stderr)
        for name, values in found:
            print(json.dumps({"kernel": name, "counters": values}))
        return 1
    for (line, figure), (name, values) in zip(wanted, found):
        keep = {k: v for k, v in line.items() if k not in figures(line)}
        print(json.dumps({**keep, "figure": figure, "kernel": name, "counters": values}))
    return 0


sys.exit(main())
