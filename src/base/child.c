/*
 * Life of a worker process; see child.h.
 *
 * posix_spawn, because the program has threads: between fork and exec nothing may allocate.
 */
#define _GNU_SOURCE /* memfd_create, SOCK_CLOEXEC, POLLRDHUP */
#include "base/child.h"
#include "base/monotonic.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* --- in the program --- */

static int spawn(pid_t *pid, const char *option, int socket, int log)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, log, 1);
	posix_spawn_file_actions_adddup2(&fa, log, 2);
	posix_spawn_file_actions_adddup2(&fa, socket, CHILD_FD);
	sigset_t none;
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setpgroup(&at, 0);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	char name[] = "pmpp-explore", word[32], fd_text[12];
	snprintf(word, sizeof word, "%s", option);
	snprintf(fd_text, sizeof fd_text, "%d", CHILD_FD);
	char *argv[] = { name, word, fd_text, NULL };
	const int rc = posix_spawn(pid, "/proc/self/exe", &fa, &at, argv, environ);
	posix_spawnattr_destroy(&at);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

bool child_start(struct child *c, const char *option, const char *what, struct err *err)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(err, ERR_IO, "socketpair for the %s: %s", what, strerror(errno));
	c->log = memfd_create("pmpp-worker", MFD_CLOEXEC);
	/* Neither may lie where the worker's descriptors go. */
	int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
	int log =
		c->log >= 0 ? fcntl(c->log, F_DUPFD_CLOEXEC, 10) : open("/dev/null", O_WRONLY | O_CLOEXEC);
	close(pair[1]);
	pid_t pid = 0;
	const int rc = theirs < 0 || log < 0 ? EMFILE : spawn(&pid, option, theirs, log);
	close_fd(&theirs);
	close_fd(&log);
	if (rc) {
		close(pair[0]);
		close_fd(&c->log);
		return err_set(err, ERR_IO, "starting the %s: %s", what, strerror(rc));
	}
	c->pid = pid;
	c->fd = pair[0];
	return true;
}

bool child_gone(const struct child *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR));
}

int child_reap(struct child *c, double seconds)
{
	int status = 0;
	const double deadline = clock_now_s() + seconds;
	for (;;) {
		const pid_t p = waitpid(c->pid, &status, WNOHANG);
		if (p == c->pid || (p < 0 && errno != EINTR))
			break;
		if (clock_now_s() >= deadline) {
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

void child_stop(struct child *c)
{
	close_fd(&c->fd);
	if (c->pid)
		child_reap(c, 0);
	close_fd(&c->log);
}

void child_last_words(const struct child *c, char *out, size_t n)
{
	out[0] = '\0';
	const off_t end = c->log < 0 ? -1 : lseek(c->log, 0, SEEK_END);
	if (end <= 0)
		return;
	const off_t from = end > (off_t)(n - 1) ? end - (off_t)(n - 1) : 0;
	const ssize_t k = pread(c->log, out, n - 1, from);
	out[k > 0 ? k : 0] = '\0';
	for (char *s = out; *s; s++)
		if ((unsigned char)*s < ' ')
			*s = ' ';
}

void child_ended_by(int status, char *out, size_t n)
{
	if (WIFSIGNALED(status))
		snprintf(out, n, "signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(out, n, "exit status %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* --- in the worker --- */

/* Whatever the main thread is waiting for. */
static void *watch(void *arg)
{
	const int fd = (int)(intptr_t)arg;
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLRDHUP };
		if (poll(&p, 1, -1) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)))
			_exit(0);
	}
	return NULL;
}

bool child_begin(int fd)
{
	int type;
	socklen_t len = sizeof type;
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len))
		return false;
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 }); /* a GPU process maps terabytes */
	pthread_t t;
	if (!pthread_create(&t, NULL, watch, (void *)(intptr_t)fd))
		pthread_detach(t);
	return true;
}
