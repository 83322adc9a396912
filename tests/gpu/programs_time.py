#!/usr/bin/env python3
"""How far the modelled times of a program's launches are from those that a card took.

    programs_time.py record PMPP-EXPLORE FILE.jsonl [NAME ...]
    programs_time.py compare PMPP-EXPLORE SHEET FILE.jsonl [--out POINTS.jsonl]
                     [--beside RANDOM.jsonl ...] [NAME ...]

record: builds the programs of tests/programs (all that run on a card, or those named) and runs each
RUNS times (7, or PROGRAM_RUNS of the environment) under `launches --backend cuda`: a line per
launch with its time, the median of the runs.
Caches are as the program leaves them. Needs nvcc and a GPU.
compare: the same programs in the emulator, launch by launch: measured and modelled time of those
that are furthest off, then mean, median and 90th percentile of the errors, each program's launches
weighing as one (a loop of a hundred launches says no more than one of them), and how much of the
total time is missed; then the same of each launch for itself. Launches shorter than EMPTY_NS say
nothing of a model and are left out.
--beside: also the errors of these, both ways, and of random launches together, as model_error.py
--out writes them, a file each.
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
RUNS = int(os.environ.get("PROGRAM_RUNS", "7"))
UNSTEADY = 0.5  # of the median, from the quickest of a launch's runs to the slowest
LIMIT_S, EMULATED_LIMIT_S = 60, 900
EMPTY_NS = 1000  # what an empty launch takes
ALL = 1000  # more launches than any program has: each is counted for itself
# what they do depends on chance; the card tells nothing of launches that kernels make
LEFT_OUT = {"threads", "nested_launches", "nested_sort"}


def words_of(source):
    """Options for nvcc that the program names, without the architecture."""
    text = source.read_text(encoding="utf-8")
    return re.sub(r"-arch=\S+", "", " ".join(re.findall(r"^// nvcc: (.*)", text, re.M))).split()


def arch_of(source):
    own = re.search(r"^// nvcc: .*-arch=sm_(\d+a)", source.read_text(encoding="utf-8"), re.M)
    return own.group(1) if own else None


def own_arch(source):
    return [f"-arch=sm_{arch_of(source)}"] if arch_of(source) else []


def programs(names):
    for source in sorted(PROGRAMS.glob("*.cu")):
        if source.stem in LEFT_OUT or (names and source.stem not in names):
            continue
        if re.search(r"^// emulator only", source.read_text(encoding="utf-8"), re.M):
            continue
        yield source


def launches(words, limit_s=LIMIT_S):
    done = subprocess.run(words, capture_output=True, timeout=limit_s, cwd=PROGRAMS,
                          stdin=subprocess.DEVNULL, check=False)
    seen = json.loads(done.stdout)
    if "launches" not in seen:
        raise ValueError(done.stdout[:200])
    return [l for l in seen["launches"] if "failed" not in l["flags"]]


def value(launch, key):
    return launch["metrics"].get(key, {}).get("value")


def build(source, folder):
    nvcc = os.environ.get("NVCC", "nvcc")
    binary = folder / source.stem
    arch = arch_of(source) or "90"
    code = f"sm_{arch}" if arch.endswith("a") else f"[sm_{arch},compute_{arch}]"
    done = subprocess.run([nvcc, *words_of(source), "-O1", "-lineinfo", "-gencode",
                           f"arch=compute_{arch},code={code}", "-o", binary, source],
                          capture_output=True, check=False)
    return binary if done.returncode == 0 else None


def record(pmpp, path, names):
    folder = pathlib.Path(path).parent / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        built = list(pool.map(lambda s: (s, build(s, folder)), programs(names)))
    with open(path, "w", encoding="utf-8") as out:
        for source, binary in built:
            if not binary:
                print(f"{source.stem}: does not compile", file=sys.stderr)
                continue
            try:
                runs = [launches([pmpp, "launches", str(binary), "--backend", "cuda", "--json"])
                        for _ in range(RUNS)]
            except (ValueError, subprocess.TimeoutExpired) as e:
                print(f"{source.stem}: {e}", file=sys.stderr)
                continue
            if len({len(r) for r in runs}) != 1:
                print(f"{source.stem}: not the same launches each time", file=sys.stderr)
                continue
            for n, same in enumerate(zip(*runs)):
                times = [value(l, "time.kernel_ns") for l in same]
                if None not in times:
                    print(json.dumps({"program": source.stem, "launch": n,
                                      "kernel": same[0]["kernel"], "grid": same[0]["grid"],
                                      "block": same[0]["block"],
                                      "ns": statistics.median(times),
                                      "least_ns": min(times), "most_ns": max(times)}),
                          file=out, flush=True)


def modelled(pmpp, sheet, source):
    try:
        return launches([pmpp, "launches", str(source), "--gpu", sheet, "--backend", "emu",
                         "--json", "--count", str(ALL), "--level", "sass", "-O1",
                         *words_of(source), *own_arch(source)], EMULATED_LIMIT_S)
    except (ValueError, subprocess.TimeoutExpired) as e:
        print(f"{source.stem}: {e}", file=sys.stderr)
        return []


# Its kernels last until the host, or one another, has done something: the host's time.
WAITING = {"waiting_kernels"}


def shape_of(launch):
    return launch["kernel"], tuple(launch["grid"]), tuple(launch["block"])


def in_order_of(measured, ours):
    """Ours, each in the place of the launch of its shape that is measured: streams and bodies of
    graphs are listed as they end. As they are where the shapes are not the same."""
    shapes = {}
    for launch in ours:
        shapes.setdefault(shape_of(launch), []).append(launch)
    if sorted(map(shape_of, measured)) != sorted(map(shape_of, ours)):
        return ours
    return [shapes[shape_of(m)].pop(0) for m in measured]


def points_of(measured, ours):
    """Pairs of the same launch; none at all where the two did not launch the same."""
    ours = in_order_of(measured, ours)
    same = len(measured) == len(ours) and all(
        m["grid"] == o["grid"] and m["block"] == o["block"] for m, o in zip(measured, ours))
    if not same:
        return None
    return [{**m, "modelled_ns": value(o, "time.kernel_ns"),
             "bottleneck": value(o, "time.bottleneck")}
            for m, o in zip(measured, ours)
            if m["ns"] >= EMPTY_NS and value(o, "time.kernel_ns")]


def errors_of(points):
    """One point per program, kernel and shape: the median of its launches' errors; and those of
    which the card's own runs lie far apart."""
    groups, spread = {}, {}
    for p in points:
        key = p["program"], p["kernel"], tuple(p["grid"]), tuple(p["block"])
        groups.setdefault(key, []).append(p["modelled_ns"] / p["ns"])
        apart = p.get("most_ns", p["ns"]) - p.get("least_ns", p["ns"])
        spread.setdefault(key, []).append(apart / p["ns"])
    ratios = {k: statistics.median(v) for k, v in groups.items()}
    return ratios, {k for k, v in spread.items() if statistics.median(v) > UNSTEADY}


