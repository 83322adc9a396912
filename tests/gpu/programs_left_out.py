"""Counters of whole programs that are not compared, and why; programs_compare.py counts them."""
ANY = "*"
POLLS = "a warp asks again until another one has come: how often depends on timing"
LOOKS_BACK = "a block looks back at those before it until one has its sum: timing says how far"
LANES = "inst.warp_executed inst.thread_active inst.thread_executed div.branches"
SHARED = "shared.ld_requests shared.ld_wavefronts"
GLOBAL = "mem.ld_requests mem.ld_sectors"
ATOMICS = "mem.atom_requests mem.atom_sectors"
DRIVER = "malloc, free and printf are the driver's own code on a card, which is not to be had"
CHILDREN = "a card's counters have what kernels launch, and the driver's own code for it, too"
TIMING = (POLLS, LOOKS_BACK)  # programs_compare.py --prove runs these twice
# program: (kernels, metrics, reason); kernels and metrics are words, ANY all of them; of a kernel
# the name without namespaces and what it is a template of
LEFT_OUT = {
    "bfs": [("expand", ANY, "threads race for a node: which one takes it, and where it is put")],
    "block_barrier": [("rotate hand_over", LANES, POLLS)],
    "bulk_copies": [("spread mail", LANES, POLLS)],
    "cooperative_tiles": [("compact", "mem.st_sectors", "places are given out by an atomic")],
    "device_heap": [(ANY, ANY, DRIVER)],
    "device_printf": [(ANY, ANY, DRIVER)],
    "driver_api": [("double_all", ANY, "two PTX texts linked as the program runs: PTX counts")],
    "grid_sync": [("steps", LANES + " " + GLOBAL, POLLS)],
    "hopper_gemm": [("gemm", LANES, POLLS)],
    "kmeans": [("assign", ANY, "adds floats by compare-and-swap until nobody was quicker")],
    "lanes_wait": [("all_take_the_lock naps_before_the_lock in_order_of_tickets between_exchanges",
                    LANES + " " + GLOBAL + " " + ATOMICS + " flop.fp16", POLLS)],
    "large_tiles": [("work", LANES + " " + SHARED, POLLS)],
    "lookback_scan": [("scan", LANES + " " + GLOBAL, POLLS)],
    "tensor_maps": [("share", LANES, POLLS)],
    "nested_launches": [(ANY, ANY, CHILDREN)],
    "nested_sort": [(ANY, ANY, CHILDREN)],
    "thrust_basics": [("DeviceRadixSortOnesweepKernel DeviceScanKernel",
                       LANES + " " + GLOBAL, LOOKS_BACK)],
    "warp_meetings": [("meet_behind_a_lock", LANES + " " + ATOMICS, POLLS)],
    "zero_copy": [("square", "mem.ld_sectors", "registered memory begins where malloc put it")],
}
