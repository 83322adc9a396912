"""Counters of whole programs that are not compared, and why; programs_compare.py counts them.

What a card counts differently each time is not in this list: `launches --json` names it ("varies").
"""
ANY = "*"
MEET = "which of a warp's lanes that wait go on together depends on whose turn comes first"
CHILDREN = "a card's list of launches has those of the host alone"
# program: (kernels, metrics, reason); kernels and metrics are words, ANY all of them; of a kernel
# the name without namespaces and what it is a template of
LEFT_OUT = {
    "driver_api": [("double_all", "flop.fp16", "a card's driver assembles it, with another move")],
    "lanes_in_turn": [("at_five_places", "mem.st_requests mem.st_sectors", MEET)],
    "nested_launches": [(ANY, "launches level", CHILDREN)],
    "nested_sort": [(ANY, "launches level", CHILDREN)],
    "zero_copy": [("square", "mem.ld_sectors", "registered memory begins where malloc put it")],
}
