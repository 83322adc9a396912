#define _GNU_SOURCE /* POLLRDHUP */
/* Copies of the program; see guest_fork.h. */
#include "runtime/guest/guest_fork.h"
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_early.h"
#include "runtime/guest/guest_record.h"
#include "runtime/guest/guest_wait.h"

#include "base/monotonic.h"

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
			early_end();
			if (guest_waits)
				guest_waits->forget();
			emu_device_own_copy(guest.device);
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

static int answer_fd = -1;
#define LOOK_S (1.0 / 30)

/* Ends with who asks for the answer, whichever block is at it: one may never end. */
static bool end_if_alone(void *ctx)
{
	static _Thread_local double looked_s;
	struct pollfd p = { .fd = answer_fd, .events = POLLRDHUP };
	const double now_s = clock_now_s();
	(void)ctx;
	if (now_s - looked_s < LOOK_S)
		return true;
	looked_s = now_s;
	if (poll(&p, 1, 0) > 0)
		_exit(0);
	return true;
}

/* What a kernel launches is the program's own to do. */
static void left_undone(void *ctx, const struct device_work *work)
{
	(void)ctx, (void)work;
}

bool guest_fork_launch(int fd, const struct emu_launch_request *req, struct run_counts *counts,
                       struct err *err)
{
	struct run_result res = { 0 };
	struct run_findings findings = { 0 };
	struct emu_launch_request own = *req;
	answer_fd = fd;
	record_close();
	guest_fork_be_silent();
	own.check_races = RACES_OFF;
	own.breathe = end_if_alone;
	own.work = req->work && req->machine_code ? left_undone : NULL;
	const bool ok = emu_launch(guest.device, &own, NULL, &res, &findings, err);
	*counts = res.counts;
	return ok;
}
