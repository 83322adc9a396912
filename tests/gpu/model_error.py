#!/usr/bin/env python3
"""How far the emulator's modelled times are from times measured on a GPU, and whether they rank.

    tests/gpu/model_error.py build/pmpp-explore h200 tests/gpu/h200-2026-11-20/time.jsonl \\
                             tests/gpu/h200-2026-11-20/ladders.jsonl [--sample N] [--only WORD ...]

Reads points as gpu_check writes them (`run`, `random`), what `ladder ... --json` and `run ...
--json` print, one object a line, and the table of `sweep` (.txt; its parameters that are not in the
table are given with --sweep "KERNEL/VARIANT name=value ..."). Runs each point in the emulator on
the same sheet (at most N blocks of it, default 1024: where few blocks of a grid have work, fewer of
them find too little of it) and prints measured and modelled time and their ratio; then one line per
ladder, sweep and random family: do the pairs that measurement separates by more than 10 % stand in
the same order? Of random launches also each
family's error and bias, and the ten worst. Last the mean absolute percentage error. Exit status 1
when a ladder's order is wrong or a point cannot be modelled.
Times are modelled from machine code (nvdisasm is needed); --level ptx models them from PTX.
--record FOLDER, with build/replay/model_record for a program (make model-replay), keeps what the
time model was given for each point; --replay FOLDER, with build/replay/model_replay, models the
same points from that in a second, without the emulator: for work on the model itself.
--only keeps the ladders whose name holds one of the words. --out FILE writes every point with all
modelled metrics, one JSON object a line.
"""
import argparse
import hashlib
import json
import math
import os
import re
import subprocess
import sys
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

APART = 1.10
TELLS = 1.25  # src/model/time_range.c, variants of one problem
MOST_TURNED = 0.03
CLOSE = 2.0  # pairs of random launches that are not far apart anyway

# group: what is ranked together; kind: ladder, sweep, run, point or random; target: words of a run
Point = namedtuple("Point", "path group kind title target params seed measured")


def text(params):
    return " ".join(f"{k}={v}" for k, v in params.items())


def of_ladder(path, item):
    rungs = [r for r in item["rungs"] if r.get("time_ns") and r.get("origin") == "measured"]
    common = dict(set.intersection(*[set(r["params"].items()) for r in rungs])) if rungs else {}
    ordered = {k: v for k, v in rungs[0]["params"].items() if k in common} if rungs else {}
    name = f'{item["ladder"]} {text(ordered)}'.strip()
    # two ladders may share what all their rungs share: say what else the rungs have
    rest = {k: v for r in rungs for k, v in r["params"].items() if k not in common}
    if rest:
        name += f" ({text(rest)})"
    for r in rungs:
        target = f'{item["ladder"]}/{r["variant"]}'
        yield Point(path, name, "ladder", target, [target], r["params"], 1, r["time_ns"])


def of_line(path, item):
    """The points of one line of a file."""
    if "ladder" in item:
        return list(of_ladder(path, item))
    if "kernel" not in item:
        return []
    title = f'{item["kernel"]}/{item["variant"]}'
    target = [title]
    here = os.path.dirname(os.path.abspath(__file__))
    family = os.path.join(here, "families", item["kernel"] + ".cu")
    if os.path.exists(family):
        target = [family, "--kernel", item["variant"], "--plugin"]
    if "point" in item:
        time = item.get("time", {}).get("median_ns")
        if not time or not item.get("verified"):
            return []
        if "random" in item:
            return [Point(path, item["kernel"], "random", title, target, item["params"],
                          item["input_seed"], time)]
        name = f'{item["kernel"]} point {item["point"]}'
        return [Point(path, name, "point", title, target, item["params"], 1, time)]
    time = item["metrics"]["time.kernel_ns"]
    if time.get("origin") != "measured":
        return []
    size = " ".join(f"{k}={v}" for k, v in item["params"].items() if k in "NMKWH")
    return [Point(path, f'{item["kernel"]} runs {size}', "run", title, target, item["params"],
                  item.get("seed", 1), time["value"])]


