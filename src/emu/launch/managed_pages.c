/* See managed_pages.h. */
#include "emu/launch/managed_pages.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An allocation is looked at in so many places at most, of so many bytes: a change that lies
 * between them is not seen. What the host changes goes to it in pieces of so many bytes at least.
 */
#define PLACES 1024
#define PLACE_BYTES 64
#define PIECE_BYTES 65536
/* Launches behind which is looked for what the host reads. */
#define MOST_MARKS 64

struct state {
	uint64_t serial; /* of the allocation */
	bool used;       /* it was on the GPU once */
	bool fresh;      /* it was not, and nobody wrote */
	double away;     /* bytes that are with the host */
	uint64_t *held;  /* of each place, a hash of what lay there on the GPU */
};
struct managed_pages {
	size_t n, cap;
	bool waited;      /* some launch did */
	bool piece_here;  /* of small allocations, which lie together, a piece is on the GPU */
	bool marked;      /* what the host touches */
	unsigned marks;   /* so often they were set */
	struct state *of; /* ascending by serial */
};

struct managed_pages *managed_pages_new(void)
{
	return mem_zalloc(sizeof(struct managed_pages));
}

void managed_pages_free(struct managed_pages *p)
{
	for (size_t i = 0; p && i < p->n; i++)
		free(p->of[i].held);
	if (p)
		free(p->of);
	free(p);
}

static struct state *state_of(struct managed_pages *p, const struct arena_region *r)
{
	size_t i = p->n;
	while (i && p->of[i - 1].serial > r->serial)
		i--;
	if (i && p->of[i - 1].serial == r->serial)
		return &p->of[i - 1];
	MEM_ROOM(p->of, p->n, p->cap, 16);
	memmove(&p->of[i + 1], &p->of[i], (p->n++ - i) * sizeof *p->of);
	p->of[i] = (struct state){ .serial = r->serial, .away = (double)r->size };
	return &p->of[i];
}

static uint64_t places_of(const struct arena_region *r)
{
	const uint64_t n = (r->size + PLACE_BYTES - 1) / PLACE_BYTES;
	return n < PLACES ? n : PLACES;
}

static uint64_t look_at(const struct arena *a, const struct arena_region *r, uint64_t place)
{
	const uint64_t at = r->size / places_of(r) * place;
	const uint64_t bytes = r->size - at < PLACE_BYTES ? r->size - at : PLACE_BYTES;
	return content_hash(arena_at(a, r->base + at), bytes).part[0];
}

/* Nothing but zeros, as memory comes from the system. */
static bool is_blank(const struct arena *a, const struct arena_region *r)
{
	static const uint8_t zeros[PLACE_BYTES];
	for (uint64_t i = 0; i < places_of(r); i++) {
		const uint64_t at = r->size / places_of(r) * i;
		const uint64_t bytes = r->size - at < PLACE_BYTES ? r->size - at : PLACE_BYTES;
		if (memcmp(arena_at(a, r->base + at), zeros, bytes) != 0)
			return false;
	}
	return true;
}

void managed_pages_look(struct managed_pages *p, const struct arena *a,
                        const struct arena_region *r)
{
	struct state *s = state_of(p, r);
	const uint64_t n = places_of(r);
	uint64_t changed = 0;
	s->fresh = !s->used && is_blank(a, r);
	if (!s->held || s->away >= (double)r->size)
		return;
	for (uint64_t i = 0; i < n; i++)
		changed += s->held[i] != look_at(a, r, i);
	if (changed) {
		const double bytes = (double)r->size * (double)changed / (double)n;
		s->away = fmax(s->away, fmin((double)r->size, fmax(PIECE_BYTES, bytes)));
	}
}

void managed_pages_touched(struct managed_pages *p, const struct arena_region *r, uint64_t bytes)
{
	struct state *s = state_of(p, r);
	if (s->used && bytes)
		s->away = fmax(s->away, fmin((double)r->size, fmax(PIECE_BYTES, (double)bytes)));
}

bool managed_pages_wants_marks(const struct managed_pages *p)
{
	return p->marks < MOST_MARKS;
}

void managed_pages_set_marks(struct managed_pages *p, bool set)
{
	p->marks = set ? p->marks + 1 : MOST_MARKS; /* the system has none */
	p->marked = set;
}

bool managed_pages_take_marks(struct managed_pages *p)
{
	const bool marked = p->marked;
	p->marked = false;
	return marked;
}

bool managed_pages_first(struct managed_pages *p)
{
	const bool first = !p->waited;
	p->waited = true;
	return first;
}

bool managed_pages_used(struct managed_pages *p, const struct arena_region *r)
{
	return state_of(p, r)->used;
}

struct page_moves managed_pages_away(struct managed_pages *p, const struct arena_region *r)
{
	const struct state *s = state_of(p, r);
	if (s->fresh && r->size < PIECE_BYTES && p->piece_here)
		return (struct page_moves){ 0 };
	return (struct page_moves){ .host = s->fresh ? 0 : s->away, .fresh = s->fresh ? s->away : 0 };
}

void managed_pages_here(struct managed_pages *p, const struct arena *a,
                        const struct arena_region *r, bool on_gpu)
{
	struct state *s = state_of(p, r);
	s->used = true;
	s->away = on_gpu ? 0 : (double)r->size;
	if (!on_gpu)
		return;
	p->piece_here |= r->size < PIECE_BYTES;
	const uint64_t n = places_of(r);
	if (!s->held)
		s->held = mem_calloc(n, sizeof *s->held);
	for (uint64_t i = 0; i < n; i++)
		s->held[i] = look_at(a, r, i);
}
