/*
 * L1 and L2 caches and device memory, fed wave by wave with the sampled stream of cache_log.c.
 * Knows lines, SMs and blocks' order; not instructions.
 */
#ifndef PMPP_EMU_CACHE_SIM_H
#define PMPP_EMU_CACHE_SIM_H

#include "emu/count/load_wait.h"
#include "model/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- its input --- */

/* LOG_LOCAL: a store to local memory, which its SM keeps in L1 as well. */
enum log_kind { LOG_LOAD, LOG_LOAD_L2, LOG_STORE, LOG_LOCAL, LOG_ATOMIC };
struct log_entry {
	uint64_t time : 48; /* instructions the warp had begun */
	uint64_t who : 16;  /* the memory instruction it is, LOG_NOBODY = does not matter */
	uint32_t line;
	uint8_t part : 4, sectors : 4; /* @part: of the simulation that takes it */
	uint8_t written;               /* bytes of each sector, of stores: average */
	uint8_t lines;                 /* of the request, of loads */
	uint8_t kind;
};
#define LOG_NOBODY UINT16_MAX
/* Entries of the blocks a worker ran in this wave, one after the other. */
struct access_log {
	struct log_entry *e;
	size_t n, cap;
	size_t block_start; /* of the block that runs now */
	size_t block_limit; /* entries a block may leave */
	unsigned level;     /* lines whose low @level hash bits are zero are kept */
	bool overflow;      /* too much even at the last level */
};
/* One block of the present wave. */
struct block_record {
	const struct access_log *log; /* NULL = the block did not run */
	size_t start, end;            /* its entries */
	unsigned level;
};

#define LOG_MAX_LEVEL 8
/*
 * A hash whose bit i depends on bits i and above of the line only, and is a bijection: of every
 * aligned group of 2^L lines exactly one has L low zero bits, so that sampling keeps counts of
 * contiguous data exact and power-of-two strides spread.
 */
static inline uint32_t line_hash(uint32_t line)
{
	line ^= line >> 3;
	line ^= line >> 5;
	line ^= line >> 11;
	line ^= line >> 17;
	return line;
}

/* --- which lines are followed: made once for a device, whatever is launched on it --- */

struct line_filter;
/* @empty: follows nothing, for launches whose traffic nobody asks for. */
struct line_filter *line_filter_new(bool empty);
void line_filter_free(struct line_filter *f);
/* From now on for at least so many lines from the device's base on; not while a launch runs. */
void line_filter_cover(struct line_filter *f, uint32_t lines);
/* A bit per line, of those that @level follows. Thread-safe. */
const uint64_t *line_filter_bits(struct line_filter *f, unsigned level);

/* --- the caches --- */

struct cache_sim;
/* @l1_bytes: what shared memory leaves of the SM's store; @filter: borrowed; @waves: to come;
 * @loads: memory instructions, numbered from 0. */
struct cache_sim *cache_sim_new(const struct gpu_spec *gpu, double l1_bytes,
                                struct line_filter *filter, uint64_t waves, unsigned loads);
void cache_sim_free(struct cache_sim *c);
/*
 * So many lines from @first on are in L2 before the first block runs; false: too many ranges.
 * WARM_FOUND: brought there by blocks that are not simulated, which counts (found_bytes).
 * WARM_KEPT: left there by the launch before, of which @share of the lines: they cost nothing.
 */
#define WARM_RANGES 24
enum warm_kind { WARM_FOUND, WARM_KEPT };
bool cache_sim_warm(struct cache_sim *c, uint32_t first, uint32_t lines, enum warm_kind kind,
                    double share);
/* Lines from @first on are memory of the host, which are read and written over its link; of ranges
 * that ascend. */
void cache_sim_host(struct cache_sim *c, uint32_t first, uint32_t lines);
/* Before the first wave: first_bytes is wanted, of lines below @lines. */
void cache_sim_follow_first(struct cache_sim *c, uint32_t lines);

/* Level that blocks start at, entries a block may leave, lines that are followed. Of a wave only
 * the lines count that all its blocks follow: so a block may start where another one has ended. */
unsigned cache_sim_level(const struct cache_sim *c); /* thread-safe */
/* A block of this wave ends at @level. Thread-safe. */
void cache_sim_reached(struct cache_sim *c, unsigned level);
size_t cache_sim_block_limit(const struct cache_sim *c);
const uint64_t *cache_sim_bitmap(struct cache_sim *c, unsigned level); /* thread-safe */
/* A wave of @blocks begins. */
void cache_sim_wave_size(struct cache_sim *c, uint64_t blocks);

/* One thread adds a wave, which shares its entries out; true: enough of them wait. Then, and before
 * anything is asked of the simulation, all parts are taken: they are independent, any thread may
 * take any of them, each once. */
#define CACHE_PARTS 16
static inline unsigned cache_sim_part_of(uint32_t hash)
{
	return (hash >> 4) % CACHE_PARTS;
}
bool cache_sim_add_wave(struct cache_sim *c, const struct block_record *records, uint64_t n);
void cache_sim_part(struct cache_sim *c, unsigned part);

struct cache_totals {
	double l2_sectors, l2_written; /* asked of L2; of those by stores and atomics, ... */
	double l2_local;               /* ... of those to local memory */
	double l2_requests;            /* lines asked of L2, whatever of their sectors */
	double read_bytes, write_bytes;
	double host_read_bytes, host_write_bytes; /* of the host's memory, which are in nothing else */
	double filled_bytes;     /* of read_bytes: what stores had left empty of sectors */
	double found_bytes;      /* there by WARM_FOUND, and read for that: not in read_bytes */
	double first_bytes;      /* of both, never read before; 0 without cache_sim_follow_first */
	double late_write_bytes; /* still in L2 at the end: written when others need the room */
	double missed_sectors;   /* that loads and atomics asked L2 for, and it did not have */
	double load_requests;    /* of l2_requests */
	/* lines, if all of them were wanted equally often: one that is wanted often counts for many */
	double load_lines;
	double memory_accesses; /* lines read or written at one time, however much of them */
};
struct cache_totals cache_sim_totals(const struct cache_sim *c);

/* What the lines of load @load waited for. */
struct load_sum cache_sim_load(const struct cache_sim *c, unsigned load);

#endif
