/*
 * This program started again as a worker process: one socket, no terminal, a process group of its
 * own. What it loads may crash or hang, and only it is lost.
 *
 * The socket is the worker's descriptor CHILD_FD. When the program ends, the worker's watch sees
 * the socket close and ends it. What goes over the socket is the user's business.
 */
#ifndef PMPP_BASE_CHILD_H
#define PMPP_BASE_CHILD_H

#include "base/err.h"

#include <sys/types.h>

#define CHILD_FD 3

struct child {
	pid_t pid;   /* 0 = none running */
	int fd, log; /* the socket; what the worker wrote to stdout and stderr, kept in memory */
};

#define CHILD_INIT { .fd = -1, .log = -1 }

/* Runs `pmpp-explore @option 3`; main() must know the option. @what for messages: "GPU worker". */
bool child_start(struct child *c, const char *option, const char *what, struct err *err);
/* Has it ended while nobody asked it anything? */
bool child_gone(const struct child *c);
/* Waits up to @seconds for its end, then kills. Returns the wait status; socket and log stay. */
int child_reap(struct child *c, double seconds);
/* Ends it at once, whatever it is doing, and closes everything. */
void child_stop(struct child *c);
/* The end of its log, without line ends. */
void child_last_words(const struct child *c, char *out, size_t n);
/* "signal 4, Illegal instruction", "exit status 3" */
void child_ended_by(int status, char *out, size_t n);

/* In the worker, first of all: is @fd a socket, and not a person's try at the option? The keys of
 * the terminal are for the program; no core is dumped; the program's end is this process's. */
bool child_begin(int fd);

#endif