def of_sweep(path, sweep):
    """The table that `sweep` prints: parameters, then the time."""
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    words = sweep.split()
    given = dict(w.split("=") for w in words[1:])
    found = []
    for line in open(path):
        row = re.match(r"\s+((?:\w+=\w+ )+)\s+([\d.]+) (ns|us|ms|s) ●", line)
        if row:
            params = {**given, **dict(w.split("=") for w in row.group(1).split())}
            time = float(row.group(2)) * units[row.group(3)]
            group = f"{words[0]} {text(given)}"
            found.append(Point(path, group, "sweep", words[0], [words[0]], params, 1, time))
    return found


def input_file(folder, point):
    words = " ".join([point.title, text(point.params), str(point.seed)])
    name = hashlib.sha256(words.encode()).hexdigest()[:24]
    return os.path.join(folder, name + ".bin")


def replayed(options, points):
    """As modelled(), of all points, from what --record has kept."""
    files = [input_file(options.replay, p) for p in points]
    out = subprocess.run([options.program, *files], capture_output=True, text=True, check=False)
    rows = {row["file"]: row for row in map(json.loads, out.stdout.splitlines())}
    if not rows:
        sys.exit(out.stderr or f"model_error.py: {options.program} printed nothing")
    answers = []
    for name in files:
        row = rows.get(name)
        resources = {k: {"value": v} for k, v in row.items() if k != "file"} if row else None
        answers.append((row["kernel_ns"], row["bottleneck"], resources) if row
                       else (None, "not recorded", None))
    return answers


def modelled(options, point):
    command = [options.program, "run", *point.target, *text(point.params).split(),
               "--gpu", options.sheet, "--backend", "emu", "--sample", str(options.sample),
               "--seed", str(point.seed), "--no-verify", "--timeout", "300", "--json",
               "--level", options.level]
    environment = dict(os.environ)
    if options.record:
        environment["MODEL_RECORD"] = input_file(options.record, point)
    out = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    try:
        metrics = json.loads(out.stdout)["metrics"]
        return metrics["time.kernel_ns"]["value"], metrics["time.bottleneck"]["value"], metrics
    except (ValueError, KeyError):
        return None, (out.stderr.strip().split("\n") or ["?"])[0], None


def order(rungs, at_most=math.inf, tells=1):
    """Pairs that measurement separates, by @at_most, and those that the model turns round, by
    @tells."""
    pairs, wrong = 0, []
    for i, (a, measured_a, model_a) in enumerate(rungs):
        for b, measured_b, model_b in rungs[i + 1:]:
            ratio = max(measured_a, measured_b) / min(measured_a, measured_b)
            if ratio <= APART or ratio > at_most:
                continue
            pairs += 1
            modelled_apart = max(model_a, model_b) / min(model_a, model_b)
            if (measured_a < measured_b) != (model_a < model_b) and modelled_apart >= tells:
                wrong.append(f"{a} and {b}")
    return pairs, wrong


def mean(errors):
    return 100 * sum(errors) / len(errors)


def quantile(errors, q):
    return 100 * sorted(errors)[min(len(errors) - 1, int(len(errors) * q))]


def summary(errors):
    return (f"{len(errors)} points, mean absolute error {mean(errors):.0f} %, "
            f"median {quantile(errors, 0.5):.0f} %")


def bias(rungs):
    """The typical factor between model and measurement, as a signed percentage."""
    return 100 * (math.exp(sum(math.log(m / t) for _, t, m in rungs) / len(rungs)) - 1)


def spread(errors):
    return (f"mean {mean(errors):.1f} %, median {quantile(errors, 0.5):.1f} %, "
            f"p90 {quantile(errors, 0.9):.1f} %")


