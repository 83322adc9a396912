#!/usr/bin/env python3
"""How far the emulator's modelled times are from times measured on a GPU, and whether they rank.

    tests/gpu/model_error.py build/pmpp-explore h200 tests/gpu/h200-2026-11-20/time.jsonl \\
                             tests/gpu/h200-2026-11-20/ladders.jsonl [--sample N] [--only WORD ...]

Reads points as gpu_check writes them, and what `ladder ... --json` and `run ... --json` print, one
object a line. Runs each point in the emulator on the same sheet (at most N blocks of it, default 264,
two on each of the 132 SMs) and prints measured and modelled time and their ratio; then one line per ladder: do the
pairs of rungs that measurement separates by more than 10 % stand in the same order? Last the mean
absolute percentage error. Exit status 1 when an order is wrong or a point cannot be modelled.
--only keeps the ladders whose name holds one of the words.
"""
import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

APART = 1.10


def text(params):
    return " ".join(f"{k}={v}" for k, v in params.items())


def points_of(item):
    """(ladder, kernel, variant, parameters, measured ns) of one line of a file."""
    if "ladder" in item:
        rungs = [r for r in item["rungs"] if r.get("time_ns") and r.get("origin") == "measured"]
        common = dict(set.intersection(*[set(r["params"].items()) for r in rungs])) if rungs else {}
        ordered = {k: v for k, v in rungs[0]["params"].items() if k in common} if rungs else {}
        name = f'{item["ladder"]} {text(ordered)}'.strip()
        # two ladders may share what all their rungs share: say what else the rungs have
        rest = {k: v for r in rungs for k, v in r["params"].items() if k not in common}
        if rest:
            name += f" ({text(rest)})"
        return [(name, item["ladder"], r["variant"], r["params"], r["time_ns"]) for r in rungs]
    if "point" in item:
        time = item.get("time", {}).get("median_ns")
        if not time or not item.get("verified"):
            return []
        name = f'{item["kernel"]} point {item["point"]}'
        return [(name, item["kernel"], item["variant"], item["params"], time)]
    time = item["metrics"]["time.kernel_ns"]
    if time.get("origin") != "measured":
        return []
    size = " ".join(f"{k}={v}" for k, v in item["params"].items() if k in "NMKWH")
    return [(f'{item["kernel"]} runs {size}', item["kernel"], item["variant"], item["params"],
             time["value"])]


def modelled(options, point):
    _, kernel, variant, params, _ = point
    command = [options.program, "run", f"{kernel}/{variant}", *[f"{k}={v}" for k, v in params.items()],
               "--gpu", options.sheet, "--backend", "emu", "--sample", str(options.sample),
               "--no-verify", "--timeout", "300", "--json"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        metrics = json.loads(out.stdout)["metrics"]
        return metrics["time.kernel_ns"]["value"], metrics["time.bottleneck"]["value"]
    except (ValueError, KeyError):
        return None, (out.stderr.strip().split("\n") or ["?"])[0]


def order(rungs):
    """Pairs that measurement separates, and those of them that the model turns round."""
    pairs, wrong = 0, []
    for i, (a, measured_a, model_a) in enumerate(rungs):
        for b, measured_b, model_b in rungs[i + 1:]:
            if max(measured_a, measured_b) <= APART * min(measured_a, measured_b):
                continue
            pairs += 1
            if (measured_a < measured_b) != (model_a < model_b):
                wrong.append(f"{a} and {b}")
    return pairs, wrong


def mean(errors):
    return 100 * sum(errors) / len(errors)


def median(errors):
    return 100 * sorted(errors)[len(errors) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("sheet")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--sample", type=int, default=264)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    points = []
    for path in options.files:
        for line in open(path):
            points += [(path, *p) for p in points_of(json.loads(line))]
    if options.only:
        points = [p for p in points if any(word in p[1] for word in options.only)]
    if not points:
        sys.exit("model_error.py: no measured point in these files")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda p: modelled(options, p[1:]), points))

    ladders, errors, missing = {}, {}, 0
    for (path, name, kernel, variant, _, measured), (model, note) in zip(points, answers):
        title = f"{kernel}/{variant}"
        if model is None:
            missing += 1
            print(f"{title:27} {measured:12.0f} ns  not modelled: {note}")
            continue
        errors.setdefault(path, []).append(abs(model / measured - 1))
        ladders.setdefault(name, []).append((variant, measured, model))
        print(f"{title:27} {measured:12.0f} ns  {model:12.0f} ns  x {model / measured:5.2f}  {note}")
    print()
    turned = 0
    for name, rungs in ladders.items():
        pairs, wrong = order(rungs)
        turned += len(wrong)
        error = mean([abs(model / measured - 1) for _, measured, model in rungs])
        print(f"order of {name}: {pairs - len(wrong)} of {pairs} pairs agree, error {error:.0f} %"
              + (f"; turned round: {', '.join(wrong)}" if wrong else ""))
    print()
    for path, e in errors.items():
        print(f"{os.path.basename(path)}: {len(e)} points, mean absolute error {mean(e):.0f} %, "
              f"median {median(e):.0f} %")
    every = [e for part in errors.values() for e in part]
    print(f"{len(every)} points, mean absolute error {mean(every):.0f} %, median {median(every):.0f} %; "
          f"{turned} pairs turned round")
    return 1 if turned or missing else 0


sys.exit(main())
