/*
 * Blocks over host threads, wave by wave.
 *
 * A wave is what the GPU would hold at once. Threads draw blocks of the wave in ascending order;
 * between waves they share the cache simulation of it. Counters are private to each thread, so
 * that no count depends on their number. The caller's thread begins alone, and calls the others
 * once the launch has lasted for longer than it takes to have them come. After a fault no new block
 * starts but those that run are finished: the fault of the lowest block is reported, always the
 * same one.
 */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "emu/device.h"
#include "emu/launch/fault_text.h"

#include <pthread.h>
#include <stdlib.h>

/* A thread costs about a tenth of it, much more where others are at work. */
#define ALONE_S 0.0003
/* Blocks of a wave where nothing is counted. */
#define QUICK_WAVE ((uint64_t)1 << 16)

enum phase { PHASE_BLOCKS, PHASE_CACHE, PHASE_END };
struct member {
	struct crew *crew;
	struct worker *worker;
};
struct crew {
	struct emu_launch *l;
	double began;
	bool called; /* the other threads, for this phase; outside of phases nobody is */
	pthread_mutex_t lock;
	pthread_cond_t start, done;
	enum phase phase;
	unsigned round, busy;
	pthread_t *threads;
	struct member *members;
	unsigned n_threads; /* besides the caller's, as far as they were called */
};

static void stop_launch(struct emu_launch *l, enum stop_reason why)
{
	int none = STOP_NONE;
	atomic_compare_exchange_strong(&l->stop, &none, (int)why);
}

static void *member_main(void *arg);

static void start_threads(struct crew *c)
{
	struct emu_launch *l = c->l;
	const unsigned cluster = l->grid.cluster_blocks;
	for (unsigned i = cluster; i < l->n_workers && !l->grid.together; i += cluster) {
		struct member *m = &c->members[c->n_threads];
		*m = (struct member){ c, &l->workers[i] };
		if (pthread_create(&c->threads[c->n_threads], NULL, member_main, m) != 0)
			break; /* fewer threads do the same work */
		c->n_threads++;
	}
}

/* The other threads take part in the phase that the caller is in. */
static void call_crew(struct crew *c)
{
	if (!c->n_threads)
		start_threads(c);
	c->called = true;
	pthread_mutex_lock(&c->lock);
	c->busy = c->n_threads;
	c->round++;
	pthread_cond_broadcast(&c->start);
	pthread_mutex_unlock(&c->lock);
}

static bool poll_launch(struct worker *wk)
{
	struct emu_launch *l = wk->grid->poll_context;
	struct crew *c = l->crew;
	const double now = launch_clock_s();
	if (wk->index == 0 && !c->called && now - c->began > ALONE_S)
		call_crew(c);
	if (l->hooks && l->hooks->cancel && atomic_load(l->hooks->cancel))
		stop_launch(l, STOP_CANCEL);
	else if (now > l->deadline)
		stop_launch(l, STOP_TIMEOUT);
	if (l->program && l->program->breathe && !l->program->breathe(l->program->breathe_ctx))
		stop_launch(l, STOP_FORSAKEN);
	if (wk->index == 0 && l->hooks && l->hooks->progress && now - l->last_report > 1.0 / 30) {
		l->last_report = now;
		l->hooks->progress(l->hooks->ctx, (double)atomic_load(&l->done) / (double)l->grid.order.n);
	}
	const int why = atomic_load(&l->stop);
	return why == STOP_CANCEL || why == STOP_TIMEOUT || why == STOP_FORSAKEN;
}

/* A turn of each of @n blocks from @index on that has not @ended; true if one went on. */
static bool take_turns(struct emu_launch *l, struct worker *first, unsigned n, uint64_t index,
                       bool *ended, unsigned *left)
{
	bool moved = false;
	for (unsigned i = 0; i < n && atomic_load(&l->stop) == STOP_NONE; i++) {
		if (ended[i])
			continue;
		const enum block_state s = block_step(&first[i], index + i);
		if (s == BLOCK_STOPPED && first[i].fault.kind != FAULT_NONE)
			stop_launch(l, STOP_FAULT);
		moved |= s != BLOCK_WAITS;
		ended[i] = s == BLOCK_DONE || s == BLOCK_STOPPED;
		*left -= ended[i];
		if (s == BLOCK_DONE)
			atomic_fetch_add(&l->done, 1);
	}
	for (unsigned i = 0; i < n; i += l->grid.cluster_blocks)
		moved |= cluster_open(&first[i]);
	return moved;
}

/* Blocks that wait for one another, @n from @index on: each has a worker of its own, and this
 * thread runs them all by turns. False: the launch has to end. */
