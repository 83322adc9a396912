/*
 * The memory of simulated caches (cache_store.c). A chip's caches are ten megabytes; a small launch
 * uses little of that, and would spend most of its time on zeroes. So the last launch's memory is
 * kept, as zero as it was at first.
 */
#ifndef PMPP_EMU_CACHE_STORE_H
#define PMPP_EMU_CACHE_STORE_H

#include <stdbool.h>
#include <stddef.h>

/* Of L1 and of L2. */
#define CACHE_STORE_PIECES 2
struct cache_store {
	size_t bytes[CACHE_STORE_PIECES];
	void *at[CACHE_STORE_PIECES]; /* aligned to 64 */
	void *memory[CACHE_STORE_PIECES];
};

/* Gives @s, of which `bytes` is set, its memory: all zero. Thread-safe, as is what follows. */
void cache_store_take(struct cache_store *s);
/* All of it is zero again: it is kept for the next one. */
void cache_store_give(struct cache_store *s);

#endif
