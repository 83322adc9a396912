#define _GNU_SOURCE /* close_range(), POLLRDHUP */
/* Forks that run a launch again; see guest_keeper.h. */
#include "runtime/guest/guest_keeper.h"
#include "runtime/guest/guest_fork.h"
#include "runtime/guest/guest_wait.h"
#include "runtime/guest/guest_reach.h"
#include "runtime/guest/guest_record.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEPER_FD 3
#define POLL_MS 20

static unsigned kept;

/* A launch that is kept. */
struct kept_launch {
	const struct guest_op *op;
	struct guest_stream *stream;
	uint64_t number;
	guest_launch *run;
};

/* In a fork of the keeper: the launch as it is asked for, recorded to KEEPER_FD. */
static void run_again(const struct kept_launch *l, const struct record_again *again)
{
	struct guest_op changed = *l->op;
	for (unsigned i = 0; i < 3; i++) {
		changed.u.launch.grid[i] = again->grid[i];
		changed.u.launch.block[i] = again->block[i];
	}
	changed.u.launch.shared_bytes = again->shared_bytes;
	guest.config.keep = 0;
	guest.config.stop_after = 0;
	guest.config.count_first = again->uncounted ? 0 : UINT64_MAX;
	guest.config.count_to = again->uncounted ? 0 : guest.config.count_to;
	record_redirect(KEEPER_FD, l->number - 1);
	for (unsigned i = 0; i < again->n_set; i++)
		reach_set(&again->set[i]);
	for (unsigned i = 0; again->before && i < again->n_wanted; i++)
		reach_give(&again->wanted[i]);
	l->run(&changed, l->stream);
	wait_all();
	for (unsigned i = 0; i < again->n_wanted; i++)
		reach_give(&again->wanted[i]);
	_exit(0);
}

static void tell_end(int status)
{
	struct wire_msg m;
	const struct record_end end = { .status = status };
	record_put_end(&m, &end);
	wire_send(KEEPER_FD, &m, -1, INFINITY, NULL);
	wire_free(&m);
}

/* Waits for the fork, or ends it: without the explorer it is not wanted any more, and what comes
 * from there meanwhile is RECORD_STOP. */
static void wait_for(pid_t pid)
{
	int status = 0;
	pid_t ended;
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
		struct pollfd fd = { .fd = KEEPER_FD, .events = POLLIN | POLLRDHUP };
		poll(&fd, 1, POLL_MS);
		if (fd.revents)
			kill(pid, SIGKILL);
		if (fd.revents & ~POLLIN)
			_exit(0);
	}
	tell_end(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void keep(const void *ctx, int fd)
{
	const struct kept_launch *l = ctx;
	/* the program's descriptors are not ours to hold open */
	guest_fork_be_silent();
	if (dup2(fd, KEEPER_FD) < 0)
		_exit(1);
	close_range(KEEPER_FD + 1, ~0u, 0);
	for (;;) {
		struct wire_msg m = { 0 };
		struct record_again again;
		if (wire_recv(KEEPER_FD, &m, INFINITY, NULL) != WIRE_OK)
			_exit(0);
		if (m.type == RECORD_STOP) {
			wire_send(KEEPER_FD, &m, -1, INFINITY, NULL);
			wire_free(&m);
			continue;
		}
		if (m.type == RECORD_LOOK) {
			wire_free(&m);
			record_redirect(KEEPER_FD, l->number - 1);
			reach_tell(l->op);
			tell_end(0);
			continue;
		}
		if (!record_get_again(&m, &again))
			_exit(0);
		const pid_t pid = fork();
		if (pid == 0)
			run_again(l, &again);
		wire_free(&m);
		if (pid > 0)
			wait_for(pid);
		else
			tell_end(1);
	}
}

void keeper_make(const struct guest_op *op, struct guest_stream *s, uint64_t number,
                 guest_launch *run)
{
	const struct kept_launch l = { op, s, number, run };
	const bool chosen = guest.config.count_to;
	if (kept >= guest.config.keep || !record_is_open() ||
	    (chosen && (number < guest.config.count_from || number > guest.config.count_to)))
		return;
	const int fd = guest_fork(keep, &l);
	if (fd < 0)
		return;
	record_keeper(number, fd);
	kept++;
	close(fd);
}
