/*
 * A contest of compare-and-swap, played (swap_contest.h): resident warps, their requests, and the
 * units of L2 that serve them.
 */
#ifndef PMPP_TIMEMODEL_SWAP_PLAY_H
#define PMPP_TIMEMODEL_SWAP_PLAY_H

#include "timemodel/events.h"
#include "timemodel/l2_units.h"
#include "timemodel/swap_contest.h"

struct word {
	uint32_t owner;                 /* of plays in which each warp has words of its own */
	uint32_t at;                    /* as in swap_wish */
	uint32_t version, best;         /* how often it was changed; of a maximum, what stands there */
	uint32_t lanes, patches, patch; /* that want it; of a sample, which patches they are of */
	bool used, seen;
};

struct request;
struct unit {
	struct request *waiting;
	unsigned n, room;
	uint32_t sector; /* where it was last */
	bool busy;
};

struct span { /* of a warp's wishes */
	size_t first, end;
};

/* Who is in a lane's way. */
enum rivals { NOBODY, OWN_WARP, ALL };

struct player;

/* The caller fills in what stands before the empty line. */
struct play {
	const struct swap_contest *contest;
	struct span *warp;
	size_t n_warps;
	size_t times, every; /* a warp plays so often; only one in so many */
	size_t last_warp;    /* of warps as often as they play */
	double lanes;        /* of all wishes */
	size_t words_room;   /* a power of two; more than there are words */
	uint32_t order;      /* of a maximum's values, one of many */

	enum rivals rivals;
	struct word *words;
	struct unit unit[L2_UNITS];
	struct events events; /* who: a player, or -1 - unit */
	size_t next_warp;
	double slower; /* times that a unit takes */
	struct player *player;
	uint32_t *unused, n_unused; /* players */
	uint32_t *playing;          /* by slot: players of the warp there */
	uint32_t starting;          /* warps that begin the launch, and have not come yet */
	uint32_t random;
	double wishes, begun, end_ns, visits;
	double tries, late_tries; /* of lanes; of those that come late */
};

/* The word at @at, in p->words; @owner: the warp that has it for itself, or 0. */
struct word *play_word(struct play *p, uint32_t at, size_t owner);

/* Warps of the grid, for each that plays. */
double play_few(const struct play *p);

/* How long it takes, in ns, if units take @slower times as long; p->tries and late_tries. It is
 * left off (p->events.n is not 0) where it would be too long. */
double play(struct play *p, enum rivals rivals, double slower);

static inline unsigned play_lanes(uint32_t mask)
{
	return (unsigned)__builtin_popcount(mask);
}

#endif
