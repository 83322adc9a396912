/*
 * Room check. Sees: lane (for its enums).
 *
 * What goes wrong in a kernel, and what one warp does: faults, the shadow of shared memory, races,
 * the trace of the observed warp. Data and rules only; the machine (vm) calls them.
 */
#ifndef PMPP_EMU_CHECK_H
#define PMPP_EMU_CHECK_H

#include "emu/lane/lane.h"
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
	FAULT_UNDEFINED, /* a register that nothing writes is read */
	FAULT_RACE,
	FAULT_BARRIER_DIVERGED,
	FAULT_WARP_DIVERGED, /* lanes wait for others of their warp, which never come; address: those */
	FAULT_WARP_UNNAMED,  /* a lane waits for lanes, and is none of them; address: those */
	FAULT_WARP_UNREAD,   /* every lane of a shuffle reads one that is not named; address: which */
	FAULT_BARRIER_STUCK,
	FAULT_BARRIER_ENDED, /* passed without threads that have ended; address: how many */
	FAULT_TRAP,
	FAULT_DIVISION, /* of integers, by zero */
	FAULT_INDEX,
	FAULT_STACK,
	FAULT_FUNCTION,
	FAULT_ASSERT,
	FAULT_FREE,
	FAULT_TEXTURE, /* the handle is of none */
	FAULT_SURFACE_BOUNDS,
	FAULT_TENSOR_MAP,    /* there is none */
	FAULT_TENSOR_START,  /* a box of a tensor begins at no multiple of 16 bytes */
	FAULT_TENSOR_BEFORE, /* one that is stored begins before the tensor */
	FAULT_NO_CLUSTER,    /* a store into a cluster's shared memory in a launch without clusters */
	FAULT_ENDLESS        /* a loop that only computes, and comes back to a state it was in */
};
struct emu_fault {
	enum fault_kind kind;
	uint64_t block;
	uint32_t warp, lane, xop;
	uint64_t address;
	enum ptx_space space;
	unsigned bytes;
	bool store;
	/* of a race */
	uint64_t other_block;
	uint32_t other_thread, other_op;
	bool atomic, other_store, scope, proxy;
	bool many;         /* other lanes store to that place by the same instruction */
	char waiting[300]; /* barriers: who waits where */
};
/* Is a race one of lanes of one warp? */
static inline bool fault_in_warp(const struct emu_fault *f)
{
	return f->other_block == f->block && f->other_thread / 32 == f->warp;
}

/* --- shadow of a block's shared memory (shadow.c): which bytes were written; for blocks that run
 * with all checks --- */

struct shadow {
	size_t bytes;
	uint8_t *written; /* base/value_flags.h */
	bool full;        /* every byte is: seen at a barrier */
};
struct shadow *shadow_new(size_t bytes);
void shadow_free(struct shadow *s);
void shadow_start(struct shadow *s); /* a new block */
void shadow_barrier(struct shadow *s);
/* Accesses of whole words by all lanes, counted from @low: have all bytes a value? Now they have.
 */
bool shadow_read(const struct shadow *s, const struct lane_pieces *p, uint64_t low, unsigned bytes);
void shadow_write(struct shadow *s, const struct lane_pieces *p, uint64_t low, unsigned bytes);
/* One lane's access; false: it reads a byte that was never written. */
bool shadow_touch(struct shadow *s, uint64_t offset, unsigned bytes, bool read, bool write);

/* --- races in shared and global memory, within a block and between blocks (race.c) ---
 *
 * Two accesses of different threads to one byte race if at least one writes and nothing orders
 * them, whatever order they happened to run in. Order comes from barriers, __syncwarp() and other
 * .sync instructions, and from strong accesses (atomics, volatile, ld and st with a .sem) with
 * fences: what a thread did before its fence is ordered before what another one does behind its
 * own fence or barrier, if that one read what the first wrote behind its fence (PTX ISA 9.0, 8).
 * Being in one warp orders nothing: since Volta its threads need not run in lockstep.
 *
 * No race: strong accesses among one another, if their scopes reach the other thread; writes of the
 * value that is there already, as many a flag gets. But volatile shared memory does not order the
 * lanes of a warp, and lanes that store different values to one place in one instruction do race.
 */

