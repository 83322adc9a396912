#!/usr/bin/env python3
"""Where measured times lie for a modelled one, and how far apart two modelled times must be.

    tests/gpu/model_range.py FIT.jsonl ... --test TEST.jsonl ... [--pairs LADDERS.jsonl ...]

Reads points that `tests/gpu/model_error.py ... --out FILE.jsonl` wrote. Of the first files: tenth
and ninetieth percentile of measured over modelled time, by the resource that decides; those that
decide fewer than LEAST launches have what all have together (src/model/time_range.c). Of the
second: how many lie within, which four of five should. Of the third, whose points solve one problem
each group: of pairs whose modelled times lie so far apart, how many stand in the order that was
measured. Pairs that measurement itself separates by less than SAME are in no order; what has more
than MOST_LOCAL bytes of local memory a thread is left out: PTX does not have the traffic of spills.
"""
import argparse
import itertools
import json
import math
from collections import defaultdict

LEAST = 25
SAME = 1.03
MOST_LOCAL = 64
STEPS = (1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 2.0, math.inf)


def points(paths):
    for path in paths:
        for line in open(path):
            p = json.loads(line)
            if p.get("modelled_ns"):
                yield p


def percentile(values, share):
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def ends(ratios):
    ratios = sorted(ratios)
    return percentile(ratios, 0.1), percentile(ratios, 0.9)


def ranges(paths):
    by = defaultdict(list)
    for p in points(paths):
        by[p["note"]].append(p["measured_ns"] / p["modelled_ns"])
    every = ends([r for ratios in by.values() for r in ratios])
    print(f"all: {sum(map(len, by.values()))} launches, {every[0]:.3f} to {every[1]:.3f}")
    found = defaultdict(lambda: every)
    for name, ratios in sorted(by.items()):
        if len(ratios) >= LEAST:
            found[name] = ends(ratios)
        low, high = found[name]
        print(f"{name}: {len(ratios)} launches, {low:.3f} to {high:.3f}")
    return found


def coverage(paths, found):
    inside = n = 0
    for p in points(paths):
        low, high = found[p["note"]]
        inside += low <= p["measured_ns"] / p["modelled_ns"] <= high
        n += 1
    print(f"held out: {inside} of {n} launches within, {100 * inside / n:.0f} %")


def pairs(paths):
    groups = defaultdict(list)
    for p in points(paths):
        if p["metrics"].get("launch.local_bytes_per_thread", 0) > MOST_LOCAL:
            continue
        size = {k: v for k, v in p["params"].items() if k in "M N K W H width height".split()}
        groups[(p["title"].split("/")[0], str(size))].append(p)
    right, wrong = defaultdict(int), defaultdict(int)
    for group in groups.values():
        for a, b in itertools.combinations(group, 2):
            if max(a["measured_ns"] / b["measured_ns"], b["measured_ns"] / a["measured_ns"]) < SAME:
                continue
            modelled = a["modelled_ns"] / b["modelled_ns"]
            ordered = (modelled > 1) == (a["measured_ns"] > b["measured_ns"])
            step = max(s for s in STEPS if s <= max(modelled, 1 / modelled))
            (right if ordered else wrong)[step] += 1
    for low, high in zip(STEPS, STEPS[1:]):
        n = right[low] + wrong[low]
        if n:
            print(f"x {low:.2f} to {high:.2f}: {right[low]} of {n} pairs in order, "
                  f"{100 * right[low] / n:.0f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("fit", nargs="+")
    parser.add_argument("--test", nargs="*", default=[])
    parser.add_argument("--pairs", nargs="*", default=[])
    options = parser.parse_args()
    found = ranges(options.fit)
    if options.test:
        coverage(options.test, found)
    if options.pairs:
        pairs(options.pairs)


main()
