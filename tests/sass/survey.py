#!/usr/bin/env python3
"""Kernels whose machine code the emulator runs, by architecture, and why others fall back to PTX.

survey.py BUILD FOLDER [--only built-in|programs|ptx] [--sm 75,80,...]

Every architecture of the GPU sheets; three sets of kernels: the built-in ones (each variant is run
by `run --level sass`), those of tests/programs as nvcc compiles them for the architecture, and
those of tests/ptx as far as ptxas takes them for it (`doctor --ptx` of the cubin). Prints a table
in Markdown. FOLDER keeps what is compiled. Ends with status 1 if a kernel falls back.
"""
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import subprocess
import sys

VERSION = "9.0"  # of the PTX of all cases together
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, **more)


def sheets():
    """{75: "t4", ...}: a sheet of every architecture."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "presets/gpus/*.yaml"))):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        major, minor = (int(re.search(rf"^cc_{w}: (\d+)", text, re.M).group(1))
                        for w in ("major", "minor"))
        found.setdefault(10 * major + minor, os.path.basename(path)[:-5])
    return dict(sorted(found.items()))


class Survey:
    """Results: {(set, sm): {kernel: reason or ""}}."""

    def __init__(self, build, folder):
        self.build, self.folder = os.path.abspath(build), os.path.abspath(folder)
        self.program = os.path.join(self.build, "pmpp-explore")
        self.result = collections.defaultdict(dict)
        self.left_out = collections.Counter()
        os.makedirs(folder, exist_ok=True)

    def place(self, name, text):
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        return os.path.join(self.folder, f"{name}-{digest}")

    # --- built-in kernels

    def built_in(self, sm, sheet):
        listed = json.loads(run(self.program, "list", "kernels", "--json").stdout)["kernels"]
        for kernel in listed:
            for variant in kernel["variants"]:
                name = f"{kernel['name']}/{variant['name']}"
                done = run(self.program, "run", name, "--gpu", sheet, "--backend", "emu",
                           "--level", "sass", "--json")
                try:
                    record = json.loads(done.stdout)
                except ValueError:
                    self.left_out["built-in", sm] += 1
                    continue
                level = record.get("level", "")
                known = "machine code" in level
                self.result["built-in", sm][name] = "" if known else record.get("note") or level

    # --- machine code of files

    def examine(self, what, sm, cubin, prefix):
        done = run(self.program, "doctor", "--ptx", cubin, "--json")
        try:
            kernels = json.loads(done.stdout)["kernels"]
        except (ValueError, KeyError):
            if "is no disassembly" in done.stdout + done.stderr:  # it holds no kernel
                self.left_out[what, sm] += 1
                return
            self.result[what, sm][prefix] = (done.stderr or done.stdout).strip().split("\n")[0]
            return
        for k in kernels:
            why = [f"{r['instruction']}: {r['why']}" for r in k["refusals"]]
            self.result[what, sm][prefix + k["kernel"]] = why[0] if why else ""

    def cubin_of_program(self, path, sm):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        words = " ".join(re.findall(r"^// nvcc: (.*)", text, re.M)).split()
        arch = str(sm) + ("a" if any(w.startswith("-arch=sm_90a") for w in words) else "")
        if arch.endswith("a") and sm != 90:
            return None
        name = os.path.basename(path)[:-3]
        cubin = self.place(f"{name}-sm_{arch}", text) + ".cubin"
        words = [w for w in words if not w.startswith(("-arch", "-l"))]
        if os.path.exists(cubin):
            return cubin
        usual = ["nvcc", f"-arch=sm_{arch}", "-O1", "-lineinfo", "-w", *words]
        if "-rdc=true" in words:
            made = run(*usual, "-dc", "-o", cubin + ".o", path)
            home = os.path.dirname(os.path.dirname(run("which", "nvcc").stdout.strip()))
            made = made if made.returncode else run(
                "nvlink", f"-arch=sm_{arch}", cubin + ".o", f"-L{home}/lib64", "-lcudadevrt",
                "-o", cubin)
        else:
            made = run(*usual, "-cubin", "-o", cubin, path)
        return None if made.returncode else cubin

    def programs(self, sm, _sheet):
        paths = sorted(glob.glob(os.path.join(ROOT, "tests/programs/*.cu")) +
                       glob.glob(os.path.join(ROOT, "tests/data/machine/*.cu")))

        def one(path):
            cubin = self.cubin_of_program(path, sm)
            if cubin is None:
                self.left_out["programs", sm] += 1
            else:
                self.examine("programs", sm, cubin, os.path.basename(path)[:-3] + ": ")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(one, paths))

    def ptx(self, sm, _sheet):
        """All cases in one cubin: the disassembler's start costs more than its work."""
        parts = []
        arch = f"sm_{sm}" + ("a" if sm >= 90 else "")
        cases = os.path.join(self.folder, "cases")
        os.makedirs(cases, exist_ok=True)
        run(os.path.join(self.build, "unit/emu/test_ptx_cases"),
            env={**os.environ, "TEST_ROOT": ROOT, "PTX_CASE_WRITE": cases})
        paths = sorted(glob.glob(os.path.join(cases, "*.ptx")))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            taken = list(pool.map(lambda p: self.assembles(p, arch), paths))
        for path, good in zip(paths, taken):
            if not good:
                self.left_out["ptx", sm] += 1
                continue
            parts.append(renamed(path))
        all_text = f".version {VERSION}\n.target {arch}\n.address_size 64\n" + "\n".join(parts)
        base = self.place(f"cases-{arch}", all_text)
        if not os.path.exists(base + ".cubin"):
            with open(base + ".ptx", "w", encoding="utf-8") as f:
                f.write(all_text)
            made = run("ptxas", f"-arch={arch}", "-lineinfo", "-o", base + ".cubin", base + ".ptx")
            if made.returncode:
                self.result["ptx", sm]["all"] = next(
                    (n for n in made.stderr.split("\n") if "error" in n or "fatal" in n),
                    made.stderr)
                return
        self.examine("ptx", sm, base + ".cubin", "")

    def assembles(self, path, arch):
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"^\.target .*", f".target {arch}", f.read(), flags=re.M)
        text = re.sub(r"^\.version .*", f".version {VERSION}", text, flags=re.M)
        return run("ptxas", f"-arch={arch}", "-o", "/dev/null", "-", input=text).returncode == 0


