/*
 * Collisions of atomics; see collision.h.
 *
 * Kept by phases: blocks that are not resident together, and the turns of a warp, so that what
 * comes later does not count as hitting the same unit. Warps drift apart, though: measured
 * histograms of sorted keys lie between both views, at their geometric mean. Blocks that follow
 * each other begin at any time: the more waves, the less of it is left.
 */
#include "emu/count/collision.h"

#include "emu/count/lane_sets.h"
#include "emu/count/swap_log.h"
#include "emu/lane/lane.h"
#include "base/mem.h"
#include "timemodel/l2_units.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR 32
#define LINE 128
/* Passes are counted in parts. One that changes all eight words of a sector takes 0.61 ns, others
 * 0.735 (atomics.cu). */
#define PASS_PARTS 6
#define WHOLE_PASS_PARTS 5
#define SECTOR_WORDS 8
#define SECTORS 256
#define GROUPS 64
#define TURNS 32
#define PHASES (GROUPS * TURNS)
/* Of a phase: passes of units, in parts, and behind them those of sectors. */
#define COUNTERS (L2_UNITS + SECTORS)
/* How far phases wait for each other: warps drift apart, but requests of a phase stand together in
 * a unit's queue. tests/gpu/micro/contended.cu, red_int and red_float of 8 items a thread: nearest
 * with 0.3 to 0.5 and with 0.85 (test_collision_times). */
#define UNIT_POWER 0.5
#define SECTOR_POWER 0.85

typedef _Atomic uint64_t counter;

struct collision_counts {
	uint64_t *phase[PHASES]; /* COUNTERS each; NULL = nothing */
	uint64_t requests, swaps, swap_lanes;
	struct collision_counts *next; /* of the log's */
};

struct collision_log {
	uint64_t concurrent, groups; /* blocks; groups of so many in the grid */
	struct collision_counts *_Atomic counts;
	struct collision_counts *alone; /* one of them: whoever brings none */
	/* Looks at words that may be changed then: lines by phase and by unit, and between which
	 * addresses they lie. */
	counter look_lines[PHASES], look_low[PHASES], look_high[PHASES], look_unit[L2_UNITS];
	struct swap_log *wishes;
};

struct collision_log *collision_log_new(uint64_t concurrent, uint64_t blocks, uint64_t block_warps)
{
	struct collision_log *c = mem_zalloc(sizeof *c);
	c->concurrent = concurrent ? concurrent : 1;
	c->groups = (blocks + c->concurrent - 1) / c->concurrent;
	c->wishes = swap_log_new(blocks * block_warps);
	return c;
}

static void free_counts(struct collision_counts *c)
{
	for (unsigned p = 0; p < PHASES; p++)
		free(c->phase[p]);
	free(c);
}

void collision_log_free(struct collision_log *c)
{
	struct collision_counts *next = c ? c->counts : NULL;
	while (next) {
		struct collision_counts *one = next;
		next = one->next;
		free_counts(one);
	}
	if (c)
		swap_log_free(c->wishes);
	free(c);
}

/* The thread's own, made when it first has something to note. */
static struct collision_counts *counts_of(struct collision_log *c, struct collision_counts **own)
{
	struct collision_counts **mine = own ? own : &c->alone;
	if (!*mine) {
		*mine = mem_zalloc(sizeof **mine);
		(*mine)->next = atomic_load(&c->counts);
		while (!atomic_compare_exchange_weak(&c->counts, &(*mine)->next, *mine))
			;
	}
	return *mine;
}

