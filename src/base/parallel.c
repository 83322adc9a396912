/* See parallel.h. */
#include "base/parallel.h"

#include <pthread.h>
#include <stdbool.h>
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
