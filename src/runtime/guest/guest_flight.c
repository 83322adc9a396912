/*
 * See guest_flight.h. A launch that may wait runs in a thread that has the runtime's lock while the
 * call stands still. If it does nothing for a while but look at memory, the call gets the lock back
 * and returns; from then on the launch has the lock whenever no call wants it.
 */
#include "runtime/guest/guest_flight.h"
#include "runtime/guest/guest_clock.h"
#include "runtime/guest/guest_later.h"
#include "runtime/guest/guest_lock.h"
#include "runtime/guest/guest_nested.h"
#include "runtime/guest/guest_wait.h"

#include "base/mem.h"
#include "base/monotonic.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LOOK_S 0.05      /* how often it is looked at what it does */
#define IDLE_S 0.2       /* it did nothing for so long: it waits ... */
#define IDLE_CPU_S 0.1   /* ... and worked for so long, on a machine that has others to serve */
#define LONG_S 20        /* it may wait, though it does something: the host goes on, too */
#define FORSAKEN_S 10    /* host and launches wait for each other */
#define TRUSTED 16       /* launches of a kernel that never waited: the next will not either */
#define REST_US 50       /* of a launch that waits, between its looks */
#define LAST_WAIT_S 2    /* at the program's end */
#define HOST_LOOK_S 0.05 /* a host that waits looks so often whether somebody else does */

struct flight {
	struct kernel_run *run;
	struct guest_stream *stream;
	const struct flight_calls *calls;
	struct nested_list list;
	struct guest_nesting nesting;
	pthread_t host, thread;
	unsigned host_depth; /* of the lock */
	bool in_call;        /* it has no thread, and cannot go on beside the host */
	bool apart, forsaken;
	struct later *place;
	double began_s, looked_s, moved_s, moved_cpu_s; /* moved: did something; of processors' time */
	struct flight *next;
};
static struct flight *flights; /* those that are apart */
static _Thread_local struct flight *mine;

/* --- what a launch leaves to do --- */

static cudaError_t do_nested(struct flight *f, const struct nested *x)
{
	if (x->op.kind != GUEST_OP_LAUNCH)
		return f->calls->execute(f->stream, &x->op, GUEST_ASYNC, NULL);
	struct guest_nesting nesting = {
		.parent = x->parent, .depth = x->depth, .list = &f->list, .again = f->calls->launch
	};
	const size_t from = f->list.n;
	const cudaError_t e = guest_run_kernel(&x->op, f->stream, &nesting);
	nested_stack(&f->list, from);
	return e;
}

static cudaError_t finish(struct flight *f)
{
	struct nested x;
	cudaError_t e = kernel_run_end(f->run);
	nested_stack(&f->list, 0);
	while (nested_take(&f->list, &x)) {
		if (e == cudaSuccess && guest.sticky == cudaSuccess)
			e = do_nested(f, &x);
		guest_op_drop(&x.op);
	}
	free(f);
	return e;
}

/* --- the host waits --- */

/* Where all launches that go on have been waiting for as long as the host waits for them, they are
 * ended with a fault. */
static void forsake(double waited_s)
{
	const double now = clock_now_s();
	for (const struct flight *f = flights; f; f = f->next)
		if (now - f->moved_s < FORSAKEN_S || waited_s < FORSAKEN_S)
			return;
	for (struct flight *f = flights; f; f = f->next)
		f->forsaken = true;
}

static bool is_busy(const struct guest_stream *s, const struct guest_event *e)
{
	if (e)
		return e->pending;
	return s ? later_blocks(s, NULL) : later_any();
}

static void wait_until_done(const struct guest_stream *s, const struct guest_event *e)
{
	const double since_s = clock_now_s();
	while (is_busy(s, e)) {
		guest_lock_wait(HOST_LOOK_S);
		forsake(clock_now_s() - since_s);
	}
}

static void end_all(void)
{
	const double until_s = clock_now_s() + LAST_WAIT_S;
	guest_lock();
	guest.ends = true;
	while (flights && clock_now_s() < until_s)
		guest_lock_wait(HOST_LOOK_S);
	guest_unlock();
}

static void forget(void)
{
	flights = NULL;
	later_forget();
}

