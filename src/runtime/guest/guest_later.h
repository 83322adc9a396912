/*
 * Operations behind a launch that waits for the host: what is submitted to its stream, or to one
 * that has to wait for it, is done when the launch has ended. Everything else is done at once, in
 * the order of the host's calls (guest_execute.c). Under the runtime's lock.
 */
#ifndef PMPP_RUNTIME_GUEST_LATER_H
#define PMPP_RUNTIME_GUEST_LATER_H

#include "runtime/guest/guest_op.h"

struct later; /* an operation that is not done yet */

/* Has an operation of @s to wait? @op: which; NULL = any. */
bool later_blocks(const struct guest_stream *s, const struct guest_op *op);
/* Is anything to be done at all? */
bool later_any(void);
/* Notes it to be done later. */
void later_add(struct guest_stream *s, const struct guest_op *op, const void *caller);
/* A launch of @s goes on while the host does; then it has ended. */
struct later *later_flight(struct guest_stream *s);
void later_flight_ended(struct later *l);
/* Does what need not wait any longer, by @execute. */
void later_run(guest_execution *execute);
/* The program needs it no more. */
void later_drop_event(const struct guest_event *e);
/* In a fork, where other launches do not go on. */
void later_forget(void);

#endif
