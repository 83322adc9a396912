/*
 * Instructions of PTX that machine code does by a loop or a call, and waits for other blocks: how
 * long they keep their warp from the next instruction.
 */
#ifndef PMPP_TIMEMODEL_HELD_WARP_H
#define PMPP_TIMEMODEL_HELD_WARP_H

#include "model/gpu.h"
#include "timemodel/timing_program.h"

/* Cycles of one execution of @i by a warp of a block of @p; @since_store: since the block's
 * stores to global memory have left, negative = they have not, INFINITY = there are none. 0 = the
 * next instruction follows as soon as it can. */
double held_warp_cycles(const struct timing_program *p, uint32_t i, const struct gpu_spec *g,
                        double since_store);
/* A sleep of @ns nanoseconds ends at the next multiple of this on the GPU's timer; a millisecond is
 * the longest that there is (PTX ISA 9.7.19). */
uint32_t sleep_period_ns(uint32_t ns);
/* Times that a warp goes round until all its lanes have changed their words of shared memory. */
double swap_rounds(const struct timing_inst *x, const struct counts *c);
/* Of all executions: what the chip does one after the other. */
double serial_call_ns(const struct timing_inst *x, const struct counts *c);

/* When product @i of a group of warps, which issues at @t, is there: behind those before it, which
 * are at @before, at the rate of a scheduler's tensor cores. */
double group_product_done(const struct timing_program *p, uint32_t i, const struct gpu_spec *g,
                          double t, double before);
/* How long the result of a match, or of a constant that is looked up, waits for the values of the
 * warp's lanes after the first. */
double further_values_cycles(const struct timing_inst *x, const struct counts *c);
/* Until a load that looks again and again sees what another block writes. */
double poll_cycles(const struct timing_inst *x, const struct gpu_spec *g);

#endif
