"""Validates a snapshot with python3-jsonschema, which knows nothing of this program.

validate.py SCHEMA SNAPSHOT         prints "valid", or the first place that is not
validate.py --closed SCHEMA FILE    the same, and every key must be one that the schema describes
validate.py --broken SCHEMA FILE    breaks the snapshot in one place after another, by rules that
                                    do not come from the schema; prints how many it accepted
"""
import copy
import json
import sys

import jsonschema


def close(node):
    """Objects with named properties take no other."""
    if isinstance(node, dict):
        if "properties" in node and "required" in node and "additionalProperties" not in node:
            node["additionalProperties"] = False
        for value in node.values():
            close(value)
    elif isinstance(node, list):
        for value in node:
            close(value)


def breaks(doc):
    """(name, broken copy), each wrong in one place."""
    def broken(name, change):
        bad = copy.deepcopy(doc)
        change(bad)
        return name, bad

    for key in ("lines", "accesses", "steps"):
        del doc["now"]["counts"][key][1:]  # one of each will do
    run, metrics, counts = doc["now"], doc["now"]["metrics"], doc["now"]["counts"]
    for key in doc:
        if key not in ("tour", "occupancy_input", "spill_bytes", "ladder", "history", "ghost",
                       "written", "digest"):
            yield broken("no " + key, lambda d, k=key: d.pop(k))
    for key in run:
        if key not in ("level", "code", "fidelity"):  # younger than the first snapshots
            yield broken("no now." + key, lambda d, k=key: d["now"].pop(k))
        yield broken("now." + key + " is a list of lists",
                     lambda d, k=key: d["now"].update({k: [[]]}))
    for key in doc["selection"]["gpu"]:
        if key != "tf32_tensor_gflops":  # not every GPU has it
            yield broken("no gpu." + key, lambda d, k=key: d["selection"]["gpu"].pop(k))
    for key in metrics:
        yield broken(key + " of no origin", lambda d, k=key: d["now"]["metrics"][k].pop("origin"))
        yield broken(key + " guessed",
                     lambda d, k=key: d["now"]["metrics"][k].update(origin="guessed"))
        yield broken(key + " none, with a value",
                     lambda d, k=key: d["now"]["metrics"][k].update(origin="none", value=0))
        yield broken(key + " sampled of nothing",
                     lambda d, k=key: d["now"]["metrics"][k].update(origin="sampled", value=0))
    for key in counts["total"]:
        yield broken("negative " + key,
                     lambda d, k=key: d["now"]["counts"]["total"].update({k: -1}))
    yield broken("version 2", lambda d: d.update(version=2))
    yield broken("another program", lambda d: d.update(schema="pmpp-explore/1"))
    yield broken("a parameter in words", lambda d: d["selection"]["params"].update(M="many"))
    yield broken("31 lanes", lambda d: d["now"]["counts"]["accesses"][0]["offset"].pop())
    yield broken("33 lanes in a mask", lambda d: d["now"]["counts"]["steps"][0].update(mask=2**32))


def main(args):
    mode = args.pop(0) if args[0].startswith("--") else ""
    with open(args[0], encoding="utf-8") as f:
        schema = json.load(f)
    with open(args[1], encoding="utf-8") as f:
        doc = json.load(f)
    jsonschema.Draft7Validator.check_schema(schema)
    if mode == "--closed":
        close(schema)
    validator = jsonschema.Draft7Validator(schema)
    if mode == "--broken":
        tried = accepted = 0
        for name, bad in breaks(doc):
            tried += 1
            if validator.is_valid(bad):
                accepted += 1
                print("accepted:", name)
        print(f"{accepted} accepted", "of some 300" if tried > 250 else f"of only {tried}")
        return
    for error in validator.iter_errors(doc):
        print("/".join(map(str, error.absolute_path)) + ": " + error.message[:300])
        return
    print("valid")


main(sys.argv[1:])
