/*
 * The machine: programs of micro-operations, warps, workers, and what they count.
 *
 * A program is a flat array of struct uop; each holds two handlers, one for a full warp (all 32
 * lanes active) and one for any mask. A handler does its work and continues with the next uop.
 * All registers of a warp lie in one frame behind struct warp; a uop names them by byte offset.
 */
#ifndef PMPP_EMU_EMU_VM_H
#define PMPP_EMU_EMU_VM_H

#include "emu/memory/arena.h"
#include "emu/ir/emu_ir.h"

#include <stdatomic.h>

struct warp;
struct uop;
typedef const struct uop *(*uop_fn)(struct warp *w, const struct uop *u, uint32_t mask);

struct handler {
	uop_fn full, masked;
};

struct uop {
	uop_fn full, masked;
	uint32_t d, a, b, c; /* frame offsets, or what the handler's comment says */
	union {
		int64_t i;
		uint64_t u;
		const struct uop *to;
		const struct pattern *pattern;
	} x;
	uint32_t y;   /* section, memory number, ... */
	uint32_t xop; /* index of the operation it belongs to */
	union {
		const struct fused *fused;     /* of a handler that also does the uops behind this one */
		const struct shuffle *shuffle; /* of a shfl whose lanes are known */
	};
};

/*
 * Continuing with the next uop. Compilers turn the call in tail position into a jump, so the
 * handlers form a threaded interpreter; where they do not (no optimisation, sanitizers that
 * instrument returns) the handler returns the uop and vm_resume() loops.
 */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) && \
	!defined(EMU_NO_TAIL_CALLS)
#define EMU_TAIL_CALLS 1
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || \
	__has_feature(undefined_behavior_sanitizer) || __has_feature(memory_sanitizer)
#undef EMU_TAIL_CALLS
#endif
#endif
#endif
#ifdef EMU_TAIL_CALLS
#if defined(__clang__)
#define EMU_JUMP __attribute__((musttail)) return
#else
#define EMU_JUMP return
#endif
#define NEXT_full(U) EMU_JUMP(U)->full(w, (U), mask)
#define NEXT_masked(U) EMU_JUMP(U)->masked(w, (U), mask)
#else
#define EMU_JUMP return
#define NEXT_full(U) return (U)
#define NEXT_masked(U) return (U)
#endif
/* Lanes may touch the same byte from several host threads: that is the guest program's affair. */
#if defined(__SANITIZE_THREAD__)
#define GUEST_MEMORY __attribute__((no_sanitize_thread))
#elif defined(__clang__)
#define GUEST_MEMORY __attribute__((no_sanitize("thread")))
#else
#define GUEST_MEMORY
#endif

/* --- programs --- */

/* A run of operations whose lanes do not change on the way, but for guards. */
struct section {
	uint32_t block, first, end; /* operations [first, end) */
	uint32_t length;            /* PTX instructions */
};

enum addr_kind {
	ADDR_UNIFORM, /* scalar slot */
	ADDR_PATTERN, /* scalar slot + pattern */
	ADDR_LANES32, /* 32 lanes of 4 bytes */
	ADDR_LANES64
};
struct mem_addr {
	enum addr_kind kind;
	bool wide; /* the register is 64 bits wide */
	uint32_t slot;
	int32_t pattern_index;
	const struct pattern *pattern;
	int64_t offset;
};

/* Everything about one memory instruction that does not change during a launch. */
struct memop {
	const struct xop *x;
	uint32_t id;                /* counters and windows */
	struct mem_addr addr, from; /* from: source of cp.async */
	uint8_t bytes, vec;         /* of a lane: bytes * vec */
	uint8_t access;             /* bytes * vec, saturated */
	bool sign;
	bool full_probe;      /* emitted with a handler that counts in the section only */
	int32_t d[X_MAX_VEC]; /* slots of 32 lanes, or of a scalar when d_scalar; -1 = sink */
	bool d_scalar;
	uint32_t s[X_MAX_VEC]; /* slots of 32 lanes with the data */
	/* for full_probe handlers: lowest address = scalar + low, bytes from lowest to end = span */
	int64_t low;
	uint64_t span, last_low; /* shared memory: highest lowest address that fits */
	uint32_t align_mask;
	uint8_t word_shift;
	uint32_t bytes_full, waves_full, ideal_full; /* per full execution */
	uint32_t sectors_full, lines_full; /* the same, if the lowest address is a multiple ... */
	uint32_t usual;         /* ... of this + 1; else by its position in a 128-byte line: */
	uint16_t lines_at[128]; /* [address mod 128]: sectors | lines << 8 */
	int32_t index[32];      /* lane -> element of its size from the lowest address (of its half) */
	int64_t half[2];        /* lowest offset of each half warp */
	enum half_shape {
		HALF_OTHER,
		HALF_UNIT,
		HALF_SPLAT
	} half_shape; /* 16 words in a row; one word */
};

