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
#include "emu/count/cache_set.h"

#include <stdlib.h>
#include <string.h>

#define LINE 128
#define SECTOR 32
#define L1_SETS 256 /* 1 << LOG_MAX_LEVEL */
/* Entries of the whole launch to aim at, and bounds for those of one wave. */
#define LAUNCH_ENTRIES ((uint64_t)1 << 18)
#define WAVE_ENTRIES_LEAST ((uint64_t)1 << 13)
#define WAVE_ENTRIES_MOST ((uint64_t)1 << 16)

/* Instants are told apart by so much of them. */
#define INSTANT_MASK 0xffffffu
/* What L2 knows of a line, a bit per sector where nothing else is said. Eight bytes: a set's lines
 * are two of the processor's. */
struct l2_line {
	uint64_t valid : 4, dirty : 4;
	uint64_t fetched : 4;  /* came from memory; not valid: before the launch's first block */
	uint64_t whole : 4;    /* wholly written */
	uint64_t written : 24; /* bytes of each dirty sector that is not whole, 6 bits each */
	uint64_t read_at : 24; /* the instant at which something was last read from memory */
};
/* What an L1 knows of a line. */
struct l1_line {
	uint32_t sectors : 4;
	uint32_t from_dram : 1; /* what came last, ... */
	uint32_t read_at : 24;  /* ... and the instant at which it came */
};
/* Sectors of the part's lines. */
struct traffic {
	uint64_t l2, l2_written, l2_local, read, write, found; /* found: brought there before */
	uint64_t l2_requests; /* these are accesses, whatever their sectors */
};
struct part {
	uint32_t clock;                                              /* accesses so far */
	struct traffic now;                                          /* of this wave, at its level */
	double l2_sectors, l2_written, l2_local, read, write, found; /* of the waves before, weighed */
	double l2_requests;                                          /* likewise */
	/* sectors that L2 still has to write, by the highest level at which their set is in use */
	uint64_t dirty[LOG_MAX_LEVEL + 1];
	/* of the wave: its entries in the order of the blocks, and the SM of each */
	const struct log_entry **entry;
	uint32_t *sm;
	uint64_t *order, *spare; /* sort buffers */
	size_t n, cap;
	uint64_t latest; /* time of an entry */
	struct load_wait_log waits;
};
struct cache_sim {
	unsigned sm_count, level;
	uint32_t l2_sets;
	struct line_filter *filter;
	uint64_t wave_blocks, wave_entries;
	struct cache_sets l1, l2;
	struct {
		uint32_t first, end;
	} warm[WARM_RANGES]; /* lines that L2 holds from before */
	unsigned n_warm;
	struct l1_line *l1_line; /* by way of L1 */
	struct l2_line *l2_line; /* by way of L2 */
	struct part part[CACHE_PARTS];
};

struct cache_sim *cache_sim_new(const struct gpu_spec *gpu, double l1_bytes,
                                struct line_filter *filter, uint64_t waves, unsigned loads)
{
	struct cache_sim *c = mem_zalloc(sizeof *c);
	const double l2_lines = gpu->l2_bytes / LINE, l1_lines = l1_bytes / LINE;
	c->sm_count = gpu->sm_count ? gpu->sm_count : 1;
	cache_sets_init(&c->l1, l1_lines > L1_SETS ? (unsigned)(l1_lines / L1_SETS) : 1);
	for (c->l2_sets = L1_SETS; 32.0 * c->l2_sets <= l2_lines;)
		c->l2_sets *= 2;
	cache_sets_init(&c->l2, l2_lines > c->l2_sets ? (unsigned)(l2_lines / c->l2_sets) : 1);
	c->filter = filter;
	c->wave_blocks = 1;
	c->wave_entries = LAUNCH_ENTRIES / (waves ? waves : 1);
	if (c->wave_entries > WAVE_ENTRIES_MOST)
		c->wave_entries = WAVE_ENTRIES_MOST;
	if (c->wave_entries < WAVE_ENTRIES_LEAST)
		c->wave_entries = WAVE_ENTRIES_LEAST;
	for (unsigned i = 0; i < CACHE_PARTS; i++)
		load_wait_init(&c->part[i].waits, loads);
	return c;
}

