/* Errands; see errand.h. The last of its threads to look at an errand frees it. */
#include "errand.h"

#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define TURN_NS 50000000 /* how often the watcher looks */
#define GRACE_TURNS 4    /* how long a cancelled errand may take to notice */

struct errand {
	struct errand_order order;
	pthread_t watcher;
	bool watched; /* there is a watcher to be joined */
	atomic_bool cancel;
	atomic_uint part;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under lock */
	bool done;
	enum errand_end end;
	unsigned holders; /* the owner, and the thread that works */
};

static atomic_uint left;

static void let_go(struct errand *e)
{
	pthread_mutex_lock(&e->lock);
	const bool last = --e->holders == 0;
	pthread_mutex_unlock(&e->lock);
	if (!last)
		return;
	pthread_cond_destroy(&e->changed);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static void carry_out(struct errand *e)
{
	e->order.work(e->order.ctx, &e->cancel, &e->part);
	pthread_mutex_lock(&e->lock);
	const bool nobody_waits = e->end != ERRAND_UNDER_WAY;
	e->done = true;
	pthread_cond_signal(&e->changed);
	pthread_mutex_unlock(&e->lock);
	if (nobody_waits) {
		e->order.drop(e->order.ctx);
		atomic_fetch_sub(&left, 1);
	}
}

static void *work(void *errand)
{
	carry_out(errand);
	let_go(errand);
	return NULL;
}

static void turn_from(struct timespec *t)
{
	clock_gettime(CLOCK_MONOTONIC, t);
	t->tv_nsec += TURN_NS;
	if (t->tv_nsec >= 1000000000) {
		t->tv_nsec -= 1000000000;
		t->tv_sec++;
	}
}

/* Until it is done, deaf to being cancelled, or late. With the lock held. */
static enum errand_end watch_it(struct errand *e)
{
	unsigned turns = 0, cancelled = 0, told = 0;
	while (!e->done) {
		struct timespec until;
		turn_from(&until);
		if (pthread_cond_timedwait(&e->changed, &e->lock, &until) != ETIMEDOUT)
			continue;
		const unsigned part = atomic_load(&e->part);
		if (part != told)
			e->order.tell(e->order.told);
		told = part;
		cancelled += atomic_load(&e->cancel);
		if (cancelled > GRACE_TURNS)
			return ERRAND_CANCELLED;
		if (++turns * (TURN_NS / 1e9) > e->order.limit_s) {
			atomic_store(&e->cancel, true);
			return ERRAND_LATE;
		}
	}
	return ERRAND_DONE;
}

static void *watch(void *arg)
{
	struct errand *e = arg;
	pthread_t worker;
	pthread_mutex_lock(&e->lock);
	e->holders++;
	if (pthread_create(&worker, NULL, work, e)) {
		e->holders--; /* this thread does it itself */
		pthread_mutex_unlock(&e->lock);
		carry_out(e);
		pthread_mutex_lock(&e->lock);
	} else {
		pthread_detach(worker);
	}
	e->end = watch_it(e);
	if (e->end != ERRAND_DONE)
		atomic_fetch_add(&left, 1);
	pthread_mutex_unlock(&e->lock);
	e->order.tell(e->order.told);
	return NULL;
}

struct errand *errand_begin(const struct errand_order *order)
{
	struct errand *e = mem_zalloc(sizeof *e);
	pthread_condattr_t monotonic;
	e->order = *order;
	e->holders = 1;
	atomic_init(&e->cancel, false);
	atomic_init(&e->part, 0);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&e->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&e->lock, NULL);
	e->watched = !pthread_create(&e->watcher, NULL, watch, e);
	if (!e->watched) {
		e->order.work(e->order.ctx, &e->cancel, &e->part);
		e->end = ERRAND_DONE;
		e->order.tell(e->order.told);
	}
	return e;
}

enum errand_end errand_state(struct errand *e)
{
	pthread_mutex_lock(&e->lock);
	const enum errand_end end = e->end;
	pthread_mutex_unlock(&e->lock);
	return end;
}

double errand_part(const struct errand *e)
{
	return atomic_load(&e->part) / 1000.0;
}

void errand_cancel(struct errand *e)
{
	atomic_store(&e->cancel, true);
}

void *errand_close(struct errand *e)
{
	if (e->watched)
		pthread_join(e->watcher, NULL);
	void *const ctx = e->end == ERRAND_DONE ? e->order.ctx : NULL;
	let_go(e);
	return ctx;
}

bool errands_left(void)
{
	return atomic_load(&left) > 0;
}
