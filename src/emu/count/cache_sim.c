/*
 * Sectored set-associative caches with least-recently-used replacement.
 *
 * L1 of each SM: loads only; stores go through to L2 and update a line that is there; atomics go
 * to L2 and drop it. Local memory stays in L1 when it is written. L2: one for the chip, write-back;
 * a miss fetches both sectors of a pair (64 bytes: the fetch granularity that the driver names, and
 * what random loads cost). A store fetches nothing, but a sector that was not wholly written is
 * read before it leaves. What is dirty at the end stays: it is written when others need the room.
 *
 * The blocks of a wave are resident together, block i on SM i mod n. Their warps advance in
 * lockstep: entries are taken in order of the instructions their warp had begun, then of the
 * blocks. That is what keeps neighbouring warps' accesses together, as hardware does.
 *
 * Sampled sets: line hash bits below the level are zero, so only each 2^L-th set is in use, and
 * its traffic counts 2^L fold. Hash bits 4 to 7 split every cache into 16 independent parts,
 * which may run on different threads; there is no interaction to order.
 */
#include "emu/count/cache_sim.h"

#include "base/mem.h"
#include "emu/count/cache_l2.h"
#include "emu/count/cache_store.h"

#include <stdatomic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE 128
#define SECTOR 32
#define L1_SETS 256 /* 1 << LOG_MAX_LEVEL */
/* Entries of the whole launch to aim at, and how few those of one wave may be. With four times as
 * many, times of random launches are off by as much (README, seeds 198 to 200). */
#define LAUNCH_ENTRIES ((uint64_t)1 << 16)
#define WAVE_ENTRIES_LEAST ((uint64_t)1 << 11)

/* So many wait for the parts. */
#define QUEUE_ENTRIES ((size_t)1 << 15)
/* Of a launch with so few entries the sets are emptied one by one. */
#define FEW_ENTRIES ((size_t)1 << 14)

/* Instants are told apart by so much of them. */
#define INSTANT_MASK 0xffffffu
/* What an L1 knows of a line. */
struct l1_line {
	uint32_t sectors : 4;
	uint32_t from_dram : 1; /* what came last, ... */
	uint32_t read_at : 24;  /* ... and the instant at which it came */
	uint16_t who;           /* the load that asked for it */
};
_Static_assert(sizeof(struct l1_line) <= WAY_DATA_BYTES, "belongs to a way");
struct part_entry {
	struct log_entry e;
	uint32_t sm;
};
struct part {
	uint32_t clock; /* accesses of L1 so far */
	struct l2_part l2;
	struct cache_totals before; /* of the waves before, weighed */
	/* of the waves that wait, one after the other: entries in the order of the blocks */
	struct part_entry *entry;
	size_t n, cap;
	uint64_t *order, *spare; /* sort buffers */
	size_t cap_order;
	struct load_wait_log waits;
};
/* A wave that waits for the parts. */
struct waiting_wave {
	double weight;           /* of its entries */
	unsigned coarse;         /* so many bits of their times are lost */
	size_t end[CACHE_PARTS]; /* of its entries */
};
struct cache_sim {
	unsigned sm_count, level;
	unsigned first_level;     /* of the first wave that used the caches */
	_Atomic unsigned reached; /* by blocks of this wave that have ended */
	struct line_filter *filter;
	uint64_t wave_blocks, wave_entries;
	uint64_t last_entries; /* of the last wave */
	struct cache_sets l1;
	struct l2_cache l2;
	struct part part[CACHE_PARTS];
	struct waiting_wave *wave;
	size_t n_waves, cap_waves, queued; /* @queued: entries of all */
	_Atomic unsigned parts_left;       /* that have not seen these waves yet */
	struct load_waits waits;
	struct cache_store store; /* of what is in `l1` and `l2` */
	struct {
		uint32_t sm, hash;
	} *used; /* by the entries so far, FEW_ENTRIES + 1 of them at the most */
	size_t n_used, cap_used;
};

