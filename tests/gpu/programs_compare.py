"""Holds the emulator's counts of whole programs against those that Nsight Compute read on a card.

    programs_compare.py PMPP-EXPLORE PROGRAMS-FOLDER RECORDED-FOLDER [GPU [PROGRAM ...]]
                        [--jobs N] [--count N] [--timeout SECONDS] [--prove]

RECORDED-FOLDER: what programs.sh wrote; all its programs, or those named. A recording may stop
after its first --count launches (programs.sh: LAUNCHES).
Prints a line per program and the sum; status 1 where an output or a count differs, a launch is
missing or one did not run as machine code. What a card may count differently each time the program
names itself ("varies" of its launches): such figures, where they differ, are counted apart, and so
is what programs_left_out.py lists. --prove runs the programs with one worker and with several, and
says which figures the emulator itself then counts differently; status 1 where it does not name one.
"""
import argparse
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from programs_left_out import ANY, LEFT_OUT  # noqa: E402 (beside this file)

INST = "smsp__sass_inst_executed_op_"
LANES = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum"
SASS_L1 = "smsp__sass_l1tex_"
L1 = "l1tex__t_"
# Asynchronous copies, which older recordings do not have.
COPIES = INST + "ldgsts.sum"
COPY_WAVES = SASS_L1 + "data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"
# Our metrics less what we count and a card does not: bulk copies, which it makes outside L1; and
# what it counts and we do not: constants that HFMA2 moves, as arithmetic.
LESS = {"mem.ld_requests": (-1, "bulk.ld_requests"), "mem.ld_sectors": (-1, "bulk.ld_sectors"),
        "mem.st_requests": (-1, "bulk.st_requests"), "mem.st_sectors": (-1, "bulk.st_sectors"),
        "mem.atom_requests": (-1, "bulk.atom_requests"),
        "mem.atom_sectors": (-1, "bulk.atom_sectors"),
        "shared.ld_requests": (-1, "bulk.shared_ld_requests"),
        "shared.ld_wavefronts": (-1, "bulk.shared_ld_wavefronts"),
        "shared.st_requests": (-1, "bulk.shared_st_requests"),
        "shared.st_wavefronts": (-1, "bulk.shared_st_wavefronts"),
        "flop.fp16": (4, "inst.half_moves")}
