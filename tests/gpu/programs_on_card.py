"""Compares programs on a card as they are with the same under `launches --backend cuda`.

    programs_on_card.py PMPP-EXPLORE FOLDER PROGRAMS NAME...

FOLDER/bin holds the executables; programs_on_card.sh builds them and says what is looked at.
"""
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

PMPP, OUT, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
BIN = OUT / "bin"
LIMIT_S = 60
# Launched by kernels: CUPTI tells of no such launch.
NESTED = {"nested_launches", "nested_sort"}
# what ncu counts -> ours
COUNTERS = {
    "inst.warp_executed": ["smsp__inst_executed.sum"],
    "inst.thread_executed": ["smsp__thread_inst_executed_pred_on.sum"],
    "mem.ld_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
    "mem.st_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "mem.ld_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
}
failures = 0


def ok(name, right, why=""):
    global failures
    failures += not right
    print("ok " + name if right else f"not ok {name}: {why}", flush=True)


def run(words, **more):
    begin = time.monotonic()
    try:
        done = subprocess.run(words, capture_output=True, timeout=LIMIT_S, cwd=SOURCES,
                              stdin=subprocess.DEVNULL, check=False, **more)
    except subprocess.TimeoutExpired:
        return None, "", "timed out", 0.0
    return (done.returncode, done.stdout.decode(errors="replace"),
            done.stderr.decode(errors="replace"), time.monotonic() - begin)


def launches(words, *options, backend="cuda", keep=None):
    """The JSON of a run; None and what was said where there is none."""
    status, text, said, seconds = run([PMPP, "launches", str(words[0]), "--backend", backend,
                                       "--json", *options, "--", *words[1:]])
    if keep:
        (OUT / keep).write_text(text)
    try:
        seen = json.loads(text)
    except ValueError:
        return None, f"status {status}: {said.strip()} {text[:200]}", seconds
    if "launches" not in seen:
        return None, f"status {status}: {text[:300]}", seconds
    return seen, said, seconds


def value(launch, key):
    return launch["metrics"].get(key, {}).get("value")


def complete(seen):
    """The first launch that lacks something; None = all have it."""
    for l in seen["launches"]:
        ns = l["metrics"].get("time.kernel_ns", {})
        if "failed" in l["flags"]:
            continue
        if min(l["grid"]) < 1 or min(l["block"]) < 1 or l["stream"] < 0:
            return f"launch {l['number']}: grid {l['grid']}, block {l['block']}"
        if not (ns.get("value") or 0) > 0 or ns.get("origin") != "measured":
            return f"launch {l['number']} {l['kernel']}: time {ns} flags {l['flags']}"
    return None


def listed(seen):
    return [l for l in seen["launches"] if "failed" not in l["flags"]]


def emulate(name):
    seen, said, _ = launches([BIN / name], "--gpu", "h200", backend="emu", keep=name + ".emu.json")
    return seen, said


def compare(name, emulated):
    status, out, _, alone = run([str(BIN / name)])
    seen, said, under = launches([BIN / name], keep=name + ".json")
    if not seen:
        ok(name, False, said)
        return
    emu = emulated.result()[0]
    n, there = len(listed(seen)), len(listed(emu)) if emu else -1
    busy = sum(l["span"]["end_ns"] - l["span"]["start_ns"] for l in seen["launches"])
    print(f"  {name:18} {n:6} {there:6} {len(seen['copies']):5} "
          f"{len(emu['copies']) if emu else -1:5} {len({l['stream'] for l in seen['launches']}):4} "
          f"{len({l['stream'] for l in emu['launches']}) if emu else -1:4} {busy / 1e3:10.1f} us "
          f"{alone:6.2f} {under:6.2f} s", flush=True)
    for f in seen["faults"]:
        if f["kind"] != "no-lines":
            print(f"      {f['kind']} x{f['times']}: {f['text'][:150]}")
    missing = complete(seen)
    wrong = []
    if seen["stdout"] != out:
        wrong.append(f"output differs: {out[:200]!r} / {seen['stdout'][:200]!r}")
    if seen["exit"] != status and (status or 0) >= 0:
        wrong.append(f"status {status} / {seen['exit']}")
    if missing:
        wrong.append(missing)
    if seen["backend"] != "cuda":
        wrong.append("back end " + seen["backend"])
    if n != there and name not in NESTED:
        wrong.append(f"{n} launches, {there} in the emulator: " + first_difference(seen, emu))
    ok(name, not wrong, "; ".join(wrong))


def shape(launch):
    return f"{launch['kernel']} {launch['grid']} {launch['block']}"


def first_difference(seen, emu):
    if not emu:
        return "the emulator did not run it"
    for a, b in zip(listed(seen), listed(emu)):
        if shape(a) != shape(b):
            return f"#{a['number']} {shape(a)} / {shape(b)}"
    return "the shorter list is the other's begin"


def order(name, emulated):
    """Same kernels, grids and blocks in the same order as in the emulator."""
    path = OUT / (name + ".json")
    emu = emulated.result()[0]
    if not emu or name in NESTED or not path.exists():
        return
    seen = json.loads(path.read_text() or "{}")
    if "launches" not in seen or len(listed(seen)) != len(listed(emu)):
        return
    why = first_difference(seen, emu)
    ok(name + "-order", why.startswith("the shorter"), why)


