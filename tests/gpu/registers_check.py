#!/usr/bin/env python3
"""Holds a rule for register banks against what a card measured.

    tests/gpu/registers_check.py FILE.jsonl      as `sh tests/gpu/micro.sh FOLDER registers` writes

The rule: two banks, even and odd registers; a bank gives one register a cycle, to all sources that
want it; a source that the instruction before kept (reuse) asks no bank. An instruction takes as
many cycles as its pipe (FFMA, FADD and FMUL 1, others 2), or as the bank that is asked for most
registers.
Status 1 when a measurement is another whole number of cycles.
"""
import json
import sys

ISSUE = {"FFMA": 1, "FADD": 1, "FMUL": 1, "IMAD": 2, "LOP3": 2, "PRMT": 2, "SHF": 2}
TWO_SOURCES = ("FADD", "FMUL")
OVERHEAD = 0.35  # of a cycle: what the row's ends and the caches of instructions add


def cycles(item):
    sources = (item["a"], item["b"], item["c"])[:2 if item["case"] in TWO_SOURCES else 3]
    asked = {register for slot, register in enumerate(sources) if not item["reuse"] >> slot & 1}
    busiest = max(sum(register % 2 == bank for register in asked) for bank in (0, 1))
    return max(ISSUE[item["case"]], busiest)


def main():
    items = [json.loads(line) for line in open(sys.argv[1])]
    items = [item for item in items if "reuse" in item]
    wrong = [item for item in items if not 0 <= item["one_warp"] - cycles(item) <= OVERHEAD]
    for item in wrong[:20]:
        print(item, "by the rule:", cycles(item))
    waits = sum(cycles(item) > ISSUE[item["case"]] for item in items)
    print(f"{len(items)} measured, {waits} wait for a bank; {len(wrong)} differ from the rule")
    return 1 if wrong or not items else 0


sys.exit(main())