# our metric; what ncu counts, a sum, each term a weight and a counter
EQUAL = (
    ("mem.ld_requests", ((1, L1 + "requests_pipe_lsu_mem_global_op_ld.sum"),)),
    ("mem.ld_sectors", ((1, L1 + "sectors_pipe_lsu_mem_global_op_ld.sum"),)),
    ("mem.st_requests", ((1, L1 + "requests_pipe_lsu_mem_global_op_st.sum"),)),
    ("mem.st_requests", ((1, INST + "global_st.sum"),)),
    ("mem.st_sectors", ((1, L1 + "sectors_pipe_lsu_mem_global_op_st.sum"),)),
    ("mem.atom_requests", ((1, L1 + "requests_pipe_lsu_mem_global_op_red.sum"),
                           (1, L1 + "requests_pipe_lsu_mem_global_op_atom.sum"))),
    ("mem.atom_sectors", ((1, SASS_L1 + "t_sectors_pipe_lsu_mem_global_op_red.sum"),
                          (1, SASS_L1 + "t_sectors_pipe_lsu_mem_global_op_atom.sum"))),
)
# what only machine code counts as a card does: compared where the machine code ran
MACHINE = (
    ("inst.warp_executed", ((1, "smsp__inst_executed.sum"),)),
    ("inst.thread_active", ((1, "smsp__thread_inst_executed.sum"),)),
    ("inst.thread_executed", ((1, "smsp__thread_inst_executed_pred_on.sum"),)),
    ("div.branches", ((1, "smsp__sass_branch_targets_threads_uniform.sum"),
                      (1, "smsp__sass_branch_targets_threads_divergent.sum"))),
    ("div.divergent_branches", ((1, "smsp__sass_branch_targets_threads_divergent.sum"),)),
    ("mem.local_requests", ((1, INST + "local.sum"),)),
    ("shared.ld_requests", ((1, INST + "shared_ld.sum"),)),
    ("shared.ld_wavefronts",
     ((1, SASS_L1 + "data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),)),
    ("shared.ldm_requests", ((1, INST + "ldsm.sum"),)),
    ("shared.ldm_wavefronts",
     ((1, SASS_L1 + "data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum"),)),
    ("shared.st_requests", ((1, INST + "shared_st.sum"), (1, COPIES))),
    ("shared.st_wavefronts",
     ((1, SASS_L1 + "data_pipe_lsu_wavefronts_mem_shared_op_st.sum"),
      (1, COPY_WAVES))),
    ("shared.atom_requests", ((1, INST + "shared_atom.sum"),)),
    ("flop.fp16", ((2, LANES % "hadd"), (2, LANES % "hmul"), (4, LANES % "hfma"))),
    ("flop.fp32", ((1, LANES % "fadd"), (1, LANES % "fmul"), (2, LANES % "ffma"))),
    ("flop.fp64", ((1, LANES % "dadd"), (1, LANES % "dmul"), (2, LANES % "dfma"))),
)


def recorded_launches(path):
    launches = {}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            value = row["Metric Value"].replace(",", "")
            try:
                launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = float(value)
            except ValueError:
                continue
    # a launch that the card refused has a row, too, of nothing
    return [launches[k] for k in sorted(launches)
            if not any(math.isnan(v) for v in launches[k].values())]


def expected(counters, machine_code):
    """(our metric, what the card counted) for what was recorded."""
    for ours, terms in EQUAL + (MACHINE if machine_code else ()):
        if all(name in counters or name in (COPIES, COPY_WAVES) for _, name in terms):
            yield ours, sum(weight * counters.get(name, 0) for weight, name in terms)


def counted(metrics, key):
    value = metrics.get(key, {}).get("value")
    weight, other = LESS.get(key, (0, key))
    more = metrics.get(other, {}).get("value") or 0
    return None if value is None else value + weight * more


def left_out(name, kernel, key):
    """Whether a figure is not compared: the list says why."""
    kernel = kernel.split("<")[0].split("::")[-1]
    for kernels, keys, _ in LEFT_OUT.get(name, ()):
        if (kernels == ANY or kernel in kernels.split()) and (keys == ANY or key in keys.split()):
            return True
    return False


def emulated(options, name, *more):
    """What a program did in the emulator; else why it did not."""
    source = options.programs / (name + ".cu")
    words = " ".join(re.findall(r"(?m)^// nvcc: (.*)", source.read_text())).split()
    command = [options.program, "launches", "--json", "--backend", "emu", "--gpu", options.gpu,
               "--level", "sass", "--count", str(options.count), *more, str(source), "-O1",
               *words]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False,
                             timeout=options.timeout)
        seen = json.loads(run.stdout)
    except subprocess.TimeoutExpired:
        return None, "takes longer than %d s" % options.timeout
    except ValueError:
        return None, "no answer: " + run.stderr.strip()[-200:]
    if "stdout" not in seen:
        return None, "does not run: " + run.stdout.strip()[:200]
    return seen, ""


def varying(launch):
    """Keys of the metrics that a card may count differently each time."""
    return {key for reason in launch.get("varies", ()) for key in reason["metrics"]}


class Sum:
    outputs = wrong_outputs = launches = by_machine_code = total = same = left = missing = 0
    varying = 0


def compare_launch(seen, name, mine, card, notes, differ):
    machine_code = "machine code" in mine.get("level", "")
    seen.launches += 1
    seen.by_machine_code += machine_code
    if not machine_code and not left_out(name, mine["kernel"], "level"):
        seen.missing += 1
        note = "%s: %s" % (mine["kernel"], mine.get("level_note", "no machine code"))
        if note not in notes:
            notes.append(note)
    may_vary = varying(mine)
    for key, want in expected(card, machine_code):
        got = counted(mine["metrics"], key)
        if key in may_vary and got != want:
            seen.varying += 1
            continue
        if left_out(name, mine["kernel"], key):
            seen.left += 1
            continue
        seen.total += 1
        if got == want:
            seen.same += 1
        else:
            differ.setdefault(key, []).append((mine["number"], mine["kernel"], got, want))


def compare(seen, options, name, answer, why):
    """Adds a program to the sum; what is to be said of it."""
    if answer is None:
        seen.missing += 1
        return [why]
    notes, differ = [], {}
    text = answer["stdout"] + "status %d\n" % answer["exit"]
    seen.outputs += 1
    if text != (options.recorded / (name + ".out")).read_text():
        seen.wrong_outputs += 1
        notes.append("OUTPUT DIFFERS")
    table = options.recorded / (name + ".csv")
    cards = recorded_launches(table) if table.exists() else []
    ours = [l for l in answer["launches"] if "failed" not in l["flags"]]
    cut = len(cards) == options.count and len(ours) >= len(cards)
    whole = left_out(name, "", "launches")
    if cards and len(cards) != len(ours) and not cut and not whole:
        seen.missing += 1
        notes.append("%d launches here, %d there" % (len(ours), len(cards)))
    for mine, card in zip(ours, cards):
        compare_launch(seen, name, mine, card, notes, differ)
    for key, all_of in sorted(differ.items()):
        notes.append("%s x%d, launch %d %s: %s here, %.0f there"
                     % ((key, len(all_of)) + all_of[0]))
    return notes


def prove(options, name):
    """What of a program's figures another number of workers changes; and whether all is named."""
    runs = [emulated(options, name, "--threads", n)[0] for n in ("1", "2", "3")]
    if None in runs:
        return "does not run", True
    found, unnamed = {}, set()
    for one, *others in zip(*(run["launches"] for run in runs)):
        for key, _ in EQUAL + MACHINE:
            if len({counted(other["metrics"], key) for other in (one, *others)}) < 2:
                continue
            kernel = one["kernel"].split("<")[0].split("::")[-1]
            if key in varying(one):
                found.setdefault(kernel, set()).add(key)
            elif not left_out(name, one["kernel"], key):
                unnamed.add("%s %s" % (kernel, key))
    text = "; ".join("%s: %s" % (k, " ".join(sorted(v))) for k, v in sorted(found.items()))
    if unnamed:
        text += "; NOT NAMED: " + ", ".join(sorted(unnamed))
    return text or "none seen", not unnamed


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("recorded", type=pathlib.Path)
    parser.add_argument("gpu", nargs="?", default="h200")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--count", type=int, default=130)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--prove", action="store_true")
    return parser.parse_intermixed_args()


def main():
    options = read_options()
    names = [p.stem for p in sorted(options.recorded.glob("*.out"))
             if not options.names or p.stem in options.names]
    if not names:
        sys.exit("programs_compare.py: no such recording in %s" % options.recorded)
    if options.prove:
        good = True
        for name in names:
            text, named = prove(options, name)
            good &= named
            print("%-20s differs by timing: %s" % (name, text), flush=True)
        return 0 if good else 1
    seen = Sum()
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, answer in zip(names, pool.map(lambda n: emulated(options, n), names)):
            notes = compare(seen, options, name, *answer)
            print("%-20s %s" % (name, "; ".join(notes) if notes else "equal"), flush=True)
    print("%d outputs, %d differ; %d launches, %d of them as machine code; %d of %d counts equal; "
          "%d differ as they may, by timing; %d left out; %d programs or launches missing"
          % (seen.outputs, seen.wrong_outputs, seen.launches, seen.by_machine_code, seen.same,
             seen.total, seen.varying, seen.left, seen.missing))
    return 1 if seen.wrong_outputs or seen.missing or seen.same < seen.total else 0


if __name__ == "__main__":
    sys.exit(main())
