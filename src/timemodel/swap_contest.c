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
#define FEWEST_TURNS 4   /* of a warp */
#define MOST_LEFT 0.75   /* of the turns, when there are to be fewer */
#define DRIFT_TURNS 64   /* after so many, each is somewhere else */
#define CHANCE 1.1       /* plays of the same warps differ by that */
#define MOST_WARPS 20000 /* of a maximum */
/* Of a maximum's values; the mean of so many is taken, of many wishes fewer. */
#define ORDERS 8
#define ORDERS_OF_MANY 2
#define FEW_WISHES 2048

enum patch { SIDE_BY_SIDE, BLOCK, WARP };

static bool begins_patch(const struct swap_wish *w, enum patch kind)
{
	switch (kind) {
	case SIDE_BY_SIDE: return w->block > w[-1].block + 1;
	case BLOCK: return w->block != w[-1].block;
	default: return w->block != w[-1].block || w->warp != w[-1].warp;
	}
}

/* What a sample tells of the grid. */
struct sample {
	double patches;
	double words, units; /* that are wanted; of L2 */
};

/* Of how many of all patches the lanes are that want a word: from 0, of one, to 1, of all. */
static double share_words(struct play *p, enum patch kind, struct sample *sample)
{
	const struct swap_contest *c = p->contest;
	double lanes = 0, shared = 0;
	uint64_t units = 0;
	uint32_t patch = 0;
	p->words = mem_calloc(p->words_room, sizeof *p->words);
	for (size_t i = 0; i < c->n; i++) {
		const struct swap_wish *w = &c->wish[i];
		patch += !i || begins_patch(w, kind);
		for (uint32_t m = w->mask; m; m &= m - 1) {
			struct word *word = play_word(p, w->word[__builtin_ctz(m)], 0);
			word->lanes++;
			word->patches += word->patch != patch;
			word->patch = patch;
		}
	}
	*sample = (struct sample){ .patches = patch };
	for (size_t i = 0; i < p->words_room; i++) {
		const struct word *w = &p->words[i];
		lanes += w->lanes;
		shared += (double)w->lanes * w->patches;
		sample->words += w->used;
		units |= w->used ? UINT64_C(1) << l2_unit((uint64_t)w->at * SWAP_WORD_BYTES) : 0;
	}
	sample->units = __builtin_popcountll(units);
	free(p->words);
	return patch > 1 ? (shared / fmax(1, lanes) - 1) / (patch - 1) : 1;
}

/* Words of the grid, for each that is known of a sample. Blocks that were looked at lie side by
 * side in patches. Do lanes of different patches want the same words? Then those that were not
 * looked at want them as well, otherwise others. Of a lone patch its blocks tell, of a lone block
 * its warps, though neighbours may share what others do not. */
static double words_for(struct play *p, struct sample *sample)
{
	const double sampled = p->contest->sampled_of;
	double share = share_words(p, SIDE_BY_SIDE, sample);
	if (sample->patches > 1) {
		const double here = 1 + share * (sample->patches - 1);
		return fmax(1, sampled * here / (1 + share * (sample->patches * sampled - 1)));
	}
	share = share_words(p, BLOCK, sample);
	if (sample->patches < 2)
		share = share_words(p, WARP, sample);
	return share > 0.5 ? 1 : sampled;
}

/* Times that a unit takes for the words of it, where @words stand for each that is known: those of
 * a sample may be of fewer units than those of the grid, which lie side by side. */
static double slower_by(double words, const struct sample *sample)
{
	const double side_by_side = words * sample->words * SWAP_WORD_BYTES / L2_UNIT_BYTES;
	const double units = fmin(L2_UNITS, fmax(sample->units, side_by_side));
	return fmax(1, words * sample->units / units);
}

/* Of each warp the first @most wishes are played. */
static void count_wishes(struct play *p, size_t most)
{
	const struct swap_contest *c = p->contest;
	p->n_warps = 0;
	p->lanes = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct swap_wish *w = &c->wish[i], *before = i ? w - 1 : w;
		if (!i || w->block != before->block || w->warp != before->warp)
			p->warp[p->n_warps++].first = i;
		p->warp[p->n_warps - 1].end = i + 1;
	}
	for (size_t k = 0; k < p->n_warps; k++) {
		struct span *s = &p->warp[k];
		s->end = s->end - s->first > most ? s->first + most : s->end;
		for (size_t i = s->first; i < s->end; i++)
			p->lanes += play_lanes(c->wish[i].mask);
	}
	p->last_warp = p->n_warps;
	p->words_room = 64;
	while ((double)p->words_room < 2 * p->lanes)
		p->words_room *= 2;
}

/* A maximum's first lanes try together; who comes later mostly finds it there. So each warp plays
 * as often as it is there, as far as that goes, and later ones try as those of the second half. */