void cache_sim_free(struct cache_sim *c)
{
	if (!c)
		return;
	cache_sets_free(&c->l1);
	cache_sets_free(&c->l2);
	free(c->l1_line);
	free(c->l2_line);
	for (unsigned i = 0; i < CACHE_PARTS; i++) {
		free(c->part[i].order);
		free(c->part[i].spare);
		free(c->part[i].entry);
		free(c->part[i].sm);
		load_wait_free(&c->part[i].waits);
	}
	free(c);
}

unsigned cache_sim_level(const struct cache_sim *c)
{
	return c->level;
}

void cache_sim_wave_size(struct cache_sim *c, uint64_t blocks)
{
	c->wave_blocks = blocks ? blocks : 1;
}

size_t cache_sim_block_limit(const struct cache_sim *c)
{
	const size_t share = (size_t)(c->wave_entries / c->wave_blocks);
	return share > 16 ? share : 16;
}

bool cache_sim_warm(struct cache_sim *c, uint32_t first, uint32_t lines)
{
	if (c->n_warm == WARM_RANGES)
		return false;
	c->warm[c->n_warm].first = first;
	c->warm[c->n_warm++].end = first + lines;
	return true;
}

static bool is_warm(const struct cache_sim *c, uint32_t line)
{
	unsigned i = 0;
	while (i < c->n_warm && (line < c->warm[i].first || line >= c->warm[i].end))
		i++;
	return i < c->n_warm;
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

static size_t l2_set(const struct cache_sim *c, uint32_t hash)
{
	return hash & (c->l2_sets - 1);
}

static size_t l1_set(uint32_t sm, uint32_t hash)
{
	return (size_t)sm * L1_SETS + (hash & (L1_SETS - 1));
}

/* Sectors and those of their pairs. */
#define PAIR(sectors) ((sectors) | ((sectors) >> 1 & 5u) | ((sectors) << 1 & 10u))

static unsigned sector_count(unsigned mask)
{
	static const uint8_t count[16] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };
	return count[mask & 15];
}

static void evict(struct traffic *t, const struct l2_line *w)
{
	/* dirty sectors that are neither known nor wholly written are read first */
	t->read += sector_count(w->dirty & ~(unsigned)(w->fetched | w->whole));
	t->write += sector_count(w->dirty);
}

static void mark_written(struct l2_line *w, unsigned sectors, unsigned bytes)
{
	w->dirty = (w->dirty | sectors) & 15;
	if (bytes >= SECTOR) {
		w->whole = (w->whole | sectors) & 15;
		return;
	}
	for (unsigned i = 0; i < 4; i++) {
		if (!(sectors >> i & 1))
			continue;
		const unsigned sum = (w->written >> 6 * i & 63) + bytes;
		if (sum >= SECTOR)
			w->whole = (w->whole | 1u << i) & 15;
		else
			w->written = ((w->written & ~(63u << 6 * i)) | sum << 6 * i) & 0xffffffu;
	}
}

/* True: something is read from memory for it, or was at this instant. */
static bool access_l2(struct cache_sim *c, struct part *p, const struct log_entry *e, uint32_t hash,
                      unsigned sectors)
{
	const size_t set = l2_set(c, hash);
	size_t way = cache_sets_find(&c->l2, set, e->line);
	uint64_t *dirty = &p->dirty[__builtin_ctz(hash | 1u << LOG_MAX_LEVEL)];
	p->now.l2 += sector_count(sectors);
	p->now.l2_requests++;
	if (way == NO_WAY) {
		way = cache_sets_oldest(&c->l2, set);
		*dirty -= sector_count(c->l2_line[way].dirty);
		evict(&p->now, &c->l2_line[way]);
		c->l2_line[way] = (struct l2_line){ .fetched = is_warm(c, e->line) ? 15 : 0 };
		cache_sets_put(&c->l2, way, e->line);
	}
	struct l2_line *w = &c->l2_line[way];
	if (e->kind <= LOG_LOAD_L2 || e->kind == LOG_ATOMIC) {
		const unsigned missing = sectors & ~(unsigned)w->valid;
		const unsigned fetch = PAIR(missing) & ~(unsigned)(w->valid | w->fetched);
		p->now.read += sector_count(fetch);
		p->now.found += sector_count(missing & w->fetched);
		w->fetched = (w->fetched | fetch) & 15;
		w->valid = (w->valid | fetch) & 15;
		if (fetch)
			w->read_at = p->waits.instant & INSTANT_MASK;
	}
	w->valid = (w->valid | sectors) & 15;
	if (e->kind >= LOG_STORE) {
		*dirty += sector_count(sectors & ~(unsigned)w->dirty);
		p->now.l2_written += sector_count(sectors);
		if (e->kind == LOG_LOCAL)
			p->now.l2_local += sector_count(sectors);
		mark_written(w, sectors, e->kind == LOG_ATOMIC ? 0 : e->written);
	}
	cache_sets_touch(&c->l2, way, ++p->clock);
	return w->read_at == (p->waits.instant & INSTANT_MASK);
}

