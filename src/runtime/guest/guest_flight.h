/*
 * Launches. Each is done within its call, so that a program does the same every time; but one whose
 * kernel waits, for what the host or another launch will write, goes on in a thread of its own
 * while the host does.
 */
#ifndef PMPP_RUNTIME_GUEST_FLIGHT_H
#define PMPP_RUNTIME_GUEST_FLIGHT_H

#include "runtime/guest/guest_op.h"

/* What does other operations, and what does a launch. */
struct flight_calls {
	guest_execution *execute;
	guest_launch *launch;
};
/* The kernel, and then what it asked for, and what that asked for; or that it goes on. */
cudaError_t flight_launch(const struct guest_op *op, struct guest_stream *s,
                          const struct flight_calls *calls);

#endif
