/*
 * A warp: its header, behind which its registers lie, and what handlers do with it.
 */
#ifndef PMPP_EMU_WARP_H
#define PMPP_EMU_WARP_H

#include "emu/vm/vm.h"

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

/* WAIT: its operation asked in vain for what others have to do, and asks again in the next turn. */
enum warp_state { WARP_RUN, WARP_YIELD, WARP_WAIT, WARP_BARRIER, WARP_DONE, WARP_STOP };

struct simt_entry {
	uint32_t mask;
	int32_t block, rc;              /* rc: block where these lanes meet the others, -1 = nowhere */
	bool call;                      /* they wait behind a call */
	bool asks;                      /* they have asked memory in vain (give_way.c) */
	bool put;                       /* they wait at a barrier without having come (replay.c) */
	const struct call_frame *frame; /* its caller's registers to be restored; NULL = none */
	size_t kept;                    /* where they lie in the warp's call_saves */
};
#define SIMT_DEPTH 72 /* each split of 32 lanes adds at most two */
struct call_saves {   /* registers of callers that wait, the last on top */
	uint8_t *bytes;
	size_t n, cap;
};

/* Of machine code: lanes that wait for others at a barrier of the warp (meet.c). */
struct meeting {
	uint32_t here;     /* lanes; those that left are still among them */
	uint32_t put_here; /* of them, those that have not executed the instruction (replay.c) */
	bool apart;        /* others met at its barrier, at another instruction */
	uint32_t wanted;   /* MEET_WARP: the lanes that they wait for */
	uint32_t barrier;  /* MEET_WARP: WARPSYNC */
	int32_t block;     /* where they go on */
};
enum { MEET_BARRIERS = 16, MEET_WARP = MEET_BARRIERS };

/* Lanes that wait for others of their warp, at a barrier of the block or at an instruction of the
 * whole warp, or have that behind them and wait for their turn (parts.c). */
struct warp_part {
	uint32_t mask;
	uint32_t wanted; /* lanes that must come to such an instruction, too; 0 = waits at no such */
	int32_t rc;
	const struct uop *at; /* where they go on */
	bool opened;
	bool asks; /* opened, and put aside in a loop in which they wait: others go first */
};

struct warp {
	uint32_t mask; /* lanes that execute now */
	uint32_t live; /* lanes that have not left */
	int32_t rc;
	uint32_t depth;
	int64_t fuel;   /* taken branches until the next look around */
	uint64_t ticks; /* PTX instructions begun */
	struct segment_count *segments;
	struct mem_count *mem;
	struct mem_window *win;
	struct dot_window *dots;
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
	bool stays_careful; /* it could not reoptimise() */
	uint8_t returns;    /* how often it did */
	bool takes_turns;   /* parts of it went on out of their order, each with values of its own */
	bool gave_way;      /* since its last turn: its lanes let others of it go on (give_way.c) */
	enum warp_state state;
	uint32_t number;          /* in the block */
	uint32_t barrier;         /* number of the barrier it waits at */
	uint32_t atomics;         /* on global memory that it has done */
	uint32_t looks;           /* at words that it may compare and swap then */
	uint32_t swaps;           /* without a look before */
	struct turn_words handed; /* words that it waited for */
	uint32_t cluster_phase;   /* of its cluster's barrier when it arrived */
	uint32_t groups;          /* wgmma.commit_group so far */
	uint64_t special[SR_COUNT];
	uint32_t tid[3][32];
	uint32_t calls;  /* that are open */
	uint32_t rounds; /* that these lanes have had in a loop that may wait, others being put aside */
	uint32_t stack_entries;
	struct simt_entry *stack;
	struct call_saves *saves;
	uint32_t n_parts;
	struct warp_part part[32];
	uint32_t given;           /* lanes for which a result of theirs waits (exchange.c): */
	uint32_t given_pred;      /* its predicate */
	uint32_t given_value[32]; /* and its value */
	uint32_t collective; /* of machine code: lanes behind WARPSYNC.COLLECTIVE, at several places: */
	uint32_t together[32]; /* and with which each then exchanges */
	uint32_t n_waiting;
	struct meeting waiting[32];
	uint32_t meet[MEET_BARRIERS];      /* the lanes that meet there */
	int32_t meet_block[MEET_BARRIERS]; /* where lanes go on behind it, of the last BSSY */
	bool meet_kept[MEET_BARRIERS];     /* that came from a register (BMOV) */
};
#define FUEL 4096
#define FUEL_TOGETHER 64 /* other blocks wait for this one, perhaps */
#define MOST_ROUNDS 64   /* then lanes that were put aside have their turn */

