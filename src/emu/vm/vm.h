/*
 * Room vm. Sees: lane, ir, analysis, codegen, memory, count, check.
 *
 * The machine: runs the blocks of a launch, one at a time per worker, and counts.
 */
#ifndef PMPP_EMU_VM_H
#define PMPP_EMU_VM_H

#include "emu/check/check.h"
#include "emu/codegen/codegen.h"
#include "emu/count/count.h"
#include "emu/device_work.h"
#include "emu/memory/memory.h"
#include "emu/vm/block_order.h"
#include "emu/vm/longest.h"

/* The handler tables for this processor; @wanted (may be NULL or "") limits the instruction-set
 * level: "sse", "avx2", "avx512". */
const struct handler_set *handler_set_choose(const char *wanted);

/* --- what is counted --- */

/* Allocations that may be made while a launch waits for the host. */
#define TOUCHED_ROOM 1024
enum { COUNTED_PROGRAMS = PROGRAM_REFERENCE }; /* whose segments count for full warps */
struct segment_count {
	uint64_t full[COUNTED_PROGRAMS]; /* by full warps of these programs */
	uint64_t warps, lanes;           /* all others */
};
static inline uint64_t segment_full(const struct segment_count *c)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < COUNTED_PROGRAMS; i++)
		n += c->full[i];
	return n;
}
struct mem_count {
	uint64_t packed; /* sectors | lines << 32 of full-warp handlers since the last flush */
	/* full executions of the segment that did not count there */
	uint64_t slow[COUNTED_PROGRAMS];
	/* of those that did: sectors and lines are in packed, not the usual */
	uint64_t odd[COUNTED_PROGRAMS];
	uint64_t requests, sectors, lines, bytes, wavefronts, ideal;
	uint64_t passes;      /* of atomics on shared memory; periods of sleeps, in ns */
	uint64_t local_lines; /* of local memory: 32 words each */
	uint64_t local_sectors;
	uint64_t remote, remote_sectors; /* requests, 32 bytes: shared memory of a cluster's others */
	uint64_t atom_waves;             /* of atomics on global memory */
	uint64_t space[3];               /* of the requests: global, shared, other */
};
/* The buffer an instruction used last: from lo on, len addresses are good for its whole access. */
struct mem_window {
	uint64_t lo, len;
	uintptr_t written; /* + address / 4: its flags, if the buffer was undefined at first; else 0 */
	uint64_t last;     /* lowest address of the last access, to fetch ahead, ... */
	uint32_t warp;     /* ... and which warp's of its block */
	bool only_read;    /* nothing can write there: no access races */
};

/* Where the first word of a sum of products (struct dots) may lie. */
struct dot_window {
	uint64_t lo, len;
};

/* Where an instruction's last irregular access went, where nothing is counted: of one buffer. */
struct mem_buffer {
	uint64_t low, size; /* size 0 = nowhere yet */
	uint8_t *written;   /* which of its bytes have a value (base/value_flags.h); NULL = all */
	bool only_read;     /* nothing can write there */
};

/* Words of shared memory that a block changes by swaps, by a hash of their address and of the
 * instruction: how often. */
#define SWAP_WORDS 256
#define SWAP_INSTS 8
struct swap_words {
	uint64_t block; /* 1 + the block that is counted; 0 = none yet */
	uint64_t chain; /* sum over blocks and instructions: changes of the word that changes most */
	uint32_t most[SWAP_INSTS], n[SWAP_WORDS];
};

/* --- what the workers of a launch share --- */

/* What kernels print: the pieces of one block in the order of their printing. */
#define PRINTED_LIMIT ((size_t)16 << 20) /* bytes of one worker; what goes beyond is lost */
struct printed_piece {
	uint64_t block;
	size_t first, end; /* in text */
};
struct printed_text {
	char *text;
	size_t n, cap, lost;
	struct printed_piece *piece;
	size_t n_pieces;
};

