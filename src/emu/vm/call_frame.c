/* The registers of functions that call themselves, kept while a call of theirs is open. */
#include "emu/vm/handler.h"

#include "base/mem.h"

#include <string.h>

size_t vm_save_frame(struct warp *w, const struct call_frame *f)
{
	struct call_saves *s = w->saves;
	if (!f->bytes) /* nothing lives across the call, and there may be no room yet */
		return s->n;
	if (s->n + f->bytes > s->cap) {
		s->cap = 2 * s->cap > s->n + f->bytes ? 2 * s->cap : s->n + f->bytes + 4096;
		s->bytes = mem_realloc(s->bytes, s->cap, 1);
	}
	uint8_t *to = s->bytes + s->n;
	for (unsigned i = 0; i < f->n; i++) {
		const struct call_frame_part *p = &f->part[i];
		const uint32_t slot = p->bytes ? w->program->reg_slot[p->reg] : p->predicate;
		const unsigned n = p->bytes ? 32u * p->bytes : 8;
		if (slot != UINT32_MAX)
			memcpy(to, frame(w, slot), p->bytes ? n : 4);
		to += n;
	}
	s->n += f->bytes;
	return s->n - f->bytes;
}

#define FEW_LANES 8 /* one by one they are quicker */

/* All of a register, or the lanes of @mask: many without branches, as masks change from call to
 * call. */
static void restore_lanes(void *to, const void *from, unsigned bytes, uint32_t mask)
{
	if (mask == UINT32_MAX) {
		memcpy(to, from, 32u * bytes);
	} else if (__builtin_popcount(mask) <= FEW_LANES) {
		for (uint32_t m = mask; m; m &= m - 1) {
			const size_t at = (size_t)__builtin_ctz(m) * bytes;
			memcpy((char *)to + at, (const char *)from + at, bytes);
		}
	} else if (bytes == 4) {
		uint32_t *d = to, v[32];
		memcpy(v, from, sizeof v);
		for (unsigned i = 0; i < 32; i++)
			d[i] = mask >> i & 1 ? v[i] : d[i];
	} else {
		uint64_t *d = to, v[32];
		memcpy(v, from, sizeof v);
		for (unsigned i = 0; i < 32; i++)
			d[i] = mask >> i & 1 ? v[i] : d[i];
	}
}

static void restore_part(struct warp *w, const struct call_frame_part *p, const uint8_t *from,
                         uint32_t mask)
{
	const uint32_t slot = p->bytes ? w->program->reg_slot[p->reg] : p->predicate;
	if (slot == UINT32_MAX)
		return;
	if (!p->bytes) {
		uint32_t was;
		memcpy(&was, from, sizeof was);
		PRED(slot) = (PRED(slot) & ~mask) | (was & mask);
		return;
	}
	restore_lanes(frame(w, slot), from, p->bytes, mask);
}

void vm_restore_frame(struct warp *w, const struct simt_entry *e, uint32_t mask)
{
	const struct call_frame *f = e->frame;
	if (!f || !f->bytes)
		return;
	const uint8_t *from = w->saves->bytes + e->kept;
	for (unsigned i = 0; i < f->n; i++) {
		restore_part(w, &f->part[i], from, mask);
		from += f->part[i].bytes ? 32u * f->part[i].bytes : 8;
	}
}

void vm_call_done(struct warp *w, const struct simt_entry *e)
{
	w->calls--;
	if (!e->frame || !e->frame->bytes)
		return;
	w->saves->n = 0;
	for (uint32_t i = 0; i < w->depth; i++) {
		const struct simt_entry *other = &w->stack[i];
		const size_t end = other->frame ? other->kept + other->frame->bytes : 0;
		if (end > w->saves->n)
			w->saves->n = end;
	}
}
