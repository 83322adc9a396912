/* L2 of the cache simulation; see cache_l2.h. */
#include "emu/count/cache_l2.h"

#include "base/mem.h"

#include <stdlib.h>

#define LINE 128
#define SECTOR 32
#define LEAST_SETS 256 /* 1 << LOG_MAX_LEVEL */

/* What L2 knows of a line, a bit per sector where nothing else is said. A copy away from its home
 * has only what is valid, and when it came. */
struct l2_line {
	uint64_t valid : 4, dirty : 4;
	uint64_t fetched : 4;  /* came from memory; not valid: before the launch's first block */
	uint64_t whole : 4;    /* wholly written */
	uint64_t written : 24; /* bytes of each dirty sector that is not whole, 6 bits each */
	uint64_t read_at : 24; /* the instant at which something was last read from memory */
};
_Static_assert(sizeof(struct l2_line) == WAY_DATA_BYTES, "belongs to a way");

static struct l2_line *line_at(const struct l2_cache *c, size_t way)
{
	return cache_sets_data(&c->tags, way);
}

void l2_init(struct l2_cache *c, const struct gpu_spec *gpu)
{
	*c = (struct l2_cache){ .partitions = gpu->l2_partitions > 1 ? gpu->l2_partitions : 1 };
	const double lines = gpu->l2_bytes / LINE;
	for (c->sets = LEAST_SETS; 32.0 * c->sets <= lines;)
		c->sets *= 2;
	const double ways = lines / c->sets / c->partitions;
	cache_sets_init(&c->tags, ways > 1 ? (unsigned)ways : 1);
}

size_t l2_bytes(const struct l2_cache *c)
{
	return cache_sets_bytes(&c->tags, (size_t)c->sets * c->partitions);
}

void l2_use(struct l2_cache *c, void *memory)
{
	c->tags.way = memory;
	c->seen = mem_calloc(c->n_seen, sizeof *c->seen);
}

void l2_free(struct l2_cache *c)
{
	free(c->host);
	free(c->seen);
}

void l2_host(struct l2_cache *c, uint32_t first, uint32_t lines)
{
	MEM_ROOM(c->host, c->n_host, c->cap_host, 8);
	c->host[c->n_host].first = first;
	c->host[c->n_host++].end = first + lines;
}

static bool is_host(const struct l2_cache *c, uint32_t line)
{
	/* ranges that begin at @line or before it lie below @high */
	unsigned low = 0, high = c->n_host;
	while (low < high) {
		const unsigned middle = (low + high) / 2;
		if (c->host[middle].first <= line)
			low = middle + 1;
		else
			high = middle;
	}
	return high && line < c->host[high - 1].end;
}

void l2_follow_first(struct l2_cache *c, uint32_t lines)
{
	c->n_seen = lines > c->n_seen ? lines : c->n_seen;
}

bool l2_warm(struct l2_cache *c, uint32_t first, uint32_t lines, enum warm_kind kind, double share)
{
	if (c->n_warm == WARM_RANGES)
		return false;
	c->warm[c->n_warm].first = first;
	c->warm[c->n_warm].end = first + lines;
	c->warm[c->n_warm].share = (uint32_t)(256 * share + 0.5);
	c->warm[c->n_warm++].kind = kind;
	l2_follow_first(c, first + lines);
	return true;
}

#define CAME 16 /* of c->seen, beside the sectors */

/* What L2 knows of a line that comes to its home: what was there before is so once. */
static struct l2_line line_from_before(const struct l2_cache *c, uint32_t line)
{
	if (line < c->n_seen && c->seen[line] & CAME)
		return (struct l2_line){ 0 };
	if (line < c->n_seen)
		c->seen[line] |= CAME;
	for (unsigned i = 0; i < c->n_warm; i++) {
		if (line < c->warm[i].first || line >= c->warm[i].end ||
		    (line * 0x9e3779b1u >> 24) >= c->warm[i].share)
			continue;
		return (struct l2_line){ .fetched = 15, .valid = c->warm[i].kind == WARM_KEPT ? 15 : 0 };
	}
	return (struct l2_line){ 0 };
}

/* --- sets --- */

static size_t set_of(const struct l2_cache *c, unsigned partition, uint32_t hash)
{
	return (size_t)cache_sets_place(hash, c->sets) * c->partitions + partition;
}

/* The same for all lines of a few kilobytes of nobody's pattern: bits that choose no set. */
static unsigned home_of(const struct l2_cache *c, uint32_t hash)
{
	return c->partitions > 1 ? (hash * 0x9e3779b1u >> 16) % c->partitions : 0;
}

void l2_empty(struct l2_cache *c, uint32_t sm, uint32_t hash)
{
	cache_sets_empty(&c->tags, set_of(c, sm % c->partitions, hash));
	cache_sets_empty(&c->tags, set_of(c, home_of(c, hash), hash));
}

void l2_prefetch(const struct l2_cache *c, uint32_t sm, uint32_t hash, bool load)
{
	const unsigned home = home_of(c, hash), own = sm % c->partitions;
	cache_sets_prefetch(&c->tags, set_of(c, home, hash));
	if (load && own != home)
		cache_sets_prefetch(&c->tags, set_of(c, own, hash));
}

/* --- what goes to memory --- */

/* Sectors and those of their pairs. */
#define PAIR(sectors) ((sectors) | ((sectors) >> 1 & 5u) | ((sectors) << 1 & 10u))

