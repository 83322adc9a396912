/*
 * Life of the worker process; see cuda_client.h.
 *
 * posix_spawn, because the program has threads: between fork and exec nothing may allocate. The
 * worker gets one socket, /dev/null, and a memory file for what its libraries write to stderr,
 * whose end is quoted when it dies.
 */
#define _GNU_SOURCE /* memfd_create, SOCK_CLOEXEC */
#include "backend/cuda/cuda_client.h"
#include "backend/cuda/cuda_worker.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKER_FD 3
#define HELLO_S 20
#define QUIET_S 60
#define CANCEL_GRACE_S 0.25 /* a worker between two launches answers within this */

extern char **environ;

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Waits up to @seconds for the end; then kills. Returns the wait status. */
static int reap(struct cuda_client *c, double seconds)
{
	int status = 0;
	double deadline = wire_now() + seconds;
	for (;;) {
		pid_t p = waitpid(c->pid, &status, WNOHANG);
		if (p == c->pid || (p < 0 && errno != EINTR))
			break;
		if (wire_now() >= deadline) {
			kill(c->pid, SIGKILL);
			while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
				;
			break;
		}
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	}
	c->pid = 0;
	return status;
}

void client_stop(struct cuda_client *c)
{
	close_fd(&c->fd);
	if (c->pid)
		reap(c, 0);
	close_fd(&c->log);
	c->device = -1;
}

/* The last words on the worker's stderr, without line ends. */
static void last_words(const struct cuda_client *c, char *out, size_t n)
{
	out[0] = '\0';
	off_t end = c->log < 0 ? -1 : lseek(c->log, 0, SEEK_END);
	if (end <= 0)
		return;
	off_t from = end > (off_t)(n - 1) ? end - (off_t)(n - 1) : 0;
	ssize_t k = pread(c->log, out, n - 1, from);
	out[k > 0 ? k : 0] = '\0';
	for (char *s = out; *s; s++)
		if ((unsigned char)*s < ' ')
			*s = ' ';
}

/* It ended by itself: with what, and at which step. The next call starts another. */
static bool died(struct cuda_client *c, const char *what, struct fault *fault, struct err *err)
{
	int status = reap(c, 2);
	char words[300], how[64];
	last_words(c, words, sizeof words);
	close_fd(&c->fd);
	close_fd(&c->log);
	c->device = -1;
	if (WIFSIGNALED(status))
		snprintf(how, sizeof how, "signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof how, "exit status %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	err_set(err, ERR_INTERNAL, "%s: the GPU worker ended (%s) while %s%s%s", what, how,
	        c->step[0] ? c->step : "starting", words[0] ? ": " : "", words);
	err_remedy(err, "%s", fault_remedy(FAULT_WORKER));
	if (fault)
		fault_set(fault, FAULT_WORKER, "%s while %.200s", how, c->step[0] ? c->step : "starting");
	return false;
}

static bool start(struct cuda_client *c, const char *what, struct fault *fault, struct err *err)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(err, ERR_IO, "socketpair for the GPU worker: %s", strerror(errno));
	c->log = memfd_create("pmpp-gpu-worker", MFD_CLOEXEC);
	/* Neither may lie where the worker's descriptors go. */
	int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
	int log = c->log >= 0 ? fcntl(c->log, F_DUPFD_CLOEXEC, 10) : open("/dev/null", O_WRONLY | O_CLOEXEC);
	close(pair[1]);
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, log, 1);
	posix_spawn_file_actions_adddup2(&fa, log, 2);
	posix_spawn_file_actions_adddup2(&fa, theirs, WORKER_FD);
	sigset_t none;
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setpgroup(&at, 0);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	char fd_text[12];
	snprintf(fd_text, sizeof fd_text, "%d", WORKER_FD);
	char name[] = "pmpp-explore", option[] = CUDA_WORKER_OPTION;
	char *argv[] = { name, option, fd_text, NULL };
	pid_t pid = 0;
	int rc = theirs < 0 || log < 0 ? EMFILE
	                               : posix_spawn(&pid, "/proc/self/exe", &fa, &at, argv, environ);
	posix_spawnattr_destroy(&at);
	posix_spawn_file_actions_destroy(&fa);
	close_fd(&theirs);
	close_fd(&log);
	if (rc) {
		close(pair[0]);
		close_fd(&c->log);
		return err_set(err, ERR_IO, "starting the GPU worker: %s", strerror(rc));
	}
	c->pid = pid;
	c->fd = pair[0];
	c->step[0] = '\0';
	c->device = -1;
	c->started++;
	struct wire_msg hello;
	enum wire_status s = wire_recv(c->fd, &hello, wire_now() + HELLO_S, NULL);
	bool ok = s == WIRE_OK && hello.type == MSG_HELLO && wire_get_u32(&hello) == CUDA_PROTOCOL;
	wire_free(&hello);
	if (ok)
		return true;
	if (s == WIRE_TIMEOUT || s == WIRE_OK)
		kill(c->pid, SIGKILL);
	return died(c, what, fault, err);
}

