/*
 * Room memory. Sees: nothing of emu.
 *
 * Device memory: every buffer at its own 512-byte-aligned device address, with
 * guard gaps between them, in one host mapping, so that device address + constant = host address.
 * Knows sizes and names; does not count.
 */
#ifndef PMPP_EMU_MEMORY_H
#define PMPP_EMU_MEMORY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_BASE ((uint64_t)0x7f0000000000)

struct arena_region {
	const char *name;    /* "A", or a variable's name */
	uint64_t base, size; /* device address, bytes */
	unsigned elem_bytes;
	const char *elem; /* "f32" */
	int8_t buffer;    /* index in the plan, -1 = variable or parameters */
	bool read_only;
	uint8_t *written; /* one byte per byte of a buffer whose contents are undefined at first */
};

struct arena {
	unsigned n, cap;
	struct arena_region *region; /* ascending by address */
	uint64_t end;                /* device address behind the last region */
	uint8_t *host;               /* mapping; host + (address - ARENA_BASE) */
	size_t mapped;
};

/* Reserves a region; all before arena_map(). Returns its index. */
unsigned arena_add(struct arena *a, const char *name, uint64_t size, unsigned align);
bool arena_map(struct arena *a, struct err *err);
void arena_free(struct arena *a);
static inline uint8_t *arena_at(const struct arena *a, uint64_t address)
{
	return a->host + (address - ARENA_BASE);
}
/* The region that holds @address, or NULL. */
const struct arena_region *arena_find(const struct arena *a, uint64_t address);
/* The region nearest below or around @address, for messages; NULL = none. */
const struct arena_region *arena_near(const struct arena *a, uint64_t address);

#endif
