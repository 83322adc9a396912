/* Compare-and-swap, try by try; see swap_contest.h. */
#include "timemodel/swap_contest.h"

#include "base/mem.h"
#include "timemodel/swap_play.h"

#include <math.h>
#include <stdlib.h>

/*
 * Long contests are played with fewer warps, of which each stands for many, and slower units: as
 * much slower as tries for each change become fewer, if others are in the way (by the power that
 * swap_play.c names), or as lanes become fewer.
 */
#define FEWER 4
#define TRIES_POWER (5 / 6.0)
#define MOST_WARPS 20000 /* of a maximum */
/* Of a maximum's values; the mean of so many is taken, of many wishes fewer. */
#define ORDERS 8
#define ORDERS_OF_MANY 2
#define FEW_WISHES 2048

/* Blocks that were looked at lie side by side in patches. Do lanes of different patches want the
 * same words? Then those that were not looked at want them as well, otherwise others. */
static double words_for(const struct play *p, double patches)
{
	double lanes = 0, shared = 0;
	for (size_t i = 0; i < p->words_room; i++) {
		const struct word *w = &p->words[i];
		lanes += w->lanes;
		shared += (double)w->lanes * w->patches;
	}
	const double of_word = shared / fmax(1, lanes);
	const double chance = patches > 1 ? (of_word - 1) / (patches - 1) : 1;
	const double all = 1 + chance * (patches * p->contest->sampled_of - 1);
	return fmax(1, p->contest->sampled_of * of_word / all);
}

/* Warps and their wishes; returns words of the grid, for each that is wanted here. */
static double count_wishes(struct play *p)
{
	const struct swap_contest *c = p->contest;
	uint32_t patches = 0;
	p->warp = mem_calloc(c->n, sizeof *p->warp);
	for (size_t i = 0; i < c->n; i++)
		p->lanes += play_lanes(c->wish[i].mask);
	p->words_room = 64;
	while ((double)p->words_room < 2 * p->lanes)
		p->words_room *= 2;
	p->words = mem_calloc(p->words_room, sizeof *p->words);
	for (size_t i = 0; i < c->n; i++) {
		const struct swap_wish *w = &c->wish[i], *before = i ? w - 1 : w;
		if (!i || w->block != before->block || w->warp != before->warp)
			p->warp[p->n_warps++].first = i;
		p->warp[p->n_warps - 1].end = i + 1;
		patches += !i || w->block > before->block + 1;
		for (uint32_t m = w->mask; m; m &= m - 1) {
			struct word *word = play_word(p, w->word[__builtin_ctz(m)]);
			word->lanes++;
			word->patches += word->patch != patches;
			word->patch = patches;
		}
	}
	const double words = c->sampled_of > 1 ? words_for(p, patches) : 1;
	free(p->words);
	return words;
}

/* A maximum's first lanes try together; who comes later mostly finds it there. So each warp plays
 * as often as it is there, as far as that goes, and later ones try as those of the second half. */
static double maximum_ns(struct play *p, double words)
{
	const struct swap_contest *c = p->contest;
	p->every = 1;
	p->times = (size_t)fmax(1, floor(c->stands_for / words + 0.5));
	p->last_warp = p->n_warps * p->times < MOST_WARPS ? p->n_warps * p->times : MOST_WARPS;
	double ns = 0, late = 0;
	const uint32_t orders = c->n <= FEW_WISHES ? ORDERS : ORDERS_OF_MANY;
	for (p->order = 1; p->order <= orders; p->order++) {
		ns += play(p, ALL, words) / orders;
		late += 2 * p->late_tries / fmax(1, p->tries) / orders;
	}
	const double played = p->lanes * words * (double)p->last_warp / (double)p->n_warps;
	return (ns - play(p, NOBODY, words)) * (1 + fmax(0, c->lanes / played - 1) * late);
}

/* Sums go on as they began. */
static double sum_ns(struct play *p, double words)
{
	double all, slower;
	p->times = 1;
	p->last_warp = p->n_warps;
	for (p->every = 1;; p->every *= FEWER) {
		slower = words * pow(play_few(p) / words, TRIES_POWER);
		all = play(p, ALL, slower);
		if (!p->events.n || p->every >= p->n_warps)
			break;
	}
	const double others = (all - play(p, OWN_WARP, slower)) * play_few(p) / words;
	const double same = play(p, OWN_WARP, play_few(p)) - play(p, NOBODY, play_few(p));
	return (others + same) * p->contest->lanes / (p->lanes * p->contest->stands_for);
}

double swap_contest_ns(const struct swap_contest *c)
{
	if (!c->n)
		return 0;
	struct play p = { .contest = c };
	const double words = count_wishes(&p);
	const double ns = c->settles ? maximum_ns(&p, words) : sum_ns(&p, words);
	free(p.warp);
	return fmax(0, ns);
}