def report_random(points):
    """@points: (point, modelled ns, bottleneck)"""
    families = {}
    for p, model, _ in points:
        families.setdefault(p.group, []).append((p.title, p.measured, model))
        families.setdefault(p.title, []).append((p.title, p.measured, model))
    pairs, near = [0, 0], [0, 0]  # all, in order
    for name, rungs in sorted(families.items()):
        errors = [abs(m / t - 1) for _, t, m in rungs]
        line = f"random {name}: {len(rungs)} launches, {spread(errors)}, bias {bias(rungs):+.0f} %"
        if "/" not in name:  # variants together
            for total, limit in ((pairs, math.inf), (near, CLOSE)):
                n, bad = order(rungs, limit)
                total[0] += n
                total[1] += n - len(bad)
                line += f", {n - len(bad)} of {n} pairs in order" if total is pairs else ""
        print(line)
    errors = [abs(m / p.measured - 1) for p, m, _ in points]
    total = bias([(p.title, p.measured, m) for p, m, _ in points])
    print(f"random: {len(points)} launches, {spread(errors)}, bias {total:+.1f} %")
    print(f"pairs of a family in order: {pairs[1]} of {pairs[0]}; of those within a factor of "
          f"{CLOSE:g}: {near[1]} of {near[0]}")
    print("the ten worst:")
    for p, model, note in sorted(points, key=lambda x: -abs(math.log(x[1] / x[0].measured)))[:10]:
        ratio = model / p.measured
        print(f"  x {ratio:5.2f}  {p.measured:12.0f} ns  {p.title} {text(p.params)}  {note}")
    print()


def report_orders(groups):
    """Pairs of ladders, those turned round, those of them that the model tells apart."""
    every, turned, told = 0, 0, 0
    for (name, kind), rungs in groups.items():
        pairs, wrong = order(rungs)
        if kind != "sweep":
            every += pairs
            turned += len(wrong)
            told += len(order(rungs, tells=TELLS)[1])
        error = mean([abs(model / measured - 1) for _, measured, model in rungs])
        named = f"; turned round: {', '.join(wrong)}" if wrong and kind != "sweep" else ""
        print(f"order of {name}: {pairs - len(wrong)} of {pairs} pairs agree, error {error:.0f} %"
              + named)
    print()
    return every, turned, told


def read_points(options):
    points = []
    for path in options.files:
        if path.endswith(".txt"):
            points += of_sweep(path, options.sweep)
            continue
        for line in open(path):
            points += of_line(path, json.loads(line))
    if options.only:
        points = [p for p in points if any(word in p.group for word in options.only)]
    if not points:
        sys.exit("model_error.py: no measured point in these files")
    return points


def write_points(path, points, answers):
    with open(path, "w") as out:
        for p, (model, note, metrics) in zip(points, answers):
            known = {k: v["value"] for k, v in (metrics or {}).items() if "value" in v}
            row = {"title": p.title, "params": p.params, "seed": p.seed, "kind": p.kind,
                   "measured_ns": p.measured, "modelled_ns": model, "note": note, "metrics": known}
            print(json.dumps(row), file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("sheet")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--sample", type=int, default=1024)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--sweep", default="sgemm_fast/pipelined M=2048 N=2048 K=2048")
    parser.add_argument("--level", default="auto", help="ptx: times modelled from PTX")
    parser.add_argument("--out")
    parser.add_argument("--record", metavar="FOLDER")
    parser.add_argument("--replay", metavar="FOLDER")
    options = parser.parse_args()
    points = read_points(options)
    if options.record:
        os.makedirs(options.record, exist_ok=True)
    if options.replay:
        answers = replayed(options, points)
    else:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = list(pool.map(lambda p: modelled(options, p), points))
    if options.out:
        write_points(options.out, points, answers)

    groups, random, errors, missing = {}, [], {}, 0
    for p, (model, note, _) in zip(points, answers):
        if model is None:
            missing += 1
            print(f"{p.title:27} {p.measured:12.0f} ns  not modelled: {note}")
            continue
        errors.setdefault(p.path, []).append(abs(model / p.measured - 1))
        if p.kind == "random":
            random.append((p, model, note))
        else:
            variant = text(p.params) if p.kind == "sweep" else p.title.split("/")[1]
            groups.setdefault((p.group, p.kind), []).append((variant, p.measured, model))
        print(f"{p.title:27} {p.measured:12.0f} ns  {model:12.0f} ns  "
              f"x {model / p.measured:5.2f}  {note}")
    print()
    pairs, turned, told = report_orders(groups)
    if random:
        report_random(random)
    for path, e in errors.items():
        print(f"{os.path.basename(path)}: {summary(e)}")
    every = [e for part in errors.values() for e in part]
    print(f"{summary(every)}; {turned} of {pairs} pairs turned round, {told} by a factor of "
          f"{TELLS:g} and more")
    return 1 if told or turned > MOST_TURNED * pairs or missing else 0


sys.exit(main())
