"""Holds the emulator's counts of whole programs against those that Nsight Compute read on a card.

    programs_compare.py PMPP-EXPLORE PROGRAMS-FOLDER RECORDED-FOLDER [GPU [PROGRAM ...]]

RECORDED-FOLDER: what programs.sh wrote; all its programs, or those named.
Prints a line per program and the sum; status 1 where an
output differs or a count does that does not depend on the machine code's own choices.
"""
import csv
import json
import pathlib
import re
import subprocess
import sys

# what ncu counts -> our metric; sums of several on the left
EQUAL = {
    "mem.ld_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
    "mem.ld_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
    "mem.st_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
    "mem.st_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "mem.atom_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
                          "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"],
}
# what only machine code counts as a card does: compared where the machine code ran
MACHINE = {
    "inst.warp_executed": ["smsp__inst_executed.sum"],
    "inst.thread_executed": ["smsp__thread_inst_executed_pred_on.sum"],
    "div.divergent_branches": ["smsp__sass_branch_targets_threads_divergent.sum"],
}
FLOP = {"flop.fp32": ("fadd", "fmul", "ffma"), "flop.fp64": ("dadd", "dmul", "dfma")}


def recorded_launches(path):
    launches = {}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            value = row["Metric Value"].replace(",", "")
            try:
                launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = float(value)
            except ValueError:
                continue
    return [launches[k] for k in sorted(launches)]


def expected(counters, machine_code):
    values = {}
    for ours, theirs in list(EQUAL.items()) + (list(MACHINE.items()) if machine_code else []):
        if all(t in counters for t in theirs):
            values[ours] = sum(counters[t] for t in theirs)
    for ours, ops in FLOP.items():
        names = ["smsp__sass_thread_inst_executed_op_%s_pred_on.sum" % op for op in ops]
        if all(n in counters for n in names):
            values[ours] = sum(counters[n] * w for n, w in zip(names, (1, 1, 2)))
    return values


def main():
    program, sources, recorded = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    gpu = sys.argv[4] if len(sys.argv) > 4 else "h200"
    total = same = launches = outputs = wrong_outputs = by_machine_code = 0
    for out in sorted(recorded.glob("*.out")):
        name = out.stem
        if sys.argv[5:] and name not in sys.argv[5:]:
            continue
        source = sources / (name + ".cu")
        options = re.findall(r"(?m)^// nvcc: (.*)", source.read_text())
        run = subprocess.run([program, "launches", "--json", "--backend", "emu", "--gpu", gpu,
                              "--count", "1000000", str(source), "-O1"] + " ".join(options).split(),
                             capture_output=True, text=True, check=False)
        seen = json.loads(run.stdout)
        if "stdout" not in seen:
            sys.exit(f"{name} does not run here: {run.stdout}")
        text = seen["stdout"] + "status %d\n" % seen["exit"]
        outputs += 1
        notes = []
        if text != out.read_text():
            wrong_outputs += 1
            notes.append("OUTPUT DIFFERS")
        table = recorded / (name + ".csv")
        cards = recorded_launches(table) if table.exists() else []
        ours = [l for l in seen["launches"] if "failed" not in l["flags"]]
        if cards and len(cards) != len(ours):
            notes.append("%d launches here, %d there" % (len(ours), len(cards)))
        differ = {}
        for mine, card in zip(ours, cards):
            launches += 1
            machine_code = "machine code" in mine.get("level", "")
            by_machine_code += machine_code
            if not machine_code and mine.get("level_note"):
                notes.append("launch %d, %s: %s" % (mine["number"], mine["kernel"],
                                                    mine["level_note"]))
            for key, want in expected(card, machine_code).items():
                got = mine["metrics"].get(key, {}).get("value")
                total += 1
                if got == want:
                    same += 1
                else:
                    differ.setdefault(key, []).append((mine["number"], got, want))
        for key, all_of in sorted(differ.items()):
            notes.append("%s x%d, launch %d: %s here, %g there"
                         % ((key, len(all_of)) + all_of[0]))
        print("%-16s %s" % (name, "; ".join(notes) if notes else "equal"), flush=True)
    print("%d outputs, %d differ; %d launches, %d of them as machine code; %d of %d counts equal"
          % (outputs, wrong_outputs, launches, by_machine_code, same, total))
    return 1 if wrong_outputs or same < total else 0


if __name__ == "__main__":
    sys.exit(main())