static const struct guest_waits waits = {
	.until = wait_until_done,
	.blocks = later_blocks,
	.add = later_add,
	.drop_event = later_drop_event,
	.end_all = end_all,
	.forget = forget,
};

/* --- a launch that waits --- */

static double cpu_s(void)
{
	struct timespec t = { 0 };
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void moved(struct flight *f, double now)
{
	f->moved_s = now;
	f->moved_cpu_s = cpu_s();
}

static void look(struct flight *f, double now)
{
	if (!emu_running_only_looked(kernel_run_emulated(f->run)))
		moved(f, now);
	f->looked_s = now;
}

static bool is_idle(const struct flight *f, double now)
{
	return now - f->moved_s >= IDLE_S && (f->apart || cpu_s() - f->moved_cpu_s >= IDLE_CPU_S);
}

/* The call returns. */
static void go_apart(struct flight *f)
{
	f->apart = true;
	kernel_run_apart(f->run);
	guest_waits = &waits;
	f->place = later_flight(f->stream);
	f->next = flights;
	flights = f;
	guest_lock_hand(f->host, f->host_depth);
	guest_lock();
}

static bool breathe(void *unused)
{
	struct flight *f = mine;
	(void)unused;
	if (!f)
		return true;
	const double now = clock_now_s();
	if (now - f->looked_s >= LOOK_S)
		look(f, now);
	const bool idle = is_idle(f, now);
	if (f->in_call)
		return now - f->moved_s < FORSAKEN_S;
	if (!f->apart && (idle || now - f->began_s >= LONG_S))
		go_apart(f);
	else if (f->apart && idle)
		guest_lock_wait(REST_US * 1e-6);
	else if (f->apart)
		guest_lock_breathe();
	return !f->forsaken && !guest.ends;
}

static void end_apart(struct flight *f)
{
	struct flight **at = &flights;
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	mine = NULL;
	later_flight_ended(f->place);
	clock_enter();
	const struct flight_calls *calls = f->calls;
	finish(f);
	later_run(calls->execute);
	clock_leave();
	guest_unlock();
}

static void *fly(void *arg)
{
	struct flight *f = arg;
	guest_lock_await();
	mine = f;
	f->began_s = f->looked_s = clock_now_s();
	moved(f, f->began_s);
	emu_running_go(kernel_run_emulated(f->run));
	if (!f->apart) {
		guest_lock_hand(f->host, f->host_depth);
		return NULL;
	}
	pthread_detach(pthread_self());
	end_apart(f);
	return NULL;
}

/* False: there is no thread to be had. */
static bool take_off(struct flight *f)
{
	sigset_t all, was;
	f->host = pthread_self();
	f->host_depth = guest_lock_depth();
	sigfillset(&all); /* the program's signals are for its own threads */
	pthread_sigmask(SIG_SETMASK, &all, &was);
	const bool ok = pthread_create(&f->thread, NULL, fly, f) == 0;
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (!ok)
		return false;
	guest_lock_hand(f->thread, 1);
	guest_lock_await();
	return true;
}

/* Done within the call. */
static void stay(struct flight *f, struct emu_running *e)
{
	struct flight *outer = mine;
	f->in_call = true;
	mine = emu_running_may_wait(e) ? f : NULL;
	f->looked_s = f->moved_s = clock_now_s();
	emu_running_go(e);
	mine = outer;
}

cudaError_t flight_launch(const struct guest_op *op, struct guest_stream *s,
                          const struct flight_calls *calls)
{
	struct flight *f = mem_zalloc(sizeof *f);
	f->stream = s;
	f->calls = calls;
	f->nesting =
		(struct guest_nesting){ .list = &f->list, .breathe = breathe, .again = calls->launch };
	f->run = kernel_run_begin(op, s, &f->nesting);
	struct emu_running *e = kernel_run_emulated(f->run);
	struct guest_function *kernel = op->u.launch.function;
	if (!e)
		return finish(f);
	if (!emu_running_may_wait(e) || kernel->never_waited >= TRUSTED || !take_off(f)) {
		stay(f, e);
		return finish(f);
	}
	kernel->never_waited = f->apart ? 0 : kernel->never_waited + 1;
	if (f->apart) {
		emu_device_host_goes_on(guest.device);
		return cudaSuccess;
	}
	pthread_join(f->thread, NULL);
	return finish(f);
}