struct program {
	struct uop *uops;
	unsigned n_uops, cap_uops;
	uint32_t *block_uop; /* block -> its first uop (ENTER) */
	uint32_t *op_uop;    /* operation -> its first uop */
	struct memop *mem;   /* by memory number */
	enum program_kind {
		PROGRAM_BOLD,  /* takes it that some branches do not split a warp */
		PROGRAM_SAFE,  /* scalars only where no split can hurt them */
		PROGRAM_PLAIN, /* every register as 32 lanes: reference, checks, traces */
		PROGRAMS
	} kind;
	struct shapes shapes;
	uint32_t *reg_slot; /* frame offset by register; UINT32_MAX = none */
};

/*
 * Two loads and the FMA that uses them, done in one go by a full warp, n times:
 * acc = fma(one word per half warp, 16 words in a row per half warp, acc), the loads' results not
 * needed elsewhere. Anything unusual falls back to the handlers of the single uops, which are
 * still there.
 */
struct fused_load {
	uint32_t slot, id; /* address; memory number (of the first) */
	bool wide;         /* the address has 64 bits */
	bool one_line;     /* both half warps lie in one line */
	int64_t half[2];   /* offset of each half warp */
	uint64_t usual;    /* memop.usual */
	int64_t min, max;  /* of the steps' offsets; max with the halves' and the last byte */
};
struct fused {
	uop_fn alone;     /* handler of the first uop */
	uint32_t n, uops; /* FMAs; uops that it stands for */
	uint32_t acc, d;  /* slots of 32 lanes */
	struct fused_load lanes, word;
	const struct fused_step {
		int64_t lanes, word; /* offsets from the addresses */
	} *step;
	/* Or: n FMAs on 32 lanes, one after the other, slots of all four operands. */
	const struct fused_fma {
		uint32_t a, b, c, d;
		uint32_t same_a; /* operand a is that of the FMA before */
	} *fma;
};

/* A shfl by constants: which lane each reads, and the lanes whose source is in range. */
struct shuffle {
	int32_t from[32];
	uint32_t inside;
};

struct const_slot {         /* constants of the frame, written once per warp */
	uint32_t offset, bytes; /* width of a lane; lanes = 1 or 32 */
	uint32_t lanes;
	uint64_t value[32];
};

/* Up to three programs over the same frame, and what they share. */
struct image {
	struct ir ir;
	struct liveness live;
	struct program program[PROGRAMS];
	enum program_kind start; /* where warps begin */
	struct section *sections;
	unsigned n_sections;
	uint32_t *op_section; /* operation -> section */
	struct const_slot *consts;
	unsigned n_consts, cap_consts;
	uint32_t frame_bytes;
	bool zero_frame; /* some register may be read before it is written */
	void **pool;     /* tables that memops point to */
	unsigned n_pool;
};

struct handler_set; /* handlers of one ISA level, simd.h */
void image_build(struct image *im, const struct launch_plan *plan, uint32_t shared_bytes,
                 const struct handler_set *handlers, bool plain_only);
void image_free(struct image *im);

/* --- counting --- */

struct section_count {
	uint64_t full[2];      /* executions by full warps of the bold and of the safe program */
	uint64_t warps, lanes; /* all others */
};
struct mem_count {
	uint64_t packed;  /* sectors | lines << 32 of full-warp handlers since the last flush */
	uint64_t slow[2]; /* full executions of the section that did not count there */
	uint64_t odd[2];  /* of those that did: sectors and lines are in packed, not the usual */
	uint64_t requests, sectors, lines, bytes, waves, ideal;
	uint64_t space[3]; /* of the requests: global, shared, other */
};
/* The buffer an instruction used last: from lo on, len addresses are good for its whole access. */
struct mem_window {
	uint64_t lo, len;
	uintptr_t written; /* + address: its flag, if the buffer was undefined at first; else 0 */
	uint64_t last;     /* lowest address of the last access, to fetch ahead */
};

