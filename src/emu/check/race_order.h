/*
 * Who is ordered before whom, by barriers, warp synchronisation, fences and atomics
 * (race_order.c); for race.c, which asks it.
 */
#ifndef PMPP_EMU_RACE_ORDER_H
#define PMPP_EMU_RACE_ORDER_H

#include "emu/check/check.h"
#include "emu/check/race_cells.h"
#include "emu/check/race_clock.h"

#define RACE_BARRIERS 16

/* Of what is handed over: to threads of the block, to all. */
enum { BLOCK_SCOPE, GPU_SCOPE, SCOPES };

/* Where threads hand something over: a word that strong stores and atomics write. */
struct race_place {
	uint64_t key;                /* 0 = free */
	uint32_t first_warp;         /* of the block whose own hand-over is in clock[0] */
	struct race_clock *clock[2]; /* for that block, for all */
	struct race_holder {         /* who had this lock last */
		uint32_t warp, lane;     /* over the whole launch, + 1; 0 = nobody */
		uint32_t from, to;       /* epochs */
	} holder;
};
struct race_places {
	struct race_place *place;
	uint32_t n, room;
};

/* What a lane does with a lock: between a compare-and-swap or exchange that it waited by, and its
 * next store there (race_lock.c). */
struct race_section {
	uint64_t key;                                           /* of the lock; 0 = holds none */
	uint32_t from;                                          /* epoch */
	enum { LOCK_BARE, LOCK_BLOCK_FENCE, LOCK_FENCE } fence; /* behind the taking, so far */
};

struct race_warp {
	uint32_t epoch;
	uint32_t all_known;           /* its lanes know of one another what came before that epoch */
	uint32_t acted;               /* lanes that used memory since a barrier */
	bool partial;                 /* and some more: */
	uint32_t (*known)[32];        /* [lane][of lane]; NULL = nothing yet */
	bool arrived;                 /* at a barrier, and waits there or has gone on without */
	bool beyond;                  /* some of what follows is in use */
	uint32_t fenced[2][32];       /* epoch of the lane's last fence: of the block, of the GPU; 0 */
	struct race_clock *clock[32]; /* what it knows beyond its own warp and barriers */
	struct race_clock *release[2][32]; /* what its next strong store hands over */
	struct race_clock *pending[2][32]; /* read, but no fence behind it yet */
	struct race_joined joined[5]; /* to clocks: pending ones, others'; to what is handed over */
	uint32_t *others;             /* by warp of the block: known up to there */
	struct race_section *section; /* of 32 lanes; NULL = took no lock */
};

struct race_gate { /* of one barrier: what those know who have arrived */
	bool used;
	uint32_t *known;
	struct race_clock *clock, *release[2];
};

/* Of a lane, not waited for yet (race_copies.c). */
struct race_copy {
	uint32_t address, bytes, warp, lane, group;
};
struct race_copies {
	struct race_copy *copy;
	uint32_t n, cap;
	uint32_t (*begun)[32]; /* by warp and lane: groups that were committed; NULL = no copies */
};
/* Reads of shared memory that are looked at later (race_reads.c). */
struct race_reads {
	bool off;          /* all are looked at */
	uint32_t turn;     /* how often all threads have met, + 1 */
	uint32_t latest;   /* the turn in which anything was written last */
	uint32_t *written; /* by page: the same */
	struct race_read *read;
	uint32_t n, cap, next; /* next: to be looked at */
	uint32_t *address;
	uint32_t n_address, cap_address;
};
/* Of bulk copies (race_bulk.c): who does them, as warps with numbers from RACE_ENGINES on. */
#define RACE_ENGINES 0x80000000u
struct race_engine {
	uint64_t key; /* of its mbarrier, or a kind of group */
	uint32_t warp, number, epoch;
};
struct race_bulks {
	struct race_engine *engine;
	uint32_t n, cap;
	uint32_t (*begun)[32]; /* by warp and lane: groups that were committed; NULL = none */
	/* By warp and lane: before that epoch a fence to the engines is behind it; NULL = none. */
	uint32_t (*fenced)[32];
};
#define RACE_PENDING UINT32_MAX /* epoch of what such a copy writes: ordered before nothing */

struct race_block {
	struct races *races;
	struct race_cells *cells;
	struct race_places *places;
	struct race_copies copies;
	struct race_bulks bulks;
	struct race_reads reads;
	uint64_t block;
	uint32_t number;              /* in the order of their starts */
	uint32_t first_warp, n_warps; /* the first one's number over the whole launch */
	struct race_warp *warp;
	struct race_gate gate[RACE_BARRIERS];
	struct race_page *shared;
	struct race_block *next; /* of those that run */
};