static double maximum_ns(struct play *p, double words, double slower)
{
	const struct swap_contest *c = p->contest;
	p->every = 1;
	p->times = (size_t)fmax(1, floor(c->stands_for / words + 0.5));
	p->last_warp = p->n_warps * p->times < MOST_WARPS ? p->n_warps * p->times : MOST_WARPS;
	double ns = 0, late = 0;
	const uint32_t orders = c->n <= FEW_WISHES ? ORDERS : ORDERS_OF_MANY;
	for (p->order = 1; p->order <= orders; p->order++) {
		ns += play(p, ALL, slower) / orders;
		late += 2 * p->late_tries / fmax(1, p->tries) / orders;
	}
	const double played = p->lanes * words * (double)p->last_warp / (double)p->n_warps;
	return (ns - play(p, NOBODY, slower)) * (1 + fmax(0, c->lanes / played - 1) * late);
}

struct wanted {
	double first, all;   /* words: of the first wish of each warp, of all wishes */
	double later, known; /* lanes of those that are not played, and of words that are */
};

/* Words of wishes, where of each warp the first @most are played. */
static struct wanted words_wanted(struct play *p, size_t most)
{
	struct wanted a = { 0 };
	p->words = mem_calloc(p->words_room, sizeof *p->words);
	for (unsigned pass = 0; pass < 3; pass++) /* the first wish, those played, the others */
		for (size_t k = 0; k < p->n_warps; k++) {
			const struct span s = p->warp[k];
			const size_t from = s.first + (pass == 0 ? 0 : pass == 1 ? 1 : most);
			const size_t to = pass == 0 ? s.first + 1 : pass == 1 ? s.first + most : s.end;
			for (size_t i = from; i < to && i < s.end; i++)
				for (uint32_t m = p->contest->wish[i].mask; m; m &= m - 1) {
					struct word *w = play_word(p, p->contest->wish[i].word[__builtin_ctz(m)], 0);
					a.all += !w->seen;
					a.first += !w->seen && pass == 0;
					w->seen = true;
					w->lanes += pass < 2;
					a.later += pass == 2;
					a.known += pass == 2 && w->lanes;
				}
		}
	free(p->words);
	return a;
}

/* A play was left off: the first wishes of each warp tell of those that follow. False: there are
 * only few. *@apart: if warps go on from word to word, as with sorted keys, and have time to drift
 * apart, the share of what others are in their way then: between none of it, where they are spread
 * over all words, and all. */
static bool shorter(struct play *p, size_t *most, double *apart)
{
	const struct swap_contest *c = p->contest;
	const double played = fmin((double)*most, (double)c->n / (double)p->n_warps); /* of a warp */
	const double turns = played * c->lanes / (p->lanes * c->stands_for);
	const double share = fmin(MOST_LEFT, p->begun / p->wishes); /* all may have begun their last */
	const size_t less = (size_t)fmax(FEWEST_TURNS, played * share);
	if (*most <= FEWEST_TURNS || played <= FEWEST_TURNS)
		return false;
	const struct wanted a = words_wanted(p, less);
	if (2 * a.known <= a.later) {
		if (turns < DRIFT_TURNS)
			return false;
		*apart = pow(a.first / (a.all * turns / played), (1 + TRIES_POWER) / 2);
	}
	*most = less;
	count_wishes(p, *most);
	return true;
}

/* A play was left off: with how much fewer warps it may come to its end, no more than needed. Each
 * wish takes fewer tries then, too. */
static size_t fewer(const struct play *p)
{
	const double left_off = fmax(1, p->wishes / fmax(1, p->begun));
	const double steps = floor(log(left_off) / log(FEWER) / (1 + TRIES_POWER));
	return p->every * (size_t)pow(FEWER, fmax(1, steps));
}

/* Sums go on as they began. */
static double sum_ns(struct play *p, double words, double slower_words)
{
	double all, slower, apart = 1;
	size_t most = p->contest->n;
	p->times = 1;
	for (p->every = 1;;) {
		slower = slower_words * pow(play_few(p) / words, TRIES_POWER);
		all = play(p, ALL, slower);
		if (!p->events.n || p->every >= p->n_warps)
			break;
		if (!shorter(p, &most, &apart))
			p->every = fewer(p);
	}
	const double own = play(p, OWN_WARP, slower);
	/* few warps that hardly meet say nothing of many */
	const double others = all > CHANCE * own ? (all - own) * play_few(p) / words : 0;
	const double longest = slower_words * play_few(p) / words;
	const double same = play(p, OWN_WARP, longest) - play(p, NOBODY, longest);
	return (apart * others + same) * p->contest->lanes / (p->lanes * p->contest->stands_for);
}

double swap_contest_ns(const struct swap_contest *c)
{
	if (!c->n)
		return 0;
	struct play p = { .contest = c, .warp = mem_calloc(c->n, sizeof *p.warp) };
	count_wishes(&p, c->n);
	struct sample sample = { 0 };
	const double words = c->sampled_of > 1 ? words_for(&p, &sample) : 1;
	const double slower = words > 1 ? slower_by(words, &sample) : 1;
	const double ns = c->settles ? maximum_ns(&p, words, slower) : sum_ns(&p, words, slower);
	free(p.warp);
	return fmax(0, ns);
}
