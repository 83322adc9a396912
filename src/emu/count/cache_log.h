/* The sampled stream of lines that feeds the cache simulation; see cache_log.c. */
#ifndef PMPP_EMU_CACHE_LOG_H
#define PMPP_EMU_CACHE_LOG_H

#include "emu/vm/emu_vm.h"

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
void log_block_start(struct worker *wk);
void log_block_end(struct worker *wk, uint64_t index);

#endif