struct cache_sim *cache_sim_new(const struct gpu_spec *gpu, double l1_bytes,
                                struct line_filter *filter, uint64_t waves, unsigned loads)
{
	struct cache_sim *c = mem_zalloc(sizeof *c);
	const double l1_lines = l1_bytes / LINE;
	c->sm_count = gpu->sm_count ? gpu->sm_count : 1;
	cache_sets_init(&c->l1, l1_lines > L1_SETS ? (unsigned)(l1_lines / L1_SETS) : 1);
	l2_init(&c->l2, gpu);
	c->filter = filter;
	c->wave_blocks = 1;
	c->wave_entries = LAUNCH_ENTRIES / (waves ? waves : 1);
	if (c->wave_entries < WAVE_ENTRIES_LEAST)
		c->wave_entries = WAVE_ENTRIES_LEAST;
	load_waits_init(&c->waits, loads);
	return c;
}

static size_t l1_set(const struct cache_sim *c, uint32_t sm, uint32_t hash)
{
	return (size_t)cache_sets_place(hash, L1_SETS) * c->sm_count + sm;
}

/* The memory of the caches, for the first wave that uses it. */
static void take_store(struct cache_sim *c)
{
	c->store.bytes[0] = cache_sets_bytes(&c->l1, (size_t)c->sm_count * L1_SETS);
	c->store.bytes[1] = l2_bytes(&c->l2);
	cache_store_take(&c->store);
	c->l1.way = c->store.at[0];
	l2_use(&c->l2, c->store.at[1]);
	c->first_level = c->level;
}

static void give_store(struct cache_sim *c)
{
	if (c->n_used > FEW_ENTRIES)
		for (unsigned i = 0; i < CACHE_STORE_PIECES; i++)
			memset(c->store.at[i], 0, c->store.bytes[i] >> c->first_level);
	else
		for (size_t i = 0; i < c->n_used; i++) {
			cache_sets_empty(&c->l1, l1_set(c, c->used[i].sm, c->used[i].hash));
			l2_empty(&c->l2, c->used[i].sm, c->used[i].hash);
		}
	cache_store_give(&c->store);
}

void cache_sim_free(struct cache_sim *c)
{
	if (!c)
		return;
	if (c->l1.way)
		give_store(c);
	l2_free(&c->l2);
	free(c->used);
	free(c->wave);
	for (unsigned i = 0; i < CACHE_PARTS; i++) {
		free(c->part[i].order);
		free(c->part[i].spare);
		free(c->part[i].entry);
		load_wait_free(&c->part[i].waits);
	}
	load_waits_free(&c->waits);
	free(c);
}

unsigned cache_sim_level(const struct cache_sim *c)
{
	const unsigned reached = atomic_load_explicit(&c->reached, memory_order_relaxed);
	return reached > c->level ? reached : c->level;
}

void cache_sim_reached(struct cache_sim *c, unsigned level)
{
	unsigned reached = atomic_load_explicit(&c->reached, memory_order_relaxed);
	while (reached < level &&
	       !atomic_compare_exchange_weak_explicit(&c->reached, &reached, level,
	                                              memory_order_relaxed, memory_order_relaxed))
		;
}

/* Where the wave before left too many entries, blocks note fewer lines from now on. */
void cache_sim_wave_size(struct cache_sim *c, uint64_t blocks)
{
	for (uint64_t n = c->last_entries; n > c->wave_entries && c->level < LOG_MAX_LEVEL; n /= 2)
		c->level++;
	c->last_entries = 0;
	c->wave_blocks = blocks ? blocks : 1;
}

size_t cache_sim_block_limit(const struct cache_sim *c)
{
	const size_t share = (size_t)(c->wave_entries / c->wave_blocks);
	return share > 16 ? share : 16;
}

bool cache_sim_warm(struct cache_sim *c, uint32_t first, uint32_t lines, enum warm_kind kind,
                    double share)
{
	return l2_warm(&c->l2, first, lines, kind, share);
}

void cache_sim_host(struct cache_sim *c, uint32_t first, uint32_t lines)
{
	l2_host(&c->l2, first, lines);
}

void cache_sim_follow_first(struct cache_sim *c, uint32_t lines)
{
	l2_follow_first(&c->l2, lines);
}