/* What device code may ask of the runtime (device_runtime.c). */
struct device_runtime {
	struct heap *room; /* for parameters of launches, and texts; lives as long as the device */
	const struct ptx_module *module;
	unsigned depth; /* of this launch in others */
	device_ask *ask;
	void *ask_ctx;
};
/* What the threads of one worker's blocks asked for. */
struct device_calls {
	struct device_work *work;
	size_t n_work, cap_work;
	struct device_room *room; /* taken from the heap, given back by the launch */
	size_t n_room, cap_room;
	uint64_t streams; /* and events, that were made: their handles */
	uint32_t *error;  /* last one, by thread of the block; NULL = there was none yet */
};

struct worker;
struct grid {
	const struct image *image;
	const struct launch_plan *plan;
	const struct arena *arena;
	struct heap *heap;                    /* of device code; NULL = it uses none */
	const struct texture_table *textures; /* NULL = none */
	const struct device_runtime *runtime; /* for device code; NULL = it uses none */
	uint32_t threads, n_warps;            /* per block */
	uint32_t shared_bytes, local_bytes;
	uint32_t reserved_bytes; /* the last of the shared ones: the system's, zero at first */
	uint32_t shared_reach;   /* shared bytes that code may touch, at least shared_bytes */
	uint32_t sm_count;
	uint32_t cluster_blocks;     /* in a cluster, at least 1 */
	uint32_t shared_base;        /* of machine code: where generic addresses have offset 0 */
	bool together;               /* all blocks run at once, by turns: a cooperative launch */
	bool reference_only;         /* every block in the reference program */
	struct races *races;         /* NULL = not looked for */
	bool racing;                 /* in the blocks that begin now */
	const struct handler *quick; /* nothing is counted, only done; NULL = all is counted */
	bool looks_at_ends; /* all the same memory without a value in the first and the last block */
	bool lenient;       /* what hardware often lets pass is noted, and the launch goes on */
	uint8_t unset_turn; /* bits that are other than usual in shared memory without a value */
	struct block_order order;
	uint64_t wave_first, wave_end; /* blocks that are resident together */
	struct block_record *records;  /* of the wave, for the cache simulation */
	struct cache_sim *cache;
	struct collision_log *collisions; /* NULL = no atomics on global memory */
	struct turn_log *turns;           /* NULL = no loop waits for what another block writes */
	struct trace *trace;              /* of block 0, warp 0 */
	/* True when the run has to end (cancelled, timed out); called now and then by a block. */
	bool (*poll)(struct worker *wk);
	void *poll_context;
};

/* --- workers: one per host thread --- */

struct block_barrier {
	uint32_t arrived, expected; /* threads; expected 0 = all of the block */
	uint32_t ones, seen;        /* bar.red: true predicates, of so many */
	uint32_t result_ones, result_seen;
	uint32_t waiting;   /* warps, */
	uint64_t ticks;     /* and the most ticks that one of them had */
	uint64_t opened_at; /* the same when it opened last */
};
/* What the blocks of a cluster share, kept by the first of them. */
struct cluster_barrier {
	uint32_t phase;   /* times that it has opened */
	uint32_t arrived; /* threads */
	uint64_t ticks, opened_at;
};
#define N_BARRIERS 16
enum { TOUCH_READ = 1, TOUCH_WRITE = 2 };
#define WORKER_MAX_OF_A_SORT 12 /* none takes another's room: */
enum noted_sort { NOTED_REST, NOTED_RACE, NOTED_RACE_IN_WARP, NOTED_SORTS };
#define WORKER_MAX_NOTED (NOTED_SORTS * WORKER_MAX_OF_A_SORT)

