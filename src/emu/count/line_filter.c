/* Which lines are followed at each level, as bits; see cache_sim.h. */
#include "emu/count/cache_sim.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct line_filter {
	bool empty; /* follows nothing */
	uint32_t lines;
	pthread_mutex_t lock;
	uint64_t *_Atomic bits[LOG_MAX_LEVEL + 1];
};

struct line_filter *line_filter_new(bool empty)
{
	struct line_filter *f = mem_zalloc(sizeof *f);
	f->empty = empty;
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

static void forget_bits(struct line_filter *f)
{
	for (unsigned i = 0; i <= LOG_MAX_LEVEL; i++) {
		free(atomic_load(&f->bits[i]));
		atomic_store(&f->bits[i], NULL);
	}
}

void line_filter_free(struct line_filter *f)
{
	if (!f)
		return;
	forget_bits(f);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

void line_filter_cover(struct line_filter *f, uint32_t lines)
{
	if (lines <= f->lines)
		return;
	/* ahead of what is asked, so that a program which allocates step by step does not pay each time
	 */
	f->lines = lines > UINT32_MAX / 2 ? lines : lines + lines / 2;
	forget_bits(f);
}

static size_t word_count(const struct line_filter *f)
{
	return f->lines / 64 + 2;
}

/*
 * The hash is linear over its bits: hash(64 w + j) = hash(64 w) ^ hash(j). So the 64 bits of a word
 * depend on the low bits of hash(64 w) only, and are looked up by these.
 */
static uint64_t *make_bits(size_t words, unsigned level)
{
	const uint32_t low = (1u << level) - 1;
	uint64_t followed[1 << LOG_MAX_LEVEL] = { 0 };
	for (uint32_t j = 0; j < 64; j++)
		followed[line_hash(j) & low] |= (uint64_t)1 << j;
	uint64_t *b = mem_alloc(words * sizeof *b);
	for (size_t w = 0; w < words; w++)
		b[w] = followed[line_hash((uint32_t)(64 * w)) & low];
	return b;
}

const uint64_t *line_filter_bits(struct line_filter *f, unsigned level)
{
	uint64_t *b = atomic_load(&f->bits[level]);
	if (b)
		return b;
	pthread_mutex_lock(&f->lock);
	b = atomic_load(&f->bits[level]);
	if (!b) {
		b = f->empty ? mem_calloc(word_count(f), sizeof *b) : make_bits(word_count(f), level);
		atomic_store(&f->bits[level], b);
	}
	pthread_mutex_unlock(&f->lock);
	return b;
}