const uint64_t *cache_sim_bitmap(struct cache_sim *c, unsigned level)
{
	return line_filter_bits(c->filter, level);
}

/* What each followed line stands for. */
static double weight_of(const struct cache_sim *c)
{
	return (double)((uint32_t)1 << c->level);
}

/* --- one access --- */

static struct l1_line *l1_line_at(const struct cache_sim *c, size_t way)
{
	return cache_sets_data(&c->l1, way);
}

/* Through L1. */
static void load_line(struct cache_sim *c, struct part *p, const struct log_entry *e, uint32_t sm,
                      uint32_t hash)
{
	const uint32_t instant = p->waits.instant & INSTANT_MASK;
	const size_t set = l1_set(c, sm, hash);
	unsigned missing = e->sectors;
	size_t way = cache_sets_find(&c->l1, set, e->line);
	if (way == NO_WAY) {
		way = cache_sets_oldest(&c->l1, set);
		*l1_line_at(c, way) = (struct l1_line){ 0 };
		cache_sets_put(&c->l1, way, e->line);
	} else if (e->kind == LOG_LOAD) {
		missing &= ~(unsigned)l1_line_at(c, way)->sectors;
	}
	struct l1_line *l = l1_line_at(c, way);
	l->sectors |= e->sectors;
	cache_sets_touch(&c->l1, way, ++p->clock);
	if (missing) {
		l->from_dram = l2_access(&c->l2, &p->l2, e, sm, hash, missing, instant);
		l->read_at = instant & INSTANT_MASK;
		l->who = (uint16_t)e->who;
	}
	/* the same load has just asked for it, in another warp: a warp waits for its own once */
	const bool late = missing || (l->read_at == instant && l->who == e->who);
	load_wait_add(&p->waits, e->who, e->lines, missing != 0, l->from_dram && late, late);
}

static void access_line(struct cache_sim *c, struct part *p, const struct log_entry *e, uint32_t sm)
{
	const uint32_t hash = line_hash(e->line);
	if (e->kind == LOG_LOAD || e->kind == LOG_LOCAL) {
		load_line(c, p, e, sm, hash);
		return;
	}
	if (e->kind == LOG_ATOMIC) {
		const size_t way = cache_sets_find(&c->l1, l1_set(c, sm, hash), e->line);
		if (way != NO_WAY)
			l1_line_at(c, way)->sectors = 0;
	}
	const bool from_dram =
		l2_access(&c->l2, &p->l2, e, sm, hash, e->sectors, p->waits.instant & INSTANT_MASK);
	if (e->kind == LOG_LOAD_L2)
		load_wait_add(&p->waits, e->who, e->lines, true, from_dram, true);
}

/* --- a wave --- */

static void reserve_order(struct part *p, size_t n)
{
	if (n <= p->cap_order)
		return;
	p->cap_order = 2 * n;
	p->order = mem_realloc(p->order, p->cap_order, sizeof *p->order);
	p->spare = mem_realloc(p->spare, p->cap_order, sizeof *p->spare);
}

static void note_used(struct cache_sim *c, uint32_t sm, uint32_t hash)
{
	if (c->n_used > FEW_ENTRIES)
		return;
	MEM_ROOM(c->used, c->n_used, c->cap_used, 256);
	c->used[c->n_used].sm = sm;
	c->used[c->n_used++].hash = hash;
}

/* Hands the entries of a block to the parts that take them. Returns the latest time of one. */
static uint64_t share_out(struct cache_sim *c, const struct block_record *r, uint32_t sm)
{
	const uint32_t drop = (1u << c->level) - 1;
	uint64_t latest = 0;
	for (size_t k = r->start; k < r->end; k++) {
		const struct log_entry *e = &r->log->e[k];
		const uint32_t hash = line_hash(e->line);
		if (hash & drop)
			continue;
		note_used(c, sm, hash);
		struct part *p = &c->part[e->part];
		MEM_ROOM(p->entry, p->n, p->cap, 64);
		p->entry[p->n++] = (struct part_entry){ *e, sm };
		latest = e->time > latest ? e->time : latest;
		c->queued++;
	}
	return latest;
}