static uint64_t *counts_of_phase(struct collision_counts *c, unsigned phase)
{
	if (!c->phase[phase])
		c->phase[phase] = mem_calloc(COUNTERS, sizeof *c->phase[phase]);
	return c->phase[phase];
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x >> 40;
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

/* @turn: how many wishes of its warp came before. */
static void wish(struct collision_log *c, const struct collision *x, uint32_t turn, uint32_t lanes)
{
	struct swap_wish w = { .block = x->block, .warp = x->warp, .turn = turn, .mask = lanes };
	for (uint32_t m = lanes; m; m &= m - 1)
		w.word[lowest(m)] = (uint32_t)(x->address[lowest(m)] / SWAP_WORD_BYTES);
	if (lanes)
		swap_log_add(c->wishes, &w);
}

/* Phases of looks: waves, and within them turns, as far as there is room. */
static unsigned look_turns(const struct collision_log *c)
{
	return c->groups < PHASES ? (unsigned)(PHASES / c->groups) : 1;
}

static unsigned look_phase(const struct collision_log *c, uint64_t block, uint32_t turn)
{
	const uint64_t wave = block / c->concurrent, turns = look_turns(c);
	const uint64_t at = c->groups < PHASES ? wave * turns : wave * PHASES / c->groups;
	const uint64_t phase = at + (turn < turns ? turn : turns - 1);
	return (unsigned)(phase < PHASES ? phase : PHASES - 1);
}

static void widen(struct collision_log *c, unsigned phase, uint64_t address)
{
	/* 0 = nothing yet; of the lowest the complement, so that both only grow */
	const uint64_t value[] = { ~address, address + 1 };
	counter *const end[] = { &c->look_low[phase], &c->look_high[phase] };
	for (unsigned i = 0; i < 2; i++) {
		uint64_t seen = atomic_load_explicit(end[i], memory_order_relaxed);
		while (seen < value[i] &&
		       !atomic_compare_exchange_weak_explicit(end[i], &seen, value[i], memory_order_relaxed,
		                                              memory_order_relaxed))
			;
	}
}

void collision_log_want(struct collision_log *c, const struct collision *x)
{
	const unsigned phase = look_phase(c, x->block, x->turn);
	wish(c, x, x->turn, x->mask);
	for (uint32_t left = x->mask; left;) {
		const uint64_t line = x->address[lowest(left)] / LINE;
		add(&c->look_lines[phase], 1);
		add(&c->look_unit[l2_unit(line * LINE)], 1);
		for (uint32_t m = left; m; m &= m - 1) {
			const uint64_t a = x->address[lowest(m)];
			if (a / LINE != line)
				continue;
			left &= ~(1u << lowest(m));
			widen(c, phase, a);
		}
	}
}

void collision_log_add(struct collision_log *c, const struct collision *x)
{
	struct collision_counts *const t = counts_of(c, x->own);
	uint64_t *const unit = counts_of_phase(t, phase_of(c, x)), *const sector = unit + L2_UNITS;
	t->requests++;
	if (x->swap) {
		t->swap_lanes += lane_popc32(x->mask);
		t->swaps += lane_popc32(x->changed);
		if (!x->looked)
			wish(c, x, x->wishes, x->changed);
	}
	struct lane_sets words, sectors;
	struct lane_ranks same, near;
	uint8_t lanes[32], passes[32]; /* by first lane of a sector */
	lane_sets_rank(&words, &same, x->address, x->mask, 0);
	lane_sets_rank(&sectors, &near, x->address, x->mask, (unsigned)__builtin_ctz(SECTOR));
	memset(passes, 1, sizeof passes);
	for (uint32_t m = x->mask; m; m &= m - 1) /* the last one's rank is how many they are */
		lanes[sectors.first[lowest(m)]] = near.rank[lowest(m)];
	for (uint32_t m = x->mask & ~words.firsts; m; m &= m - 1) {
		const unsigned k = sectors.first[lowest(m)], rank = same.rank[lowest(m)];
		passes[k] = rank > passes[k] ? (uint8_t)rank : passes[k];
	}
	for (uint32_t m = sectors.firsts; m; m &= m - 1) {
		const unsigned k = lowest(m);
		const uint64_t at = x->address[k] / SECTOR;
		const bool whole = lanes[k] == SECTOR_WORDS * passes[k];
		unit[l2_unit(at * SECTOR)] += (uint64_t)passes[k] * (whole ? WHOLE_PASS_PARTS : PASS_PARTS);
		if (x->float_data)
			sector[mix(at) % SECTORS] += passes[k];
	}
}

/* --- totals --- */

/* The largest of @n parts of random hits is above their mean by chance; one that is far above has
 * more to do. @clump: of a hit. */
static double busiest(const uint64_t *part, unsigned n, double clump)
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

/* Between what @n parts have to do in phases that wait for each other (@power 1) and in all (0).
 * @first: of the parts' counters in a phase. */
static double one_after_the_other(const struct collision_counts *c, size_t first, unsigned n,
                                  double clump, double power)
{
	uint64_t *whole = mem_calloc(n, sizeof *whole);
	double phased = 0;
	for (unsigned p = 0; p < PHASES; p++) {
		if (!c->phase[p])
			continue;
		const uint64_t *part = c->phase[p] + first;
		double sum = 0;
		for (unsigned i = 0; i < n; i++) {
			whole[i] += part[i];
			sum += (double)part[i];
		}
		if (sum > 0)
			phased += busiest(part, n, clump);
	}
	const double spread = busiest(whole, n, clump);
	free(whole);
	return spread * pow(phased / fmax(spread, 1), power);
}

static void add_counts(struct collision_counts *sum, const struct collision_counts *c)
{
	sum->requests += c->requests;
	sum->swaps += c->swaps;
	sum->swap_lanes += c->swap_lanes;
	for (unsigned p = 0; p < PHASES; p++)
		for (unsigned i = 0; c->phase[p] && i < COUNTERS; i++)
			counts_of_phase(sum, p)[i] += c->phase[p][i];
}

static struct collision_totals totals_of(const struct collision_counts *c)
{
	struct collision_totals t = { 0 };
	const double requests = fmax(1, (double)c->requests);
	for (unsigned p = 0; p < PHASES; p++)
		for (unsigned i = 0; c->phase[p] && i < L2_UNITS; i++)
			t.passes += (double)c->phase[p][i] / PASS_PARTS;
	const double clump = fmax(1, t.passes / requests / 4);
	t.unit_passes =
		one_after_the_other(c, 0, L2_UNITS, clump * PASS_PARTS, UNIT_POWER) / PASS_PARTS;
	t.float_passes = one_after_the_other(c, L2_UNITS, SECTORS, clump, SECTOR_POWER);
	t.swap_tries = (double)c->swap_lanes;
	t.swaps = (double)c->swaps;
	return t;
}

struct collision_totals collision_log_totals(const struct collision_log *c)
{
	const struct collision_counts *first = c->counts;
	if (first && !first->next)
		return totals_of(first);
	struct collision_counts *sum = mem_zalloc(sizeof *sum);
	for (const struct collision_counts *one = first; one; one = one->next)
		add_counts(sum, one);
	const struct collision_totals t = totals_of(sum);
	free_counts(sum);
	return t;
}

void collision_log_wishes(struct collision_log *c, struct swap_contest *contest)
{
	swap_log_wishes(c->wishes, contest);
}

/* Of all hits, those of the busiest unit. */
static double busiest_share(const counter hits[L2_UNITS])
{
	uint64_t unit[L2_UNITS];
	double sum = 0;
	for (unsigned i = 0; i < L2_UNITS; i++) {
		unit[i] = hits[i];
		sum += (double)unit[i];
	}
	return sum > 0 ? busiest(unit, L2_UNITS, 1) / sum : 1;
}

double collision_log_look_lines(const struct collision_log *c)
{
	const double most = busiest_share(c->look_unit);
	double lines = 0;
	for (unsigned p = 0; p < PHASES; p++) {
		if (!c->look_high[p])
			continue;
		const double bytes = (double)(c->look_high[p] - ~c->look_low[p]) + 3;
		const double share = fmin(1, fmax(L2_UNIT_BYTES / bytes, 1.0 / L2_UNITS));
		lines += fmax(share, most) * (double)c->look_lines[p];
	}
	return lines;
}

/* --- shared memory --- */

unsigned shared_atomic_passes(const uint64_t *address, uint32_t mask, unsigned bytes, bool merged)
{
	struct lane_sets words = { .firsts = mask };
	if (merged)
		lane_sets_find(&words, address, mask, 0);
	return lane_busiest_bank(address, words.firsts, 32,
	                         (unsigned)__builtin_ctz(bytes < 4 ? 4 : bytes));
}
