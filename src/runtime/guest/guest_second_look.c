#define _GNU_SOURCE /* POLLRDHUP */
/* A launch run twice, to see what follows from memory without a value; see guest_second_look.h. */
#include "runtime/guest/guest_second_look.h"
#include "runtime/guest/guest_fork.h"
#include "runtime/guest/guest_record.h"

#include "base/monotonic.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* The launch gets so many times what it took, and a program waits no longer for all of them. */
#define WAIT_FACTOR 10
#define LEAST_WAIT_S 2
#define MOST_WAIT_S 20.0
static double waited_s; /* so far */
/* So much of device memory is copied in front of a launch, which takes less time than a copy of the
 * program; that is made behind the few that need it. */
#define MOST_MEMORY_BYTES (4 << 20)
static struct emu_memory_copy *spare; /* nobody needs it now */
/* A copy of a program with much memory costs 0.1 s, and as much again, or a few times that, where
 * pages are then written: all of them no more than this, and of the program's time. */
#define COPIES_S 1.0
#define MOST_PAGES_FACTOR 4 /* what is beyond that is the launch's own memory */
#define COPIES_SHARE 0.05
static double copies_s; /* so far */

/* What is to be different. */
struct doubts {
	bool contents, order;
};

/* What a launch leaves behind. */
struct outcome {
	bool ended_well;
	struct launch_print printed;
	struct emu_device_digest memory;
};

void launch_print_add(struct launch_print *p, const char *text, size_t n)
{
	p->bytes += (unsigned)n;
	p->hash = hash_bytes(p->hash ? p->hash : HASH_SEED, text, n);
}

static bool same(const struct outcome *a, const struct outcome *b)
{
	return a->ended_well == b->ended_well && a->printed.bytes == b->printed.bytes &&
	       a->printed.hash == b->printed.hash &&
	       memcmp(&a->memory, &b->memory, sizeof a->memory) == 0;
}

/* False: it did not come in time, or nobody is at the other end of @asker any more (-1: no one
 * asks). */
static bool receive(int fd, int asker, double wait_s, struct outcome *o)
{
	const double until_s = clock_now_s() + wait_s;
	size_t n = 0;
	while (n < sizeof *o) {
		const double left_s = fmax(0, until_s - clock_now_s());
		struct pollfd p[2] = { { .fd = fd, .events = POLLIN },
			                   { .fd = asker, .events = POLLRDHUP } };
		const int ready = poll(p, 2, (int)ceil(left_s * 1000));
		if (ready < 0 && errno == EINTR)
			continue;
		const bool there = ready > 0 && p[0].revents;
		const ssize_t got = there ? read(fd, (char *)o + n, sizeof *o - n) : 0;
		if (got <= 0)
			return false;
		n += (size_t)got;
	}
	return true;
}

/* --- in the copy --- */

static void note_print(void *ctx, const char *text, size_t n)
{
	launch_print_add(ctx, text, n);
}

static struct outcome run_again(int fd, const struct emu_launch_request *like, bool other_contents,
                                enum launch_order order)
{
	struct outcome o = { 0 };
	struct run_counts counts;
	struct err err = { 0 };
	struct emu_launch_request req = *like;
	req.counting = EMU_COUNT_NONE;
	req.other_contents = other_contents;
	req.order = order;
	req.print = note_print;
	req.print_ctx = &o.printed;
	o.ended_well = guest_fork_launch(fd, &req, &counts, &err);
	emu_device_digest(guest.device, &o.memory);
	return o;
}

static void run_odd_first(const void *ctx, int fd)
{
	const struct second_look *s = ctx;
	const struct outcome o = run_again(fd, s->req, false, ORDER_ODD_FIRST);
	send(fd, &o, sizeof o, MSG_NOSIGNAL);
}

/* Where the order is in doubt, a copy of this copy runs another one meanwhile. */
static void run_copy(const void *ctx, int fd)
{
	const struct second_look *s = ctx;
	struct doubts doubts;
	if (read(fd, &doubts, sizeof doubts) != sizeof doubts)
		return; /* nothing of the kind was found */
	if (s->memory && !emu_memory_copy_restore(s->memory, guest.device))
		return;
	const int odd = doubts.order ? guest_fork(run_odd_first, s) : -1;
	struct outcome other,
		o = run_again(fd, s->req, doubts.contents, doubts.order ? ORDER_BACKWARDS : ORDER_FORWARDS);
	if (odd >= 0)
		o.ended_well = o.ended_well && receive(odd, fd, MOST_WAIT_S, &other) && same(&o, &other);
	send(fd, &o, sizeof o, MSG_NOSIGNAL);
}

/* --- in the program --- */

/* What the system has worked for the program: copies, and pages written for the first time. That
 * others keep the machine busy makes none dearer. */
static double system_s(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_stime.tv_sec + 1e-6 * (double)u.ru_stime.tv_usec;
}

static void copy_program(struct second_look *s)
{
	s->began_system_s = system_s();
	s->fd = guest_fork(run_copy, s);
	s->copied_s = system_s() - s->began_system_s;
}

struct second_look second_look_begin(const struct emu_launch_request *req, bool other)
{
	struct emu_function_info info;
	struct second_look s = { .req = req, .fd = -1 };
	static double began_s;
	const double now_s = clock_now_s();
	if (began_s <= 0)
		began_s = now_s;
	emu_function_info(req->function, &info);
	const uint64_t threads = (uint64_t)req->grid[0] * req->grid[1] * req->grid[2] * req->block[0] *
	                         req->block[1] * req->block[2];
	const double most_s = COPIES_S + COPIES_SHARE * (now_s - began_s);
	/* without shared memory it is for races only, which one warp alone has none of */
	const bool shared = info.static_shared_bytes + req->dynamic_shared_bytes > 0;
	if (waited_s >= (other ? MOST_WAIT_S / 2 : MOST_WAIT_S) ||
	    (!shared && (threads <= 32 || req->check_races == RACES_OFF)))
		return s;
	if (emu_memory_copy_take(&spare, guest.device, req->function, MOST_MEMORY_BYTES)) {
		s.memory = spare;
		spare = NULL;
	} else if (copies_s <= (other ? most_s / 2 : most_s)) {
		copy_program(&s);
	}
	return s;
}

bool second_look_agrees(struct second_look *s, bool contents, bool order,
                        const struct launch_print *printed, double took_s)
{
	const struct doubts doubts = { contents, order };
	struct outcome theirs, ours = { 0 };
	if (s->memory)
		copy_program(s);
	if (s->fd < 0 || send(s->fd, &doubts, sizeof doubts, MSG_NOSIGNAL) != sizeof doubts)
		return false;
	const double since_s = clock_now_s();
	const double wait_s = fmin(MOST_WAIT_S - waited_s, fmax(LEAST_WAIT_S, WAIT_FACTOR * took_s));
	emu_device_digest(guest.device, &ours.memory);
	const bool came = receive(s->fd, -1, wait_s, &theirs);
	waited_s += clock_now_s() - since_s;
	ours.ended_well = true;
	ours.printed = *printed;
	return came && same(&theirs, &ours);
}

void second_look_end(struct second_look *s)
{
	if (s->memory && !spare)
		spare = s->memory;
	else
		emu_memory_copy_free(s->memory);
	s->memory = NULL;
	if (s->fd < 0)
		return;
	copies_s += fmin(system_s() - s->began_system_s, s->copied_s * MOST_PAGES_FACTOR);
	close(s->fd);
	s->fd = -1;
}
