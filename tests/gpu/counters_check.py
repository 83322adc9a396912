#!/usr/bin/env python3
"""Holds the emulator's counts of machine code against counters that a GPU recorded.

    tests/gpu/counters_check.py build/pmpp-explore [h200] [FILE.jsonl ...]

Reads launches as gpu_check writes them (`run`, `random`) with counters, runs each again in the
emulator, all blocks, --level sass, and prints what differs; then how many launches and figures were
compared and how many differ. What a card may count differently each time the run names itself
("varies"): such figures, where they differ, are counted apart. Status 1 when another one differs or
cannot be compared. Without files: the random launches with counters that are in the repository.
--only WORD ...: launches whose kernel/variant holds one of them. nvdisasm is needed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT = [HERE / "h200-2026-11-23" / "random" / "random-115.jsonl"]
# What does not depend on time: the launch, instructions, branches, requests, sectors, operations.
EXACT = """launch.grid_blocks launch.block_threads launch.registers_per_thread
launch.shared_bytes_per_block launch.local_bytes_per_thread inst.warp_executed
inst.thread_executed div.branches div.divergent_branches mem.ld_requests mem.ld_sectors
mem.st_requests mem.st_sectors mem.atom_requests mem.atom_sectors mem.local_requests
shared.ld_requests shared.ld_wavefronts shared.ldm_requests shared.ldm_wavefronts
shared.st_requests shared.st_wavefronts shared.atom_requests flop.fp16 flop.fp32
flop.fp64""".split()


def recorded(paths, only):
    for path in paths:
        for line in open(path):
            item = json.loads(line)
            if not item.get("verified") or "inst.thread_executed" not in item.get("metrics", {}):
                continue
            title = f'{item["kernel"]}/{item["variant"]}'
            if not only or any(word in title for word in only):
                yield title, item


def emulated(options, title, item):
    """Its metrics, or None; which of them a card may count differently; why there are none."""
    family = HERE / "families" / (item["kernel"] + ".cu")
    target = [family, "--kernel", item["variant"], "--plugin"] if family.exists() else [title]
    command = [options.program, "run", *target, *(f"{k}={v}" for k, v in item["params"].items()),
               "--gpu", options.sheet, "--backend", "emu", "--level", "sass", "--no-verify",
               "--seed", str(item.get("input_seed", 1)), "--timeout", "600", "--json"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        seen = json.loads(out.stdout)
        may_vary = {key for reason in seen["run"].get("varies", ()) for key in reason["metrics"]}
        return seen["metrics"], may_vary, ""
    except (ValueError, KeyError):
        return None, set(), (out.stderr.strip().split("\n") or ["?"])[0]


def compare(item, metrics):
    """Compared figures, and those that differ: (key, here, there)."""
    want = item["metrics"]
    keys = [k for k in EXACT if want.get(k) is not None]
    here = {k: metrics.get(k, {}).get("value") for k in keys}
    return len(keys), [(k, here[k], want[k]) for k in keys if here[k] != want[k]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("sheet", nargs="?", default="h200")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    launches = list(recorded(options.files or DEFAULT, options.only))
    if not launches:
        sys.exit("counters_check.py: no launch with counters in these files")
    with ThreadPoolExecutor(options.jobs) as pool:
        answers = list(pool.map(lambda x: emulated(options, *x), launches))
    figures = wrong = missing = unequal = varying = 0
    for (title, item), (metrics, may_vary, why) in zip(launches, answers):
        words = " ".join(f"{k}={v}" for k, v in item["params"].items())
        if metrics is None:
            missing += 1
            print(f"{title} {words}: {why}")
            continue
        n, differ = compare(item, metrics)
        varying += sum(key in may_vary for key, _, _ in differ)
        differ = [d for d in differ if d[0] not in may_vary]
        figures += n
        wrong += len(differ)
        unequal += bool(differ)
        if differ:
            print(f"{title} {words}: "
                  + ", ".join(f"{k} {here} here, {there} there" for k, here, there in differ))
    print(f"{len(launches) - missing} launches, {unequal} differ; {figures} figures, {wrong} "
          f"differ; {varying} differ as they may, by timing; {missing} could not be run")
    return 1 if wrong or missing else 0


sys.exit(main())
