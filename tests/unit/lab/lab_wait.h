/*
 * Waiting for a lab as the screen does, on its descriptor. Included by tests of the lab.
 */
#ifndef PMPP_LAB_WAIT_H
#define PMPP_LAB_WAIT_H

#include "fake_registry.h"

#include <poll.h>

#define PATIENCE_MS 20000

static inline struct lab *open_lab(const char *gpu, const char *backend)
{
	struct lab *a;
	struct err err = { 0 };
	if (!lab_new(&a, gpu, backend, fake_panels, &err))
		fail_msg("%s", err.msg);
	return a;
}

/* Sleeps on the descriptor as the screen does, until @done. */
static inline void wait_for(struct lab *a, bool (*done)(const struct session *s))
{
	struct pollfd fd = { .fd = lab_wake_fd(a), .events = POLLIN };
	lab_poll(a);
	while (!done(lab_session(a))) {
		if (poll(&fd, 1, PATIENCE_MS) != 1)
			fail_msg("no news; state %d, %s", lab_session(a)->state, lab_session(a)->run_err.msg);
		lab_poll(a);
	}
}

static inline bool settled(const struct session *s)
{
	return s->state != RUN_RUNNING;
}

/* A lab on an A100 of the emulator whose first run is over. */
static inline struct lab *settled_lab(void)
{
	fake_reset();
	struct lab *a = open_lab("a100", "emu");
	lab_start(a);
	wait_for(a, settled);
	return a;
}

static inline bool has_record(const struct session *s)
{
	return s->now != NULL;
}

#endif
