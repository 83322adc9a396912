/*
 * Launches kept: in front of a launch the process is forked, memory and all (copy on write); the
 * fork waits and runs that launch again, alone, whenever the explorer asks.
 */
#ifndef PMPP_RUNTIME_GUEST_KEEPER_H
#define PMPP_RUNTIME_GUEST_KEEPER_H

#include "runtime/guest/guest_op.h"

/* Keeps launch @number if the explorer wants that and has not got enough of them yet. Without a
 * process or a descriptor to be had the launch is just not kept. */
void keeper_make(const struct guest_op *op, struct guest_stream *s, uint64_t number,
                 guest_launch *run);

#endif
