/* What an access costs, by count/probe.c, and its lines for the cache simulation. */
#include "emu/vm/access.h"

void access_count(struct access *a)
{
	struct warp *w = a->w;
	struct mem_count *c = &w->mem[a->m->id];
	c->requests++;
	if (a->space == SPACE_SHARED) {
		const struct shared_probe p =
			a->again ? repeat_shared(a->again, a->address, a->bytes, a->write)
					 : probe_shared(a->address, a->mask, a->bytes, a->layout, a->write);
		c->space[1]++;
		c->wavefronts += p.wavefronts;
		c->ideal += p.ideal;
		return;
	}
	if (a->space != SPACE_GLOBAL) {
		c->space[2]++;
		return;
	}
	struct global_probe own;
	const struct global_probe *p = &own;
	const uint64_t line0 = a->again ? a->first >> 7 : 0;
	if (a->again)
		p = repeat_global(a->again, a->address, a->bytes);
	else
		probe_global(a->address, a->mask, a->bytes, a->layout, &own);
	c->space[0]++;
	c->sectors += p->sectors;
	c->lines += p->lines;
	c->bytes += p->bytes;
	const enum log_kind kind = a->atomic            ? LOG_ATOMIC
	                           : a->write           ? LOG_STORE
	                           : a->m->x->bypass_l1 ? LOG_LOAD_L2
	                                                : LOG_LOAD;
	const struct arena *ar = w->worker->grid->arena;
	const uint64_t first_line = ar->base >> 7, lines = (ar->end - ar->base + 127) >> 7;
	for (unsigned i = 0; i < p->n; i++) {
		const uint64_t line = line0 + p->line[i];
		if (line - first_line >= lines)
			continue; /* beyond the device's memory */
		const uint64_t word = *(const uint64_t *)(w->sampled + (line >> 6) * 8);
		if (word >> (line & 63) & 1)
			log_line(w, line, p->sector_mask[i], kind);
	}
}
