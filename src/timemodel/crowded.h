/*
 * How long work takes whose loads and stores share L2 and memory with those of all SMs: the more of
 * what these can give is asked of them, the longer each access waits.
 */
#ifndef PMPP_TIMEMODEL_CROWDED_H
#define PMPP_TIMEMODEL_CROWDED_H

/* @alone_ns: if every access were served at once; @dram_ns, @l2_ns: the least time in which memory
 * and L2 serve all of them. Nanoseconds, no less than any of the three. */
double crowded_ns(double alone_ns, double dram_ns, double l2_ns);

#endif
