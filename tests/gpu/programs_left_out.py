"""Counters of whole programs that are not compared, and why; programs_compare.py counts them.

What a card counts differently each time is not in this list: `launches --json` names it ("varies").
"""
ANY = "*"
MEET = "which of a warp's lanes that wait go on together depends on whose turn comes first"
DRIVER = "malloc, free and printf are the driver's own code on a card, which is not to be had"
CHILDREN = "a card's counters have what kernels launch, and the driver's own code for it, too"
# program: (kernels, metrics, reason); kernels and metrics are words, ANY all of them; of a kernel
# the name without namespaces and what it is a template of
LEFT_OUT = {
    "device_heap": [(ANY, ANY, DRIVER)],
    "device_printf": [(ANY, ANY, DRIVER)],
    "driver_api": [("double_all", "flop.fp16", "a card's driver assembles it, with another move")],
    "lanes_in_turn": [("at_five_places", "mem.st_requests mem.st_sectors", MEET)],
    "nested_launches": [(ANY, ANY, CHILDREN)],
    "nested_sort": [(ANY, ANY, CHILDREN)],
    "zero_copy": [("square", "mem.ld_sectors", "registered memory begins where malloc put it")],
}
