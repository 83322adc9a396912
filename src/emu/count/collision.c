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
#define LINE 128
/* Bytes that go to one unit, and where the first begins: tests/gpu/micro/contended.cu, words that
 * warps want by turns: 256 bytes from an allocation's start are of one unit, 512 and 1024 of two,
 * 4096 of eight. */
#define CHUNK 512
#define CHUNK_BEGINS 256
/* Passes are counted in parts. One that changes all eight words of a sector takes 0.61 ns, others
 * 0.735 (atomics.cu). */
#define PASS_PARTS 6
#define WHOLE_PASS_PARTS 5
#define SECTOR_WORDS 8
#define UNITS 64 /* 0.735 ns a pass each: random bins come at 0.0115 ns an item */
#define SECTORS 256
#define WORDS 65536
#define GROUPS 8
#define TURNS 32
#define PHASES (GROUPS * TURNS)
#define LATER_TRIES 9

typedef _Atomic uint64_t counter;

struct collision_log {
	uint64_t concurrent, groups; /* blocks; groups of so many in the grid */
	_Atomic bool used[PHASES];
	counter unit[PHASES][UNITS], sector[PHASES][SECTORS];
	counter swap_unit[UNITS], swap_lanes, swap_squares, swap_passes;
	_Atomic uint32_t swap_word[WORDS];
	counter want_unit[UNITS];
	_Atomic uint32_t want_word[WORDS];
	/* Looks at words that may be changed then: lines by phase, between which addresses they lie; by
	 * word, in the upper half the phase of the first, in the lower the lanes that come then. */
	counter look_lines[PHASES], look_low[PHASES], look_high[PHASES], look_unit[UNITS];
	counter look_word[WORDS];
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
	const uint64_t chunk = (address + CHUNK_BEGINS) / CHUNK;
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

/* A lane looks at @word in @phase: it counts among the first if no phase before had one. */
static void note_look(struct collision_log *c, unsigned word, unsigned phase)
{
	const uint64_t at = (uint64_t)(phase + 1) << 32;
	uint64_t seen = atomic_load_explicit(&c->look_word[word], memory_order_relaxed), next;
	do {
		if (seen && seen >> 32 < phase + 1)
			return;
		next = seen >> 32 == phase + 1 ? seen + 1 : at + 1;
	} while (!atomic_compare_exchange_weak_explicit(&c->look_word[word], &seen, next,
	                                                memory_order_relaxed, memory_order_relaxed));
}

void collision_log_want(struct collision_log *c, const struct collision *x)
{
	const unsigned phase = look_phase(c, x->block, x->turn);
	for (uint32_t left = x->mask; left;) {
		const uint64_t line = x->address[lowest(left)] / LINE;
		add(&c->look_lines[phase], 1);
		add(&c->look_unit[unit_of(line * LINE)], 1);
		for (uint32_t m = left; m; m &= m - 1) {
			const uint64_t a = x->address[lowest(m)];
			if (a / LINE != line)
				continue;
			left &= ~(1u << lowest(m));
			add(&c->want_unit[unit_of(a)], 1);
			atomic_fetch_add_explicit(&c->want_word[mix(a / 4) % WORDS], 1, memory_order_relaxed);
			widen(c, phase, a);
			note_look(c, mix(a / 4) % WORDS, phase);
		}
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
		const bool whole = lane_popc32(sector) == SECTOR_WORDS * passes;
		add(&c->unit[phase][unit_of(at * SECTOR)],
		    passes * (whole ? WHOLE_PASS_PARTS : PASS_PARTS));
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
			t.passes += (double)c->unit[p][i] / PASS_PARTS;
	const double clump = fmax(1, t.passes / requests / 4);
	t.unit_passes = one_after_the_other(c, &c->unit[0][0], UNITS, clump * PASS_PARTS) / PASS_PARTS;
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

/*
 * Lanes that look at a word before any others and try, by phase: all of those that begin together.
 * Later ones come to their next word one by one, and of many only the first do not yet find it
 * changed (tests/gpu/micro/contended.cu, maxima in runs of 128, 1024 and 8192 items, from a
 * thread's second item on: 8 to 14 times the root of all who come, as many tries each as of the
 * others).
 */
static void first_looks(const struct collision_log *c, double factor, double *together,
                        double *later)
{
	const unsigned turns = look_turns(c);
	for (unsigned i = 0; i < WORDS; i++) {
		const uint64_t seen = c->look_word[i];
		const unsigned phase = (unsigned)(seen >> 32) - 1;
		const double lanes = (double)(uint32_t)seen * factor;
		if (seen && phase % turns == 0)
			together[phase] += lanes;
		else if (seen)
			later[phase] += fmin(lanes, LATER_TRIES * sqrt(lanes));
	}
}

/* Of all hits, those of the busiest unit. */
static double busiest_share(const counter *unit)
{
	double sum = 0;
	for (unsigned i = 0; i < UNITS; i++)
		sum += (double)unit[i];
	return sum > 0 ? busiest(unit, UNITS, 1) / sum : 1;
}

struct looks collision_log_looks(const struct collision_log *c, double factor)
{
	struct looks sum = { 0 };
	double first[PHASES] = { 0 }, later[PHASES] = { 0 };
	const double lanes_most = busiest_share(c->want_unit), lines_most = busiest_share(c->look_unit);
	first_looks(c, factor, first, later);
	for (unsigned p = 0; p < PHASES; p++) {
		if (!c->look_high[p])
			continue;
		const double bytes = (double)(c->look_high[p] - ~c->look_low[p]) + 3;
		const double share = fmin(1, fmax(CHUNK / bytes, 1.0 / UNITS));
		const double lanes = first[p];
		const double together = lanes / fmax(1, fmin(lanes, bytes / 4)); /* of a word */
		const double power = p == 0 ? SWAP_FIRST_WAVE_POWER : SWAP_CONTEST_POWER;
		sum.lines += fmax(share, lines_most) * (double)c->look_lines[p] * factor;
		sum.tries += fmax(share, lanes_most) * lanes * pow(fmax(1, together / 32), power - 1);
		/* warps drift apart: between what this phase asks of a unit, and what all phases do */
		sum.tries += sqrt(fmax(share, lanes_most) * lanes_most) * later[p];
	}
	return sum;
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
