/*
 * L1 and L2 caches and device memory, fed wave by wave with the sampled stream of cache_log.c.
 * Knows lines, SMs and blocks' order; not instructions.
 */
#ifndef PMPP_EMU_CACHE_SIM_H
#define PMPP_EMU_CACHE_SIM_H

#include "emu/vm/emu_vm.h"
#include "model/gpu.h"

struct cache_sim;
/* @lines: of the arena; @l1_bytes: what shared memory leaves of the SM's store; @waves: to come. */
struct cache_sim *cache_sim_new(const struct gpu_spec *gpu, double l1_bytes, uint32_t lines,
                                uint64_t waves);
void cache_sim_free(struct cache_sim *c);

/* Between waves: level that blocks start at, entries a block may leave, lines that are followed. */
unsigned cache_sim_level(const struct cache_sim *c);
size_t cache_sim_block_limit(const struct cache_sim *c);
const uint64_t *cache_sim_bitmap(struct cache_sim *c, unsigned level); /* thread-safe */
void cache_sim_wave_size(struct cache_sim *c, uint64_t blocks);

/* The parts of a wave are independent: any thread may take any of them, each once. */
#define CACHE_PARTS 16
static inline unsigned cache_sim_part_of(uint32_t hash)
{
	return (hash >> 4) % CACHE_PARTS;
}
void cache_sim_wave_begin(struct cache_sim *c, const struct block_record *records, uint64_t n);
void cache_sim_part(struct cache_sim *c, unsigned part, const struct block_record *records,
                    uint64_t n);

struct cache_totals {
	double l2_sectors, read_bytes, write_bytes;
};
struct cache_totals cache_sim_totals(const struct cache_sim *c); /* dirty lines are written now */

#endif