static inline void *frame(const struct warp *w, uint32_t offset)
{
	return (char *)(uintptr_t)w + offset;
}
/* Its lanes of @mask were synchronised, which orders what they do in memory. */
static inline void warp_synced(struct warp *w, uint32_t mask)
{
	if (w->worker->race)
		race_warp_sync(w->worker->race, w->number, mask, w->live);
}
static inline struct warp *warp_at(const struct worker *wk, uint32_t i)
{
	return (struct warp *)(void *)(wk->frames + (size_t)i * wk->grid->image->frame_bytes);
}

/* warp.c */
/* Runs the warp until it waits, ends, stops or has used up its fuel. */
void vm_resume(struct warp *w);
/* Stops the warp with a fault of lane @lane; returns NULL. */
const struct uop *vm_fault(struct warp *w, const struct uop *u, enum fault_kind kind,
                           unsigned lane);

/* Notes what went wrong where the launch goes on all the same, each kind at each operation once. */
struct emu_fault *vm_note(struct warp *w, const struct uop *u, enum fault_kind kind, unsigned lane);
/* A race; @many: other lanes store to that place by the same instruction. */
struct emu_fault *vm_note_race(struct warp *w, const struct uop *u, const struct race_found *found,
                               bool many);

/* Puts lanes aside that go on at @block later; @rc: see struct simt_entry. */
void warp_push(struct warp *w, uint32_t mask, int32_t block, int32_t rc);

/* branch.c: ends the present path: next uop of the lanes that wait, or NULL when the warp is done.
 */
const struct uop *vm_pop(struct warp *w);
/* Of the lanes of @left (not 0) at the branch through a table @u: those that go where the lowest
 * goes, and *@target, the block. 0 = its index is outside the table: the warp has stopped. */
uint32_t vm_table_group(struct warp *w, const struct uop *u, uint32_t left, int32_t *target);

/* parts.c: the warp has come to barrier @b; it waits there, and goes on at @at. */
void barrier_arrive(struct warp *w, struct block_barrier *b);
void barrier_wait(struct warp *w, struct block_barrier *b, const struct uop *at);

/* May the active lanes wait at the barrier @u for the others of the warp? They do, and
 * what goes on now, or NULL; the same when a path ends; the barrier has opened for those that wait.
 */
bool parts_may_wait(const struct warp *w, const struct uop *u);
const struct uop *parts_wait(struct warp *w, const struct uop *u);
/* Lanes of the warp wait at a barrier of the block. */
bool parts_at_barrier(const struct warp *w);
/* Where exchange_apart(): the active lanes wait at @u for the others that they name, or take what
 * they got; what goes on now. */
const struct uop *parts_exchange(struct warp *w, const struct uop *u);
/* meet.c: the same in machine code. */
const struct uop *meet_exchange(struct warp *w, const struct uop *u);
const struct uop *parts_next(struct warp *w);
void parts_opened(struct warp *w);

/* call_frame.c: keeps the registers of @f, and says where; the registers of the lanes of @mask are
 * again what they were before the call that @e waits behind. */
size_t vm_save_frame(struct warp *w, const struct call_frame *f);
void vm_restore_frame(struct warp *w, const struct simt_entry *e, uint32_t mask);
/* Nobody waits behind that call any longer; what others wait for stays. */
void vm_call_done(struct warp *w, const struct simt_entry *e);

/* exchange.c: instructions by which lanes of a warp exchange or wait. The lanes that lane @lane
 * names at @u; do lanes that one of those of @mask names lack among them, or have these met before?
 */
uint32_t exchange_members(const struct warp *w, const struct uop *u, unsigned lane);
/* Are @lanes, which wait at @u for lanes @named, among them? If not, that is told; false: the warp
 * stops there. */
bool exchange_names_all(struct warp *w, const struct uop *u, uint32_t lanes, uint32_t named);
/* Lane @lane, and every other that shuffles at @u, reads a lane that its mask does not name, this
 * one @read; the same. */
bool exchange_reads_named(struct warp *w, const struct uop *u, unsigned lane, unsigned read);
bool exchange_apart(const struct warp *w, const struct uop *u, uint32_t mask);
/* apart.c: the active lanes come to @u, where exchange_apart(). What goes on now, with what it got,
 * or NULL: all of them wait. */