static bool run_group(struct emu_launch *l, struct worker *first, unsigned n, uint64_t index)
{
	unsigned left = n;
	bool *ended = mem_calloc(n, sizeof *ended);
	for (unsigned i = 0; i < n; i++) {
		if (l->grid.together)
			l->grid.racing = l->grid.races && race_blocks_take(l, i - i % l->grid.cluster_blocks);
		block_begin(&first[i], index + i);
	}
	while (left && atomic_load(&l->stop) == STOP_NONE) {
		if (take_turns(l, first, n, index, ended, &left) || !left)
			continue;
		for (unsigned i = 0; i < n; i++)
			if (!ended[i] && first[i].fault.kind == FAULT_NONE) {
				block_stuck(&first[i]);
				break;
			}
		stop_launch(l, STOP_FAULT);
	}
	free(ended);
	return !left;
}

/* False: the launch has to end. */
static bool run_block(struct worker *wk, uint64_t i)
{
	struct emu_launch *l = wk->grid->poll_context;
	const unsigned cluster = l->grid.cluster_blocks;
	if (cluster > 1)
		return run_group(l, wk, cluster, i) && !poll_launch(wk);
	if (!block_run(wk, i)) {
		if (wk->fault.kind != FAULT_NONE)
			stop_launch(l, STOP_FAULT);
		return false;
	}
	atomic_fetch_add(&l->done, 1);
	return !poll_launch(wk);
}

static void run_blocks(struct worker *wk)
{
	struct emu_launch *l = wk->grid->poll_context;
	if (l->grid.together) {
		run_group(l, l->workers, l->n_workers, 0);
		return;
	}
	while (atomic_load(&l->stop) == STOP_NONE) {
		const uint64_t i = atomic_fetch_add(&l->next, l->grid.cluster_blocks);
		if (i >= l->until)
			break;
		if (l->wave_done && l->wave_done[i - l->grid.wave_first])
			continue;
		if (!run_block(wk, i))
			break;
	}
}

static void run_phase(struct worker *wk, enum phase phase)
{
	struct emu_launch *l = wk->grid->poll_context;
	if (phase == PHASE_BLOCKS) {
		run_blocks(wk);
		return;
	}
	uint64_t part;
	while ((part = atomic_fetch_add(&l->next, 1)) < CACHE_PARTS)
		cache_sim_part(l->grid.cache, (unsigned)part);
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct crew *c = m->crew;
	unsigned seen = 0;
	for (;;) {
		pthread_mutex_lock(&c->lock);
		while (c->round == seen)
			pthread_cond_wait(&c->start, &c->lock);
		seen = c->round;
		const enum phase phase = c->phase;
		pthread_mutex_unlock(&c->lock);
		if (phase == PHASE_END)
			return NULL;
		run_phase(m->worker, phase);
		pthread_mutex_lock(&c->lock);
		if (--c->busy == 0)
			pthread_cond_signal(&c->done);
		pthread_mutex_unlock(&c->lock);
	}
}

