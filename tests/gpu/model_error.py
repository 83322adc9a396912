#!/usr/bin/env python3
"""How far the emulator's modelled times are from times measured on a GPU.

    tests/gpu/model_error.py build/pmpp-explore h200 tests/gpu/h200-2026-11-20/time.jsonl

Runs every measured point in the emulator on the same sheet (a sample of blocks for large grids),
prints measured and modelled time, their ratio, and the mean absolute percentage error; then, for
every family measured at the same parameters, whether the order of its variants agrees.
"""
import json
import math
import subprocess
import sys


def modelled(program, sheet, point):
    params = [f"{k}={v}" for k, v in point["params"].items()]
    name = f'{point["kernel"]}/{point["variant"]}'
    out = subprocess.run([program, "run", name, *params, "--gpu", sheet, "--backend", "emu",
                          "--sample", "512", "--json"], capture_output=True, text=True)
    try:
        answer = json.loads(out.stdout)
        return answer["metrics"]["time.kernel_ns"]["value"], answer["metrics"]["time.bottleneck"]["value"]
    except (ValueError, KeyError):
        return None, (out.stderr.strip().split("\n") or ["?"])[0]


def main():
    program, sheet, path = sys.argv[1:4]
    errors = []
    groups = {}
    for line in open(path):
        point = json.loads(line)
        measured = point.get("time", {}).get("median_ns")
        if not measured or not point.get("verified"):
            continue
        model, note = modelled(program, sheet, point)
        name = f'{point["kernel"]}/{point["variant"]} {point["point"]}'
        if model is None:
            print(f"{name:38} {measured:12.0f} ns  not modelled: {note}")
            continue
        errors.append((abs(model / measured - 1), name))
        groups.setdefault((point["kernel"], point["point"]), []).append((measured, model, point["variant"]))
        print(f"{name:38} {measured:12.0f} ns  {model:12.0f} ns  x {model / measured:5.2f}  {note}")
    mape = 100 * sum(e for e, _ in errors) / len(errors)
    print(f"\n{len(errors)} points, mean absolute error {mape:.0f} %, median "
          f"{100 * sorted(e for e, _ in errors)[len(errors) // 2]:.0f} %")
    for (kernel, index), rungs in sorted(groups.items()):
        pairs = wrong = 0
        for i, a in enumerate(rungs):
            for b in rungs[i + 1:]:
                if abs(math.log(a[0] / b[0])) > 0.1:  # measured apart by more than 10 %
                    pairs += 1
                    wrong += (a[0] < b[0]) != (a[1] < b[1])
        print(f"order of {kernel} point {index}: {pairs - wrong} of {pairs} pairs agree")


main()
