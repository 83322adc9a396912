/*
 * Shadow of a block's shared memory: which bytes were written, and who touched them since the
 * last barrier. Used for blocks that run with all checks.
 */
#ifndef PMPP_EMU_SHADOW_H
#define PMPP_EMU_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shadow_user {
	uint16_t thread;   /* + 1; 0 = nobody */
	bool many;         /* several threads of that warp */
	bool everyone;     /* of several warps */
	uint32_t op, sync; /* instruction, and how often its warp had synchronised */
};
struct shadow_cell { /* of one byte */
	uint32_t epoch;  /* barrier interval of the users */
	struct shadow_user writer, reader, atomic;
};
struct shadow {
	size_t bytes;
	uint32_t epoch;
	uint8_t *written;         /* per byte */
	bool full;                /* every byte is: seen at a barrier */
	struct shadow_cell *cell; /* per byte, if races are looked for; else NULL */
};
struct shadow *shadow_new(size_t bytes, bool races);
void shadow_free(struct shadow *s);
void shadow_start(struct shadow *s); /* a new block */
void shadow_barrier(struct shadow *s);

enum shadow_verdict { SHADOW_FINE, SHADOW_UNWRITTEN, SHADOW_RACE };
struct shadow_access {
	uint64_t offset;
	unsigned bytes, thread;
	uint32_t op, sync;
	bool read, write, atomic;
};
/* One lane's access; on a race @other is whom it collides with. */
enum shadow_verdict shadow_touch(struct shadow *s, const struct shadow_access *a,
                                 struct shadow_user *other);

#endif
