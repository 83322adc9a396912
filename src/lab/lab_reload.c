/*
 * A person's own file read again, on a thread of its own: reading, the compilers that resolve it
 * and the trials of a suggestion take their time, and the screen goes on. See lab_state.h.
 */
#include "lab_state.h"

#include "base/mem.h"
#include "userkernel/user_file.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_MS 1000 /* how long quitting waits for the thread */

struct lab_reload {
	pthread_t thread;
	struct lab_worker *worker;     /* who wakes the screen */
	const struct kernel_desc *old; /* what is read again, and what came of it */
	const struct kernel_desc *now;
	struct err err;
	bool ok;
	bool run;   /* also where nothing changed */
	bool again; /* from the start, when this has ended */
	enum run_state before;
	atomic_bool cancel, done;
};

static void *work(void *arg)
{
	struct lab_reload *r = arg;
	r->ok = user_file_reload(r->old, &r->cancel, &r->now, &r->err);
	atomic_store(&r->done, true);
	lab_worker_wake(r->worker);
	return NULL;
}

void lab_reload_begin(struct lab *lab, bool run)
{
	if (lab->reload) { /* the file changed once more, or r was pressed again */
		lab->reload->again = true;
		lab->reload->run |= run;
		if (run)
			atomic_store(&lab->reload->cancel, true);
		return;
	}
	struct lab_reload *r = mem_zalloc(sizeof *r);
	r->old = lab->s.sel.kernel;
	r->worker = lab->worker;
	r->run = run;
	r->before = lab->s.state;
	lab->reload = r;
	if (run)
		lab_order_nothing(lab); /* what is under way belongs to the file as it was */
	if (lab->s.state != RUN_RUNNING || run) {
		lab->s.state = RUN_RUNNING;
		lab->s.stuck_compile = true;
		lab->s.progress = 0;
	}
	if (pthread_create(&r->thread, NULL, work, r)) {
		work(r); /* no thread to be had: here and now */
		r->thread = pthread_self();
	}
}

static void finish(struct lab *lab)
{
	if (!pthread_equal(lab->reload->thread, pthread_self()))
		pthread_join(lab->reload->thread, NULL);
	free(lab->reload);
	lab->reload = NULL;
}

/* The kernel as it is now, with the values so far. */
static void take_kernel(struct session *s, const struct kernel_desc *k)
{
	const struct selection old = s->sel;
	const char *focus = s->param < old.kernel->n_params ? old.kernel->params[s->param].name : "";
	const unsigned line = s->cursor.row;
	lab_put_kernel(s, k, old.variant);
	s->cursor.row = line;
	s->cursor.placed = true;
	for (unsigned i = 0; i < k->n_params; i++) {
		const int was = kernel_param_index(old.kernel, k->params[i].name);
		if (was >= 0)
			s->sel.params[i] = old.params[was];
		if (!strcmp(k->params[i].name, focus))
			s->param = i;
	}
}

bool lab_reload_take(struct lab *lab, bool *start)
{
	struct lab_reload *r = lab->reload;
	*start = false;
	if (!r || !atomic_load(&r->done))
		return false;
	const struct kernel_desc *const old = r->old, *const now = r->now;
	const bool ok = r->ok, run = r->run, again = r->again;
	const enum run_state before = r->before;
	const struct err err = r->err;
	finish(lab);
	if (lab->s.sel.kernel != old) /* another one was chosen since */
		return false;
	if (again) {
		lab_reload_begin(lab, run);
		return true;
	}
	if (!ok) {
		lab_order_nothing(lab);
		lab->s.stuck_compile = false;
		lab->s.state = err.code == ERR_CANCELLED ? RUN_CANCELLED : RUN_FAILED;
		lab->s.run_err = err;
		return true;
	}
	if (now != old) {
		take_kernel(&lab->s, now);
	} else if (!run && lab->s.state == RUN_RUNNING && !lab->awaited.serial) {
		lab->s.state = before;
		lab->s.stuck_compile = false;
	}
	*start = now != old || run;
	return true;
}

void lab_reload_cancel(struct lab *lab)
{
	if (!lab->reload)
		return;
	lab->reload->again = false;
	atomic_store(&lab->reload->cancel, true);
}

bool lab_reload_free(struct lab *lab)
{
	const struct timespec moment = { .tv_nsec = 5000000 };
	lab_reload_cancel(lab);
	for (int ms = 0; lab->reload && !atomic_load(&lab->reload->done); ms += 5) {
		if (ms >= PATIENCE_MS)
			return false;
		nanosleep(&moment, NULL);
	}
	if (lab->reload)
		finish(lab);
	return true;
}
