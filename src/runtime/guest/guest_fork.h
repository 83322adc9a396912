/*
 * A process beside the program: a copy of it and of all its memory (copy on write), as it is now.
 */
#ifndef PMPP_RUNTIME_GUEST_FORK_H
#define PMPP_RUNTIME_GUEST_FORK_H

#include "emu/device.h"

#include <stdbool.h>

/* What the copy does; it may return, and ends then. @fd: its end of a pair of sockets. */
typedef void guest_fork_run(const void *ctx, int fd);

/* Returns our end of the pair; -1 = there is no process or descriptor to be had. */
int guest_fork(guest_fork_run *run, const void *ctx);

/* In the copy: its input and output are none of the program's. */
void guest_fork_be_silent(void);
/*
 * In the copy: runs the launch @req, silently and without a look at races; the program's record is
 * closed. What it prints goes to @req->print alone. Ends the process where the other end of @fd has
 * gone: the program has ended, or does without. False, with @err set: the launch failed.
 */
bool guest_fork_launch(int fd, const struct emu_launch_request *req, struct run_counts *counts,
                       struct err *err);

#endif
