/*
 * Collisions of atomics; see collision.h.
 *
 * Kept by phases: blocks that are not resident together, and the turns of a warp, so that what
 * comes later does not count as hitting the same unit. Warps drift apart, though: measured
 * histograms of sorted keys lie between both views, at their geometric mean. Blocks that follow
 * each other begin at any time: the more waves, the less of it is left.
 */
#include "emu/count/collision.h"

#include "emu/lane/lane.h"
#include "base/mem.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR 32
#define CHUNK 512 /* bytes that go to one unit: tests/gpu/micro/atomics.cu, hot sectors */
#define UNITS 64  /* 0.735 ns a pass each: random bins come at 0.0115 ns an item */
#define SECTORS 256
#define WORDS 65536
#define GROUPS 8
#define TURNS 32
#define PHASES (GROUPS * TURNS)

typedef _Atomic uint64_t counter;

struct collision_log {
	uint64_t concurrent, groups; /* blocks; groups of so many in the grid */
	_Atomic bool used[PHASES];
	counter unit[PHASES][UNITS], sector[PHASES][SECTORS];
	counter swap_unit[UNITS], swap_lanes, swap_squares, swap_passes;
	_Atomic uint32_t swap_word[WORDS];
	counter want_unit[UNITS];
	_Atomic uint32_t want_word[WORDS];
	_Atomic uint8_t word_unit[WORDS];
	counter requests;
};

struct collision_log *collision_log_new(uint64_t concurrent, uint64_t blocks)
{
	struct collision_log *c = mem_zalloc(sizeof *c);
	c->concurrent = concurrent ? concurrent : 1;
	c->groups = (blocks + c->concurrent - 1) / c->concurrent;
	return c;
}

void collision_log_free(struct collision_log *c)
{
	free(c);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x >> 40;
}

/* Neighbouring chunks lie in different units. */
static unsigned unit_of(uint64_t address)
{
	const uint64_t chunk = address / CHUNK;
	return (unsigned)((chunk ^ mix(chunk / UNITS)) % UNITS);
}

static void add(counter *c, uint64_t n)
{
	atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}

/* 0, 1, 2, 3, then two for each doubling. */
static unsigned phase_of_turn(uint32_t turn)
{
	if (turn < 4)
		return turn;
	const unsigned top = 31u - (unsigned)__builtin_clz(turn);
	const unsigned at = 2 * top + (turn >> (top - 1) & 1);
	return at < TURNS ? at : TURNS - 1;
}

static unsigned phase_of(const struct collision_log *c, const struct collision *x)
{
	const uint64_t wave = x->block / c->concurrent;
	const uint64_t group = c->groups > GROUPS ? wave * GROUPS / c->groups : wave;
	return (unsigned)(group < GROUPS ? group : GROUPS - 1) * TURNS + phase_of_turn(x->turn);
}

static unsigned lowest(uint32_t mask)
{
	return (unsigned)__builtin_ctz(mask);
}

static void add_swaps(struct collision_log *c, const struct collision *x)
{
	for (uint32_t m = x->changed; m; m &= m - 1) {
		const uint64_t a = x->address[lowest(m)];
		const unsigned word = mix(a / 4) % WORDS, unit = unit_of(a);
		add(&c->swap_unit[unit], 1);
		atomic_fetch_add_explicit(&c->swap_word[word], 1, memory_order_relaxed);
		atomic_store_explicit(&c->word_unit[word], (uint8_t)unit, memory_order_relaxed);
	}
	for (uint32_t left = x->mask; left;) {
		const uint64_t a = x->address[lowest(left)];
		uint32_t same = 0;
		for (uint32_t m = left; m; m &= m - 1)
			same |= x->address[lowest(m)] == a ? 1u << lowest(m) : 0;
		const uint64_t n = lane_popc32(same);
		add(&c->swap_lanes, n);
		add(&c->swap_squares, n * n);
		left &= ~same;
	}
}

void collision_log_want(struct collision_log *c, const uint64_t *address, uint32_t mask)
{
	for (; mask; mask &= mask - 1) {
		const uint64_t a = address[lowest(mask)];
		add(&c->want_unit[unit_of(a)], 1);
		atomic_fetch_add_explicit(&c->want_word[mix(a / 4) % WORDS], 1, memory_order_relaxed);
	}
}

/* Of the lanes of @sector's words: the most on one of them. */
static unsigned most_on_a_word(const struct collision *x, uint32_t sector)
{
	unsigned most = 0;
	while (sector) {
		const uint64_t a = x->address[lowest(sector)];
		uint32_t same = 0;
		for (uint32_t m = sector; m; m &= m - 1)
			same |= x->address[lowest(m)] == a ? 1u << lowest(m) : 0;
		most = lane_popc32(same) > most ? lane_popc32(same) : most;
		sector &= ~same;
	}
	return most;
}

void collision_log_add(struct collision_log *c, const struct collision *x)
{
	const unsigned phase = phase_of(c, x);
	add(&c->requests, 1);
	atomic_store_explicit(&c->used[phase], true, memory_order_relaxed);
	if (x->swap)
		add_swaps(c, x);
	for (uint32_t left = x->mask; left;) {
		const uint64_t at = x->address[lowest(left)] / SECTOR;
		uint32_t sector = 0;
		for (uint32_t m = left; m; m &= m - 1)
			sector |= x->address[lowest(m)] / SECTOR == at ? 1u << lowest(m) : 0;
		const unsigned passes = most_on_a_word(x, sector);
		add(&c->unit[phase][unit_of(at * SECTOR)], passes);
		if (x->swap)
			add(&c->swap_passes, passes);
		if (x->float_data)
			add(&c->sector[phase][mix(at) % SECTORS], passes);
		left &= ~sector;
	}
}