/* A worker that ended while idle (killed from outside) is replaced without a word. */
static bool ready(struct cuda_client *c, const char *what, struct fault *fault, struct err *err)
{
	if (c->pid) {
		struct pollfd p = { .fd = c->fd, .events = POLLIN };
		if (poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)))
			client_stop(c);
	}
	return c->pid || start(c, what, fault, err);
}

static void ask_to_stop(const struct cuda_client *c)
{
	struct wire_msg m;
	wire_begin(&m, MSG_CANCEL);
	wire_send(c->fd, &m, -1, wire_now() + CANCEL_GRACE_S, NULL);
}

static bool refused(struct cuda_client *c, struct wire_msg *m, const char *what, struct fault *fault,
                    struct err *err)
{
	struct fault f = { 0 };
	cuda_get_fault(m, &f);
	bool last = wire_get_upto(m, 1) != 0;
	if (!wire_end(m) || f.id == FAULT_NONE) {
		wire_free(m);
		kill(c->pid, SIGKILL);
		return died(c, what, fault, err);
	}
	wire_free(m);
	if (last)
		client_stop(c);
	if (fault)
		*fault = f;
	fault_to_err(&f, err);
	return err_prefix(err, "%s: ", what);
}

static bool ended_by(struct cuda_client *c, enum fault_id id, const char *what, double limit_s,
                     struct fault *fault, struct err *err)
{
	struct fault f = { .id = id };
	if (id == FAULT_KERNEL_TIMEOUT)
		fault_set(&f, id, "no sign of life for %.3g s while %.180s", limit_s,
		          c->step[0] ? c->step : "starting");
	client_stop(c);
	if (fault)
		*fault = f;
	fault_to_err(&f, err);
	return err_prefix(err, "%s: ", what);
}

static void note_step(struct cuda_client *c, struct wire_msg *m)
{
	char text[sizeof c->step];
	wire_get_str(m, text, sizeof text);
	if (!m->bad)
		memcpy(c->step, text, sizeof c->step);
}

bool client_call(struct cuda_client *c, const struct wire_msg *request, int pass_fd,
                 enum cuda_msg want, const struct client_wait *wait, struct wire_msg *answer,
                 struct fault *fault, struct err *err)
{
	const double quiet = wait->quiet_s > 0 ? wait->quiet_s : QUIET_S;
	const atomic_bool *cancel = wait->cancel;
	bool stopping = false;
	if (request->bad)
		return err_set(err, ERR_UNSUPPORTED, "%s: too much for one message to the GPU worker",
		               wait->what);
	if (!ready(c, wait->what, fault, err))
		return false;
	enum wire_status s = wire_send(c->fd, request, pass_fd, wire_now() + quiet, cancel);
	double deadline = wire_now() + quiet;
	while (s == WIRE_OK) {
		struct wire_msg m;
		s = wire_recv(c->fd, &m, deadline, cancel);
		if (s == WIRE_CANCELLED && !stopping) {
			/* Between two launches the worker can stop and live; else it is ended below. */
			ask_to_stop(c);
			stopping = true;
			cancel = NULL;
			deadline = wire_now() + CANCEL_GRACE_S;
			s = WIRE_OK;
			continue;
		}
		if (s != WIRE_OK)
			break;
		if (m.type == (uint32_t)want) {
			*answer = m;
			return true;
		}
		if (m.type == MSG_REFUSED)
			return refused(c, &m, wait->what, fault, err);
		if (m.type == MSG_STEP)
			note_step(c, &m);
		double fraction = m.type == MSG_PROGRESS ? wire_get_f64(&m) : -1;
		bool known = m.type == MSG_STEP || m.type == MSG_PROGRESS;
		wire_free(&m);
		if (!known) {
			s = WIRE_BROKEN;
			break;
		}
		if (fraction >= 0 && fraction <= 1 && wait->progress)
			wait->progress(wait->ctx, fraction);
		if (!stopping)
			deadline = wire_now() + quiet;
	}
	if (stopping && (s == WIRE_TIMEOUT || s == WIRE_CLOSED))
		return ended_by(c, FAULT_CANCELLED, wait->what, 0, fault, err);
	if (s == WIRE_CANCELLED)
		return ended_by(c, FAULT_CANCELLED, wait->what, 0, fault, err);
	if (s == WIRE_TIMEOUT)
		return ended_by(c, FAULT_KERNEL_TIMEOUT, wait->what, quiet, fault, err);
	if (s == WIRE_BROKEN)
		kill(c->pid, SIGKILL); /* what it says cannot be trusted any more */
	return died(c, wait->what, fault, err);
}
