/* A contest of compare-and-swap, played; see swap_play.h. */
#include "timemodel/swap_play.h"

#include "base/mem.h"
#include "timemodel/constants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 32
#define SECTOR_WORDS 8
#define LINE_WORDS 32
/* Played at most: visits of lanes to a word, of a sum and of a maximum, which settles soon. */
#define MOST_VISITS 800000
#define MOST_OF_A_MAXIMUM 1e7
#define MOST_PLAYERS 32768
/* Requests are picked from those that wait at a unit; one is served when it is picked so often.
 * Tries for each change then grow as the power 5/6 of the lanes that want a word, between taking
 * turns (1) and chance alone (1/2): contended.cu, words that 256 to 135168 lanes want. */
#define QUEUE_PICKS 6
/* Of a maximum: chosen by seeds 179 to 184 of h200-2026-11-28, where loops go on over many values;
 * contended.cu, where each lane has one value or eight, says 5, seeds 186 to 188 nearly the same.
 */
#define MAXIMUM_PICKS 3

/* Lanes of a wish that want one word. They have seen it last at the same time. */
struct group {
	struct word *word;
	uint32_t lanes, seen;
};

/* Lanes of a resident warp that are at the same wish. Those whose change holds go on without the
 * others, as loops of compare-and-swap yield (the machine code of keyed/add_cas: YIELD). */
struct player {
	size_t next, end; /* wishes of the warp that are left */
	size_t number;    /* of the warp */
	uint32_t slot;    /* where that is resident */
	uint32_t lanes;
	struct group group[LANES]; /* of its wish, ascending by address */
	unsigned n_groups;
	unsigned under_way; /* requests at units */
	double served_ns;   /* the last of them */
	bool looked;
	bool late;     /* its wish is one of the second half */
	bool new_code; /* no warp of its SM has swapped yet */
};

/* Groups of a line, on their way to its unit. */
struct request {
	uint32_t player, picks;
	unsigned first, end;
};

static uint32_t any(struct play *p)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 17;
	p->random ^= p->random << 5;
	return p->random;
}

