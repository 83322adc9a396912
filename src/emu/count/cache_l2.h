/*
 * L2 of the cache simulation, and what it reads from memory and writes there; see cache_sim.c.
 *
 * Where a GPU has L2 in partitions, each SM belongs to one, and each line to another or the same,
 * its home: stores and atomics go there, and it alone talks to memory. Loads ask the SM's own
 * partition first, which keeps a copy of what it fetched from the other: lines that all SMs read
 * take their room twice. What was written since it came is not copied.
 */
#ifndef PMPP_EMU_CACHE_L2_H
#define PMPP_EMU_CACHE_L2_H

#include "emu/count/cache_set.h"
#include "emu/count/cache_sim.h"

/* Sectors of a part's lines, but for: */
struct l2_traffic {
	uint64_t asked, written, local, read, write, found; /* found: brought there before */
	uint64_t filled; /* of read: what stores had left empty of sectors that have to leave */
	uint64_t missed; /* asked by loads and atomics and not there: read or found, with their pairs */
	uint64_t host_read, host_written; /* of the host's memory, and in none of read, write, found */
	uint64_t first;    /* of read and found: never before in this launch, where that is followed */
	uint64_t requests; /* accesses, whatever their sectors */
	uint64_t loads;    /* of these */
	uint64_t memory_accesses; /* lines read from memory or written to it at one time */
};
/* Lines that loads ask for, told apart by so many bits of their hash. */
#define WANTED_BINS 256
/* What one part of the simulation does with L2. */
struct l2_part {
	uint64_t wanted[WANTED_BINS]; /* how often */
	uint32_t clock;               /* accesses so far */
	struct l2_traffic now;        /* of this wave, at its level */
	/* sectors that L2 still has to write, by the highest level at which their set is in use */
	uint64_t dirty[LOG_MAX_LEVEL + 1];
};

struct l2_cache {
	uint32_t sets; /* of a partition; a power of two */
	unsigned partitions;
	struct cache_sets tags;
	struct {
		uint32_t first, end, share; /* of 256 */
		enum warm_kind kind;
	} warm[WARM_RANGES]; /* lines that are there from before */
	unsigned n_warm;
	struct {
		uint32_t first, end;
	} *host; /* lines of the host's memory, ascending */
	unsigned n_host, cap_host;
	uint8_t *seen; /* of each line, sectors that were read from memory; was it here before? */
	uint32_t n_seen;
};

/* The shape; memory comes once something is asked of it: l2_bytes(), all zero, which stay the
 * caller's. When only hashes with @n low zeros, up to 8, were used, what is beyond the first 1/2^n
 * of them is zero still. */
void l2_init(struct l2_cache *c, const struct gpu_spec *gpu);
size_t l2_bytes(const struct l2_cache *c);
void l2_use(struct l2_cache *c, void *memory);
/* Zeroes again what an access of SM @sm to the line of @hash may have used. */
void l2_empty(struct l2_cache *c, uint32_t sm, uint32_t hash);
void l2_free(struct l2_cache *c);
bool l2_warm(struct l2_cache *c, uint32_t first, uint32_t lines, enum warm_kind kind, double share);
/* Lines from @first on are memory of the host; of ranges that ascend. */
void l2_host(struct l2_cache *c, uint32_t first, uint32_t lines);
/* Follows what is read for the first time, of lines below @lines. */
void l2_follow_first(struct l2_cache *c, uint32_t lines);
/*
 * @sectors of line @e->line, whose hash is @hash, are asked for by SM @sm at @instant (24 bits).
 * True: something is read from memory for it, or was at this instant.
 */
bool l2_access(struct l2_cache *c, struct l2_part *p, const struct log_entry *e, uint32_t sm,
               uint32_t hash, unsigned sectors, uint32_t instant);
/* The same line's sets will be needed soon; @load: by a load. */
void l2_prefetch(const struct l2_cache *c, uint32_t sm, uint32_t hash, bool load);

static inline unsigned sector_count(unsigned mask)
{
	static const uint8_t count[16] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };
	return count[mask & 15];
}

#endif