/* --- the cache simulation's input --- */

enum log_kind { LOG_LOAD, LOG_LOAD_L2, LOG_STORE, LOG_ATOMIC };
struct log_entry {
	uint64_t time; /* instructions the warp had begun */
	uint32_t line;
	uint16_t part; /* of the simulation that takes it */
	uint8_t sectors, kind;
};
/* Entries of the blocks a worker ran in this wave, one after the other. */
struct access_log {
	struct log_entry *e;
	size_t n, cap;
	size_t block_start; /* of the block that runs now */
	size_t block_limit; /* entries a block may leave */
	unsigned level;     /* lines whose low @level hash bits are zero are kept */
	bool overflow;      /* too much even at the last level */
};

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
	FAULT_INDEX
};
struct fault {
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

/* --- warps --- */

enum warp_state { WARP_RUN, WARP_YIELD, WARP_BARRIER, WARP_DONE, WARP_STOP };

struct simt_entry {
	uint32_t mask;
	int32_t block, rc; /* rc: block where these lanes meet the others, -1 = nowhere */
};
#define SIMT_DEPTH 72 /* each split of 32 lanes adds at most two */

struct warp {
	uint32_t mask; /* lanes that execute now */
	uint32_t live; /* lanes that have not left */
	int32_t rc;
	uint32_t depth;
	int64_t fuel;   /* taken branches until the next look around */
	uint64_t ticks; /* PTX instructions begun */
	struct section_count *sec;
	struct mem_count *mem;
	struct mem_window *win;
	uint64_t *guards; /* worker's guard_lanes */
	uintptr_t host;   /* + device address = host address */
	uint8_t *shared;
	uint64_t shared_bytes;
	uintptr_t sampled;    /* + address / 2^13 * 8: bits of 64 lines of 128 bytes, 1 = followed */
	const struct uop *at; /* where to go on */
	const struct image *image;
	const struct program *program;
	struct worker *worker;
	uint32_t guard_saved;
	enum warp_state state;
	uint32_t number;  /* in the block */
	uint32_t barrier; /* number of the barrier it waits at */
	uint32_t syncs;   /* times its lanes were synchronised */
	uint64_t special[SR_COUNT];
	uint32_t tid[3][32];
	struct simt_entry stack[SIMT_DEPTH];
};
#define FUEL 4096

/* --- workers --- */

struct block_barrier {
	uint32_t arrived, expected; /* threads; expected 0 = all of the block */
	uint32_t ones, seen;        /* bar.red: true predicates, of so many */
	uint32_t result_ones, result_seen;
};
#define N_BARRIERS 16

struct launch;
struct repeat;
struct worker {
	struct launch *launch;
	unsigned index;
	uint8_t *frames; /* n_warps frames of frame_bytes */
	uint8_t *shared, *local;
	struct section_count *sec;
	struct mem_count *mem;
	struct mem_window *win[2]; /* of the bold and of the safe program */
	struct repeat *repeat;     /* by memory number: the lanes of the last irregular access */
	uint64_t *guard_lanes;     /* per operation: lanes whose guard was true; of a branch: false */
	uint64_t *divergent;       /* per block: times its branch split a warp */
	struct access_log log;
	uint64_t block; /* that runs now */
	uint32_t ctaid[3];
	bool checked;          /* this block runs with all checks */
	struct shadow *shadow; /* of shared memory, while checked */
	struct trace *trace;   /* of the observed warp; NULL otherwise */
	struct block_barrier barrier[N_BARRIERS];
	uint64_t warps_bold, warps_left; /* that began in the bold program, and that left it */
	struct fault fault;
};

struct block_order { /* which blocks run; the identity unless sampled */
	uint64_t n, total;
};
static inline uint64_t order_block(const struct block_order *o, uint64_t i)
{
	return o->n == o->total ? i : (uint64_t)((unsigned __int128)i * o->total / o->n);
}

/* One block of the present wave, for the cache simulation. */
struct block_record {
	struct worker *worker;
	size_t start, end; /* its entries */
	unsigned level;
};

struct run_request;
struct run_hooks;
struct cache_sim;
struct launch {
	const struct run_request *req;
	const struct run_hooks *hooks;
	const struct gpu_spec *gpu;
	const struct ptx_module *module;
	const struct ptx_func *func;
	const char *source_file;
	struct image image;
	struct arena arena;
	uint32_t threads, n_warps; /* per block */
	uint32_t shared_bytes, local_bytes;
	unsigned blocks_per_sm; /* resident, for the cache simulation */
	bool plain_only, check_all;
	unsigned n_workers;
	struct worker *workers;
	struct block_order order;
	uint64_t wave_first, wave_end; /* blocks that are resident together */
	struct block_record *records;  /* of the wave */
	_Atomic uint64_t next;         /* block to hand out, within the wave */
	_Atomic uint64_t done;
	_Atomic int stop; /* enum stop_reason */
	double started, deadline, last_report;
	struct cache_sim *cache;
	struct trace *trace; /* of block 0, warp 0 */
};
enum stop_reason { STOP_NONE, STOP_FAULT, STOP_CANCEL, STOP_TIMEOUT };
double now_s(void);

/* block.c */
void emu_worker_init(struct worker *wk, struct launch *l, unsigned index);
void emu_worker_free(struct worker *wk);
/* Runs block @index of the order; false = stopped. */
bool block_run(struct worker *wk, uint64_t index);
/* True when the run has to end (cancelled, timed out, another worker failed); polled. */
bool launch_poll(struct worker *wk);

/* control.c */
extern const struct handler vm_enter_bold, vm_enter, vm_enter_plain, vm_branch_bold, vm_jump,
	vm_branch, vm_branch_table, vm_exit, vm_exit_if, vm_trap, vm_nop, vm_guard, vm_guard_end,
	vm_barrier, vm_arrive, vm_barred, vm_barred_pred, vm_check_s32, vm_check_u32, vm_check_plus,
	vm_trace, vm_warp_sync;
void vm_resume(struct warp *w);
/* leave.c: the warp goes on in another program, from the operation of @u on; its next uop. */
const struct uop *program_leave(struct warp *w, const struct uop *u, enum program_kind to,
                                bool in_guard);
/* Ends the present path: next uop of the lanes that wait, or NULL when the warp is done. */
const struct uop *vm_pop(struct warp *w);
/* Stops the warp with a fault of lane @lane; returns NULL. */
const struct uop *vm_fault(struct warp *w, const struct uop *u, enum fault_kind kind,
                           unsigned lane);
static inline void *frame(const struct warp *w, uint32_t offset)
{
	return (char *)(uintptr_t)w + offset;
}

/* memory.c: any access, any mask; counts, checks, does it. Returns false on a fault. */
bool mem_access(struct warp *w, const struct uop *u, uint32_t mask);
extern const struct handler vm_mem;
/* For the full-warp handlers of simd/: the same access after all, counted one by one. */
const struct uop *mem_slow(struct warp *w, const struct uop *u, uint32_t mask);
/* atomic_ops.c: the new value of @old under operation @op with sources @b and @c. */
uint64_t lane_atomic(enum ptx_atom op, enum ptx_type type, uint64_t old, uint64_t b, uint64_t c);
/* A line of the arena is to be simulated: notes it. */
void log_line(struct warp *w, uint32_t line, unsigned sectors,
              enum log_kind kind); /* cache_log.c */

/* warpwide.c */
/* Lane that @lane reads with the given operands of shfl; *@inside: it is in range. */
unsigned shfl_source(enum ptx_mode mode, unsigned lane, uint32_t b, uint32_t c, bool *inside);
extern const struct handler vm_shfl, vm_vote, vm_vote_lanes, vm_match, vm_redux, vm_redux_lanes,
	vm_active, vm_elect;

/* trace.c: what the observed warp does, step by step. */
void trace_step(struct warp *w, const struct uop *u);
void trace_access(struct warp *w, const struct memop *m, uint32_t mask, const uint64_t *address,
                  enum ptx_space space);

/* fault.c: the message. Returns false. */
bool fault_report(const struct launch *l, const struct fault *f, struct err *err);

#endif
