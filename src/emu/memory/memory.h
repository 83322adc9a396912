/*
 * Room memory. Sees: nothing of emu.
 *
 * Device memory: regions with bounds of their own in one host mapping, so that device address +
 * constant = host address. Two kinds: of one launch, filled by arena_add() and then mapped, with
 * guard gaps; or living, mapped first at an address of its own (device address = host address),
 * from which regions are taken and given back. Knows sizes and names; does not count.
 */
#ifndef PMPP_EMU_MEMORY_H
#define PMPP_EMU_MEMORY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_BASE ((uint64_t)0x7f0000000000) /* of one launch */

struct arena_region {
	const char *name;    /* "A", or a variable's name; NULL = an allocation, see serial */
	uint64_t base, size; /* device address, bytes */
	uint64_t align;      /* of a living arena: as it was asked for */
	unsigned elem_bytes;
	const char *elem; /* "f32" */
	int8_t buffer;    /* index in the plan, -1 = variable or parameters */
	bool read_only;
	bool outside;     /* the host's own memory, beyond the mapping: not followed by caches */
	uint8_t kind;     /* of a living arena: the owner's word */
	uint8_t *written; /* base/value_flags.h, of a buffer whose contents are undefined at first */
	uint64_t serial;  /* of a living arena: 1, 2, ... in the order of their making */
	const void *caller;
	bool met;          /* a launch has touched it */
	uint8_t by_launch; /* of managed memory: how launches touched it, since somebody asked */
	/* what it holds has a name; of a living arena a new one whenever it may have changed */
	uint64_t contents, first_contents; /* now, 0 = none; when it was made */
	bool host_writes; /* the host changes it without a word: the name says nothing */
	bool managed;     /* a variable that is declared so */
	bool varies;      /* of a living arena: a card has other contents each time (left_memory.c) */
};

/* What a mapping held for the launch before, and no launch changes. */
#define ARENA_KEPT 16
struct arena_kept {
	struct {
		uint64_t base, size, contents;
	} of[ARENA_KEPT];
	unsigned n;
};

struct arena {
	unsigned n, cap;
	struct arena_region *region; /* ascending by address */
	uint64_t base, end;          /* device addresses: of the mapping; behind the last region */
	uint8_t *host;               /* mapping; host + (address - base) */
	size_t mapped;
	bool living;
	uint64_t n_made;
	uint64_t n_contents;    /* names given */
	struct arena_kept kept; /* of one launch: there already */
};

/* Reserves a region; all before arena_map(). Returns its index. */
unsigned arena_add(struct arena *a, const char *name, uint64_t size, unsigned align);
/* A mapping kept from one launch to the next: pages that the system need not find and clear. */
struct arena_spare {
	uint8_t *host;
	size_t mapped;
	struct arena_kept kept;
};
/* Takes @spare's mapping (NULL = none) where it is large enough. Regions of buffers (buffer >= 0)
 * then hold anything; all others are zeroed. */
bool arena_map(struct arena *a, struct arena_spare *spare, struct err *err);
/* Does region @i of a launch hold @contents (not 0) since the launch before? */
bool arena_holds(const struct arena *a, unsigned i, uint64_t contents);
/* Leaves the mapping in @spare, with the regions that are read only and whose contents have a name,
 * unless that has a larger one, it is very large, or @spare is NULL.
 */
void arena_free(struct arena *a, struct arena_spare *spare);
void arena_spare_free(struct arena_spare *spare);
/* A living one: @bytes of addresses from @base on. False: they are taken. */
bool arena_reserve(struct arena *a, uint64_t base, uint64_t bytes, struct err *err);
/* A new region at the lowest place where it fits, or at @address (0 = anywhere) for memory of the
 * host's own; NULL = there is no room, or another region is in the way. Zeroed where it is new to
 * the system; valid until the next change. */
struct arena_region *arena_take(struct arena *a, uint64_t address, uint64_t size, uint64_t align);
/* Behind the last byte of a living arena that a GPU would have mapped: of the pages of its regions.
 */
uint64_t arena_pages_end(const struct arena *a);
/* Gives the region that begins at @address back, and its pages to the system. */
bool arena_give_back(struct arena *a, uint64_t address);
/* Zeroes what lies in the region, of a large one by giving its pages back to the system. */
void arena_clear(const struct arena *a, const struct arena_region *r);
/* Region @i of a living arena may hold something else now. */
static inline void arena_changed(struct arena *a, unsigned i)
{
	a->region[i].contents = ++a->n_contents;
}
static inline uint8_t *arena_at(const struct arena *a, uint64_t address)
{
	return a->host + (address - a->base);
}
/* content_hash.c: 128 bits that tell contents apart. */
struct content_hash {
	uint64_t part[2];
};
struct content_hash content_hash(const uint8_t *bytes, uint64_t n);
/* --- heap.c: malloc() and free() of device code; may be used by several threads --- */
struct heap;
/* Over [base, base + bytes) of device memory, which lies at @host. */
struct heap *heap_new(uint64_t base, uint8_t *host, uint64_t bytes);
void heap_free(struct heap *h);
uint64_t heap_take(struct heap *h, uint64_t bytes);    /* 0 = no room */
bool heap_give_back(struct heap *h, uint64_t address); /* false: nothing begins there */

/*
 * page_guard.c: pages that the program's own code must not touch, while the emulator works on them:
 * by a memory protection key of the processor (pkeys(7), x86-64 with PKU), which costs no system
 * call where a thread comes and goes. Where there is none, nothing is guarded.
 */
/* False: this processor or system has no keys. The calling thread has access until it closes. */
bool page_guard_begin(void);
bool page_guard_is_on(void);
/* Whole pages; nothing where there are no keys. */
void page_guard_set(void *at, size_t bytes, bool guarded);
/* The calling thread, and those that it starts, have access, or no longer. */
void page_guard_open(void);
void page_guard_close(void);
/* For good; pages that are guarded are the caller's to set. */
void page_guard_end(void);

/* The region that holds @address, or NULL. */
const struct arena_region *arena_find(const struct arena *a, uint64_t address);
/* The last region that begins at @address or below it; NULL = none does. */
const struct arena_region *arena_below(const struct arena *a, uint64_t address);
/* The region nearest to @address, or around it, for messages; NULL = none within 1 TiB: no index
 * into an array is so wrong, such an address has to do with no allocation. */
const struct arena_region *arena_near(const struct arena *a, uint64_t address);

#endif
