/*
 * The memory that a launch can reach: told, set and given back, for a launch that is run again
 * alone.
 */
#ifndef PMPP_RUNTIME_GUEST_REACH_H
#define PMPP_RUNTIME_GUEST_REACH_H

#include "runtime/guest/guest_op.h"

/* A record for each place: what pointers in the arguments of @op point to, variables of its module,
 * all other allocations. */
void reach_tell(const struct guest_op *op);
/* Puts the range's data there. What lies in no allocation is left alone. */
void reach_set(const struct record_range *r);
/* Records what is there now; nothing for what lies in no allocation. */
void reach_give(const struct record_range *r);

#endif
