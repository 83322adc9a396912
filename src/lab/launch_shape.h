/*
 * Another number of threads for a block of up to three dimensions, and the grid that follows.
 */
#ifndef PMPP_LAB_LAUNCH_SHAPE_H
#define PMPP_LAB_LAUNCH_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * @to: @threads in the proportions of the block @from, as nearly as whole numbers allow; of two as
 * near, the one with whole warps in x, and of these the squarer one. z stays. False: no such block
 * exists.
 */
bool launch_shape_block(const unsigned from[3], unsigned threads, unsigned to[3]);
/* Blocks of shape @to along a dimension that had @blocks of @from threads: at least as many threads
 * start. */
unsigned launch_shape_grid(unsigned blocks, unsigned from, unsigned to);

#endif