bool cache_sim_add_wave(struct cache_sim *c, const struct block_record *records, uint64_t n)
{
	const size_t queued = c->queued;
	uint64_t latest = 0;
	bool any = false;
	for (uint64_t i = 0; i < n; i++) {
		any |= records[i].log && records[i].end > records[i].start;
		if (records[i].level > c->level)
			c->level = records[i].level;
	}
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t t =
			records[i].log ? share_out(c, &records[i], (uint32_t)(i % c->sm_count)) : 0;
		latest = t > latest ? t : latest;
	}
	if (any && !c->l1.way)
		take_store(c);
	MEM_ROOM(c->wave, c->n_waves, c->cap_waves, 32);
	struct waiting_wave *w = &c->wave[c->n_waves++];
	*w = (struct waiting_wave){ .weight = weight_of(c) };
	while (latest >> w->coarse > UINT32_MAX) /* times of long kernels lose their last bits */
		w->coarse++;
	for (unsigned i = 0; i < CACHE_PARTS; i++)
		w->end[i] = c->part[i].n;
	c->last_entries = c->queued - queued;
	atomic_store(&c->parts_left, CACHE_PARTS);
	return c->queued >= QUEUE_ENTRIES;
}

/* Stable radix sort by the upper 32 bits. */
static void sort_by_time(struct part *p, size_t n)
{
	for (unsigned shift = 32; shift < 64; shift += 8) {
		size_t count[257] = { 0 };
		for (size_t i = 0; i < n; i++)
			count[(p->order[i] >> shift & 255) + 1]++;
		if (count[(p->order[0] >> shift & 255) + 1] == n)
			continue;
		for (unsigned k = 0; k < 256; k++)
			count[k + 1] += count[k];
		for (size_t i = 0; i < n; i++)
			p->spare[count[p->order[i] >> shift & 255]++] = p->order[i];
		uint64_t *t = p->order;
		p->order = p->spare;
		p->spare = t;
	}
}

/* The sets of entry @x will be needed soon. They are all over memory, unlike anything else here. */
static void fetch_sets(const struct cache_sim *c, const struct part_entry *x)
{
	const struct log_entry *e = &x->e;
	const uint32_t hash = line_hash(e->line);
	if (e->kind == LOG_LOAD || e->kind == LOG_LOCAL)
		cache_sets_prefetch(&c->l1, l1_set(c, x->sm, hash));
	l2_prefetch(&c->l2, x->sm, hash, e->kind <= LOG_LOAD_L2);
}

/* Each sector of this wave stands for @weight. */
static void end_wave(struct part *p, double weight)
{
	const struct l2_traffic *t = &p->l2.now;
	p->before.l2_sectors += weight * (double)t->asked;
	p->before.l2_requests += weight * (double)t->requests;
	p->before.load_requests += weight * (double)t->loads;
	p->before.l2_written += weight * (double)t->written;
	p->before.l2_local += weight * (double)t->local;
	p->before.read_bytes += weight * SECTOR * (double)t->read;
	p->before.filled_bytes += weight * SECTOR * (double)t->filled;
	p->before.write_bytes += weight * SECTOR * (double)t->write;
	p->before.host_read_bytes += weight * SECTOR * (double)t->host_read;
	p->before.host_write_bytes += weight * SECTOR * (double)t->host_written;
	p->before.found_bytes += weight * SECTOR * (double)t->found;
	p->before.missed_sectors += weight * (double)t->missed;
	p->before.first_bytes += weight * SECTOR * (double)t->first;
	p->before.memory_accesses += weight * (double)t->memory_accesses;
	p->l2.now = (struct l2_traffic){ 0 };
}

#define FETCH_AHEAD 8 /* entries */

