/*
 * Another program run to its end: what it prints, kept in memory; a time limit; a cancel flag.
 *
 * For tools such as a disassembler, never for anything that wants a terminal: it has none, reads
 * nothing, and is in a process group of its own, which is killed as a whole, also when this program
 * is killed. Blocks its caller.
 */
#ifndef PMPP_BASE_TOOL_H
#define PMPP_BASE_TOOL_H

#include "base/err.h"
#include "base/text.h"

#include <stdatomic.h>

struct tool_request {
	const char *path;        /* of the program; no search in PATH: tool_find() */
	const char *const *argv; /* argv[0] to NULL */
	int fd;                  /* open as TOOL_FD in the program; -1 = none */
	double limit_s;
	size_t max_bytes;          /* of its standard output */
	const atomic_bool *cancel; /* polled; NULL = never */
	const char *tmp;           /* its TMPDIR; NULL = ours */
};

#define TOOL_FD 3
#define TOOL_FD_WORD "3"
#define TOOL_FD_PATH "/proc/self/fd/3"

/*
 * Appends its standard output to @out. True: it ended with status 0.
 * ERR_IO: it could not be started; ERR_TIMEOUT, ERR_CANCELLED: it was killed; ERR_UNAVAILABLE: it
 * ended otherwise, or printed more than max_bytes; the message has its last words on stderr.
 */
bool tool_run(const struct tool_request *req, struct text *out, struct err *err);

/* The program @name in PATH. False: there is none. */
bool tool_find(const char *name, char *path, size_t n);

/*
 * @len bytes in a file without a name, for tool_request.fd; @name is what tools such as lsof show
 * for it. The caller closes it. -1: no memory; errno says more.
 */
int tool_input(const char *name, const void *bytes, size_t len);

#endif
