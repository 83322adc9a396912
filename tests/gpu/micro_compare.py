#!/usr/bin/env python3
"""How far the emulator's times of a microbenchmark are from those of a card.

    build/pmpp-explore launches tests/gpu/micro/NAME.cu --gpu h200 --backend emu --level sass \\
                       -O3 -std=c++17 > EMULATED.jsonl
    micro_compare.py EMULATED.jsonl MEASURED.jsonl [MEASURED.jsonl ...]

For those that take their times (ns) by events; of before.py's, the emulator's launches through it
as well (launches --json). Lines are the same that say the same but for times;
of several recordings the mean counts, of lines that all of them have. Prints each ratio, then mean,
median and 90th percentile of the errors.
"""
import json
import statistics
import sys


def times(path):
    found = {}
    for line in open(path, encoding="utf-8"):
        if not line.startswith('{"bench"'):
            continue
        row = json.loads(line)
        ns = row.pop("ns", None)
        for also in ("turn_ns", "least_ns", "most_ns", "launches"):
            row.pop(also, None)
        if ns:
            found[json.dumps(row)] = ns
    return found


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    emulated, *measured = [times(path) for path in sys.argv[1:]]
    shared = [k for k in measured[0] if all(k in m for m in measured) and k in emulated]
    if not shared:
        print("micro_compare.py: no line is in all of these files", file=sys.stderr)
        return 3
    errors = []
    for key in shared:
        card = statistics.mean(m[key] for m in measured)
        ratio = emulated[key] / card
        errors.append(abs(ratio - 1))
        said = " ".join(str(v) for v in list(json.loads(key).values())[1:])
        print(f"x {ratio:5.2f}  {card:12.0f} ns  {said}")
    errors.sort()
    print(f"{len(errors)}: mean error {100 * statistics.mean(errors):.1f} %, median "
          f"{100 * statistics.median(errors):.1f} %, p90 "
          f"{100 * errors[int(0.9 * (len(errors) - 1))]:.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
