/*
 * The worker thread; see lab_worker.h.
 *
 * Everything shared is under one lock, but for the cancel flag, which the back end polls. The
 * waker is a pipe with at most one byte in it. A launch that would take long is answered twice:
 * first from a spread sample of its blocks, about SAMPLE_S long, then from all of them.
 */
#include "lab_worker.h"

#include "base/mem.h"
#include "lab/reference_run.h"
#include "ladder_book.h"
#include "choose.h"
#include "registry.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEBOUNCE_NS 40000000 /* longer than a held key repeats */
#define SAMPLE_S 0.1         /* how long a first, sampled answer may take */
#define PATIENCE_S 1         /* how long quitting waits for the thread */
#define REST_S 2             /* without an order: nobody changes this and that any more */
#define PILOT_BLOCKS 16u     /* enough to know the speed */
#define QUEUE_MAX 16u

struct lab_worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* an order, or the thread's end */
	int wake[2];
	struct usage_table *usage;
	atomic_bool cancel; /* of the running order */
	/* under lock */
	bool quit, ended, signalled, waiting;
	struct work_order order;
	struct timespec due; /* when `order` may start */
	double progress;
	size_t n_news;
	struct news news[QUEUE_MAX];
	/* the thread's own */
	struct workbench bench;
	bool rested; /* since the last order */
};

/* --- mailbox --- */

/* With the lock held. */
static void wake_screen(struct lab_worker *w)
{
	if (w->signalled)
		return;
	w->signalled = true;
	ssize_t n;
	do
		n = write(w->wake[1], "", 1);
	while (n < 0 && errno == EINTR);
}

static struct news news_of(const struct work_order *order, enum news_kind kind, bool final)
{
	return (
		struct news){ .kind = kind, .order = order->kind, .serial = order->serial, .final = final };
}

static void drop_news(struct news *n)
{
	record_free(n->record);
	code_listing_free(n->code);
	n->record = NULL;
	n->code = NULL;
}

/* A taker that does not come loses the oldest news of older orders first, and is always left the
 * newest. */
static void tell_news(struct lab_worker *w, const struct news *n)
{
	pthread_mutex_lock(&w->lock);
	if (w->n_news == QUEUE_MAX) {
		drop_news(&w->news[0]);
		memmove(w->news, w->news + 1, (QUEUE_MAX - 1) * sizeof *w->news);
		w->n_news--;
	}
	w->news[w->n_news++] = *n;
	wake_screen(w);
	pthread_mutex_unlock(&w->lock);
}

bool lab_worker_next(struct lab_worker *w, struct news *out)
{
	pthread_mutex_lock(&w->lock);
	bool any = w->n_news > 0;
	if (any) {
		*out = w->news[0];
		w->n_news--;
		memmove(w->news, w->news + 1, w->n_news * sizeof *w->news);
	}
	pthread_mutex_unlock(&w->lock);
	return any;
}

double lab_worker_progress(struct lab_worker *w)
{
	pthread_mutex_lock(&w->lock);
	double p = w->progress;
	pthread_mutex_unlock(&w->lock);
	return p;
}

int lab_worker_fd(struct lab_worker *w)
{
	return w->wake[0];
}

void lab_worker_wake(struct lab_worker *w)
{
	pthread_mutex_lock(&w->lock);
	wake_screen(w);
	pthread_mutex_unlock(&w->lock);
}

void lab_worker_drain(struct lab_worker *w)
{
	char byte[8];
	pthread_mutex_lock(&w->lock);
	while (read(w->wake[0], byte, sizeof byte) > 0)
		;
	w->signalled = false;
	pthread_mutex_unlock(&w->lock);
}

