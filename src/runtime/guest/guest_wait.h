/*
 * What calls do where a launch goes on beside the host (guest_flight.h): nothing, as long as none
 * does. Under the runtime's lock.
 */
#ifndef PMPP_RUNTIME_GUEST_WAIT_H
#define PMPP_RUNTIME_GUEST_WAIT_H

#include "runtime/guest/guest_op.h"

struct guest_waits {
	/* The host waits for a stream, an event, or (both NULL) everything. */
	void (*until)(const struct guest_stream *s, const struct guest_event *e);
	/* Has an operation of @s to wait (@op NULL: any)? Then it is noted, to be done later. */
	bool (*blocks)(const struct guest_stream *s, const struct guest_op *op);
	void (*add)(struct guest_stream *s, const struct guest_op *op, const void *caller);
	/* The program needs it no more. */
	void (*drop_event)(const struct guest_event *e);
	void (*end_all)(void); /* the program ends, and with it what still goes on */
	void (*forget)(void);  /* in a fork, where nothing does */
};
extern const struct guest_waits *guest_waits; /* NULL = no launch ever went on (guest_state.c) */

static inline void wait_stream(const struct guest_stream *s)
{
	if (guest_waits)
		guest_waits->until(s, NULL);
}

static inline void wait_event(const struct guest_event *e)
{
	if (guest_waits)
		guest_waits->until(NULL, e);
}

static inline void wait_all(void)
{
	if (guest_waits)
		guest_waits->until(NULL, NULL);
}

static inline bool wait_blocks(const struct guest_stream *s, const struct guest_op *op)
{
	return guest_waits && guest_waits->blocks(s, op);
}

#endif
