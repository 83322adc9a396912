/*
 * The heap of device code: malloc() and free() of kernels.
 *
 * Blocks have sizes of a few classes: small ones powers of two and halfway between, large ones
 * parts and multiples of a unit, so that a heap holds as many as an H200's does. A block given back
 * goes to the list of its class. Every block has a header in front, which tells a wrong free().
 */
#include "emu/memory/memory.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_ALIGN 16u
#define N_CLASSES 100
#define UNIT ((uint64_t)1278976) /* holds a block of 1 MiB: of those 26 are had of 32 MiB */
#define UNIT_MORE 32             /* each, of a block of several */
enum { FIRST_PART = 22, LAST_PART = 26, LAST_MULTIPLE = 89 }; /* of classes */
#define IN_USE 0x9d3c5ab1u
#define GIVEN_BACK 0x71e04c27u

struct header { /* HEAP_ALIGN bytes in front of a block */
	uint32_t mark, class;
	uint64_t next; /* in the list of its class */
};

struct heap {
	pthread_mutex_t lock;
	uint64_t base, bytes, top;
	uint8_t *host; /* of base */
	uint64_t list[N_CLASSES];
	uint64_t n_in_use;
};

struct heap *heap_new(uint64_t base, uint8_t *host, uint64_t bytes)
{
	struct heap *h = mem_zalloc(sizeof *h);
	pthread_mutex_init(&h->lock, NULL);
	h->base = base;
	h->host = host;
	h->bytes = bytes;
	return h;
}

void heap_free(struct heap *h)
{
	if (h)
		pthread_mutex_destroy(&h->lock);
	free(h);
}

/* With the header: 32, 48, 64, 96, 128 ... bytes up to 48 KiB; then parts of the unit, and 2, 3 ...
 * 64, 128, 256 ... of it. */
static uint64_t class_bytes(unsigned class)
{
	static const uint64_t part[] = { UNIT / 12 / 16 * 16, UNIT / 8, UNIT / 4, UNIT / 2, UNIT };
	if (class < FIRST_PART)
		return (class % 2 ? (uint64_t)48 : (uint64_t)32) << (class / 2);
	if (class <= LAST_PART)
		return part[class - FIRST_PART];
	const uint64_t units =
		class <= LAST_MULTIPLE ? class - LAST_PART + 1 : (uint64_t)64 << (class - LAST_MULTIPLE);
	return units * (UNIT + UNIT_MORE);
}

static struct header *header_of(const struct heap *h, uint64_t address)
{
	return (struct header *)(void *)(h->host + (address - h->base) - HEAP_ALIGN);
}

uint64_t heap_take(struct heap *h, uint64_t bytes)
{
	unsigned class = 0;
	if (!bytes || bytes > h->bytes)
		return 0;
	while (class < N_CLASSES && class_bytes(class) < bytes + HEAP_ALIGN)
		class ++;
	if (class == N_CLASSES)
		return 0;
	pthread_mutex_lock(&h->lock);
	uint64_t at = h->list[class];
	if (at) {
		h->list[class] = header_of(h, at)->next;
	} else if (h->bytes - h->top >= class_bytes(class)) {
		at = h->base + h->top + HEAP_ALIGN;
		h->top += class_bytes(class);
	}
	if (at) {
		*header_of(h, at) = (struct header){ .mark = IN_USE, .class = class };
		h->n_in_use++;
	}
	pthread_mutex_unlock(&h->lock);
	return at;
}

bool heap_give_back(struct heap *h, uint64_t address)
{
	const uint64_t at = address - h->base;
	pthread_mutex_lock(&h->lock);
	bool ok = at >= HEAP_ALIGN && at < h->top && at % HEAP_ALIGN == 0;
	struct header *const block = ok ? header_of(h, address) : NULL;
	ok = ok && block->mark == IN_USE && block->class < N_CLASSES;
	if (ok) {
		block->mark = GIVEN_BACK;
		block->next = h->list[block->class];
		h->list[block->class] = address;
		h->n_in_use--;
	}
	if (ok && !h->n_in_use) { /* room for blocks of any size */
		h->top = 0;
		memset(h->list, 0, sizeof h->list);
	}
	pthread_mutex_unlock(&h->lock);
	return ok;
}