void lab_worker_post(struct lab_worker *w, const struct work_order *order)
{
	pthread_mutex_lock(&w->lock);
	w->order = *order;
	w->waiting = true;
	w->progress = 0;
	clock_gettime(CLOCK_MONOTONIC, &w->due);
	if (!order->at_once) {
		w->due.tv_nsec += DEBOUNCE_NS;
		if (w->due.tv_nsec >= 1000000000) {
			w->due.tv_nsec -= 1000000000;
			w->due.tv_sec++;
		}
	}
	atomic_store(&w->cancel, true); /* what runs now is outdated */
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void lab_worker_cancel(struct lab_worker *w)
{
	pthread_mutex_lock(&w->lock);
	const bool forgot = w->waiting;
	const struct news n = news_of(&w->order, NEWS_CANCELLED, true);
	w->waiting = false;
	atomic_store(&w->cancel, true);
	pthread_mutex_unlock(&w->lock);
	if (forgot)
		tell_news(w, &n);
}

/* --- the thread --- */

struct progress_of {
	struct lab_worker *w;
	double from, to; /* this launch's part of the order */
};

static void on_progress(void *ctx, double fraction)
{
	const struct progress_of *p = ctx;
	pthread_mutex_lock(&p->w->lock);
	p->w->progress = p->from + (p->to - p->from) * fraction;
	wake_screen(p->w);
	pthread_mutex_unlock(&p->w->lock);
}

static bool is_cancelled(struct lab_worker *w)
{
	return atomic_load(&w->cancel);
}

static void tell_failure(struct lab_worker *w, const struct work_order *order,
                         const struct err *err)
{
	const bool by_hand = is_cancelled(w) || err->code == ERR_CANCELLED;
	struct news n = news_of(order, by_hand ? NEWS_CANCELLED : NEWS_FAILED, true);
	n.err = *err;
	tell_news(w, &n);
}

static void tell_record(struct lab_worker *w, const struct work_order *order, struct run_record *r,
                        bool final)
{
	struct news n = news_of(order, NEWS_RECORD, final);
	n.record = r;
	tell_news(w, &n);
}

static uint64_t grid_blocks(const struct launch_plan *p)
{
	return (uint64_t)p->grid.x * p->grid.y * p->grid.z;
}

/* For a launch whose blocks will take long, a record from a sample of them is told first.
 * False: there is no more to do, as a sample suffices or the run failed, which has been told.
 */
static bool sample_first(struct lab_worker *w, struct prepared *p, const struct work_order *order,
                         enum run_level level, const struct run_hooks *hooks)
{
	const struct order_rule *rule = &order_rules[order->kind];
	const uint64_t blocks = grid_blocks(&p->plan);
	const struct backend_status *st = backend_probe(w->bench.ops);
	const bool code = rule->of_session && workbench_code_ready(&w->bench);
	struct run_options o = { .max_blocks = PILOT_BLOCKS, .level = level, .code = code };
	struct run_record *r;
	struct err err = { 0 };
	if ((st->info.caps & CAP_TIME) || blocks < 4 * PILOT_BLOCKS) /* a GPU runs all at once */
		return true;
	if (!run_execute(p, &o, hooks, &r, &err)) {
		tell_failure(w, order, &err);
		return false;
	}
	double per_block = r->run.wall_s / PILOT_BLOCKS;
	if (per_block * (double)blocks < 2 * SAMPLE_S) {
		record_free(r); /* the whole is nearly as quick */
		return true;
	}
	const double fit = per_block > 0 ? SAMPLE_S / per_block : (double)blocks / 4;
	if (fit >= 2 * PILOT_BLOCKS && fit < (double)blocks / 2) {
		record_free(r);
		o.max_blocks = (uint64_t)fit;
		if (!run_execute(p, &o, hooks, &r, &err)) {
			tell_failure(w, order, &err);
			return false;
		}
	}
	tell_record(w, order, r, rule->sample_suffices);
	return !rule->sample_suffices;
}

/* Where to run, if that was left open. False: it cannot be decided, which has been told. */
static bool decide_device(struct lab_worker *w, struct work_order *order)
{
	const struct device_wish *wish = &order->wish;
	struct err err = { 0 };
	if (!wish->backend[0])
		return true;
	if (!choose_backend(wish->gpu_given, wish->backend, &order->sel, &err)) {
		tell_failure(w, order, &err);
		return false;
	}
	struct news n = news_of(order, NEWS_BACKEND, false);
	n.sel = order->sel;
	tell_news(w, &n);
	return true;
}

/* Compiles, and tells what the compiler says. Also reads recordings and presets, so that they are
 * there when the screen's thread asks. */
static bool compile_order(struct lab_worker *w, const struct work_order *order)
{
	struct err err = { 0 };
	struct build_id id;
	if (!workbench_compile(&w->bench, &order->sel, &w->cancel, &err)) {
		tell_failure(w, order, &err);
		return false;
	}
	build_id_of(&order->sel, &id);
	usage_learn(w->usage, &id, &w->bench.module);
	const struct news n = news_of(order, NEWS_USAGE, false);
	tell_news(w, &n);
	ladder_book_warm();
	reference_run_find(&order->sel);
	if (!is_cancelled(w))
		return true;
	tell_failure(w, order, &err);
	return false;
}

static void time_library(struct lab_worker *w, const struct work_order *order)
{
	struct news n = news_of(order, NEWS_LIBRARY, true);
	if (!library_lines(&order->sel, &w->cancel, &n.library, 1))
		n.library = (struct library_line){ 0 };
	tell_news(w, &n);
}

/* What is counted: machine code, if the order wants it and it is there. A rung waits for it, so
 * that a ladder is of one kind; a person is not kept waiting. */
static enum run_level level_of(struct lab_worker *w, const struct work_order *order)
{
	const bool may_wait = !order_rules[order->kind].of_session;
	const bool known = workbench_code_ready(&w->bench) || may_wait;
	if (!order->machine_code || !known || !workbench_code(&w->bench, &w->cancel, NULL))
		return RUN_LEVEL_PTX;
	return RUN_LEVEL_AUTO;
}

/* One launch of all blocks, verified. NULL: it failed, which has been told. */
static struct run_record *run_all(struct lab_worker *w, struct prepared *p,
                                  const struct work_order *order, enum run_level level,
                                  const struct run_hooks *hooks)
{
	const struct order_rule *rule = &order_rules[order->kind];
	const struct run_options o = {
		.stalls = rule->stalls,
		.caps = rule->of_session ? 0 : CAPS_OF_A_ROW,
		.level = level,
		.code = rule->of_session && workbench_code_ready(&w->bench),
	};
	struct run_record *r;
	struct err err = { 0 };
	if (!run_execute(p, &o, hooks, &r, &err)) {
		tell_failure(w, order, &err);
		return NULL;
	}
	if (rule->verifies)
		run_verify(p, r);
	if (rule->looks)
		r->data = run_look(p, &w->cancel);
	return r;
}

/* The answer, from all blocks. Where the machine code was never disassembled, figures of the PTX
 * come first, since that takes half a second. */
static void answer(struct lab_worker *w, struct prepared *p, const struct work_order *order,
                   enum run_level level, const struct run_hooks *hooks)
{
	struct run_record *r = run_all(w, p, order, level, hooks);
	if (!r)
		return;
	if (workbench_code_ready(&w->bench) || !order_rules[order->kind].of_session) {
		tell_record(w, order, r, true);
		return;
	}
	const bool counts = order->machine_code && !(backend_probe(w->bench.ops)->info.caps & CAP_TIME);
	tell_record(w, order, r, !counts);
	if (!workbench_code(&w->bench, &w->cancel, NULL) && is_cancelled(w) && !counts)
		return;
	if (counts) {
		r = run_all(w, p, order, level_of(w, order), hooks);
		if (r)
			tell_record(w, order, r, true);
		return;
	}
	struct news n = news_of(order, NEWS_CODE, false);
	n.code = run_code(p, &w->cancel);
	tell_news(w, &n);
}

static void run_order(struct lab_worker *w, struct work_order *order)
{
	struct prepared p;
	struct err err = { 0 };
	struct progress_of part = { .w = w, .from = 0, .to = SAMPLE_SHARE };
	const struct run_hooks hooks = { .progress = on_progress, .ctx = &part, .cancel = &w->cancel };

	if (!decide_device(w, order) || !compile_order(w, order))
		return;
	if (!run_prepare(&p, &w->bench, &order->sel, &w->cancel, &err)) {
		tell_failure(w, order, &err);
		return;
	}
	const enum run_level level = level_of(w, order);
	if (sample_first(w, &p, order, level, &hooks)) {
		part = (struct progress_of){ .w = w, .from = SAMPLE_SHARE, .to = 1 };
		answer(w, &p, order, level, &hooks);
	}
	run_release(&p);
}

static bool is_due(const struct timespec *due)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > due->tv_sec || (now.tv_sec == due->tv_sec && now.tv_nsec >= due->tv_nsec);
}