struct races;      /* of a launch; one host thread at a time */
struct race_block; /* of a block while it runs */

/* @between_blocks: of them too; else, since a block that is not checked may order others, only
 * within a block, until races_between_blocks() says that all will be checked. Nothing is looked for
 * after @most looks at a place or at eight places in a row. */
struct races *races_new(uint32_t n_warps, uint32_t shared_bytes, bool between_blocks,
                        uint64_t most);
void races_between_blocks(struct races *r);
/* Blocks use the shared memory of others of their cluster. */
void races_share_memory(struct races *r);
void races_may_look(struct races *r, uint64_t most);
void races_free(struct races *r);
/* Global memory there is new to whoever uses it: malloc() gave it. */
void races_forget(struct races *r, uint64_t address, uint64_t bytes);
bool races_spent(const struct races *r); /* it was enough */
bool races_full(const struct races *r);  /* there was no room for some places */
uint64_t races_looks(const struct races *r);
/* How many blocks were looked at, at least in part; between them, too? */
uint64_t races_blocks(const struct races *r, bool *between);
struct race_block *race_block_start(struct races *r, uint64_t block);
void race_block_end(struct race_block *b);

/* Warps are counted within the block. */
void race_arrive(struct race_block *b, uint32_t warp, uint32_t live, unsigned barrier);
/* Barrier @barrier opens for @warp, one of those that waited; when all have been told: */
void race_pass(struct race_block *b, uint32_t warp, unsigned barrier);
void race_barrier_opened(struct race_block *b, unsigned barrier, bool by_all);
void race_warp_sync(struct race_block *b, uint32_t warp, uint32_t mask, uint32_t live);
void race_fence(struct race_block *b, uint32_t warp, uint32_t mask, enum ptx_scope scope);

enum race_strength { RACE_WEAK, RACE_VOLATILE, RACE_STRONG };
struct race_access {
	uint32_t warp, mask, op;
	unsigned bytes; /* of a lane */
	bool shared, read, write, in_loop;
	bool decides; /* what the lanes do next depends on the value read */
	bool unread;  /* an atomic whose value nothing reads */
	bool takes;   /* a compare-and-swap or exchange that waits: may be a lock's */
	bool async;   /* the write may come later, until it is waited for */
	enum race_strength strength;
	enum ptx_sem sem;
	enum ptx_scope scope;
	enum { RACE_ANYWHERE, RACE_IN_A_ROW, RACE_ONE_PLACE } lanes; /* what is known of all */
	const uint64_t *address; /* of all lanes; in shared memory: offsets */
	/* Whose shared memory it is, another block's of the cluster; NULL = the block's own. */
	struct race_block *owner;
	/* The bytes that a lane stores; those that are there before the access. */
	void (*value)(const void *context, unsigned lane, uint8_t *out);
	const uint8_t *(*before)(const void *context, unsigned lane);
	const void *context;
};
struct race_found {
	unsigned lane;
	uint64_t address;
	uint64_t other_block;
	uint32_t other_thread, other_op;
	bool other_writes;
	bool scope; /* both strong, but not for the whole GPU */
	bool proxy; /* ordered, but with no fence between the two ways to memory (proxies) */
};
/* Looks at an access before it is done. True: it races, and @found says with what: one of its
 * races is told, with a thread of another warp if there is one. */
bool race_access(struct race_block *b, const struct race_access *a, struct race_found *found);
/* A weak load or store by all lanes of a warp, none of which waits in a loop. */
struct race_plain {
	uint32_t warp, op;
	unsigned bytes; /* of a lane */
	bool shared, write;
	const struct lane_pieces *pieces; /* lasts as long as the launch */
	uint64_t low, span;               /* counted from low; from the lowest byte to the end */
};
/* Such loads of shared memory by warp @warp, the lowest bytes at @low[], which nobody has written
 * since all threads met. False: one of them may race, and nothing is noted: ask race_plain(). */