/* Through L1. */
static void load_line(struct cache_sim *c, struct part *p, const struct log_entry *e, uint32_t hash,
                      size_t set)
{
	const uint32_t instant = p->waits.instant & INSTANT_MASK;
	unsigned missing = e->sectors;
	size_t way = cache_sets_find(&c->l1, set, e->line);
	if (way == NO_WAY) {
		way = cache_sets_oldest(&c->l1, set);
		c->l1_line[way] = (struct l1_line){ 0 };
		cache_sets_put(&c->l1, way, e->line);
	} else if (e->kind == LOG_LOAD) {
		missing &= ~(unsigned)c->l1_line[way].sectors;
	}
	struct l1_line *l = &c->l1_line[way];
	l->sectors |= e->sectors;
	cache_sets_touch(&c->l1, way, ++p->clock);
	if (missing) {
		l->from_dram = access_l2(c, p, e, hash, missing);
		l->read_at = instant & INSTANT_MASK;
	}
	load_wait_add(&p->waits, e->who, e->lines, missing != 0, l->from_dram && l->read_at == instant);
}

static void access_line(struct cache_sim *c, struct part *p, const struct log_entry *e, uint32_t sm)
{
	const uint32_t hash = line_hash(e->line);
	const size_t set = l1_set(sm, hash);
	if (e->kind == LOG_LOAD || e->kind == LOG_LOCAL) {
		load_line(c, p, e, hash, set);
		return;
	}
	if (e->kind == LOG_ATOMIC) {
		const size_t way = cache_sets_find(&c->l1, set, e->line);
		if (way != NO_WAY)
			c->l1_line[way].sectors = 0;
	}
	const bool from_dram = access_l2(c, p, e, hash, e->sectors);
	if (e->kind == LOG_LOAD_L2)
		load_wait_add(&p->waits, e->who, e->lines, true, from_dram);
}

/* --- a wave --- */

static void reserve_entries(struct part *p, size_t n)
{
	if (n <= p->cap)
		return;
	p->cap = 2 * n;
	p->order = mem_realloc(p->order, p->cap, sizeof *p->order);
	p->spare = mem_realloc(p->spare, p->cap, sizeof *p->spare);
	p->entry = mem_realloc(p->entry, p->cap, sizeof *p->entry);
	p->sm = mem_realloc(p->sm, p->cap, sizeof *p->sm);
}

/* Hands the entries of a block to the parts that take them. */
static void share_out(struct cache_sim *c, const struct block_record *r, uint32_t sm)
{
	const uint32_t drop = (1u << c->level) - 1;
	for (size_t k = r->start; k < r->end; k++) {
		const struct log_entry *e = &r->log->e[k];
		if (line_hash(e->line) & drop)
			continue;
		struct part *p = &c->part[e->part];
		reserve_entries(p, p->n + 1);
		p->entry[p->n] = e;
		p->sm[p->n++] = sm;
		p->latest = e->time > p->latest ? e->time : p->latest;
	}
}

