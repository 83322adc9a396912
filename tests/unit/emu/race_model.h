/*
 * A model of the race check for its simple case, that remembers every access: what blocks with
 * barriers of all their threads and syncs of warps and parts of them do to two pages of global
 * memory and to shared memory. For test_race_rows.c.
 */
#ifndef RACE_MODEL_H
#define RACE_MODEL_H

#include "emu/check/check.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { MODEL_BLOCKS = 3, MODEL_WARPS = 3, MODEL_BYTES = 8192, MODEL_AT = 0x40000 };

struct model_use {
	uint32_t block, thread, op, phase, sync; /* barriers and syncs of the thread before it */
	bool write;
	uint32_t next; /* earlier use of the byte; 0 = none */
};
struct model {
	struct races *races;
	struct race_block *block[MODEL_BLOCKS];
	uint32_t phase[MODEL_BLOCKS];
	/* of each lane: of how many syncs of each lane of its warp it knows */
	uint32_t sync[MODEL_BLOCKS][MODEL_WARPS][32][32];
	uint32_t last[MODEL_BLOCKS + 1][MODEL_BYTES]; /* by memory: shared ones, global */
	struct model_use *use;
	uint32_t n, cap;
};

static void model_start(struct model *m)
{
	*m = (struct model){ .n = 1, .cap = 1 << 12 };
	m->use = mem_calloc(m->cap, sizeof *m->use);
	m->races = races_new(MODEL_WARPS, MODEL_BYTES, true, UINT64_MAX);
	for (uint32_t b = 0; b < MODEL_BLOCKS; b++)
		m->block[b] = race_block_start(m->races, b);
}

static void model_end(struct model *m)
{
	for (uint32_t b = 0; b < MODEL_BLOCKS; b++)
		race_block_end(m->block[b]);
	races_free(m->races);
	free(m->use);
}

static void model_barrier(struct model *m, uint32_t block)
{
	for (uint32_t w = 0; w < MODEL_WARPS; w++)
		race_arrive(m->block[block], w, UINT32_MAX, 0);
	for (uint32_t w = 0; w < MODEL_WARPS; w++)
		race_pass(m->block[block], w, 0);
	race_barrier_opened(m->block[block], 0, true);
	m->phase[block]++;
}

static void model_sync(struct model *m, uint32_t block, uint32_t warp, uint32_t mask)
{
	uint32_t(*known)[32] = m->sync[block][warp], all[32] = { 0 };
	race_warp_sync(m->block[block], warp, mask, UINT32_MAX);
	for (unsigned i = 0; i < 32; i++)
		for (unsigned k = 0; mask >> i & 1 && k < 32; k++)
			all[k] = known[i][k] > all[k] ? known[i][k] : all[k];
	for (unsigned i = 0; i < 32; i++)
		all[i] += mask >> i & 1;
	for (unsigned i = 0; i < 32; i++)
		if (mask >> i & 1)
			memcpy(known[i], all, sizeof all);
}

/* Each lane stores something else, and nothing that was there. */
static void model_value(const void *context, unsigned lane, uint8_t *out)
{
	(void)context;
	memset(out, (int)lane + 1, 64);
}
static const uint8_t *model_before(const void *context, unsigned lane)
{
	static uint8_t there[64];
	(void)context;
	(void)lane;
	memset(there, 0xee, sizeof there);
	return there;
}

/* An access by lanes of a warp of a block, at offsets. */
struct model_access {
	uint32_t block, warp, mask, op;
	unsigned bytes;
	bool shared, write, plain; /* plain: all lanes, by race_plain() first */
	bool weak;                 /* by race_weak() first */
	uint64_t offset[32];
};

static bool model_ordered(const struct model *m, const struct model_use *u,
                          const struct model_access *a, unsigned lane)
{
	if (u->block != a->block)
		return false;
	return u->thread == a->warp * 32 + lane || u->phase != m->phase[a->block] ||
	       (u->thread / 32 == a->warp &&
	        u->sync < m->sync[a->block][a->warp][lane][u->thread % 32]);
}

/* Is there a use of the bytes of @lane that races with it? Of @like, where that is not NULL. */
static bool model_clashes(const struct model *m, const struct model_access *a, unsigned lane,
                          const struct race_found *like)
{
	const uint32_t *last = m->last[a->shared ? a->block : MODEL_BLOCKS];
	for (uint64_t at = a->offset[lane]; at < a->offset[lane] + a->bytes; at++)
		for (uint32_t i = last[at]; i; i = m->use[i].next) {
			const struct model_use *u = &m->use[i];
			const bool it =
				!like || (u->block == like->other_block && u->thread == like->other_thread &&
			              u->op == like->other_op && u->write == like->other_writes);
			if (it && (u->write || a->write) && !model_ordered(m, u, a, lane))
				return true;
		}
	return false;
}

static void model_note(struct model *m, const struct model_access *a, unsigned lane)
{
	uint32_t *last = m->last[a->shared ? a->block : MODEL_BLOCKS];
	for (uint64_t at = a->offset[lane]; at < a->offset[lane] + a->bytes; at++) {
		MEM_ROOM(m->use, m->n, m->cap, 1);
		m->use[m->n] = (struct model_use){ .block = a->block,
			                               .thread = a->warp * 32 + lane,
			                               .op = a->op,
			                               .phase = m->phase[a->block],
			                               .sync = m->sync[a->block][a->warp][lane][lane],
			                               .write = a->write,
			                               .next = last[at] };
		last[at] = m->n++;
	}
}

/* Asks the race check; @pieces: room for what it keeps until the block ends. */
static bool model_ask(const struct model *m, const struct model_access *a,
                      struct lane_pieces *pieces, struct race_found *found)
{
	uint64_t address[32], low = UINT64_MAX, high = 0;
	for (unsigned i = 0; i < 32; i++) {
		address[i] = a->offset[i] + (a->shared ? 0 : MODEL_AT);
		low = address[i] < low ? address[i] : low;
		high = address[i] > high ? address[i] : high;
	}
	const struct race_access r = { .warp = a->warp,
		                           .mask = a->mask,
		                           .op = a->op,
		                           .bytes = a->bytes,
		                           .shared = a->shared,
		                           .read = !a->write,
		                           .write = a->write,
		                           .address = address,
		                           .value = model_value,
		                           .before = model_before };
	if (a->plain) {
		lane_pieces_find(address, UINT32_MAX, a->bytes, low, pieces);
		const struct race_plain p = { .warp = a->warp,
			                          .op = a->op,
			                          .bytes = a->bytes,
			                          .shared = a->shared,
			                          .write = a->write,
			                          .pieces = pieces,
			                          .low = low,
			                          .span = high - low + a->bytes };
		if (race_plain(m->block[a->block], &p))
			return false;
	}
	if (a->weak && race_weak(m->block[a->block], &r))
		return false;
	return race_access(m->block[a->block], &r, found);
}

#endif
