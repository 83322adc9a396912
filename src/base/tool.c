/* Running a tool; see tool.h. */
#define _GNU_SOURCE /* memfd_create, pipe2, NSIG */
#include "base/tool.h"
#include "base/monotonic.h"

#include "base/child.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 20, HIGH_FD = 10, NOT_STARTED = 127 };

struct running {
	pid_t pid;
	int out, log; /* its stdout to read; its stderr in memory */
};

/* --- between fork and exec: nothing that allocates, for the program has threads --- */

static void end_group(int sig)
{
	(void)sig;
	kill(0, SIGKILL);
}

_Noreturn static void become(const struct tool_request *req, char *const *env, const int from[3],
                             int null)
{
	dup2(null, 0);
	dup2(from[0], 1);
	dup2(from[1], 2);
	if (from[2] >= 0)
		dup2(from[2], TOOL_FD);
	/* execve() does not write to its arguments */
	execve(req->path, (char *const *)(uintptr_t)req->argv, env);
	_exit(NOT_STARTED);
}

/*
 * The tool's guard: its parent, first of its process group, with the one task to end the group when
 * the program is killed, which a tool would not notice. It ends as the tool does.
 */
_Noreturn static void guard(const struct tool_request *req, char *const *env, const int from[3],
                            int null, pid_t program)
{
	int status = 0;
	sigset_t none;
	setpgid(0, 0);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	signal(SIGTERM, end_group);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != program)
		_exit(NOT_STARTED);
	const pid_t tool = fork();
	if (!tool) {
		signal(SIGTERM, SIG_DFL);
		become(req, env, from, null);
	}
	/* what the tool writes to ends with the tool, not with its guard */
	close(from[0]);
	close(from[1]);
	while (tool > 0 && waitpid(tool, &status, 0) < 0 && errno == EINTR)
		;
	if (tool > 0 && WIFSIGNALED(status)) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	_exit(tool > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : NOT_STARTED);
}

/* This program's environment with another TMPDIR. free() the list and its first word. */
static char **environment(const char *tmp)
{
	size_t n = 0, to = 0;
	while (environ[n])
		n++;
	char **env = mem_calloc(n + 2, sizeof *env);
	env[to++] = mem_printf("TMPDIR=%s", tmp);
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "TMPDIR=", 7) != 0)
			env[to++] = environ[i];
	return env;
}

/* Descriptors go to their numbers from above, so that none is overwritten before it is used. */
static int spawn(const struct tool_request *req, int out, int log, pid_t *pid)
{
	if (access(req->path, X_OK) != 0)
		return errno;
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int high = fcntl(null, F_DUPFD_CLOEXEC, HIGH_FD);
	const int given = req->fd < 0 ? -1 : fcntl(req->fd, F_DUPFD_CLOEXEC, HIGH_FD);
	int rc = high < 0 || (req->fd >= 0 && given < 0) ? errno : 0;
	if (null >= 0)
		close(null);
	if (!rc) {
		char **env = req->tmp ? environment(req->tmp) : NULL;
		const pid_t program = getpid();
		*pid = fork();
		if (!*pid)
			guard(req, env ? env : environ, (const int[3]){ out, log, given }, high, program);
		rc = *pid < 0 ? errno : 0;
		setpgid(*pid, *pid); /* whichever of the two is first */
		if (env)
			free(env[0]);
		free(env);
	}
	if (high >= 0)
		close(high);
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

bool tool_find(const char *name, char *path, size_t n)
{
	for (const char *at = getenv("PATH"); at && *at;) {
		const int len = (int)strcspn(at, ":");
		const int wrote = snprintf(path, n, "%.*s/%s", len, at, name);
		if (len && wrote < (int)n && !access(path, X_OK))
			return true;
		at += len;
		at += *at == ':';
	}
	return false;
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
