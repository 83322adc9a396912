/*
 * Calls to the worker process and its ends; see cuda_client.h.
 *
 * How a process is started, watched and ended is base/child.h's.
 */
#include "cuda/cuda_client.h"
#include "base/monotonic.h"
#include "cuda/cuda_worker.h"
#include "base/text.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define HELLO_S 20
#define QUIET_S 60
#define CANCEL_GRACE_S 0.25 /* a worker between two launches answers within this */

void client_stop(struct cuda_client *c)
{
	child_stop(&c->child);
	c->device = -1;
}

/* It ended by itself: with what, and at which step. The next call starts another. */
static bool died(struct cuda_client *c, const char *what, struct cuda_fault *fault, struct err *err)
{
	char words[300], how[64];
	child_ended_by(child_reap(&c->child, 2), how, sizeof how);
	child_last_words(&c->child, words, sizeof words);
	client_stop(c);
	err_set(err, ERR_INTERNAL, "%s: the GPU worker ended (%s) during %s%s%s", what, how,
	        c->step[0] ? c->step : "its start", words[0] ? ": " : "", words);
	err_remedy(err, "%s", fault_remedy(FAULT_WORKER));
	if (fault)
		fault_set(fault, FAULT_WORKER, "%s during %.200s", how, c->step[0] ? c->step : "its start");
	return false;
}

static bool start(struct cuda_client *c, const char *what, struct cuda_fault *fault,
                  struct err *err)
{
	if (!child_start(&c->child, CUDA_WORKER_OPTION, "GPU worker", err))
		return false;
	c->step[0] = '\0';
	c->device = -1;
	c->started++;
	struct wire_msg hello;
	enum wire_status s = wire_recv(c->child.fd, &hello, clock_now_s() + HELLO_S, NULL);
	bool ok = s == WIRE_OK && hello.type == MSG_HELLO && wire_get_u32(&hello) == CUDA_PROTOCOL;
	wire_free(&hello);
	if (ok)
		return true;
	if (s == WIRE_TIMEOUT || s == WIRE_OK)
		kill(c->child.pid, SIGKILL);
	return died(c, what, fault, err);
}

/* A worker that ended while idle (killed from outside) is replaced without a word. */
static bool ready(struct cuda_client *c, const char *what, struct cuda_fault *fault,
                  struct err *err)
{
	if (c->child.pid && child_gone(&c->child))
		client_stop(c);
	return c->child.pid || start(c, what, fault, err);
}

static void ask_to_stop(const struct cuda_client *c)
{
	struct wire_msg m;
	wire_begin(&m, MSG_CANCEL);
	wire_send(c->child.fd, &m, -1, clock_now_s() + CANCEL_GRACE_S, NULL);
}

static bool refused(struct cuda_client *c, struct wire_msg *m, const char *what,
                    struct cuda_fault *fault, struct err *err)
{
	struct cuda_fault f = { 0 };
	cuda_get_fault(m, &f);
	bool last = wire_get_upto(m, 1) != 0;
	if (!wire_end(m) || f.id == FAULT_NONE) {
		wire_free(m);
		kill(c->child.pid, SIGKILL);
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
                     struct cuda_fault *fault, struct err *err)
{
	struct cuda_fault f = { .id = id };
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
                 struct cuda_fault *fault, struct err *err)
{
	const double quiet = wait->quiet_s > 0 ? wait->quiet_s : QUIET_S;
	const atomic_bool *cancel = wait->cancel;
	bool stopping = false;
	if (request->bad)
		return err_set(err, ERR_UNSUPPORTED, "%s: too much for one message to the GPU worker",
		               wait->what);
	if (!ready(c, wait->what, fault, err))
		return false;
	enum wire_status s = wire_send(c->child.fd, request, pass_fd, clock_now_s() + quiet, cancel);
	double deadline = clock_now_s() + quiet;
	while (s == WIRE_OK) {
		struct wire_msg m;
		s = wire_recv(c->child.fd, &m, deadline, cancel);
		if (s == WIRE_CANCELLED && !stopping) {
			/* Between two launches the worker can stop and live; else it is ended below. */
			ask_to_stop(c);
			stopping = true;
			cancel = NULL;
			deadline = clock_now_s() + CANCEL_GRACE_S;
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
			deadline = clock_now_s() + quiet;
	}
	if (stopping && (s == WIRE_TIMEOUT || s == WIRE_CLOSED))
		return ended_by(c, FAULT_CANCELLED, wait->what, 0, fault, err);
	if (s == WIRE_CANCELLED)
		return ended_by(c, FAULT_CANCELLED, wait->what, 0, fault, err);
	if (s == WIRE_TIMEOUT)
		return ended_by(c, FAULT_KERNEL_TIMEOUT, wait->what, quiet, fault, err);
	if (s == WIRE_BROKEN)
		kill(c->child.pid, SIGKILL); /* what it says cannot be trusted any more */
	return died(c, wait->what, fault, err);
}
