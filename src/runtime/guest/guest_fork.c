#define _GNU_SOURCE /* POLLRDHUP */
/* Copies of the program; see guest_fork.h. */
#include "runtime/guest/guest_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int guest_fork(guest_fork_run *run, const void *ctx)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return -1;
	const pid_t pid = fork();
	if (pid == 0) { /* twice, so that it is no child that the program could wait for */
		if (fork() == 0) {
			close(pair[0]);
			run(ctx, pair[1]);
		}
		_exit(0);
	}
	close(pair[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (pid > 0)
		return pair[0];
	close(pair[0]);
	return -1;
}

void guest_fork_be_silent(void)
{
	const int nothing = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3; i++)
		dup2(nothing, i);
	if (nothing > 2)
		close(nothing);
}

bool guest_fork_is_alone(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };
	return poll(&p, 1, 0) > 0;
}
