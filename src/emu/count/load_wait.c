/* Adds up instants; see load_wait.h. */
#include "emu/count/load_wait.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* A stretch of time is over when it has so many lines and more. */
#define STRETCH_LINES 1024

struct load_instant { /* one load at the present instant: lines seen, and the slow ones of them */
	uint32_t lines, of_requests, slow[LOAD_SOURCES];
};

void load_waits_init(struct load_waits *w, unsigned loads)
{
	*w = (struct load_waits){
		.loads = loads,
		.now = mem_calloc(loads + 1, sizeof *w->now),
		.stretch = mem_calloc(loads + 1, sizeof *w->stretch),
		.sum = mem_calloc(loads + 1, sizeof *w->sum),
	};
}

void load_waits_free(struct load_waits *w)
{
	free(w->now);
	free(w->stretch);
	free(w->sum);
}

void load_wait_begin(struct load_wait_log *w, uint32_t time)
{
	MEM_ROOM(w->begin, w->waves, w->cap_waves, 32);
	w->begin[w->waves++] = w->n;
	w->time = time;
	w->instant++;
}

void load_wait_clear(struct load_wait_log *w)
{
	w->n = w->waves = 0;
}

void load_wait_free(struct load_wait_log *w)
{
	free(w->seen);
	free(w->begin);
}

void load_wait_add(struct load_wait_log *w, unsigned who, unsigned lines, bool from_l2,
                   bool from_dram, bool late)
{
	const unsigned slow =
		(unsigned)from_l2 << FROM_L2 | (unsigned)from_dram << FROM_DRAM | (unsigned)late << LATE;
	MEM_ROOM(w->seen, w->n, w->cap, 256);
	w->seen[w->n++] = (struct seen_line){
		.time = w->time, .who = (uint16_t)who, .lines = (uint8_t)lines, .slow = (uint8_t)slow
	};
}

static double ordered_pairs(double n)
{
	return n * (n - 1);
}

static void end_stretch(const struct load_lines *l, struct load_sum *sum)
{
	if (!(l->lines > 0))
		return;
	const double requests = l->lines * l->lines / l->of_requests;
	const bool whole = l->whole_lines >= l->lines;
	sum->lines += l->lines;
	sum->requests += whole ? l->whole : requests;
	for (unsigned i = 0; i < LOAD_SOURCES; i++) {
		sum->slow[i] += l->slow[i];
		sum->slow_requests[i] += whole ? l->whole_slow[i] : requests * slow_requests(l, i);
	}
}

static void close_instant(struct load_waits *w, unsigned load, double weight)
{
	struct load_instant *now = &w->now[load];
	struct load_lines *l = &w->stretch[load];
	l->lines += weight * now->lines;
	l->of_requests += weight * now->of_requests;
	l->pairs += weight * ordered_pairs(now->lines);
	/* lines of one request, none of which is left out */
	const bool whole = now->of_requests == (uint64_t)now->lines * now->lines;
	l->whole_lines += whole ? weight * now->lines : 0;
	l->whole += whole ? weight : 0;
	for (unsigned i = 0; i < LOAD_SOURCES; i++) {
		l->whole_slow[i] += whole && now->slow[i] ? weight : 0;
		l->slow[i] += weight * now->slow[i];
		l->slow_pairs[i] += weight * ordered_pairs(now->slow[i]);
	}
	*now = (struct load_instant){ 0 };
	if (l->lines >= weight * STRETCH_LINES) {
		end_stretch(l, &w->sum[load]);
		*l = (struct load_lines){ 0 };
	}
}

static void see(struct load_instant *now, const struct seen_line *l)
{
	now->lines++;
	now->of_requests += l->lines;
	for (unsigned i = 0; i < LOAD_SOURCES; i++)
		now->slow[i] += l->slow >> i & 1;
}

/* The lines that @part saw from @at[part] on and up to @time, of all parts; each up to @end. */
static void add_instant(struct load_waits *w, const struct load_wait_log *const *part,
                        unsigned parts, size_t *at, const size_t *end, uint32_t time, double weight)
{
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < parts; i++) {
			size_t k = at[i];
			for (; k < end[i] && part[i]->seen[k].time <= time; k++) {
				const struct seen_line *l = &part[i]->seen[k];
				if (l->who >= w->loads)
					continue;
				if (pass == 0)
					see(&w->now[l->who], l);
				else if (w->now[l->who].lines)
					close_instant(w, l->who, weight);
			}
			at[i] = pass ? k : at[i];
		}
}

void load_waits_add(struct load_waits *w, const struct load_wait_log *const *part, unsigned parts,
                    size_t wave, double weight)
{
	size_t *at = mem_calloc(2 * (size_t)parts, sizeof *at), *end = at + parts;
	for (unsigned i = 0; i < parts; i++) {
		const struct load_wait_log *p = part[i];
		at[i] = wave < p->waves ? p->begin[wave] : p->n;
		end[i] = wave + 1 < p->waves ? p->begin[wave + 1] : p->n;
	}
	for (bool more = true; more;) {
		uint32_t time = UINT32_MAX;
		more = false;
		for (unsigned i = 0; i < parts; i++) {
			if (at[i] >= end[i])
				continue;
			more = true;
			time = part[i]->seen[at[i]].time < time ? part[i]->seen[at[i]].time : time;
		}
		if (more)
			add_instant(w, part, parts, at, end, time, weight);
	}
	free(at);
}

/* @lines of a request, of @all lines of which @slow are slow, drawn without putting any back: the
 * share of requests of which none is. */
static double none_drawn(double all, double slow, double lines)
{
	double none = 1;
	for (unsigned i = 0; i + 0.5 < lines && none > 0; i++)
		none *= fmax(0, all - slow - i) / fmax(1, all - i);
	return none;
}

/*
 * Slow lines come together: at some instants each line is slow with one and the same chance, at
 * others none is; as many pairs are slow together as were seen. Rows that are walked in step all
 * are at one instant, random lines at any. Where fewer pairs are slow than by chance, slow lines
 * keep apart, as where lanes step one after the other: of so many lines as make the pairs that few,
 * always the same number is slow.
 */
double slow_requests(const struct load_lines *l, unsigned source)
{
	const double share = l->slow[source] / l->lines;
	const double lines = l->of_requests / l->lines;
	/* without pairs: as if all lines went together */
	const double both = l->pairs > 0 ? l->slow_pairs[source] / l->pairs : share;
	if (share < 1e-9 || share > 1 - 1e-9)
		return share;
	if (both >= share * share) {
		const double then = fmin(1, both / share);
		return share / then * (1 - pow(1 - then, lines));
	}
	const double apart = (share * share - both) / (share * (1 - share));
	const double all = fmax(lines, 1 + 1 / fmax(apart, 1e-6));
	return 1 - none_drawn(all, share * all, lines);
}

struct load_sum load_waits_of(const struct load_waits *w, unsigned load)
{
	struct load_sum sum = w->sum[load];
	end_stretch(&w->stretch[load], &sum);
	return sum;
}
