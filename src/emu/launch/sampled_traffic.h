/*
 * Traffic with memory of a launch of which only a sample of the blocks ran: what the others would
 * have found in L2, and what all of them can come to.
 */
#ifndef PMPP_EMU_SAMPLED_TRAFFIC_H
#define PMPP_EMU_SAMPLED_TRAFFIC_H

#include "emu/count/count.h"
#include "emu/launch/launch.h"

/* Before the first block of a sample: puts into L2 what most waves of the launch would find there,
 * the smallest of the buffers that are read. @lines: of all the memory there is. */
void sampled_traffic_begin(struct emu_launch *l, uint32_t lines);
/* Into @c goes the traffic of all blocks, each of which the sample's, whose counts are in c->total,
 * stands for @factor. Returns the share of the sample's reads that the other blocks would make
 * anew. */
double sampled_traffic_fill(const struct emu_launch *l, double factor, struct run_counts *c);

#endif
