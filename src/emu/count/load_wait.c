/* Adds up instants; see load_wait.h. */
#include "emu/count/load_wait.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

struct load_instant { /* one load at the present instant: lines seen, and the slow ones of them */
	uint32_t instant, lines, of_requests, slow[LOAD_SOURCES];
};

void load_wait_init(struct load_wait_log *w, unsigned loads)
{
	*w = (struct load_wait_log){
		.n = loads,
		.instant = 1,
		.now = mem_calloc(loads + 1, sizeof *w->now),
		.sum = mem_calloc(loads + 1, sizeof *w->sum),
	};
}

void load_wait_free(struct load_wait_log *w)
{
	free(w->now);
	free(w->sum);
}

static double ordered_pairs(double n)
{
	return n * (n - 1);
}

static void close_instant(struct load_instant *now, struct load_lines *sum, double weight)
{
	if (!now->lines)
		return;
	sum->lines += weight * now->lines;
	sum->of_requests += weight * now->of_requests;
	sum->pairs += weight * ordered_pairs(now->lines);
	for (unsigned i = 0; i < LOAD_SOURCES; i++) {
		sum->slow[i] += weight * now->slow[i];
		sum->slow_pairs[i] += weight * ordered_pairs(now->slow[i]);
	}
	*now = (struct load_instant){ 0 };
}

void load_wait_add(struct load_wait_log *w, unsigned who, unsigned lines, bool from_l2,
                   bool from_dram, bool late)
{
	if (who >= w->n)
		return;
	struct load_instant *now = &w->now[who];
	if (now->instant != w->instant) {
		close_instant(now, &w->sum[who], w->weight);
		now->instant = w->instant;
	}
	now->lines++;
	now->of_requests += lines;
	now->slow[FROM_L2] += from_l2;
	now->slow[FROM_DRAM] += from_dram;
	now->slow[LATE] += late;
}

void load_wait_begin(struct load_wait_log *w, double weight)
{
	w->weight = weight;
}

void load_wait_end(struct load_wait_log *w)
{
	for (unsigned i = 0; i < w->n; i++)
		close_instant(&w->now[i], &w->sum[i], w->weight);
	w->instant++;
}

void load_lines_add(struct load_lines *sum, const struct load_lines *part)
{
	sum->lines += part->lines;
	sum->of_requests += part->of_requests;
	sum->pairs += part->pairs;
	for (unsigned i = 0; i < LOAD_SOURCES; i++) {
		sum->slow[i] += part->slow[i];
		sum->slow_pairs[i] += part->slow_pairs[i];
	}
}

/*
 * Lines of a request are slow with a share that differs from request to request, by a beta
 * distribution; its mean is that of all lines, and its spread makes as many pairs slow together as
 * were seen. Skellam 1948, "A probability distribution derived from the binomial distribution by
 * regarding the probability of success as variable between the sets of trials".
 */
double slow_requests(const struct load_lines *l, unsigned source)
{
	const double share = l->slow[source] / l->lines;
	const double lines = l->of_requests / l->lines;
	/* without pairs: as if all lines went together */
	const double both = l->pairs > 0 ? l->slow_pairs[source] / l->pairs : share;
	if (share < 1e-9 || share > 1 - 1e-9)
		return share;
	const double together = (both - share * share) / (share * (1 - share)); /* correlation */
	const double apart = 1 / fmin(fmax(together, 1e-4), 1 - 1e-4) - 1;      /* alpha + beta */
	double none = 1;
	for (unsigned i = 0; i + 0.5 < lines; i++)
		none *= ((1 - share) * apart + i) / (apart + i);
	return 1 - none;
}