static void evict(struct l2_traffic *t, const struct l2_line *w)
{
	/* dirty sectors that are neither known nor wholly written are read first */
	const unsigned filled = sector_count(w->dirty & ~(unsigned)(w->fetched | w->whole));
	t->read += filled;
	t->filled += filled;
	t->write += sector_count(w->dirty);
	t->memory_accesses += w->dirty != 0;
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

/* A place for @line in @set. */
static size_t make_room(struct l2_cache *c, struct l2_part *p, size_t set, uint32_t line,
                        uint32_t hash)
{
	const size_t way = cache_sets_oldest(&c->tags, set);
	struct l2_line *w = line_at(c, way);
	p->dirty[__builtin_ctz(hash | 1u << LOG_MAX_LEVEL)] -= sector_count(w->dirty);
	evict(&p->now, w);
	*w = (struct l2_line){ 0 };
	cache_sets_put(&c->tags, way, line);
	return way;
}

static bool is_load(const struct log_entry *e)
{
	return e->kind <= LOG_LOAD_L2;
}

static void count_first(const struct l2_cache *c, struct l2_part *p, uint32_t line,
                        unsigned sectors)
{
	if (!sectors || line >= c->n_seen)
		return;
	p->now.first += sector_count(sectors & ~(unsigned)c->seen[line]);
	c->seen[line] = (uint8_t)(c->seen[line] | sectors);
}

/* Of the host's memory: what is read stays for this launch, what is written goes there at once. */
static void access_host(struct l2_part *p, struct l2_line *w, const struct log_entry *e,
                        unsigned sectors, uint32_t instant)
{
	const unsigned missing = is_load(e) ? sectors & ~(unsigned)w->valid : 0;
	p->now.host_read += sector_count(missing);
	if (missing)
		w->read_at = instant & 0xffffffu;
	w->valid = (w->valid | sectors) & 15;
	if (is_load(e))
		return;
	p->now.written += sector_count(sectors);
	p->now.host_written += sector_count(sectors);
}

/* At its home. */
static const struct l2_line *access_home(struct l2_cache *c, struct l2_part *p,
                                         const struct log_entry *e, uint32_t hash, unsigned sectors,
                                         uint32_t instant)
{
	const size_t set = set_of(c, home_of(c, hash), hash);
	size_t way = cache_sets_find(&c->tags, set, e->line);
	if (way == NO_WAY) {
		way = make_room(c, p, set, e->line, hash);
		*line_at(c, way) = line_from_before(c, e->line);
	}
	struct l2_line *w = line_at(c, way);
	cache_sets_touch(&c->tags, way, ++p->clock);
	if (c->n_host && is_host(c, e->line)) {
		access_host(p, w, e, sectors, instant);
		return w;
	}
	if (is_load(e) || e->kind == LOG_ATOMIC) {
		const unsigned missing = sectors & ~(unsigned)w->valid;
		const unsigned fetch = PAIR(missing) & ~(unsigned)(w->valid | w->fetched);
		p->now.missed += sector_count(missing);
		p->now.read += sector_count(fetch);
		const unsigned found = missing & w->fetched;
		p->now.found += sector_count(found);
		count_first(c, p, e->line, fetch | found);
		w->fetched = (w->fetched | fetch) & 15;
		w->valid = (w->valid | fetch) & 15;
		p->now.memory_accesses += fetch && w->read_at != instant;
		if (fetch | found) /* how many of these it is for the whole launch is known at its end */
			w->read_at = instant & 0xffffffu;
	}
	w->valid = (w->valid | sectors) & 15;
	if (e->kind >= LOG_STORE) {
		p->dirty[__builtin_ctz(hash | 1u << LOG_MAX_LEVEL)] +=
			sector_count(sectors & ~(unsigned)w->dirty);
		p->now.written += sector_count(sectors);
		if (e->kind == LOG_LOCAL)
			p->now.local += sector_count(sectors);
		mark_written(w, sectors, e->kind == LOG_ATOMIC ? 0 : e->written);
	}
	return w;
}

bool l2_access(struct l2_cache *c, struct l2_part *p, const struct log_entry *e, uint32_t sm,
               uint32_t hash, unsigned sectors, uint32_t instant)
{
	const unsigned own = sm % c->partitions;
	p->now.asked += sector_count(sectors);
	p->now.requests++;
	p->now.loads += is_load(e);
	p->wanted[hash * 0x9e3779b1u >> 24] += is_load(e);
	if (!is_load(e) || own == home_of(c, hash))
		return access_home(c, p, e, hash, sectors, instant)->read_at == instant;
	const size_t set = set_of(c, own, hash);
	size_t way = cache_sets_find(&c->tags, set, e->line);
	const unsigned missing = sectors & ~(way == NO_WAY ? 0u : (unsigned)line_at(c, way)->valid);
	const struct l2_line *const home =
		missing ? access_home(c, p, e, hash, missing, instant) : NULL;
	const bool from_memory = home && home->read_at == instant;
	if (home && home->dirty)
		return from_memory;
	if (way == NO_WAY)
		way = make_room(c, p, set, e->line, hash);
	struct l2_line *w = line_at(c, way);
	w->valid = (w->valid | missing) & 15;
	if (from_memory)
		w->read_at = instant & 0xffffffu;
	cache_sets_touch(&c->tags, way, ++p->clock);
	return w->read_at == instant;
}
