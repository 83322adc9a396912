/* The thread of a program's builds and runs; see program_worker.h. */
#include "program_worker.h"
#include "program_family.h"

#include "base/mem.h"
#include "runtime/program_again.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_SHOWN 8192 /* bytes of its output while it runs */

struct program_worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void (*tell)(void *ctx);
	void *ctx;
	atomic_bool cancel;
	/* under lock */
	struct program_words words;
	bool quit, waiting, moved, ready;
	struct program_order order;
	struct program_progress progress;
	struct program_news news;
};

static void drop_news(struct program_news *n)
{
	if (n->program)
		program_free(n->program);
	free(n->program);
	n->program = NULL;
	buffer_looks_free(n->data);
	code_listing_free(n->code);
	code_listing_free(n->code_before);
	n->data = NULL;
	n->code = n->code_before = NULL;
}

static void on_built(void *ctx)
{
	struct program_worker *w = ctx;
	pthread_mutex_lock(&w->lock);
	w->progress.built = w->moved = true;
	pthread_mutex_unlock(&w->lock);
	w->tell(w->ctx);
}

static void on_progress(void *ctx, const struct program *so_far)
{
	struct program_worker *w = ctx;
	const char *text = so_far->output ? so_far->output : so_far->errors;
	const size_t length = text ? strlen(text) : 0;
	pthread_mutex_lock(&w->lock);
	w->progress.launches = so_far->n_launches;
	w->progress.copies = so_far->n_copies;
	free(w->progress.output);
	w->progress.output =
		text ? mem_strdup(length > OUTPUT_SHOWN ? text + length - OUTPUT_SHOWN : text) : NULL;
	w->moved = true;
	pthread_mutex_unlock(&w->lock);
	w->tell(w->ctx);
}

static void run_again(struct program_worker *w, const struct program_order *order,
                      struct program_news *n)
{
	struct record_again again = { .shared_bytes = order->shape.shared_bytes };
	memcpy(again.grid, order->shape.grid, sizeof again.grid);
	memcpy(again.block, order->shape.block, sizeof again.block);
	n->whole =
		program_again(order->of, order->launch, &again, &w->cancel, n->program, NULL, &n->err);
}

static void look_at(struct program_worker *w, const struct program_order *order,
                    struct program_news *n)
{
	n->data = launch_data(order->of, order->launch, &order->shape, order->looked_at, &w->cancel);
	n->whole = n->data != NULL;
	if (!n->whole)
		err_set(&n->err, ERR_CANCELLED, "the launch was ended on request");
}

static void list_code(struct program_worker *w, const struct program_order *order,
                      struct program_news *n)
{
	n->code = program_code(order->of, order->launch, &w->cancel);
	if (order->before && n->code)
		n->code_before = program_code(order->before, order->launch_before, &w->cancel);
	n->whole = n->code != NULL;
	if (!n->whole)
		err_set(&n->err, ERR_CANCELLED, "the disassembly was ended on request");
}

static void run_order(struct program_worker *w, const struct program_words *words,
                      const struct program_order *order)
{
	struct program_news n = { .program = mem_zalloc(sizeof *n.program) };
	const struct program_job job = {
		.words = words,
		.gpu = order->gpu,
		.newer = order->newer,
		.measured = order->measured,
		.config = order->config,
		.catch_output = true,
		.no_input = true,
		.cancel = &w->cancel,
		.built = on_built,
		.progress = on_progress,
		.ctx = w,
	};
	n.launch = order->launch;
	n.shape = order->shape;
	n.looked = order->looked_at != NULL;
	n.listed = order->listed;
	n.again = order->of && !n.looked && !n.listed;
	if (n.looked)
		look_at(w, order, &n);
	else if (n.listed)
		list_code(w, order, &n);
	else if (n.again)
		run_again(w, order, &n);
	else
		n.whole = program_job_run(&job, n.program, &n.err);
	if (!n.program->path) {
		program_free(n.program);
		free(n.program);
		n.program = NULL;
	}
	pthread_mutex_lock(&w->lock);
	n.cancelled = n.err.code == ERR_CANCELLED;
	const bool replaced = w->waiting || w->quit;
	if (!replaced) {
		drop_news(&w->news);
		w->news = n;
		w->ready = true;
	}
	pthread_mutex_unlock(&w->lock);
	if (replaced)
		drop_news(&n);
	else
		w->tell(w->ctx);
}

static void *worker_main(void *arg)
{
	struct program_worker *w = arg;
	pthread_mutex_lock(&w->lock);
	while (!w->quit) {
		if (!w->waiting) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		const struct program_order order = w->order;
		struct program_words words;
		program_words_copy(&words, &w->words);
		w->waiting = false;
		atomic_store(&w->cancel, false);
		pthread_mutex_unlock(&w->lock);
		run_order(w, &words, &order);
		program_words_free(&words);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct program_worker *program_worker_new(const struct program_words *words,
                                          void (*tell)(void *ctx), void *ctx)
{
	struct program_worker *w = mem_zalloc(sizeof *w);
	program_words_copy(&w->words, words);
	w->tell = tell;
	w->ctx = ctx;
	atomic_init(&w->cancel, false);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	if (pthread_create(&w->thread, NULL, worker_main, w) == 0)
		return w;
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	program_words_free(&w->words);
	free(w);
	return NULL;
}

void program_worker_free(struct program_worker *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->quit = true;
	atomic_store(&w->cancel, true);
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	drop_news(&w->news);
	free(w->progress.output);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	program_words_free(&w->words);
	free(w);
}

void program_worker_words(struct program_worker *w, const struct program_words *words)
{
	pthread_mutex_lock(&w->lock);
	program_words_free(&w->words);
	program_words_copy(&w->words, words);
	pthread_mutex_unlock(&w->lock);
}

void program_worker_post(struct program_worker *w, const struct program_order *order)
{
	pthread_mutex_lock(&w->lock);
	drop_news(&w->news);
	free(w->progress.output);
	w->progress = (struct program_progress){ 0 };
	w->moved = w->ready = false;
	w->order = *order;
	w->waiting = true;
	atomic_store(&w->cancel, true);
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void program_worker_cancel(struct program_worker *w)
{
	pthread_mutex_lock(&w->lock);
	if (w->waiting) { /* not begun: as if it had been ended */
		w->waiting = false;
		w->news = (struct program_news){ .cancelled = true };
		w->ready = true;
	}
	atomic_store(&w->cancel, true);
	pthread_mutex_unlock(&w->lock);
	w->tell(w->ctx);
}

bool program_worker_next(struct program_worker *w, struct program_news *out)
{
	pthread_mutex_lock(&w->lock);
	const bool ready = w->ready;
	if (ready) {
		*out = w->news;
		w->news = (struct program_news){ 0 };
		w->ready = false;
	}
	pthread_mutex_unlock(&w->lock);
	return ready;
}

bool program_worker_progress(struct program_worker *w, struct program_progress *out)
{
	pthread_mutex_lock(&w->lock);
	const bool moved = w->moved;
	if (moved) {
		*out = w->progress;
		w->progress.output = NULL;
		w->moved = false;
	}
	pthread_mutex_unlock(&w->lock);
	return moved;
}