/* The @n entries of part @p from @entry on, which are those of wave @w. */
static void take_wave(struct cache_sim *c, struct part *p, const struct waiting_wave *w,
                      const struct part_entry *entry, size_t n)
{
	reserve_order(p, n);
	for (size_t i = 0; i < n; i++)
		p->order[i] = entry[i].e.time >> w->coarse << 32 | i;
	if (n)
		sort_by_time(p, n);
	uint64_t time = n ? p->order[0] >> 32 : 0;
	load_wait_begin(&p->waits, (uint32_t)time);
	for (size_t i = 0; i < n; i++) {
		if (i + FETCH_AHEAD < n)
			fetch_sets(c, &entry[(uint32_t)p->order[i + FETCH_AHEAD]]);
		const struct part_entry *x = &entry[(uint32_t)p->order[i]];
		if (p->order[i] >> 32 != time) {
			time = p->order[i] >> 32;
			load_wait_next(&p->waits, (uint32_t)time);
		}
		access_line(c, p, &x->e, x->sm);
	}
	end_wave(p, w->weight);
}

/* All parts have taken all waves. */
static void end_waves(struct cache_sim *c)
{
	const struct load_wait_log *logs[CACHE_PARTS];
	for (unsigned i = 0; i < CACHE_PARTS; i++)
		logs[i] = &c->part[i].waits;
	for (size_t w = 0; w < c->n_waves; w++)
		load_waits_add(&c->waits, logs, CACHE_PARTS, w, c->wave[w].weight);
	for (unsigned i = 0; i < CACHE_PARTS; i++) {
		load_wait_clear(&c->part[i].waits);
		c->part[i].n = 0;
	}
	c->n_waves = c->queued = 0;
}

void cache_sim_part(struct cache_sim *c, unsigned part)
{
	struct part *p = &c->part[part];
	size_t at = 0;
	for (size_t w = 0; w < c->n_waves; w++) {
		const size_t end = c->wave[w].end[part];
		take_wave(c, p, &c->wave[w], end > at ? p->entry + at : NULL, end - at);
		at = end;
	}
	if (atomic_fetch_sub(&c->parts_left, 1) == 1)
		end_waves(c);
}

/*
 * How many lines loads ask L2 for: as many as they ask, less what is asked again. Squares tell how
 * unevenly: those of bins are greater than those of lines, as far as lines share a bin by chance.
 */
static double lines_of(const struct cache_sim *c, double load_requests)
{
	double all = 0, squares = 0;
	for (unsigned i = 0; i < CACHE_PARTS; i++) {
		double asked = 0, of_bins = 0;
		for (unsigned k = 0; k < WANTED_BINS; k++) {
			const double n = (double)c->part[i].l2.wanted[k];
			asked += n;
			of_bins += n * n;
		}
		all += asked;
		squares += fmax(asked, (of_bins * WANTED_BINS - asked * asked) / (WANTED_BINS - 1));
	}
	return squares > 0 ? load_requests * all / squares : 0;
}

struct cache_totals cache_sim_totals(const struct cache_sim *c)
{
	struct cache_totals t = { 0 };
	const double weight = weight_of(c);
	for (unsigned i = 0; i < CACHE_PARTS; i++) {
		const struct cache_totals *b = &c->part[i].before;
		t.l2_sectors += b->l2_sectors;
		t.l2_requests += b->l2_requests;
		t.load_requests += b->load_requests;
		t.l2_written += b->l2_written;
		t.l2_local += b->l2_local;
		t.read_bytes += b->read_bytes;
		t.filled_bytes += b->filled_bytes;
		t.write_bytes += b->write_bytes;
		t.host_read_bytes += b->host_read_bytes;
		t.host_write_bytes += b->host_write_bytes;
		t.found_bytes += b->found_bytes;
		t.missed_sectors += b->missed_sectors;
		t.first_bytes += b->first_bytes;
		t.memory_accesses += b->memory_accesses;
		for (unsigned level = c->level; level <= LOG_MAX_LEVEL; level++)
			t.late_write_bytes += SECTOR * weight * (double)c->part[i].l2.dirty[level];
	}
	t.load_lines = lines_of(c, t.load_requests);
	return t;
}

struct load_sum cache_sim_load(const struct cache_sim *c, unsigned load)
{
	return load_waits_of(&c->waits, load);
}