/* Until there is news for the thread; what is held for a next run that does not come goes. With the
 * lock held. */
static void await_order(struct lab_worker *w)
{
	struct timespec until;
	if (w->rested) {
		pthread_cond_wait(&w->changed, &w->lock);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += REST_S;
	if (pthread_cond_timedwait(&w->changed, &w->lock, &until) != ETIMEDOUT)
		return;
	w->rested = true;
	pthread_mutex_unlock(&w->lock);
	workbench_rest(&w->bench);
	pthread_mutex_lock(&w->lock);
}

static void *lab_worker_main(void *arg)
{
	struct lab_worker *w = arg;
	pthread_mutex_lock(&w->lock);
	while (!w->quit) {
		if (!w->waiting) {
			await_order(w);
			continue;
		}
		if (!is_due(&w->due)) {
			const struct timespec due = w->due;
			pthread_cond_timedwait(&w->changed, &w->lock, &due);
			continue;
		}
		struct work_order order = w->order;
		w->waiting = w->rested = false;
		atomic_store(&w->cancel, false);
		pthread_mutex_unlock(&w->lock);
		if (order_rules[order.kind].is_library)
			time_library(w, &order);
		else
			run_order(w, &order);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	workbench_close(&w->bench);
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

bool lab_worker_new(struct lab_worker **out, struct usage_table *usage, struct err *err)
{
	struct lab_worker *w = mem_zalloc(sizeof *w);
	w->usage = usage;
	if (pipe(w->wake)) {
		err_set(err, ERR_IO, "no pipe to wake the screen: %s", strerror(errno));
		free(w);
		return false;
	}
	for (int i = 0; i < 2; i++) {
		fcntl(w->wake[i], F_SETFL, O_NONBLOCK);
		fcntl(w->wake[i], F_SETFD, FD_CLOEXEC);
	}
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&w->lock, NULL);
	atomic_init(&w->cancel, false);
	int failure = pthread_create(&w->thread, NULL, lab_worker_main, w);
	if (failure) {
		err_set(err, ERR_IO, "no thread to run kernels on: %s", strerror(failure));
		pthread_cond_destroy(&w->changed);
		pthread_mutex_destroy(&w->lock);
		close(w->wake[0]);
		close(w->wake[1]);
		free(w);
		return false;
	}
	*out = w;
	return true;
}

bool lab_worker_free(struct lab_worker *w)
{
	if (!w)
		return true;
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&w->lock);
	w->quit = true;
	w->waiting = false;
	atomic_store(&w->cancel, true);
	pthread_cond_signal(&w->changed);
	while (!w->ended && pthread_cond_timedwait(&w->changed, &w->lock, &until) != ETIMEDOUT)
		;
	const bool ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	if (!ended) {
		pthread_detach(w->thread);
		return false;
	}
	pthread_join(w->thread, NULL);
	for (size_t i = 0; i < w->n_news; i++)
		drop_news(&w->news[i]);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	close(w->wake[0]);
	close(w->wake[1]);
	free(w);
	return true;
}
