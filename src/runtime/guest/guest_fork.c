#define _GNU_SOURCE /* POLLRDHUP, clone() */
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
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- a copy that is no child which the program could wait for, nor hear of --- */

/* Of the next copy; nothing is taken of it before it is used. NULL = not made yet. */
#define STACK_BYTES ((size_t)8 << 20)
static char *stack;

struct copying {
	guest_fork_run *run;
	const void *ctx;
	int fd[2]; /* the program's end, the copy's */
	sigset_t mask;
};

static void be_the_copy(struct copying *c)
{
	close(c->fd[0]);
	stack = NULL; /* it runs on this one */
	sigprocmask(SIG_SETMASK, &c->mask, NULL);
	early_end();
	if (guest_waits)
		guest_waits->forget();
	emu_device_own_copy(guest.device);
	c->run(c->ctx, c->fd[1]);
	_exit(0);
}

/* In a process that has the program's memory while it waits (vfork(2)): its child is the copy, and
 * has no parent once it ends. A child of a child costs another copy of all page tables. */
static int copy_memory(void *ctx)
{
	struct copying *c = ctx;
	const pid_t pid = fork();
	if (pid == 0)
		be_the_copy(c);
	_exit(pid > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static bool make_stack(void)
{
	if (stack)
		return true;
	void *room = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	stack = room == MAP_FAILED ? NULL : room;
	return stack != NULL;
}

int guest_fork(guest_fork_run *run, const void *ctx)
{
	struct copying c = { .run = run, .ctx = ctx };
	if (!make_stack() || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c.fd) != 0)
		return -1;
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &c.mask);
	/* without a signal when it ends */
	const pid_t pid = clone(copy_memory, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, &c);
	int status = 0;
	pid_t ended = -1;
	while (pid > 0 && (ended = waitpid(pid, &status, (int)__WCLONE)) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &c.mask, NULL);
	close(c.fd[1]);
	if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
		return c.fd[0];
	close(c.fd[0]);
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