/* All threads that are there do @phase; returns when all are done. */
static void run_on_all_threads(struct crew *c, enum phase phase)
{
	c->phase = phase;
	c->called = false;
	if (c->n_threads)
		call_crew(c);
	if (phase == PHASE_END)
		return;
	run_phase(&c->l->workers[0], phase);
	c->called = true;
	pthread_mutex_lock(&c->lock);
	while (c->busy)
		pthread_cond_wait(&c->done, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

/* The blocks from *@at on; false: the launch has to end. */
static bool run_until(struct crew *c, uint64_t *at, uint64_t until)
{
	struct emu_launch *l = c->l;
	atomic_store(&l->next, *at);
	l->until = *at = until;
	run_on_all_threads(c, PHASE_BLOCKS);
	return atomic_load(&l->stop) == STOP_NONE;
}

/* The blocks of the wave, or until enough of them is counted: *@at is the first that is left. False
 * as above. */
static bool run_counted(struct crew *c, uint64_t *at)
{
	struct emu_launch *l = c->l;
	while (*at < l->grid.wave_end) {
		if (!run_until(c, at, counting_look(l, *at)))
			return false;
		if (counting_enough(l, *at))
			break;
	}
	if (l->grid.quick)
		return true; /* nothing was noted for the caches */
	const bool ends = l->grid.wave_end == l->grid.order.n || counting_enough(l, *at);
	if (cache_sim_add_wave(l->grid.cache, l->grid.records, l->grid.wave_end - l->grid.wave_first) ||
	    ends) {
		atomic_store(&l->next, 0);
		run_on_all_threads(c, PHASE_CACHE);
	}
	for (unsigned i = 0; i < l->n_workers; i++)
		l->workers[i].log.n = 0;
	return true;
}

/* Where nothing is counted, waves are for the threads' sake only, which wait for one another at
 * their ends. */
static uint64_t wave_size(const struct emu_launch *l, bool quick)
{
	const uint64_t resident = (uint64_t)l->device->gpu->sm_count * l->blocks_per_sm;
	const uint64_t blocks = quick && resident < QUICK_WAVE ? QUICK_WAVE : resident;
	const uint64_t cluster = l->grid.cluster_blocks, whole = blocks / cluster * cluster;
	const uint64_t wave = whole ? whole : cluster;
	return wave < l->grid.order.n ? wave : l->grid.order.n;
}

static void run_waves(struct crew *c)
{
	struct emu_launch *l = c->l;
	uint64_t n;
	l->grid.records = mem_calloc(wave_size(l, true), sizeof *l->grid.records);
	for (uint64_t first = 0; first < l->grid.order.n; first += n) {
		const uint64_t left = l->grid.order.n - first, size = wave_size(l, l->grid.quick);
		n = left < size ? left : size;
		for (uint64_t i = 0; i < n; i++)
			l->grid.records[i] = (struct block_record){ 0 };
		l->grid.wave_first = first;
		l->grid.wave_end = first + n;
		cache_sim_wave_size(l->grid.cache, n);
		l->wave_done = l->counted ? NULL : race_blocks_run(l, run_block);
		uint64_t at = first;
		bool more = run_counted(c, &at);
		if (more && counting_enough(l, at)) {
			more = !l->program->part_only;
			counting_end(l, at);
			if (more)
				more = run_until(c, &at, l->grid.wave_end);
		}
		free(l->wave_done);
		l->wave_done = NULL;
		if (!more)
			break;
	}
	free(l->grid.records);
	l->grid.records = NULL;
}

/* Where the launch was when it was ended. */
static bool ended_early(const struct emu_launch *l, enum stop_reason why, struct err *err)
{
	const unsigned long long done = atomic_load(&l->done), all = l->grid.order.n;
	if (why == STOP_CANCEL)
		return err_set(err, ERR_CANCELLED, "%s: cancelled after %llu of %llu blocks", l->func->name,
		               done, all);
	const struct worker *wk = &l->workers[0];
	for (unsigned i = 1; i < l->n_workers && worker_position(wk) < 0; i++)
		wk = &l->workers[i];
	const int64_t op = worker_position(wk);
	const uint32_t line = op < 0 ? 0 : l->image.ir.insts[l->image.ir.ops[op].pc].line;
	if (why == STOP_FORSAKEN) {
		err_set(err, ERR_TIMEOUT,
		        "%s:%u: %s: block %llu waits at this line for memory to change, and nobody is left "
		        "who could change it: the host waits for the launch; %llu of %llu blocks are done",
		        l->source_file, line, l->func->name, (unsigned long long)wk->block, done, all);
		return err_remedy(err, "let the host write what the kernel waits for before it waits for "
		                       "the kernel; of two kernels launch the one that writes first");
	}
	err_set(
		err, ERR_TIMEOUT,
		"%s:%u: %s: still running after %.3g s, %llu of %llu blocks done; block %llu is at this "
		"line",
		l->source_file, line, l->func->name, l->deadline - l->started, done, all,
		(unsigned long long)wk->block);
	return err_remedy(err, done ? "give it more time, or choose a smaller problem"
	                            : "look for a loop that never ends, or for lanes of one warp that "
	                              "wait for one another; else give it more time");
}

bool emu_launch_run(struct emu_launch *l, struct err *err)
{
	l->grid.poll = poll_launch;
	l->grid.poll_context = l;
	struct crew c = { .l = l, .began = launch_clock_s(), .called = true };
	l->crew = &c;
	pthread_mutex_init(&c.lock, NULL);
	pthread_cond_init(&c.start, NULL);
	pthread_cond_init(&c.done, NULL);
	c.threads = mem_calloc(l->n_workers, sizeof *c.threads);
	c.members = mem_calloc(l->n_workers, sizeof *c.members);
	run_waves(&c);
	run_on_all_threads(&c, PHASE_END);
	for (unsigned i = 0; i < c.n_threads; i++)
		pthread_join(c.threads[i], NULL);
	free(c.threads);
	free(c.members);
	l->crew = NULL;
	pthread_cond_destroy(&c.start);
	pthread_cond_destroy(&c.done);
	pthread_mutex_destroy(&c.lock);

	const enum stop_reason why = (enum stop_reason)atomic_load(&l->stop);
	const struct emu_fault *first = NULL;
	for (unsigned i = 0; i < l->n_workers; i++) {
		const struct emu_fault *f = &l->workers[i].fault;
		if (f->kind != FAULT_NONE && (!first || f->block < first->block))
			first = f;
	}
	if (first)
		return fault_report(l, first, err);
	return why == STOP_NONE || ended_early(l, why, err);
}