void race_places_free(struct race_places *p);

void race_warps_start(struct race_block *b);
void race_warps_free(struct race_block *b);

/* Is what @lane of launch-wide warp @warp did in @epoch ordered before what lane @me of warp @w of
 * block @b does now? */
bool race_ordered(const struct race_block *b, uint32_t w, unsigned me, uint32_t warp, unsigned lane,
                  uint32_t epoch);

/* A strong write behind a fence, in @epoch: does the same place's next user, lane @me of warp @w,
 * go on from it? It read what that one wrote, or something later, there or elsewhere. */
bool race_followed(const struct race_block *b, uint32_t w, unsigned me, uint32_t warp,
                   unsigned lane, uint32_t epoch);

/* The same at the moment of @epoch: is what that lane did then handed to lane @me, with or without
 * a fence of its own? */
bool race_handed(const struct race_block *b, uint32_t w, unsigned me, uint32_t warp, unsigned lane,
                 uint32_t epoch);

/* NULL: nothing was handed over at @key; and the same, made if need be. */
struct race_place *race_place_at(const struct race_places *p, uint64_t key);
struct race_place *race_place_make(struct race_places *p, uint64_t key);

/* --- locks (race_lock.c) --- */
void race_lock_take(struct race_block *b, uint64_t key, unsigned lane, const struct race_access *a);
/* Before a strong store at @at: if it is that of a lock that the lane holds, it is free then. */
void race_lock_give(struct race_block *b, struct race_place *at, unsigned lane, uint32_t warp);
void race_lock_fence(struct race_warp *w, uint32_t lanes, bool whole_gpu);
/* RACE_USE_BARE..., for what the lanes of @a do while they hold locks. */
uint32_t race_lock_flags(const struct race_block *b, const struct race_access *a);
/* The key of the lock that lane @me holds; 0 = none. */
uint64_t race_lock_held(const struct race_block *b, uint32_t w, unsigned me);
/* @lane of @use held the lock at @at (NULL = none) last, and lacked a fence behind its taking: then
 * nothing would order it and warp @w, which holds the lock now, had they come the other way round.
 */
bool race_lock_reversed(const struct race_block *b, uint32_t w, const struct race_place *at,
                        const struct race_use *use, unsigned lane);

/* A barrier of all threads opens for those that wait (race_reads.c). */
void race_reads_met(struct race_block *b);
void race_copies_note(struct race_block *b, const struct race_access *a);
void race_copies_free(struct race_block *b);

/* A strong access of one lane to the place of @key: takes over, hands over. */
void race_hand_over(struct race_block *b, uint64_t key, unsigned lane, const struct race_access *a);
/* What the next one who comes to @key costs, in looks: it grows with all who came before. */
uint32_t race_hand_over_looks(const struct race_places *p, uint64_t key);
/* What a place is called: an address, or an offset in the block's shared memory. */
uint64_t race_place_key(const struct race_block *b, bool shared, uint64_t address);

/* --- a launch (race_launch.c) --- */

struct races {
	uint32_t n_warps, shared_bytes;
	bool between_blocks; /* races between blocks are looked for */
	bool shares_memory;  /* blocks of a cluster use one another's shared memory */
	uint64_t *block;     /* by the order of their starts */
	uint32_t n_blocks, room_blocks;
	struct race_cells cells;
	struct race_places places;
	uint64_t visits, most; /* of cells, or of eight lanes in a row as one */
	struct race_block *running;
	uint32_t *asker; /* by number of an engine: the warp that asks it */
	uint32_t n_askers, cap_askers;
};
/* Makes room for more marks; false: there is none. */
bool races_make_room(struct races *r);
/* May another access be looked at? */
static inline bool races_go_on(struct races *r)
{
	return r->visits < r->most && (!race_cells_crowded(&r->cells) || races_make_room(r));
}

/* --- bulk copies (race_bulk.c) --- */
/* The real warp, over the whole launch, for warp @warp, which may be an engine. */
static inline uint32_t race_asker(const struct races *r, uint32_t warp)
{
	return warp >= RACE_ENGINES ? r->asker[warp - RACE_ENGINES] : warp;
}
/* Whoever waits for that phase of an mbarrier, or lane @lane, learns @e. */
void race_mbarrier_tell(struct race_block *owner, uint64_t offset, uint32_t phase,
                        struct race_entry *e);
void race_learn(struct race_block *b, uint32_t warp, unsigned lane, struct race_entry *e);
void race_learn_all(struct race_block *b, uint32_t warp, uint32_t lanes, struct race_entry *e);

#endif