const struct uop *exchange_come(struct warp *w, const struct uop *u);
/* Lets go on all lanes that wait for no others than are there; false: there are none. */
bool exchange_met(struct warp *w);
/* A part that may go on; NULL = none. */
const struct uop *exchange_opened(struct warp *w);
const struct uop *exchange_asking(struct warp *w); /* ... that was put aside in a loop */
/* The parts that wait where part @i does, or at an instruction of that kind; *@lanes: theirs. */
uint32_t exchange_alike(const struct warp *w, uint32_t i, uint32_t *lanes);
/* They met (@all), or nobody else comes: they go on, with what they have for one another. */
void exchange_open(struct warp *w, uint32_t parts, bool all);
/* Parts that go on at one place go on together. */
void exchange_join(struct warp *w);

/* The lanes of @parts, bits of their numbers, give one another what they have for them. */
void exchange_meet(struct warp *w, uint32_t parts);
/* What the active lanes got goes where @u wants it. */
void exchange_take(struct warp *w, const struct uop *u);
uint32_t warp_vote(enum ptx_mode mode, uint32_t p, uint32_t active);
uint32_t warp_reduce(const uint32_t *a, uint32_t active, enum ptx_atom op, bool sign);

/* deopt.c: value of lane @lane of a register of @bytes bytes in the program that the warp runs */
uint64_t vm_lane_value(const struct warp *w, unsigned reg, unsigned bytes, unsigned lane);
/* an assumption does not hold: the warp goes on in another program from the operation of
 * @u on (to the reference program: u->b 1 = inside a guard). */
const struct uop *deoptimise_to_conservative(struct warp *w, const struct uop *u, uint32_t mask);
const struct uop *deoptimise_to_reference(struct warp *w, const struct uop *u, uint32_t mask);
/* The same outside a guard, by any operation. */
const struct uop *deoptimise_here(struct warp *w, const struct uop *u);
/* Parts of the warp are to go on out of their order: is it in a program that cannot keep values of
 * each, so that it has to deoptimise_here() first? */
static inline bool must_take_turns(struct warp *w)
{
	w->takes_turns = true;
	return w->program->kind != PROGRAM_REFERENCE;
}
/* A warp of a careful program begins the block of ENTER @u, where nothing is left to look for: goes
 * on in the conservative program. NULL = its registers are not as that one needs them. */
const struct uop *reoptimise(struct warp *w, const struct uop *u);

/* access.c: any access, any mask; counts, checks, does it. */
extern const struct handler vm_access;
/* watch.c: in front of a regular access of a full warp: what the checks have to know of it. */
extern const struct handler vm_watch[MEM_PLACES];
/* The same of any access, where nothing is counted. */
const struct uop *vm_watch_any(struct warp *w, const struct uop *u, uint32_t mask);
extern const struct handler vm_watch_chains; /* the same of all loads that chains do alone */
/* texture_access.c: textures and surfaces. */
extern const struct handler vm_texture;
/* For the full-warp handlers of simd/: the same access after all, counted one by one. */
const struct uop *access_slow(struct warp *w, const struct uop *u, uint32_t mask);
/* The time of an access: what is under way together has the same. */
static inline uint64_t begun_at(const struct warp *w, const struct memop *m)
{
	return w->ticks + (uint64_t)(int64_t)m->begun;
}
/* warp_log.c: a line of the arena is to be simulated: notes it as one of @r. */
void log_line(struct warp *w, uint64_t line, unsigned sectors, const struct log_request *r);
/* The same of a line of the warp's own local memory, counted from its first. */
void log_local_line(struct warp *w, uint32_t line, uint32_t lanes, unsigned sectors,
                    struct log_request r);
/* At the start and the end of a block. */
void log_block_start(struct worker *wk);
void log_block_end(struct worker *wk, uint64_t index);

/* warp_trace.c: what the observed warp does, step by step. */
void warp_trace_step(struct warp *w, const struct uop *u);
void warp_trace_access(struct warp *w, const struct memop *m, uint32_t mask,
                       const uint64_t *address, enum ptx_space space);

extern const struct control_handlers vm_control_handlers;
extern const struct branch_handlers vm_branch_handlers;
extern const struct handler vm_system; /* system.c */
extern const struct call_handlers vm_call_handlers;
extern const struct meet_handlers vm_meet_handlers;
extern const struct barrier_handlers vm_barrier_handlers;
extern const struct warp_handlers vm_warp_handlers;
extern const struct uniform_handlers vm_uniform_handlers;

#endif
