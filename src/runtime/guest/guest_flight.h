/*
 * Launches. Each is done within its call, so that a program does the same every time; but one whose
 * kernel waits, for what the host or another launch will write, goes on in a thread of its own
 * while the host does.
 */
#ifndef PMPP_RUNTIME_GUEST_FLIGHT_H
#define PMPP_RUNTIME_GUEST_FLIGHT_H

#include "runtime/guest/guest_op.h"

/* The kernel, and then what it asked for, and what that asked for; or that it goes on. */
guest_launch flight_launch;
/* The launch of @req may be found to wait. */
void flight_prepare(struct emu_launch_request *req);
/* The host waits, for @waited_s now: where all launches that go on have been waiting for long as
 * well, they are ended with a fault. */
void flight_forsake(double waited_s);
/* The program ends, and with it what still goes on. */
void flight_end_all(void);
/* In a fork: there are none. */
void flight_forget(void);
bool flight_program_ends(void);

#endif