static uint64_t mixed(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

/* --- what warps want --- */

struct word *play_word(struct play *p, uint32_t at, size_t owner)
{
	size_t i = mixed(at + ((uint64_t)owner << 32)) & (p->words_room - 1);
	while (p->words[i].used && (p->words[i].at != at || p->words[i].owner != owner))
		i = (i + 1) & (p->words_room - 1);
	p->words[i].used = true;
	p->words[i].at = at;
	p->words[i].owner = (uint32_t)owner;
	return &p->words[i];
}

/* What a lane would put at its word, where the largest stays: any order is as good as another. */
static uint32_t rank_of(const struct play *p, const struct player *x, unsigned lane)
{
	const uint64_t order = (uint64_t)p->order << 56;
	return (uint32_t)mixed(mixed(order + (x->number << 32) + (x->next << 5) + lane)) | 1;
}

static unsigned lowest(uint32_t mask)
{
	return (unsigned)__builtin_ctz(mask);
}

/* Groups of the next wish, sorted by address. */
static void take_wish(struct play *p, struct player *x)
{
	const struct swap_wish *wish = &p->contest->wish[x->next];
	x->n_groups = 0;
	x->looked = false;
	p->begun += play_lanes(wish->mask & x->lanes);
	x->late = 2 * p->begun > p->wishes;
	for (uint32_t m = wish->mask & x->lanes; m; m &= m - 1) {
		const uint32_t at = wish->word[lowest(m)];
		unsigned i = x->n_groups;
		while (i && x->group[i - 1].word->at > at)
			i--;
		if (i && x->group[i - 1].word->at == at) {
			x->group[i - 1].lanes |= m & -m;
			continue;
		}
		memmove(&x->group[i + 1], &x->group[i], (x->n_groups++ - i) * sizeof *x->group);
		x->group[i] =
			(struct group){ .word = play_word(p, at, p->rivals == OWN_WARP ? x->number + 1 : 0),
			                .lanes = m & -m };
	}
}

/* Lanes have got what they wanted, or want it no more. */
static void leave(struct group *g, uint32_t lanes)
{
	g->lanes &= ~lanes;
}

/* Of a maximum: lanes that would not raise it. */
static uint32_t idle(const struct play *p, const struct player *x, const struct group *g)
{
	uint32_t lanes = 0;
	for (uint32_t m = g->lanes; m; m &= m - 1)
		if (rank_of(p, x, lowest(m)) <= g->word->best)
			lanes |= m & -m;
	return lanes;
}

/* Those who see that they have nothing to change do not try. */
static void give_up(const struct play *p, const struct player *x, struct group *g)
{
	if (p->contest->settles && !p->contest->all_try)
		leave(g, idle(p, x, g));
}

/* --- units of L2 --- */

/* A group's lanes try, one after the other: the first of them holds if nobody came between. */
static void try_swap(struct play *p, const struct player *x, struct group *g)
{
	p->visits++;
	p->tries += play_lanes(g->lanes);
	p->late_tries += x->late ? play_lanes(g->lanes) : 0;
	if (p->rivals == NOBODY) {
		leave(g, g->lanes);
		return;
	}
	if (p->contest->all_try && g->seen == g->word->version)
		leave(g, idle(p, x, g)); /* they put there what is there */
	if (g->lanes && g->seen == g->word->version) {
		g->word->version++;
		g->word->best = rank_of(p, x, lowest(g->lanes));
		leave(g, g->lanes & -g->lanes);
	}
	g->seen = g->word->version;
}

/* Of a sector: lanes that come, the words that they want, and the most lanes of one word. */
struct sector_load {
	uint32_t at; /* which sector */
	unsigned lanes, words, most;
};

/* The groups of a sector try, from r's @*i on. */
static struct sector_load try_sector(struct play *p, struct player *x, const struct request *r,
                                     unsigned *i)
{
	struct sector_load load = { .at = x->group[*i].word->at / SECTOR_WORDS };
	for (; *i < r->end && x->group[*i].word->at / SECTOR_WORDS == load.at; ++*i) {
		const unsigned n = play_lanes(x->group[*i].lanes);
		if (!n)
			continue;
		load.lanes += n;
		load.words++;
		load.most = n > load.most ? n : load.most;
		try_swap(p, x, &x->group[*i]);
	}
	return load;
}

/* In ns, of the sector that takes longest: a pass changes each of its words once, and lasts longer
 * where that are several, or where the unit was at another sector before. */
static double sector_alone_ns(const struct sector_load *s, bool again)
{
	const double first = again ? timing.atomic_pass_ns : timing.swap_pass_ns;
	const double one_word = s->most ? first + (s->most - 1) * timing.atomic_pass_ns : 0;
	const unsigned passes = s->words ? (s->lanes + s->words - 1) / s->words : 0;
	return s->words < 2 ? one_word : fmax(one_word, passes * timing.swap_pass_ns);
}

/* In ns. */
static double serve(struct play *p, struct unit *u, struct player *x, const struct request *r)
{
	double all = 0, saved = 0;
	uint32_t last = u->sector;
	for (unsigned i = r->first; i < r->end;) {
		const struct sector_load load = try_sector(p, x, r, &i);
		const double beside = load.most * timing.swap_pass_ns;
		const double alone = sector_alone_ns(&load, load.at == u->sector);
		all += beside;
		if (load.most && beside - alone >= saved) {
			saved = beside - alone;
			last = load.at;
		}
	}
	u->sector = last;
	return (all - saved) * p->slower;
}

/* Some lanes are done with their wish: they go on to the next one, from @ns on; true: others are
 * left. */
static bool part(struct play *p, uint32_t who, double ns)
{
	struct player *x = &p->player[who];
	uint32_t left = 0;
	for (unsigned i = 0; i < x->n_groups; i++)
		left |= x->group[i].lanes;
	const uint32_t gone = x->lanes & ~left;
	if (left && gone && x->next + 1 < x->end && p->n_unused) {
		const uint32_t other = p->unused[--p->n_unused];
		p->player[other] = (struct player){
			.next = x->next + 1, .end = x->end, .number = x->number, .slot = x->slot, .lanes = gone
		};
		p->playing[x->slot]++;
		x->lanes = left;
		event_post(&p->events, ns, (int32_t)other);
	} else if (left && x->next + 1 == x->end) {
		x->lanes = left;
	} else if (!left) {
		x->next++;
		x->n_groups = 0;
	}
	return left;
}

/* Requests are back: the next round of those who have failed, or the next wish. */
static void round_ends(struct play *p, uint32_t who)
{
	struct player *x = &p->player[who];
	const double half_ns = timing.swap_round_trip_ns / 2;
	for (unsigned i = 0; i < x->n_groups; i++)
		give_up(p, x, &x->group[i]);
	const bool left = part(p, who, x->served_ns + half_ns);
	event_post(&p->events, x->served_ns + (left ? 2 : 1) * half_ns, (int32_t)who);
}

static void serve_next(struct play *p, unsigned unit, double ns)
{
	struct unit *u = &p->unit[unit];
	u->busy = u->n > 0;
	if (!u->n)
		return;
	const unsigned picks = p->contest->settles ? MAXIMUM_PICKS : QUEUE_PICKS;
	unsigned i;
	do
		i = any(p) % u->n;
	while (++u->waiting[i].picks < picks && u->n > 1);
	const struct request r = u->waiting[i];
	u->waiting[i] = u->waiting[--u->n];
	struct player *x = &p->player[r.player];
	const double end = ns + serve(p, u, x, &r);
	x->served_ns = fmax(x->served_ns, end);
	if (!--x->under_way)
		round_ends(p, r.player);
	event_post(&p->events, end, -1 - (int32_t)unit);
}

static void wait_at(struct unit *u, struct request r)
{
	if (u->n == u->room) {
		u->room = u->room ? 2 * u->room : 64;
		u->waiting = mem_realloc(u->waiting, u->room, sizeof *u->waiting);
	}
	u->waiting[u->n++] = r;
}

/* A warp's lanes try: a request for each line. */
static void ask(struct play *p, uint32_t who, double ns)
{
	struct player *x = &p->player[who];
	unsigned asked[LANES], n_asked = 0;
	x->served_ns = ns;
	for (unsigned i = 0; i < x->n_groups;) {
		const uint32_t line = x->group[i].word->at / LINE_WORDS;
		struct request r = { .player = who, .first = i };
		uint32_t lanes = 0;
		for (; i < x->n_groups && x->group[i].word->at / LINE_WORDS == line; i++)
			lanes |= x->group[i].lanes;
		r.end = i;
		if (!lanes)
			continue;
		asked[n_asked] = l2_unit((uint64_t)line * LINE_WORDS * SWAP_WORD_BYTES);
		wait_at(&p->unit[asked[n_asked++]], r);
	}
	x->under_way = n_asked;
	for (unsigned i = 0; i < n_asked; i++)
		if (!p->unit[asked[i]].busy)
			serve_next(p, asked[i], ns);
}

/* --- the play --- */

/* The value comes that lanes start from. */
static void look(struct play *p, uint32_t who, double ns)
{
	struct player *x = &p->player[who];
	const double half_ns = timing.swap_round_trip_ns / 2;
	/* L1 has the line since the first warp of the SM has asked for it */
	const bool at_first = x->new_code && p->contest->settles && p->rivals != NOBODY;
	x->looked = true;
	for (unsigned i = 0; i < x->n_groups; i++) {
		struct group *g = &x->group[i];
		g->seen = at_first ? 0 : g->word->version;
		if (p->rivals == NOBODY && p->contest->settles && !p->contest->all_try)
			leave(g, g->lanes);
		if (!at_first)
			give_up(p, x, g);
	}
	const bool left = part(p, who, ns + half_ns);
	const double code_ns = x->new_code ? timing.first_swap_ns : 0;
	x->new_code = false;
	event_post(&p->events, ns + code_ns + (left ? 2 : 1) * half_ns, (int32_t)who);
}

/* The next warp that is not resident yet, if any; of those that are played with, chosen by chance.
 */
static bool enter(struct play *p, uint32_t slot, struct player *x)
{
	while (p->next_warp < p->last_warp && mixed(p->next_warp) % p->every)
		p->next_warp++;
	if (p->next_warp == p->last_warp)
		return false;
	const struct span s = p->warp[p->next_warp / p->times];
	*x = (struct player){ .next = s.first,
		                  .end = s.end,
		                  .number = p->next_warp,
		                  .slot = slot,
		                  .lanes = UINT32_MAX,
		                  .new_code = p->starting > 0 };
	p->starting -= p->starting > 0;
	p->next_warp++;
	p->playing[slot]++;
	return true;
}

/* Its lanes have no wish left: the place of the warp's last ones is the next warp's. */
static bool ends(struct play *p, uint32_t who)
{
	struct player *x = &p->player[who];
	const uint32_t slot = x->slot;
	p->playing[slot] -= p->playing[slot] > 0;
	if (p->playing[slot]) {
		p->unused[p->n_unused++] = who;
		return true;
	}
	return !enter(p, slot, x);
}

static void go_on(struct play *p, uint32_t who, double ns)
{
	struct player *x = &p->player[who];
	if (!x->n_groups) {
		while (x->next < x->end && !(p->contest->wish[x->next].mask & x->lanes))
			x->next++;
		if (x->next == x->end && ends(p, who))
			return;
		take_wish(p, x);
		event_post(&p->events, ns + timing.swap_round_trip_ns / 2,
		           (int32_t)who); /* to the unit, to look */
	} else if (!x->looked) {
		look(p, who, ns);
	} else {
		ask(p, who, ns);
	}
}

double play_few(const struct play *p)
{
	return (double)p->every * p->contest->stands_for / (double)p->times;
}

/* Resident warps begin, block after block. */
static void begin(struct play *p)
{
	const struct swap_contest *c = p->contest;
	const double warps =
		ceil(fmin(fmax(1, c->concurrent_warps / play_few(p)), (double)p->last_warp));
	const uint32_t slots = (uint32_t)warps;
	p->starting = slots;
	const bool often = c->n > p->n_warps; /* lanes may go apart */
	const uint32_t players = often && slots < MOST_PLAYERS / LANES ? slots * LANES
	                         : slots > MOST_PLAYERS                ? slots
	                                                               : MOST_PLAYERS;
	p->random = 1;
	p->words = mem_calloc(p->words_room, sizeof *p->words);
	p->player = mem_calloc(players, sizeof *p->player);
	p->unused = mem_calloc(players, sizeof *p->unused);
	p->playing = mem_calloc(slots, sizeof *p->playing);
	p->n_unused = 0;
	for (uint32_t i = players; i-- > slots;)
		p->unused[p->n_unused++] = i;
	p->events = (struct events){ .at = mem_calloc(players + L2_UNITS, sizeof(struct event)) };
	for (uint32_t i = 0; i < slots; i++) {
		p->player[i].slot = i;
		const double warp = i * play_few(p), block = floor(warp / c->block_warps);
		/* blocks begin one after the other, and so do the warps of an SM */
		const double of_sm = warp - block * c->block_warps + floor(block / c->sms) * c->block_warps;
		event_post(&p->events,
		           (block * timing.block_start_cycles + of_sm * timing.next_block_warp_cycles) /
		               c->clock_ghz,
		           (int32_t)i);
	}
}

static void end(struct play *p)
{
	for (unsigned i = 0; i < L2_UNITS; i++)
		free(p->unit[i].waiting);
	memset(p->unit, 0, sizeof p->unit);
	free(p->words);
	free(p->player);
	free(p->unused);
	free(p->playing);
	free(p->events.at);
}

double play(struct play *p, enum rivals rivals, double slower)
{
	p->rivals = rivals;
	p->slower = slower;
	p->next_warp = 0;
	p->begun = p->end_ns = p->visits = p->tries = p->late_tries = 0;
	p->wishes = p->lanes * (double)p->last_warp / (double)p->n_warps;
	const double most = p->contest->settles ? MOST_OF_A_MAXIMUM : MOST_VISITS;
	begin(p);
	while (p->events.n && p->visits < most) {
		const struct event e = event_next(&p->events);
		if (e.who < 0) {
			serve_next(p, (unsigned)(-1 - e.who), e.ns);
			continue;
		}
		p->end_ns = e.ns;
		go_on(p, (uint32_t)e.who, e.ns);
	}
	end(p);
	return p->end_ns;
}