void cache_sim_wave_begin(struct cache_sim *c, const struct block_record *records, uint64_t n)
{
	bool any = false;
	for (uint64_t i = 0; i < n; i++) {
		any |= records[i].log && records[i].end > records[i].start;
		if (records[i].level > c->level)
			c->level = records[i].level;
	}
	for (unsigned i = 0; i < CACHE_PARTS; i++) {
		c->part[i].n = 0;
		c->part[i].latest = 0;
	}
	for (uint64_t i = 0; i < n; i++)
		if (records[i].log)
			share_out(c, &records[i], (uint32_t)(i % c->sm_count));
	if (!any || c->l1_line)
		return;
	const size_t l1_sets = (size_t)c->sm_count * L1_SETS;
	cache_sets_alloc(&c->l1, l1_sets);
	cache_sets_alloc(&c->l2, c->l2_sets);
	c->l1_line = mem_calloc(cache_sets_ways(&c->l1, l1_sets), sizeof *c->l1_line);
	c->l2_line = mem_calloc(cache_sets_ways(&c->l2, c->l2_sets), sizeof *c->l2_line);
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

/* The sets of entry @k will be needed soon. They are all over memory, unlike anything else here. */
static void fetch_sets(const struct cache_sim *c, const struct part *p, uint32_t k)
{
	const uint32_t hash = line_hash(p->entry[k]->line);
	const size_t l2 = l2_set(c, hash) * c->l2.groups;
	if (p->entry[k]->kind == LOG_LOAD) {
		const size_t l1 = l1_set(p->sm[k], hash) * c->l1.groups;
		__builtin_prefetch(c->l1.way + l1);
		__builtin_prefetch(c->l1_line + l1 * WAYS_PER_GROUP);
	}
	for (size_t g = 0; g < c->l2.groups; g += 2) { /* 64 bytes */
		__builtin_prefetch(c->l2.way + l2 + g);
		__builtin_prefetch(c->l2_line + (l2 + g) * WAYS_PER_GROUP);
	}
}

/* Each sector of this wave stands for @weight. */
static void add_wave(struct part *p, double weight)
{
	p->l2_sectors += weight * (double)p->now.l2;
	p->l2_requests += weight * (double)p->now.l2_requests;
	p->l2_written += weight * (double)p->now.l2_written;
	p->l2_local += weight * (double)p->now.l2_local;
	p->read += weight * (double)p->now.read;
	p->write += weight * (double)p->now.write;
	p->found += weight * (double)p->now.found;
	p->now = (struct traffic){ 0 };
}

#define FETCH_AHEAD 8 /* entries */

void cache_sim_part(struct cache_sim *c, unsigned part)
{
	struct part *p = &c->part[part];
	const size_t n = p->n;
	if (!n)
		return;
	unsigned coarse = 0; /* times of long kernels lose their last bits */
	while (p->latest >> coarse > UINT32_MAX)
		coarse++;
	for (size_t i = 0; i < n; i++)
		p->order[i] = p->entry[i]->time >> coarse << 32 | i;
	sort_by_time(p, n);
	load_wait_begin(&p->waits, weight_of(c));
	uint64_t time = p->order[0] >> 32;
	for (size_t i = 0; i < n; i++) {
		if (i + FETCH_AHEAD < n)
			fetch_sets(c, p, (uint32_t)p->order[i + FETCH_AHEAD]);
		const uint32_t k = (uint32_t)p->order[i];
		if (p->order[i] >> 32 != time) {
			time = p->order[i] >> 32;
			load_wait_next(&p->waits);
		}
		access_line(c, p, p->entry[k], p->sm[k]);
	}
	add_wave(p, weight_of(c));
	load_wait_end(&p->waits);
}

struct cache_totals cache_sim_totals(const struct cache_sim *c)
{
	struct cache_totals t = { 0 };
	const double weight = weight_of(c);
	for (unsigned i = 0; i < CACHE_PARTS; i++) {
		const struct part *p = &c->part[i];
		t.l2_sectors += p->l2_sectors;
		t.l2_requests += p->l2_requests;
		t.l2_written += p->l2_written;
		t.l2_local += p->l2_local;
		t.read_bytes += SECTOR * p->read;
		t.write_bytes += SECTOR * p->write;
		t.found_bytes += SECTOR * p->found;
		for (unsigned level = c->level; level <= LOG_MAX_LEVEL; level++)
			t.late_write_bytes += SECTOR * weight * (double)p->dirty[level];
	}
	return t;
}

struct load_lines cache_sim_load(const struct cache_sim *c, unsigned load)
{
	struct load_lines sum = { 0 };
	for (unsigned i = 0; i < CACHE_PARTS; i++)
		load_lines_add(&sum, &c->part[i].waits.sum[load]);
	return sum;
}
