#!/usr/bin/env python3
"""Times of launches of before.cu, displaced.cu, cut_short.cu, first.cu, wanted.cu, group_steps.cu,
lane_locks.cu, begun.cu, group_program.cu, graph_nodes.cu, columns.cu, headers.cu and sums.cu, by
kernel and by what came before.

    pmpp-explore launches BIN/before --backend cuda --json | before.py before > before.jsonl
"""
import json
import statistics
import sys


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    seen = json.load(sys.stdin)
    names = seen["stdout"].split("\n")
    times = {}
    for name, launch in zip(names, seen["launches"]):
        ns = launch["metrics"].get("time.kernel_ns", {}).get("value")
        if ns and not name.startswith("other"):
            times.setdefault(tuple(name.split()), []).append(ns)
    if not times:
        print("before.py: no launch has a time", file=sys.stderr)
        return 1
    for (kernel, before), ns in times.items():
        print(json.dumps({"bench": sys.argv[1], "case": kernel, "before": before, "ns":
                          statistics.median(ns), "least_ns": min(ns), "most_ns": max(ns),
                          "launches": len(ns)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