def of_random(paths):
    rows = [json.loads(line) for path in paths for line in open(path, encoding="utf-8")]
    return [r["modelled_ns"] / r["measured_ns"] for r in rows if r["modelled_ns"] is not None]


def compare(pmpp, sheet, path, out, beside, names):
    measured = {}
    for line in open(path, encoding="utf-8"):
        p = json.loads(line)
        measured.setdefault(p["program"], []).append(p)
    points = []
    sources = [s for s in programs(names) if s.stem in measured and s.stem not in WAITING]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        all_ours = list(pool.map(lambda s: modelled(pmpp, sheet, s), sources))
    for source, ours in zip(sources, all_ours):
        found = points_of(measured[source.stem], ours)
        if found is None:
            print(f"{source.stem}: {len(measured[source.stem])} launches measured, "
                  f"{len(ours)} here, or others", file=sys.stderr)
        points += found or []
    if out:
        with open(out, "w", encoding="utf-8") as f:
            for p in points:
                print(json.dumps(p), file=f)
    ratios, unsteady = errors_of(points)
    if not ratios:
        print("nothing to compare")
        return 1
    print("modelled / measured, the furthest off:")
    for key, ratio in sorted(ratios.items(), key=lambda kv: -abs(math.log(kv[1])))[:20]:
        print(f"  {ratio:6.2f}  {key[0]} {key[1][:50]} {list(key[2])} {list(key[3])}"
              f"{'  (the card is not sure)' if key in unsteady else ''}")
    total = sum(p["ns"] for p in points), sum(p["modelled_ns"] for p in points)
    print(f"{len(points)} launches, of different shape: {summary(ratios.values())}; time in all x "
          f"{total[1] / total[0]:.3f}")
    single = [p["modelled_ns"] / p["ns"] for p in points]
    print(f"each launch for itself: {summary(single)}")
    steady = [r for k, r in ratios.items() if k not in unsteady]
    print(f"without those whose runs on the card lie more than {100 * UNSTEADY:.0f} % apart: "
          f"{summary(steady)}")
    if beside:
        others = of_random(beside)
        print(f"with {len(others)} random launches: {summary(others + list(ratios.values()))}; "
              f"without those: {summary(others + steady)}")
        print(f"each launch for itself, with these: {summary(others + single)}")
    return 0


def summary(ratios):
    off = sorted(abs(r - 1) for r in ratios)
    if not off:
        return "none"
    return (f"{len(off)}: mean error {100 * statistics.mean(off):.1f} %, median "
            f"{100 * statistics.median(off):.1f} %, p90 "
            f"{100 * off[int(0.9 * (len(off) - 1))]:.1f} %, bias "
            f"{100 * (statistics.mean(ratios) - 1):+.1f} %")


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("mode", choices=("record", "compare"))
    args.add_argument("words", nargs="+")
    args.add_argument("--out")
    args.add_argument("--beside", action="append", default=[])
    a = args.parse_args()
    a.words[0] = str(pathlib.Path(a.words[0]).resolve())
    if a.mode == "record":
        record(a.words[0], a.words[1], a.words[2:])
        return 0
    return compare(a.words[0], a.words[1], a.words[2], a.out, a.beside, a.words[3:])


if __name__ == "__main__":
    sys.exit(main())
