/*
 * How long a warp waits for what it loads from global memory: by where the lines come from, and how
 * many are under way together.
 */
#ifndef PMPP_TIMEMODEL_LOAD_LATENCY_H
#define PMPP_TIMEMODEL_LOAD_LATENCY_H

#include "timemodel/hyperblock.h"
#include "model/gpu.h"

/* Where the sectors come from that loads ask for, as shares of all of them. */
struct load_misses {
	double l1;         /* not in L1 */
	double l2;         /* not in L2 either */
	double dram_bytes; /* read; negative = unknown */
	double own;        /* of what SMs wait for from memory: own_of_dram() */
	double far;        /* of what L2 has: nobody has read it since it was written */
	double blocks;     /* that wait on SMs of their own, each for its own lines */
	bool copied;       /* textures have come from the host, and nobody has read them since */
	double waits;      /* of a warp, one after the other; 0: not known, an average is asked for */
};
/*
 * What L2 was asked for less stores and atomics, which always go there (@written_sectors: with
 * those of local memory, or fewer than are counted), are L1's misses. Where the traffic is not
 * known (< 0), every load is assumed to come from L2.
 */
struct load_misses load_misses_of(const struct counts *c, double l2_sectors, double written_sectors,
                                  double dram_read_bytes);

/* The share of sectors that come from memory for the SM alone that waits for them: where many wait
 * for the same ones at a time, fewer are read than are waited for. */
double own_of_dram(const struct timing_program *p, double dram_read_bytes);

/* Per region: lines of global loads that a warp waits for together. @waits: how often it waits, one
 * time after the other. Caller frees. */
double *lines_waited_for(const struct hyperblocks *h, double *waits);
/* Bank passes or lines of an average execution, beyond the first. */
float replays_of(const struct counts *c);
/* Do most warps that come to @x load, or is it no load? The others' guard is false, and they wait
 * for nothing. */
bool mostly_loads(const struct timing_inst *x, const struct counts *c);
/* Cycles of an SM's port until all stores and atomics of @c have left. */
double stored_cycles(const struct counts *c);
/* The same of instruction @x. */
double leaving_cycles(const struct timing_inst *x, const struct counts *c);
/* The same of what @x stores to local memory, which is not in its counts of global memory. */
double local_store_cycles(const struct timing_inst *x);

/* How often a load waits for L2, for memory among those, and how long each takes. */
struct load_wait {
	double l2, dram; /* shares */
	double l1_cycles, l2_cycles, dram_cycles;
};
/*
 * Of load @i of basic block @b, until its value can be used: a wait for the slowest of its lines
 * and, for what comes from DRAM, of all that are under way together. Where only some warps take
 * part, for when all did that data came from afar. Without its replays.
 */
struct load_wait load_wait_of(const struct hyperblocks *h, const struct gpu_spec *g,
                              const struct load_misses *misses, double lines, uint32_t i,
                              uint32_t b);
/* On average. */
double load_wait_cycles(const struct load_wait *w);

/* Loads that are under way together: how many, when the last of them is there, and the shares of
 * times at which none of them comes from L2, or from memory. */
struct load_group {
	unsigned n;
	double done, none_from_l2, none_from_dram;
	double lines; /* of a request of the last one */
};
/*
 * Of a load that waits @w as one more of @g: it is waited for together with those before it. They
 * come late one by one, and who waits for all waits as long as for the last. But lanes that walk
 * through pieces of their own, @lines of a request, come to the next sector of two arrays at once.
 */
double group_wait_cycles(struct load_group *g, const struct load_wait *w, double lines);
/*
 * Lines of L1 that load @i keeps for what it waits for, times the cycles, over all executions that
 * were counted: no other load can have them meanwhile.
 */
double held_line_cycles(const struct timing_program *p, const struct gpu_spec *g,
                        const struct load_misses *misses, uint32_t i);

/* Until fetch @i of a texture, or bulk copy @i, is there, in cycles. */
double fetch_cycles(const struct timing_program *p, const struct gpu_spec *g,
                    const struct load_misses *misses, uint32_t i);
double bulk_cycles(const struct timing_program *p, const struct gpu_spec *g,
                   const struct load_misses *misses, uint32_t i);

#endif
