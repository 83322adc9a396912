/* What an access costs, by count/probe.c, and its lines for the cache simulation. */
#include "emu/vm/access.h"

#include "emu/count/count.h"

/* Additions of one constant are counted, not carried out one by one (POPC.INC). */
static bool counts_lanes(const struct xop *x)
{
	return x->kind == X_RED && x->op == ATOM_ADD && x->s[1].kind == S_CONST && x->type != PTX_F32 &&
	       x->type != PTX_F64;
}

/* Places that the lanes ask constants from, one after the other. */
static unsigned constant_places(const struct access *a)
{
	unsigned n = 0;
	for (uint32_t left = a->mask; left; n++) {
		const uint64_t place = a->address[lowest_lane(left)];
		for (uint32_t m = left; m; m &= m - 1)
			left &= a->address[lowest_lane(m)] == place ? ~(m & -m) : UINT32_MAX;
	}
	return n;
}

/* Sums of floats on shared memory are loops of compare-and-swap in machine code. */
static bool swaps_shared(const struct xop *x)
{
	return x->op == ATOM_CAS || (x->op == ATOM_ADD && x->type >= PTX_F16 && x->type <= PTX_F64);
}

/* Lanes that have changed a word, of a compare-and-swap those that held. Warps that want one word
 * end together, and begin with the next instruction together. */
static void count_swaps(const struct access *a)
{
	struct worker *wk = a->w->worker;
	struct swap_words *s = &wk->swap_words;
	if (s->block != wk->block + 1)
		*s = (struct swap_words){ .block = wk->block + 1, .chain = s->chain };
	for (uint32_t m = a->m->x->op == ATOM_CAS ? a->swapped : a->mask; m; m &= m - 1) {
		const uint64_t word = a->address[lowest_lane(m)] / 4;
		const uint32_t n = ++s->n[(word + 37 * a->m->id) % SWAP_WORDS];
		uint32_t *most = &s->most[a->m->id % SWAP_INSTS];
		if (n > *most) {
			*most = n;
			s->chain++;
		}
	}
}

/* How often an atomic on shared memory goes round. @wavefronts: of a store to the same places. */
static void count_shared_atomic(const struct access *a, uint64_t wavefronts, struct mem_count *c)
{
	const struct xop *x = a->m->x;
	const bool merged = counts_lanes(x), swap = x->op == ATOM_CAS;
	if (merged && a->bytes == 4) { /* both are the most distinct words in one bank */
		c->passes += wavefronts;
		c->wavefronts += wavefronts;
		return;
	}
	const unsigned waves = shared_atomic_waves(a->address, a->mask, a->bytes, swap, merged);
	c->wavefronts += waves;
	if (!merged && a->bytes == 4) /* again both are one: the most lanes in one bank */
		c->passes += waves;
	else
		c->passes += (swap ? 2 : 1) * shared_atomic_passes(a->address, a->mask, a->bytes, merged);
}

void access_note_collision(struct access *a)
{
	const struct xop *x = a->m->x;
	struct collision_log *log = a->w->worker->grid->collisions;
	if (a->space == SPACE_SHARED && swaps_shared(x) && !a->w->worker->grid->quick)
		count_swaps(a);
	/* who waits asks again and again, which says nothing of a card */
	if (a->space != SPACE_GLOBAL || !log || (x->waits && !(x->op == ATOM_CAS && a->swapped)))
		return;
	const bool swap = x->retries, looked = a->w->looks > 0;
	struct worker *wk = a->w->worker;
	struct worker *first = wk->grid->together ? wk - wk->index : wk->cluster;
	const struct collision k = {
		.address = a->address,
		.own = &first->collisions,
		.mask = a->mask,
		.bytes = a->bytes,
		.block = a->w->worker->block,
		.warp = a->w->number,
		.turn = a->w->atomics++,
		.float_data = x->op == ATOM_ADD && x->type >= PTX_F16 && x->type <= PTX_F64,
		.swap = swap,
		.looked = looked,
		.wishes = swap && !looked ? a->w->swaps++ : 0,
		.changed = a->swapped,
	};
	collision_log_add(log, &k);
}

void access_note_turns(struct access *a)
{
	struct turn_log *log = a->w->worker->grid->turns;
	const struct xop *x = a->m->x;
	if (!log || (a->space != SPACE_GLOBAL && a->space != SPACE_SHARED))
		return;
	const struct turn_access t = { .address = a->address,
		                           .mask = a->mask,
		                           .room = a->space == SPACE_SHARED ? a->w->worker->block + 1 : 0,
		                           .op = a->u->xop,
		                           .waits = x->waits };
	/* the assembler may put a loop's first try before the loop */
	const bool tries = x->kind == X_ATOM && x->op == ATOM_CAS && x->decides;
	if (x->waits || tries)
		turn_log_asks(log, &a->w->handed, &t, tries ? a->swapped : 0);
	else if (a->write)
		turn_log_changes(log, &a->w->handed, &t);
}

void access_note_wanted(struct access *a)
{
	struct collision_log *log = a->w->worker->grid->collisions;
	if (a->m->x->precedes_swap && a->space == SPACE_GLOBAL && log)
		collision_log_want(log, &(struct collision){ .address = a->address,
		                                             .mask = a->mask,
		                                             .block = a->w->worker->block,
		                                             .warp = a->w->number,
		                                             .turn = a->w->looks++ });
}

/* Which of a line's four sectors lanes have words in, of a line with a word of each. */
static unsigned sectors_of_lanes(uint32_t lanes)
{
	return (unsigned)((lanes & 0xff) != 0) | (unsigned)((lanes & 0xff00) != 0) << 1 |
	       (unsigned)((lanes & 0xff0000) != 0) << 2 | (unsigned)(lanes >> 24 != 0) << 3;
}

