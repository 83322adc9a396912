/* Reads of shared memory that are looked at later, or never; see race_reads.h. */
#include "emu/check/race_reads.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MOST_READS 16384 /* noted at a time */

struct race_read {
	const struct lane_pieces *pieces; /* of all lanes, counted from @first; NULL = see below */
	uint32_t warp, op, epoch;
	uint32_t first; /* of reads.address: that of the first lane, or of all 32 */
	uint32_t mask;
	uint16_t bytes;
	uint8_t n, lanes; /* so many addresses; of race_access.lanes */
};

void race_reads_start(struct race_block *b, uint32_t n_pages)
{
	b->reads = (struct race_reads){ .turn = 1 };
	b->reads.written = mem_calloc(n_pages, sizeof *b->reads.written);
}

void race_reads_free(struct race_block *b)
{
	free(b->reads.written);
	free(b->reads.read);
	free(b->reads.address);
}

/* Who has only arrived knows nothing of the others: then all is looked at from now on. Otherwise
 * what was noted races with nothing any more. */
void race_reads_met(struct race_block *b)
{
	for (uint32_t i = 0; i < b->n_warps; i++)
		b->reads.off |= b->warp[i].arrived;
	if (b->reads.off)
		return;
	b->reads.turn++;
	b->reads.n = b->reads.next = b->reads.n_address = 0;
}

static unsigned first_lane(const struct race_access *a)
{
	return (unsigned)__builtin_ctz(a->mask);
}

/* Has one of the pages of @a been written since all met? @writes: they are now. */
static bool written(struct race_block *b, const struct race_access *a, bool writes)
{
	const uint32_t ends = 1u << first_lane(a) | 1u << (31 - __builtin_clz(a->mask));
	bool any = false;
	if (!writes && b->reads.latest != b->reads.turn)
		return false;
	b->reads.latest = b->reads.turn;
	for (uint32_t m = a->lanes == RACE_ANYWHERE ? a->mask : ends; m; m &= m - 1) {
		const uint64_t at = a->address[__builtin_ctz(m)];
		uint32_t *first = &b->reads.written[at >> RACE_PAGE_BITS];
		uint32_t *last = &b->reads.written[(at + a->bytes - 1) >> RACE_PAGE_BITS];
		any |= *first == b->reads.turn || *last == b->reads.turn;
		if (writes)
			*first = *last = b->reads.turn;
	}
	return any;
}

bool race_reads_put_off(struct race_block *b, const struct race_access *a, uint32_t op)
{
	struct race_reads *r = &b->reads;
	r->off |= b->warp[a->warp].arrived; /* it has not waited there */
	if (r->off || !a->shared || a->write || a->in_loop || op & ~RACE_OP_MASK ||
	    r->n == MOST_READS || written(b, a, false))
		return false;
	const bool all = a->lanes == RACE_ANYWHERE;
	const uint32_t n = all ? 32 : 1;
	MEM_ROOM(r->read, r->n, r->cap, 256);
	if (r->n_address + n > r->cap_address) {
		r->cap_address = r->cap_address ? 2 * r->cap_address : 1024;
		r->address = mem_realloc(r->address, r->cap_address, sizeof *r->address);
	}
	r->read[r->n++] = (struct race_read){ .warp = a->warp,
		                                  .mask = a->mask,
		                                  .op = op,
		                                  .epoch = b->warp[a->warp].epoch,
		                                  .bytes = (uint16_t)a->bytes,
		                                  .first = r->n_address,
		                                  .n = (uint8_t)n,
		                                  .lanes = (uint8_t)a->lanes };
	uint32_t *to = r->address + r->n_address;
	for (uint32_t i = 0; all && i < 32; i++)
		to[i] = (uint32_t)a->address[i];
	if (!all)
		to[0] = (uint32_t)a->address[first_lane(a)];
	r->n_address += n;
	return true;
}

/* Has one of the pages from @low on been written since all met? */
static bool span_written(const struct race_reads *r, uint64_t low, uint64_t span)
{
	for (uint64_t i = low >> RACE_PAGE_BITS; i <= (low + span - 1) >> RACE_PAGE_BITS; i++)
		if (r->written[i] == r->turn)
			return true;
	return false;
}

bool race_reads_put_off_plain(struct race_block *b, uint32_t warp, const struct lane_load *load,
                              const uint64_t *low, uint32_t n)
{
	struct race_reads *r = &b->reads;
	const struct race_warp *w = &b->warp[warp];
	r->off |= w->arrived;
	if (r->off || r->n + n > MOST_READS)
		return false;
	for (uint32_t k = 0; r->latest == r->turn && k < n; k++)
		if (span_written(r, low[k], load[k].span))
			return false;
	while (r->n + n > r->cap) {
		r->cap = r->cap ? 2 * r->cap : 256;
		r->read = mem_realloc(r->read, r->cap, sizeof *r->read);
	}
	struct race_read *to = r->read + r->n;
	for (uint32_t k = 0; k < n; k++, to++) {
		to->pieces = load[k].pieces;
		to->warp = warp;
		to->op = load[k].op;
		to->epoch = w->epoch;
		to->first = (uint32_t)low[k];
		to->bytes = (uint16_t)load[k].bytes;
	}
	r->n += n;
	return true;
}

bool race_reads_due_plain(struct race_block *b, const struct race_plain *p)
{
	struct race_reads *r = &b->reads;
	r->off |= b->warp[p->warp].arrived;
	r->latest = r->turn;
	for (uint64_t i = p->low >> RACE_PAGE_BITS; i <= (p->low + p->span - 1) >> RACE_PAGE_BITS; i++)
		r->written[i] = r->turn;
	return r->n;
}

bool race_reads_due(struct race_block *b, const struct race_access *a)
{
	if (a->async || b->warp[a->warp].arrived) /* no barrier ends what it writes */
		b->reads.off = true;
	if (a->shared && !a->async)
		written(b, a, true);
	return b->reads.n;
}

bool race_reads_next(struct race_block *b, struct race_access *a, uint64_t address[32],
                     uint32_t *epoch)
{
	struct race_reads *r = &b->reads;
	if (r->next == r->n) {
		r->n = r->next = r->n_address = 0;
		return false;
	}
	const struct race_read *read = &r->read[r->next++];
	*a = (struct race_access){ .warp = read->warp,
		                       .mask = read->mask,
		                       .op = read->op,
		                       .bytes = read->bytes,
		                       .shared = true,
		                       .read = true,
		                       .strength = RACE_WEAK,
		                       .address = address };
	a->lanes = read->lanes == RACE_ANYWHERE   ? RACE_ANYWHERE
	           : read->lanes == RACE_IN_A_ROW ? RACE_IN_A_ROW
	                                          : RACE_ONE_PLACE;
	*epoch = read->epoch;
	for (unsigned k = 0; read->pieces && k < read->pieces->n; k++) {
		const struct lane_piece *p = &read->pieces->piece[k];
		for (unsigned i = p->first; i < p->first + p->n; i++)
			address[i] = read->first + lane_piece_place(p, i, read->bytes);
	}
	if (read->pieces) {
		a->mask = UINT32_MAX;
		a->lanes = RACE_ANYWHERE;
		return true;
	}
	const unsigned from = first_lane(a);
	for (unsigned i = 0; i < 32; i++) {
		const uint64_t step = read->lanes == RACE_IN_A_ROW ? read->bytes : 0;
		const uint64_t at = r->address[read->first + (read->n > 1 ? i : 0)];
		address[i] = at + (uint64_t)((int64_t)i - (int64_t)from) * step;
	}
	return true;
}