/* --- totals --- */

/* The largest of @n parts of random hits is above their mean by chance; one that is far above has
 * more to do. @clump: of a hit. */
static double busiest(const counter *part, unsigned n, double clump)
{
	double sum = 0, most = 0;
	for (unsigned i = 0; i < n; i++) {
		const double v = (double)part[i];
		sum += v;
		most = fmax(most, v);
	}
	const double mean = sum / n;
	return most > mean + 4 * sqrt(mean * clump) ? most : mean;
}

/* @table: @n counters of each phase. */
static double one_after_the_other(const struct collision_log *c, const counter *table, unsigned n,
                                  double clump)
{
	counter *whole = mem_calloc(n, sizeof *whole);
	double phased = 0;
	for (unsigned p = 0; p < PHASES; p++) {
		if (!c->used[p])
			continue;
		double sum = 0;
		for (unsigned i = 0; i < n; i++) {
			whole[i] += table[p * n + i];
			sum += (double)table[p * n + i];
		}
		if (sum > 0)
			phased += busiest(table + p * n, n, clump);
	}
	const double spread = busiest(whole, n, clump);
	free(whole);
	return spread * pow(phased / fmax(spread, 1), 0.5 / fmax(1, (double)c->groups));
}

/* Of the unit whose words are contested most. */
static struct swap_contest contest_of(const struct collision_log *c, double swaps)
{
	struct {
		double powers, squares, most;
	} unit[UNITS] = { 0 };
	unsigned busy = 0;
	for (unsigned i = 0; i < WORDS; i++) {
		const double n = c->swap_word[i], share = n / swaps;
		const unsigned u = c->word_unit[i];
		const double powers = n * pow(share, SWAP_CONTEST_POWER);
		unit[u].powers += powers;
		unit[u].squares += n * share;
		unit[u].most = fmax(unit[u].most, powers);
		if (unit[u].powers > unit[busy].powers)
			busy = u;
	}
	const double lanes = fmax(1, (double)c->swap_lanes);
	/* of n lanes on a word all try, then n - 1, and so on: what the first try had */
	const double typical = (double)c->swap_squares / lanes;
	return (struct swap_contest){
		.powers = unit[busy].powers,
		.squares = unit[busy].squares,
		.hottest = unit[busy].most / fmax(unit[busy].powers, 1e-9),
		.lanes = fmax(1, 1.5 * typical - 0.5),
		.passes = (double)c->swap_passes / lanes,
	};
}

static void share_out(const struct collision_log *c, struct collision_totals *t)
{
	double wanted = 0, most = 0;
	for (unsigned i = 0; i < UNITS; i++)
		wanted += (double)c->want_unit[i];
	for (unsigned i = 0; i < WORDS; i++)
		most = fmax(most, (double)c->want_word[i]);
	/* where nobody looks first, those who change it tell */
	t->unit_share =
		wanted > 0 ? busiest(c->want_unit, UNITS, 1) / wanted : t->unit_swaps / t->swaps;
	t->word_share = wanted > 0 ? most / wanted : t->word_swaps / t->swaps;
}

struct collision_totals collision_log_totals(const struct collision_log *c)
{
	struct collision_totals t = { 0 };
	const double requests = fmax(1, (double)c->requests);
	for (unsigned p = 0; p < PHASES; p++)
		for (unsigned i = 0; c->used[p] && i < UNITS; i++)
			t.passes += (double)c->unit[p][i];
	const double clump = fmax(1, t.passes / requests / 4);
	t.unit_passes = one_after_the_other(c, &c->unit[0][0], UNITS, clump);
	t.float_passes = one_after_the_other(c, &c->sector[0][0], SECTORS, clump);
	t.swap_tries = (double)c->swap_lanes;
	for (unsigned i = 0; i < UNITS; i++)
		t.swaps += (double)c->swap_unit[i];
	if (t.swaps <= 1)
		return t;
	for (unsigned i = 0; i < WORDS; i++)
		t.word_swaps = fmax(t.word_swaps, (double)c->swap_word[i]);
	t.unit_swaps = busiest(c->swap_unit, UNITS, 1);
	t.contest = contest_of(c, t.swaps);
	share_out(c, &t);
	return t;
}

/* --- shared memory --- */

unsigned shared_atomic_passes(const uint64_t *address, uint32_t mask, unsigned bytes, bool merged)
{
	uint8_t lanes[32] = { 0 }, last[32], before[32]; /* by bank, bank, lane: lanes of a bank */
	unsigned most = 0;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned i = lowest(m);
		const unsigned bank = (unsigned)(address[i] / (bytes < 4 ? 4 : bytes) % 32);
		unsigned k = merged && lanes[bank] ? last[bank] : 32;
		while (k < 32 && address[k] != address[i])
			k = before[k];
		if (k < 32)
			continue;
		before[i] = lanes[bank] ? last[bank] : 32;
		last[bank] = (uint8_t)i;
		most = ++lanes[bank] > most ? lanes[bank] : most;
	}
	return most;
}
