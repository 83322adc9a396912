/*
 * Sets of a set-associative cache: which lines are in which way, and which was used last.
 *
 * Ways stand in groups of four, lines, times of use and what the owner knows of each line side by
 * side: a group is one line of the processor's, and a search is a few vector comparisons. Sets that
 * are in use together when lines are sampled lie together, too.
 */
#ifndef PMPP_EMU_CACHE_SET_H
#define PMPP_EMU_CACHE_SET_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define WAYS_PER_GROUP 4
typedef int32_t way_vector __attribute__((vector_size(4 * WAYS_PER_GROUP)));

#define WAY_DATA_BYTES 8 /* the owner's, of each way */

struct way_group {
	way_vector line; /* + 1; 0 = empty */
	way_vector used; /* time of the last use; 0 = never */
	uint64_t data[WAYS_PER_GROUP];
} __attribute__((aligned(64)));
struct cache_sets {
	unsigned groups;       /* of each set */
	way_vector past_end;   /* all ones in the last group's lanes that are no ways */
	struct way_group *way; /* groups of set 0, of set 1, ...; NULL = not made yet */
};

/* Of @of sets with consecutive hashes, a power of two and at least 256, the place of @hash's: those
 * whose hash has @n low zeros, up to 8, are the first 1/2^n of all. */
static inline uint32_t cache_sets_place(uint32_t hash, uint32_t of)
{
	/* the low byte turned round: "Bit Twiddling Hacks", S. E. Anderson */
	const uint64_t spread = (uint64_t)(hash & 255) * 0x80200802u & 0x0884422110u;
	const uint32_t turned = (uint32_t)(spread * 0x0101010101u >> 32) & 255;
	return turned * (of / 256) + (hash >> 8 & (of / 256 - 1));
}

/* The shape only; its owner gives it memory: zeroes, cache_sets_bytes(). @ways: at least 1. */
static inline void cache_sets_init(struct cache_sets *c, unsigned ways)
{
	c->groups = (ways + WAYS_PER_GROUP - 1) / WAYS_PER_GROUP;
	c->way = NULL;
	for (unsigned i = 0; i < WAYS_PER_GROUP; i++)
		c->past_end[i] = (c->groups - 1) * WAYS_PER_GROUP + i < ways ? 0 : -1;
}

/* Of @sets sets. */
static inline size_t cache_sets_bytes(const struct cache_sets *c, size_t sets)
{
	return sets * c->groups * sizeof *c->way;
}

/* Nothing is in @set any more. */
static inline void cache_sets_empty(struct cache_sets *c, size_t set)
{
	memset(c->way + set * c->groups, 0, cache_sets_bytes(c, 1));
}

/* A bit for each way whose lane is all ones; the others are 0. */
static inline unsigned way_bits(way_vector v)
{
#ifdef __SSE2__
	return (unsigned)_mm_movemask_ps((__m128)v);
#else
	unsigned bits = 0;
	for (unsigned i = 0; i < WAYS_PER_GROUP; i++)
		bits |= (unsigned)(v[i] & 1) << i;
	return bits;
#endif
}

static inline way_vector way_least(way_vector a, way_vector b)
{
	const way_vector less = a < b;
	return (a & less) | (b & ~less);
}

#define NO_WAY SIZE_MAX
/* Index of the way of @set that holds @line, or NO_WAY. */
static inline size_t cache_sets_find(const struct cache_sets *c, size_t set, uint32_t line)
{
	const struct way_group *g = c->way + set * c->groups;
	const way_vector wanted = (way_vector){ 0 } + (int32_t)(line + 1);
	for (unsigned k = 0; k < c->groups; k++) {
		const unsigned same = way_bits(g[k].line == wanted);
		if (same)
			return (set * c->groups + k) * WAYS_PER_GROUP + (unsigned)__builtin_ctz(same);
	}
	return NO_WAY;
}

/* Index of a way of @set that is empty, or else the one that was used longest ago. */
static inline size_t cache_sets_oldest(const struct cache_sets *c, size_t set)
{
	const struct way_group *g = c->way + set * c->groups;
	const int last = (int)c->groups - 1;
	/* ways that are none were used at the end of time */
	way_vector used = g[last].used | (c->past_end & INT32_MAX), group = (way_vector){ 0 } + last;
	for (int k = 0; k < last; k++) {
		const way_vector earlier = g[k].used < used;
		used = (g[k].used & earlier) | (used & ~earlier);
		group = (earlier & k) | (group & ~earlier);
	}
	const way_vector two = way_least(used, (way_vector){ used[2], used[3], used[0], used[1] });
	const way_vector least = way_least(two, (way_vector){ two[1], two[0], two[3], two[2] });
	const unsigned at = (unsigned)__builtin_ctz(way_bits(used == least));
	return (set * c->groups + (size_t)group[at]) * WAYS_PER_GROUP + at;
}

/* The set will be needed soon. */
static inline void cache_sets_prefetch(const struct cache_sets *c, size_t set)
{
	for (size_t g = 0; g < c->groups; g++)
		__builtin_prefetch(c->way + set * c->groups + g, 1);
}

/* The way holds @line from now on. */
static inline void cache_sets_put(struct cache_sets *c, size_t way, uint32_t line)
{
	c->way[way / WAYS_PER_GROUP].line[way % WAYS_PER_GROUP] = (int32_t)(line + 1);
}
/* What the owner knows of the way's line: WAY_DATA_BYTES of any type. */
static inline void *cache_sets_data(const struct cache_sets *c, size_t way)
{
	return &c->way[way / WAYS_PER_GROUP].data[way % WAYS_PER_GROUP];
}
/* The way is used at @time, 1 to INT32_MAX. */
static inline void cache_sets_touch(struct cache_sets *c, size_t way, uint32_t time)
{
	c->way[way / WAYS_PER_GROUP].used[way % WAYS_PER_GROUP] = (int32_t)time;
}

#endif
