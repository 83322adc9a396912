/*
 * A process beside the program: a copy of it and of all its memory (copy on write), as it is now.
 */
#ifndef PMPP_RUNTIME_GUEST_FORK_H
#define PMPP_RUNTIME_GUEST_FORK_H

#include <stdbool.h>

/* What the copy does; it may return, and ends then. @fd: its end of a pair of sockets. */
typedef void guest_fork_run(const void *ctx, int fd);

/* Returns our end of the pair; -1 = there is no process or descriptor to be had. */
int guest_fork(guest_fork_run *run, const void *ctx);

/* In the copy: its input and output are none of the program's. */
void guest_fork_be_silent(void);
/* In the copy: has the other end of @fd gone? */
bool guest_fork_is_alone(int fd);

#endif