def overhead():
    for name in ("many_static", "many_shared"):
        n = "2000"
        figures = {}
        for what in ("alone", "listed"):
            best = None
            for _ in range(3):
                if what == "alone":
                    _, _, said, _ = run([str(BIN / name), n])
                    seen = None
                else:
                    seen, _, _ = launches([BIN / name, n], keep=name + ".json")
                    said = seen["stderr"] if seen else ""
                    if seen and len(seen["launches"]) != int(n) + 100:
                        ok(name + "-listed", False, f"{len(seen['launches'])} launches")
                us = re.search(r"us ([0-9.]+)", said)
                if us and (best is None or float(us.group(1)) < best):
                    best = float(us.group(1))
            figures[what] = best
        print(f"  {name}: {figures['alone']} us a launch alone, {figures['listed']} us recorded")
        ok(name, None not in figures.values() and figures["listed"] < figures["alone"] + 10,
           str(figures))
    seen, said, _ = launches([BIN / "many_static", "200"], "--launch", "50")
    ok("one-of-many", bool(seen) and len(seen["launches"]) == 1 and
       (value(seen["launches"][0], "inst.warp_executed") or 0) > 0, said[-300:] if seen else said)


def ends():
    seen, said, _ = launches([BIN / "illegal"], keep="illegal.json")
    kinds = [f["kind"] for f in seen["faults"]] if seen else []
    ok("illegal", bool(seen) and seen["exit"] == 5 and "kernel-fault" in kinds and
       len(seen["launches"]) >= 1, f"{said[:200]} {kinds} "
       f"{[(l['kernel'], l['flags'], l['span']) for l in seen['launches']] if seen else ''}")
    for how, status in (("segv", 139), ("abort", 134), ("_exit", 4), ("reset", 0)):
        seen, said, _ = launches([BIN / "abandon", how], keep=f"abandon-{how}.json")
        n = len(seen["launches"]) if seen else -1
        ok("abandon-" + how, bool(seen) and seen["exit"] == status and n == 5,
           f"{said[:200]} exit {seen['exit'] if seen else ''}, {n} launches of 5")
    seen, said, _ = launches([BIN / "abandon", "wait"], "--timeout", "3")
    n = len(seen["launches"]) if seen else -1
    ok("abandon-wait", bool(seen) and n == 5, f"{said[:200]}, {n} launches of 5")


def ncu_counts(name, number):
    if not shutil.which("ncu"):
        return None
    wanted = sorted({m for all_of in COUNTERS.values() for m in all_of})
    _, text, _, _ = run(["ncu", "--csv", "--print-units", "base", "--launch-skip", str(number - 1),
                         "--launch-count", "1", "--metrics", ",".join(wanted), str(BIN / name)])
    rows = [l for l in text.splitlines() if l.startswith('"')]
    return {r["Metric Name"]: float(r["Metric Value"].replace(",", ""))
            for r in csv.DictReader(io.StringIO("\n".join(rows)))}


def counters(name, number):
    status, out, _, _ = run([str(BIN / name)])
    seen, said, seconds = launches([BIN / name], "--launch", str(number),
                                   keep=f"{name}-{number}.json")
    if not seen or not seen["launches"]:
        ok(f"{name}#{number}", False, said)
        return
    launch = seen["launches"][0]
    theirs = ncu_counts(name, number) or {}
    wrong = [f"{f['kind']}: {f['text']}" for f in seen["faults"] if f["kind"] == "no-counters"]
    if seen["stdout"] != out or seen["exit"] != status:
        wrong.append("output or status differs")
    for key, metrics in COUNTERS.items():
        ours = launch["metrics"].get(key, {})
        if ours.get("origin") != "measured":
            wrong.append(f"{key}: {ours}")
        elif all(m in theirs for m in metrics) and ours["value"] != sum(theirs[m] for m in metrics):
            wrong.append(f"{key}: {ours['value']} here, {[theirs[m] for m in metrics]} by ncu")
    whole = json.loads((OUT / (name + ".json")).read_text())["launches"]
    of_list = value(whole[number - 1], "time.kernel_ns") if number <= len(whole) else None
    print(f"  {name}#{number} {launch['kernel'][:30]}: {value(launch, 'time.kernel_ns')} ns in the "
          f"replay, {of_list} ns in the list; {seconds:.2f} s; {len(theirs)} counters by ncu")
    ok(f"{name}#{number}", not wrong, "; ".join(wrong))


def main():
    names = [n for n in sys.argv[4:] if os.access(BIN / n, os.X_OK)]
    print("  program              here    emu  copies/emu streams/emu     busy    alone  under")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        emulated = {n: pool.submit(emulate, n) for n in names}
        for n in names:
            compare(n, emulated[n])
        for n in names:
            order(n, emulated[n])
    overhead()
    ends()
    for name, number in (("vector_add", 1), ("matmul", 1), ("transpose", 2), ("reduction", 1),
                         ("histogram", 1), ("spmv", 1), ("streams", 3)):
        if name in names:
            counters(name, number)
    seen, said, _ = launches([BIN / "many_static", "20"], backend="auto")
    ok("auto", bool(seen) and seen["backend"] == "cuda", said)
    print(f"{failures} not ok")
    return 1 if failures else 0


sys.exit(main())