def renamed(path):
    """Text of a case without its head and lines, its names with the case's in front."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"//.*", "", f.read())
    text = re.sub(r"^\s*\.(version|target|address_size|file|loc)\b.*", "", text, flags=re.M)
    depth, outside = 0, []
    for c in text:
        depth += c == "{"
        if not depth:
            outside.append(c)
        depth -= c == "}"
    known = set(re.findall(r"\.extern\s+\.func\s+(?:\([^)]*\)\s*)?([\w$]+)", "".join(outside)))
    names = set(re.findall(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)", "".join(outside)))
    names |= set(re.findall(
        r"\.[bsuf]\d+(?:x2)?\s+([A-Za-z_$][\w$]*)\s*(?:\[[^;]*)?(?:=[^;]*)?;", "".join(outside)))
    names |= set(re.findall(r"\.(?:tex|sampler|surf)ref\s+([\w$]+)", "".join(outside)))
    case = os.path.basename(path)[:-4]
    for name in names - known:
        text = re.sub(rf"(?<![\w$%.]){re.escape(name)}(?![\w$])", f"{case}__{name}", text)
    return text


def print_table(survey, archs):
    sets = [s for s in ("built-in", "programs", "ptx")
            if any((s, a) in survey.result for a in archs)]
    print("| kernels | " + " | ".join(f"sm_{a}" for a in archs) + " |")
    print("|---|" + "---|" * len(archs))
    for s in sets:
        cells = []
        for a in archs:
            r = survey.result[s, a]
            out = survey.left_out[s, a]
            cells.append(f"{sum(not w for w in r.values())} of {len(r)}"
                         + (f" ({out} not for it)" if out else ""))
        print(f"| {s} | " + " | ".join(cells) + " |")
    reasons = collections.defaultdict(list)
    for (s, a), r in survey.result.items():
        for kernel, why in r.items():
            if why:
                reasons[re.sub(r"0x[0-9a-f]+", "N", why)].append(f"sm_{a} {kernel}")
    for why, kernels in sorted(reasons.items(), key=lambda x: -len(x[1])):
        more = f" and {len(kernels) - 6} more" if len(kernels) > 6 else ""
        print(f"\n- {why}\n  " + ", ".join(kernels[:6]) + more)
    return bool(reasons)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("build")
    p.add_argument("folder")
    p.add_argument("--only", choices=["built-in", "programs", "ptx"])
    p.add_argument("--sm")
    o = p.parse_args()
    all_sheets = sheets()
    archs = [int(a) for a in o.sm.split(",")] if o.sm else list(all_sheets)
    survey = Survey(o.build, o.folder)
    for a in archs:
        for name, how in (("built-in", survey.built_in), ("programs", survey.programs),
                          ("ptx", survey.ptx)):
            if o.only in (None, name):
                how(a, all_sheets[a])
    sys.exit(print_table(survey, archs))


if __name__ == "__main__":
    main()
