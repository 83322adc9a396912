/*
 * What a branch that splits a warp may corrupt, if a register is kept as one scalar: what one way
 * overwrites before the ways meet again, and another way still needs.
 *
 * That depends on the flow alone, not on what is known of values, so it is found once for a block,
 * however often and for however many programs it is asked.
 */
#include "emu/analysis/analysis.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool may_wait(const struct ir *ir, unsigned b)
{
	for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
		const enum xkind kind = ir->ops[o].kind;
		if (kind == X_MEET_WAIT || kind == X_MEET_WARP || kind == X_BAR)
			return true;
	}
	return false;
}

void splits_open(struct splits *s, const struct ir *ir, const struct liveness *l)
{
	*s = (struct splits){ .ir = ir,
		                  .live = l,
		                  .waits = mem_calloc(ir->n_blocks + 1, sizeof *s->waits),
		                  .rows = mem_calloc(ir->n_blocks + 1, sizeof *s->rows) };
	for (unsigned b = 0; b < ir->n_blocks && ir_of_machine_code(ir); b++)
		s->waits[b] = may_wait(ir, b);
}

void splits_close(struct splits *s)
{
	for (unsigned b = 0; s->rows && b < s->ir->n_blocks; b++)
		free(s->rows[b]);
	free(s->rows);
	free(s->waits);
	*s = (struct splits){ 0 };
}

static void add_row(uint64_t *row, const struct bitset_table *t, unsigned b)
{
	const uint64_t *more = bits_row(t, b);
	for (unsigned w = 0; w < t->words; w++)
		row[w] |= more[w];
}

/* Of the way from @from to @stop (exclusive): what it overwrites, and what it needs. */
struct way {
	uint64_t *written, *needed;
};

static void look_along(const struct splits *s, int32_t from, int32_t stop, struct way *w)
{
	const struct liveness *l = s->live;
	if (from < 0)
		return;
	add_row(w->needed, &l->in, (unsigned)from);
	if (from == stop)
		return;
	int32_t *stack = mem_alloc(s->ir->n_blocks * sizeof *stack), next;
	bool *seen = mem_calloc(s->ir->n_blocks, sizeof *seen);
	unsigned n = 0;
	stack[n++] = from;
	seen[from] = true;
	while (n) {
		const unsigned b = (unsigned)stack[--n];
		add_row(w->written, &l->def, b);
		if (s->waits[b]) {
			add_row(w->needed, &l->in, b);
			add_row(w->needed, &l->out, b);
		}
		for (unsigned i = 0; (next = xblock_succ(&s->ir->blocks[b], i)) != -2; i++)
			if (next >= 0 && next != stop && !seen[next]) {
				seen[next] = true;
				stack[n++] = next;
			}
	}
	free(stack);
	free(seen);
}

/* A bit of @row is set where a way writes what another one needs. */
static void find_overwritten(const struct splits *s, unsigned b, uint64_t *row)
{
	const struct xblock *xb = &s->ir->blocks[b];
	const unsigned words = s->live->in.words;
	uint64_t *once = mem_calloc(2 * (size_t)words, sizeof *once), *twice = once + words;
	unsigned n = 0;
	int32_t to;
	while (xblock_succ(xb, n) != -2)
		n++;
	struct way *way = mem_calloc(n + 1, sizeof *way);
	for (unsigned i = 0; (to = xblock_succ(xb, i)) != -2; i++) {
		way[i].written = mem_calloc(2 * (size_t)words, sizeof *way[i].written);
		way[i].needed = way[i].written + words;
		look_along(s, to, xb->reconv, &way[i]);
		for (unsigned w = 0; w < words; w++) {
			twice[w] |= once[w] & way[i].needed[w];
			once[w] |= way[i].needed[w];
		}
	}
	for (unsigned i = 0; i < n; i++) {
		for (unsigned w = 0; w < words; w++) {
			uint64_t by_others = twice[w] | (once[w] & ~way[i].needed[w]);
			if (xb->reconv >= 0)
				by_others |= bits_row(&s->live->in, (unsigned)xb->reconv)[w];
			row[w] |= way[i].written[w] & by_others;
		}
		free(way[i].written);
	}
	free(way);
	free(once);
}

const uint64_t *splits_overwritten(struct splits *s, unsigned b)
{
	if (!s->rows[b]) {
		s->rows[b] = mem_calloc(s->live->in.words + 1, sizeof *s->rows[b]);
		find_overwritten(s, b, s->rows[b]);
	}
	return s->rows[b];
}
