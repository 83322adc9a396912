/*
 * Room check. Sees: lane (for its enums).
 *
 * What goes wrong in a kernel, and what one warp does: faults, the shadow of shared memory, the
 * trace of the observed warp. Data and rules only; the machine (vm) calls them.
 */
#ifndef PMPP_EMU_CHECK_H
#define PMPP_EMU_CHECK_H

#include "model/counts.h"
#include "ptx/ptx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- faults --- */

enum fault_kind {
	FAULT_NONE,
	FAULT_BOUNDS,
	FAULT_ALIGN,
	FAULT_READ_ONLY,
	FAULT_UNINITIALISED,
	FAULT_RACE,
	FAULT_BARRIER_DIVERGED,
	FAULT_BARRIER_STUCK,
	FAULT_TRAP,
	FAULT_INDEX,
	FAULT_STACK,
	FAULT_FUNCTION,
	FAULT_ASSERT,
	FAULT_FREE,
	FAULT_TEXTURE, /* the handle is of none */
	FAULT_SURFACE_BOUNDS
};
struct emu_fault {
	enum fault_kind kind;
	uint64_t block;
	uint32_t warp, lane, xop;
	uint64_t address;
	enum ptx_space space;
	unsigned bytes;
	bool store;
	uint32_t other_thread, other_op; /* of a race */
	char waiting[300];               /* barriers: who waits where */
};

/* --- shadow of a block's shared memory (shadow.c): which bytes were written, and who touched them
 * since the last barrier; for blocks that run with all checks --- */

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

/* @races: look for races too, which costs most. */
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

/* --- what the observed warp (block 0, warp 0) does: its path, the first run of each access --- */

struct trace {
	unsigned n_steps, n_accesses;
	bool cut;
	struct mask_step steps[TRACE_MAX_STEPS];
	struct access_sample accesses[TRACE_MAX_ACCESSES];
	uint32_t access_mem[TRACE_MAX_ACCESSES]; /* memory number, for the executions */
	uint8_t *seen;                           /* by memory number and space */
};
struct trace *trace_new(unsigned n_mem);
void trace_free(struct trace *t);
/* The next instruction, of source line @line, run by the lanes of @mask. */
void trace_step(struct trace *t, uint32_t line, uint32_t mask);
/* The entry to fill for memory number @mem, or NULL: seen before, or no room. */
struct access_sample *trace_access(struct trace *t, uint32_t mem, bool shared);

#endif
