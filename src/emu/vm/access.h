/*
 * One memory access of a warp, looked at lane by lane; shared by the access*.c files.
 */
#ifndef PMPP_EMU_ACCESS_H
#define PMPP_EMU_ACCESS_H

#include "emu/vm/handler.h"

struct access {
	struct warp *w;
	const struct uop *u;
	const struct memop *m;
	uint32_t mask;
	uint32_t remote;  /* lanes in shared memory of another block of the cluster */
	uint32_t swapped; /* lanes whose compare-and-swap changed the word */
	enum ptx_space space;
	unsigned bytes; /* of a lane, all elements */
	bool read, write, atomic;
	bool wants_value; /* reads what must have a value */
	bool planned;     /* its addresses are those of m->addr */
	bool only_read;   /* where nothing can write: it races with nothing */
	enum lane_layout layout;
	struct repeat *again; /* LAYOUT_ANY: the arrangement of the lanes; NULL = too wide */
	uint64_t first;       /* address of the first active lane */
	uint64_t low,
		span;      /* unless ANY without again: lowest address, bytes to the end of the highest */
	uint8_t *base; /* host address of the first active lane; NULL = see host */
	uint64_t address[32]; /* shared and local: offsets */
	uint8_t *host[32];    /* of each lane, unless base is set */
};

static inline unsigned lowest_lane(uint32_t m)
{
	return (unsigned)__builtin_ctz(m);
}

/* access.c: of all lanes, active or not. */
void access_addresses(const struct warp *w, const struct mem_addr *a, uint64_t out[32]);
/* The whole access, with everything that may have to be told of it. */
const struct uop *access_careful(struct warp *w, const struct uop *u, uint32_t mask);

/* access_check.c */
/* The buffer at @at, which is touched from now on; false: there is none, or it is to be looked at
 * with care. */
bool access_place(struct worker *wk, uint64_t at, bool read, bool write, struct mem_buffer *out);
/* @bytes of global memory from @at on, which are touched as one, and have a value afterwards if
 * they are written. OUTSIDE: of any one buffer; UNWRITTEN: some are read that have none. */
enum global_span { SPAN_THERE, SPAN_OUTSIDE, SPAN_READ_ONLY, SPAN_UNWRITTEN };
enum global_span access_span(struct worker *wk, uint64_t at, uint64_t bytes, bool read, bool write);
/* How the lanes lie: layout, first, low, span. */
void access_find_layout(struct access *a);
/* Host addresses of the lanes, or of the first (base); false = stopped by a fault. */
bool access_resolve(struct access *a);
/* Notes what went wrong where the launch goes on all the same; NULL if it ends: the caller tells.
 */
struct emu_fault *access_note(const struct access *a, enum fault_kind kind, unsigned lane,
                              uint64_t address);
void access_note_race(const struct access *a, const struct race_found *found, bool many);

/* access_race.c: notes whom it races with. */
void access_race(struct access *a);

/* access_count.c: counts it, and notes its lines for the cache simulation. */
void access_count(struct access *a);
/* Atomics on global memory that were carried out: with which others they collide. */
void access_note_collision(struct access *a);
/* Accesses to words that loops wait for: whose turn it is. */
void access_note_turns(struct access *a);
/* Loads of what a compare-and-swap may change then: who may want the same word. */
void access_note_wanted(struct access *a);

/* access_data.c: carries it out, lane by lane in lane order. */
void access_transfer(struct access *a);
void access_atomics(struct access *a);
/* The atomic @m of the lanes of @mask on the words at @host; @together: other threads of this
 * program change them, too. Returns the lanes whose compare-and-swap changed the word. */
uint32_t access_change(struct warp *w, const struct memop *m, uint32_t mask, uint8_t *const *host,
                       bool together);
/* Host addresses of all lanes, where only the first one's is known. */
void access_set_hosts(struct access *a);
/* The bytes that a lane stores. */
void access_bytes(const struct access *a, unsigned lane, uint8_t *out);
/* Bytes of one lane: 1, 2, 4 or 8 of them. */
uint64_t access_read(const uint8_t *p, unsigned bytes, bool sign);
void access_write(uint8_t *p, unsigned bytes, uint64_t v);

#endif