struct worker {
	struct grid *grid;
	unsigned index;
	struct collision_counts *collisions; /* the first worker's of those that one thread runs */
	int64_t fuel;    /* of a warp that goes on: branches it may take until it has to yield */
	uint8_t *frames; /* n_warps frames of frame_bytes */
	uint8_t *shared, *local;
	struct simt_entry *stacks; /* of all warps */
	struct call_saves *saves;  /* by warp */
	struct segment_count *segments;
	struct mem_count *mem;
	struct mem_window *win[2]; /* of the speculative and of the conservative program */
	struct dot_window *dots;   /* by number */
	uop_fn quick;              /* for irregular accesses of this block; NULL = with care */
	struct mem_buffer *place;  /* by memory number */
	uint64_t *region_at;       /* by memory number: base of the region that it was in; 0 = none */
	struct repeat *repeat;     /* by memory number: the lanes of the last irregular access */
	uint64_t *guard_lanes;     /* per operation: lanes whose guard was true; of a branch: false */
	uint8_t *touched;          /* by region of memory, the last: none; TOUCH_READ, TOUCH_WRITE */
	const struct texture *seen_texture[2]; /* read last, written last */
	uint64_t *divergent;                   /* per basic block: times its branch split a warp */
	/* ... its last instruction was counted once more, and of how many lanes (replay.c) */
	uint64_t *again_warps, *again_lanes;
	uint32_t parted_at; /* 1 + the lowest block at which parts of a warp went on together, or did
	                     * not, and a card may do otherwise (replay.c); 0 = none */
	struct longest_block longest;
	struct swap_words swap_words;
	struct endless *endless; /* NULL = no warp has run that long */
	struct access_log log;
	struct printed_text printed;
	struct device_calls *calls; /* NULL = none yet */
	uint64_t block;             /* that runs now */
	uint64_t index_in_wave;
	uint32_t ctaid[3];
	bool checked;            /* this block runs with all checks */
	struct shadow *shadow;   /* of shared memory, while checked */
	struct race_block *race; /* NULL = races are not looked for in this block */
	struct trace *trace;     /* of the observed warp; NULL otherwise */
	struct block_barrier barrier[N_BARRIERS];
	struct worker *cluster; /* the first block of the cluster; often the worker itself */
	uint32_t cluster_rank;  /* in it */
	struct cluster_barrier cluster_barrier;
	uint32_t barriers_met;      /* those with a lower number may have been met */
	uint32_t barriers_opened;   /* bits: their warps go on in the next step */
	uint32_t turns;             /* of its blocks so far, of which every so many polls */
	uint64_t warps_speculative; /* that began in the speculative program, ... */
	uint64_t warps_deoptimised; /* ... and that left it for the conservative one */
	struct emu_fault fault;
	/* lenient: what was noted, each kind at each operation once */
	struct emu_fault noted[WORKER_MAX_NOTED];
	uint64_t times[WORKER_MAX_NOTED], lost;
	unsigned n_noted;
};

void emu_worker_init(struct worker *wk, struct grid *g, unsigned index);
void emu_worker_free(struct worker *wk);
/* Blocks that must run together take turns: after block_begin(), every block_step() lets each warp
 * run until it waits or has used up its share. */
/* BLOCK_WAITS: no warp could go on, some ask for what other warps or blocks have to do. */
enum block_state { BLOCK_RUNS, BLOCK_WAITS, BLOCK_DONE, BLOCK_STOPPED };
void block_begin(struct worker *wk, uint64_t index);
enum block_state block_step(struct worker *wk, uint64_t index);
/* After a turn of all blocks of the cluster of @first: its barrier opens, if all have arrived
 * (cluster.c). */
bool cluster_open(struct worker *first);
/* No block of those that take turns can go on: the fault says who waits where. */
void block_stuck(struct worker *wk);
/* Runs block @index of the order; false = stopped, by a fault (wk->fault) or by poll(). */
bool block_run(struct worker *wk, uint64_t index);
/* An operation at which a warp of a stopped block was; -1 = none. */
int64_t worker_position(const struct worker *wk);

#endif
