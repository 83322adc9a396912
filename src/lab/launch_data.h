/*
 * What a kept launch of a program finds in its memory and leaves there: it is run once more, alone
 * and uncounted, and its buffers are looked at.
 */
#ifndef PMPP_LAB_LAUNCH_DATA_H
#define PMPP_LAB_LAUNCH_DATA_H

#include "model/buffer_look.h"
#include "model/whole_program.h"

struct launch_shape {
	unsigned grid[3], block[3], shared_bytes; /* shared_bytes: dynamic */
};
/* Of launch @number with this shape; @source: the text of its kernel's file. Never NULL but where
 * it was cancelled; where there is nothing to be seen it says why. Takes its time. */
struct buffer_looks *launch_data(struct program *p, uint64_t number,
                                 const struct launch_shape *shape, const char *source,
                                 const atomic_bool *cancel);

#endif
