/*
 * Running a tool; see tool.h. posix_spawn, because the program has threads: between fork and exec
 * nothing may allocate.
 */
#define _GNU_SOURCE /* memfd_create, pipe2 */
#include "base/tool.h"
#include "base/monotonic.h"

#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 20, HIGH_FD = 10 };

struct running {
	pid_t pid;
	int out, log; /* its stdout to read; its stderr in memory */
};

/* Descriptors go to their numbers from above, so that none is overwritten before it is used. */
static int spawn(const struct tool_request *req, int out, int log, pid_t *pid)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none;
	const int given = req->fd < 0 ? -1 : fcntl(req->fd, F_DUPFD_CLOEXEC, HIGH_FD);
	if (req->fd >= 0 && given < 0)
		return errno;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_adddup2(&fa, log, 2);
	if (given >= 0)
		posix_spawn_file_actions_adddup2(&fa, given, TOOL_FD);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setpgroup(&at, 0);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	/* posix_spawn() does not write to its arguments */
	const int rc =
		posix_spawn(pid, req->path, &fa, &at, (char *const *)(uintptr_t)req->argv, environ);
	posix_spawnattr_destroy(&at);
	posix_spawn_file_actions_destroy(&fa);
	if (given >= 0)
		close(given);
	return rc;
}

static bool start(const struct tool_request *req, struct running *r, struct err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return err_set(err, ERR_IO, "%s: pipe: %s", req->argv[0], strerror(errno));
	r->log = memfd_create("pmpp-tool", MFD_CLOEXEC);
	const int out = fcntl(ends[1], F_DUPFD_CLOEXEC, HIGH_FD);
	const int log = r->log < 0 ? -1 : fcntl(r->log, F_DUPFD_CLOEXEC, HIGH_FD);
	close(ends[1]);
	const int rc = out < 0 || log < 0 ? EMFILE : spawn(req, out, log, &r->pid);
	if (out >= 0)
		close(out);
	if (log >= 0)
		close(log);
	r->out = ends[0];
	if (!rc)
		return true;
	close(r->out);
	if (r->log >= 0)
		close(r->log);
	return err_set(err, ERR_IO, "%s could not be started: %s", req->path, strerror(rc));
}

/* What is there to read now; false at the end of it. */
static bool read_some(int fd, struct text *out)
{
	char bytes[16384];
	const ssize_t n = read(fd, bytes, sizeof bytes);
	if (n > 0)
		text_put(out, bytes, (size_t)n);
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Reads until the tool closes its output or must be ended; the code says why. */
static enum err_code follow(const struct tool_request *req, int fd, struct text *out)
{
	const double deadline = clock_now_s() + req->limit_s;
	const size_t start = out->len;
	for (bool more = true; more;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		if (req->cancel && atomic_load(req->cancel))
			return ERR_CANCELLED;
		if (clock_now_s() >= deadline)
			return ERR_TIMEOUT;
		if (poll(&p, 1, POLL_MS) > 0)
			more = read_some(fd, out);
		if (out->len - start > req->max_bytes)
			return ERR_UNAVAILABLE;
	}
	return ERR_NONE;
}

/* Waits for its end, and no longer than is left of the limit. */
static bool reap(const struct tool_request *req, pid_t pid, double deadline, int *status,
                 enum err_code *why)
{
	for (;;) {
		const pid_t p = waitpid(pid, status, WNOHANG);
		if (p == pid)
			return true;
		if (p < 0 && errno != EINTR)
			return false;
		*why = req->cancel && atomic_load(req->cancel) ? ERR_CANCELLED
		       : clock_now_s() >= deadline             ? ERR_TIMEOUT
		                                               : ERR_NONE;
		if (*why) {
			kill(-pid, SIGKILL);
			while (waitpid(pid, status, 0) < 0 && errno == EINTR)
				;
			return true;
		}
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

static bool report(const struct tool_request *req, enum err_code why, int status, int log,
                   struct err *err)
{
	char words[600], end[80];
	const struct child c = { .fd = -1, .log = log };
	child_last_words(&c, words, sizeof words);
	const char *sep = words[0] ? ": " : "";
	if (why == ERR_TIMEOUT)
		return err_set(err, why, "%s did not end within %g seconds and was killed%s%s",
		               req->argv[0], req->limit_s, sep, words);
	if (why == ERR_CANCELLED)
		return err_set(err, why, "%s was cancelled", req->argv[0]);
	if (why)
		return err_set(err, why, "%s printed more than %zu bytes", req->argv[0], req->max_bytes);
	child_ended_by(status, end, sizeof end);
	return err_set(err, ERR_UNAVAILABLE, "%s ended with %s%s%s", req->argv[0], end, sep, words);
}

bool tool_run(const struct tool_request *req, struct text *out, struct err *err)
{
	struct running r = { .out = -1, .log = -1 };
	int status = -1;
	const double deadline = clock_now_s() + req->limit_s;
	if (!start(req, &r, err))
		return false;
	enum err_code why = follow(req, r.out, out);
	close(r.out);
	if (why)
		kill(-r.pid, SIGKILL);
	enum err_code late = ERR_NONE;
	reap(req, r.pid, why ? clock_now_s() + 5 : deadline, &status, &late);
	why = why ? why : late;
	const bool good = !why && WIFEXITED(status) && !WEXITSTATUS(status);
	if (!good)
		report(req, why, status, r.log, err);
	close(r.log);
	return good;
}

int tool_input(const char *name, const void *bytes, size_t len)
{
	const int fd = memfd_create(name, MFD_CLOEXEC);
	for (size_t done = 0; fd >= 0 && done < len;) {
		const ssize_t n = write(fd, (const char *)bytes + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			const int why = n < 0 ? errno : ENOSPC;
			close(fd);
			errno = why;
			return -1;
		}
		done += (size_t)n;
	}
	return fd;
}