/* The lanes of @a that are at a word of local memory, by the first lane there. Returns the first
 * lanes. */
static uint32_t local_words(const struct access *a, uint32_t lanes[32])
{
	struct lane_sets words;
	if (a->layout == LAYOUT_SAME) {
		lanes[lowest_lane(a->mask)] = a->mask;
		return a->mask & -a->mask;
	}
	lane_sets_find(&words, a->address, a->mask, 2);
	for (uint32_t m = words.firsts; m; m &= m - 1)
		lanes[lowest_lane(m)] = 0;
	for (uint32_t m = a->mask; m; m &= m - 1)
		lanes[words.first[lowest_lane(m)]] |= m & -m;
	return words.firsts;
}

/* Lanes' words of local memory lie beside each other: word n of 32 lanes is a line. */
static void count_local(struct access *a, struct mem_count *c)
{
	const unsigned words = (a->bytes + 3) / 4;
	uint32_t lanes[32];
	const uint32_t firsts = local_words(a, lanes);
	const unsigned n = lane_popc32(firsts);
	const struct log_request r = { .time = begun_at(a->w, a->m),
		                           .who = a->m->id,
		                           .lines = n * words,
		                           .kind = a->write ? LOG_LOCAL : LOG_LOAD };
	c->local_lines += n * words;
	for (uint32_t m = firsts; m; m &= m - 1) {
		const unsigned k = lowest_lane(m), sectors = sectors_of_lanes(lanes[k]);
		c->local_sectors += words * lane_popc32(sectors);
		for (unsigned j = 0; j < words; j++)
			log_local_line(a->w, (uint32_t)(a->address[k] / 4 + j), lanes[k], sectors, r);
	}
}

/* Requests go to another block of the cluster by pieces of 32 bytes. */
static void count_remote(const struct access *a, struct mem_count *c)
{
	struct lane_sets sectors;
	lane_sets_find(&sectors, a->address, a->remote, 5);
	c->remote++;
	c->remote_sectors += lane_popc32(sectors.firsts);
}

/* Lanes that go to another block of the cluster are in no counter of shared memory, as on an H200:
 * an instruction all of whose lanes do is no request of it. */
static void count_shared(struct access *a, struct mem_count *c)
{
	const uint32_t all = a->mask;
	if (a->remote)
		count_remote(a, c);
	if (!(all & ~a->remote))
		return;
	a->mask &= ~a->remote;
	const struct shared_probe p = a->again && !a->remote
	                                  ? repeat_shared(a->again, a->address, a->bytes, a->write)
	                                  : probe_shared(a->address, a->mask, a->bytes,
	                                                 a->remote ? LAYOUT_ANY : a->layout, a->write);
	c->space[1]++;
	if (a->atomic)
		count_shared_atomic(a, p.wavefronts, c);
	else if (a->m->x->kind != X_ASYNC) /* those depend on the other side, too: access.c */
		c->wavefronts += p.wavefronts;
	c->ideal += p.ideal;
	a->mask = all;
}

void access_count(struct access *a)
{
	struct warp *w = a->w;
	struct mem_count *c = &w->mem[a->m->id];
	if (w->worker->grid->quick)
		return;
	if (a->atomic && a->m->x->same_request) {
		c->atom_waves += global_atomic_waves(a->address, a->mask, false);
		return;
	}
	c->requests++;
	if (a->space == SPACE_SHARED) {
		count_shared(a, c);
		return;
	}
	if (a->space != SPACE_GLOBAL) {
		c->space[2]++;
		if (a->space == SPACE_LOCAL)
			count_local(a, c);
		else if (a->space == SPACE_CONST)
			c->passes += constant_places(a);
		return;
	}
	struct global_probe own;
	const struct global_probe *p = &own;
	const unsigned whole = a->m->x->request_bytes;
	const uint64_t line0 = a->again && !whole ? a->first >> 7 : 0;
	if (whole)
		probe_global(a->address, a->mask, whole, a->layout, &own);
	else if (a->again)
		p = repeat_global(a->again, a->address, a->bytes);
	else
		probe_global(a->address, a->mask, a->bytes, a->layout, &own);
	c->space[0]++;
	if (a->read && !a->atomic && a->m->x->space == SPACE_GLOBAL)
		c->wavefronts += (a->again ? repeat_shared(a->again, a->address, a->bytes, false)
		                           : probe_shared(a->address, a->mask, a->bytes, a->layout, false))
		                     .wavefronts;
	if (a->atomic)
		c->atom_waves += global_atomic_waves(a->address, a->mask, a->m->x->op == ATOM_CAS);
	c->sectors += p->sectors;
	c->lines += p->lines;
	c->bytes += p->bytes;
	const enum log_kind kind = a->atomic            ? LOG_ATOMIC
	                           : a->write           ? LOG_STORE
	                           : a->m->x->bypass_l1 ? LOG_LOAD_L2
	                                                : LOG_LOAD;
	const struct log_request r = {
		.time = begun_at(w, a->m),
		.who = a->m->id,
		.lines = p->n,
		.written = p->bytes / p->sectors,
		.kind = kind,
	};
	const struct arena *ar = w->worker->grid->arena;
	const uint64_t first_line = ar->base >> 7, lines = (ar->end - ar->base + 127) >> 7;
	for (unsigned i = 0; i < p->n; i++) {
		const uint64_t line = line0 + p->line[i];
		if (line - first_line >= lines)
			continue; /* beyond the device's memory */
		const uint64_t word = *(const uint64_t *)(w->sampled + (line >> 6) * 8);
		if (word >> (line & 63) & 1)
			log_line(w, line, p->sector_mask[i], &r);
	}
}