bool race_plain_loads(struct race_block *b, uint32_t warp, const struct lane_load *load,
                      const uint64_t *low, uint32_t n);
/* True: it was looked at, and races with nothing. False: ask race_access(). */
bool race_plain(struct race_block *b, const struct race_plain *p);
/* The same of a weak load or store by some lanes, or anywhere, which waits in no loop; what is
 * stored need not be known. */
bool race_weak(struct race_block *b, const struct race_access *a);
/* The asynchronous copies of these lanes so far are one more group; all groups but the last @left
 * are waited for. */
void race_copies_commit(struct race_block *b, uint32_t warp, uint32_t mask);
void race_copies_wait(struct race_block *b, uint32_t warp, uint32_t mask, uint32_t left);
/* A lane arrives in @phase of the mbarrier at @offset of the shared memory of @owner, which may be
 * another block of its cluster, or has seen that this phase ended. */
void race_mbarrier(struct race_block *b, struct race_block *owner, uint32_t warp, unsigned lane,
                   uint64_t offset, uint32_t phase, bool arrives);
/* @phase of it has ended: the next one hands on what this one did. */
void race_mbarrier_ends(struct race_block *owner, uint64_t offset, uint32_t phase);
/* What the copy engine does for a lane that begins a bulk copy (race_bulk.c): one stretch of memory
 * that it reads, writes or adds to. */
struct race_bulk {
	uint32_t warp, op;
	unsigned lane;
	bool shared, write, adds;
	struct race_block *owner; /* of the shared memory, if it is not the asking block */
	uint64_t at, bytes;
	/* Whoever waits for this mbarrier sees that it is done; NULL = the lane waits for its group. */
	struct race_block *barrier_owner;
	uint64_t barrier;
};
/* As race_access(). */
bool race_bulk(struct race_block *b, const struct race_bulk *k, struct race_found *found);
/* A copy that a lane asked for is done, which @phase of the mbarrier at @offset hears of: it hands
 * on what that lane knew, too, as the copy came behind it. */
void race_bulk_signal(struct race_block *b, struct race_block *owner, uint32_t warp, unsigned lane,
                      uint64_t offset, uint32_t phase);
/* Groups of bulk copies, as above; @only_reads: the source has been read, no more. */
void race_bulk_commit(struct race_block *b, uint32_t warp, uint32_t mask);
void race_bulk_wait(struct race_block *b, uint32_t warp, uint32_t mask, uint32_t left,
                    bool only_reads);
/* The lanes of @mask have put a fence between stores, their own and those that are ordered before,
 * and the engines (fence.proxy.async). */
void race_proxy_fence(struct race_block *b, uint32_t warp, uint32_t mask);
/* What a product of a warp group (wgmma) reads of shared memory for the lanes of a warp: so many
 * places of PRODUCT_BYTES, which are aligned. An engine reads them, until the group is waited for.
 */
#define PRODUCT_BYTES 16
struct race_product {
	uint32_t warp, op;
	unsigned lane;  /* an active one */
	uint32_t group; /* so many were committed before */
	unsigned n;
	uint64_t at[32];
};
/* As race_access(). */
bool race_product(struct race_block *b, const struct race_product *p, struct race_found *found);
/* The first @groups groups of products of the warp's group have been waited for. */
void race_product_wait(struct race_block *b, uint32_t warp, uint32_t mask, uint32_t groups);
/* A lane, for the rest of its warp, arrives at the barrier of the cluster whose first block is
 * @first in its turn @phase (SEM_RELEASE, or SEM_RELAXED: only for itself), or goes on behind it
 * (SEM_ACQUIRE). */
void race_cluster_barrier(struct race_block *b, struct race_block *first, uint32_t warp,
                          unsigned lane, uint32_t phase, enum ptx_sem sem);

/* --- what the observed warp (block 0, warp 0) does: its path, the first run of each access --- */

struct trace {
	unsigned n_steps, n_accesses;
	uint64_t instructions;
	bool cut; /* the path was longer; nothing changes it any more */
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
