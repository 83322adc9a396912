/* See parallel.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/parallel.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct range {
	pthread_t thread;
	bool started;
	parallel_part *part;
	void *ctx;
	unsigned number;
	size_t from, to;
};

static void *run_range(void *arg)
{
	const struct range *r = arg;
	r->part(r->ctx, r->number, r->from, r->to);
	return NULL;
}

static unsigned ranges_of(size_t n, size_t least)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t ranges = least ? n / least : n;
	if (ranges > PARALLEL_MOST)
		ranges = PARALLEL_MOST;
	if (processors > 0 && ranges > (size_t)processors)
		ranges = (size_t)processors;
	return ranges ? (unsigned)ranges : 1;
}

void parallel_ranges(size_t n, size_t least, parallel_part *part, void *ctx)
{
	struct range range[PARALLEL_MOST];
	const unsigned ranges = ranges_of(n, least);
	const size_t each = n / ranges, longer = n % ranges; /* so many have one more */
	size_t from = 0;
	for (unsigned i = 0; i < ranges; i++) {
		const size_t to = from + each + (i < longer);
		range[i] = (struct range){ .part = part, .ctx = ctx, .number = i, .from = from, .to = to };
		from = to;
	}
	for (unsigned i = 1; i < ranges; i++)
		range[i].started = pthread_create(&range[i].thread, NULL, run_range, &range[i]) == 0;
	run_range(&range[0]);
	for (unsigned i = 1; i < ranges; i++)
		if (range[i].started)
			pthread_join(range[i].thread, NULL);
		else
			run_range(&range[i]);
}

#define LEAST_COPY ((size_t)2 << 20) /* copied by the time that a few threads have begun */

struct copy {
	char *to;
	const char *from; /* NULL: @value goes everywhere */
	unsigned char value;
};

static void copy_range(void *ctx, unsigned number, size_t from, size_t to)
{
	const struct copy *c = ctx;
	(void)number;
	if (c->from)
		memcpy(c->to + from, c->from + from, to - from);
	else
		memset(c->to + from, c->value, to - from);
}

void parallel_copy(void *to, const void *from, size_t bytes)
{
	struct copy c = { .to = to, .from = from };
	parallel_ranges(bytes, LEAST_COPY, copy_range, &c);
}

void parallel_set(void *to, unsigned char value, size_t bytes)
{
	struct copy c = { .to = to, .value = value };
	parallel_ranges(bytes, LEAST_COPY, copy_range, &c);
}

#define PAGE ((size_t)4096)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; before it, refused */
#endif

static void touch_range(void *ctx, unsigned number, size_t from, size_t to)
{
	(void)number;
	(void)madvise((char *)ctx + from * PAGE, (to - from) * PAGE, MADV_POPULATE_WRITE);
}

void parallel_touch(void *pages, size_t bytes)
{
	parallel_ranges((bytes + PAGE - 1) / PAGE, LEAST_COPY / PAGE, touch_range, pages);
}
