/*
 * Which loads of a segment are under way together: those between two waits. A warp waits where it
 * first uses what such a load brings. In PTX the assembler has yet to put loads ahead of that use,
 * and stops only at a store, which they may depend on.
 */
#include "emu/codegen/loads_together.h"

#include "base/mem.h"

#include <stdlib.h>

struct walk {
	const struct ir *ir;
	uint32_t *loaded; /* by register: the row of loads that it waits for; 0 = none */
	uint32_t row;     /* of the loads since the last wait */
	bool used;        /* PTX: one of them is; its row ends with the next store */
};

static bool goes_to_memory(const struct xop *x)
{
	return x->mem >= 0 && (x->space == SPACE_GLOBAL || x->space == SPACE_GENERIC);
}

static bool is_late(const struct walk *w, int32_t reg)
{
	return reg >= 0 && w->loaded[reg] == w->row;
}

static bool uses_a_load(const struct walk *w, const struct xop *x)
{
	bool uses = is_late(w, x->guard);
	for (unsigned i = 0; i < x->n_s; i++)
		uses = uses || (x->s[i].kind == S_REG && is_late(w, x->s[i].reg));
	return uses;
}

/* Does a row begin with @x? */
static bool begins_row(struct walk *w, const struct xop *x)
{
	const bool uses = uses_a_load(w, x);
	if (ir_of_machine_code(w->ir))
		return uses;
	w->used = w->used || uses;
	const bool begins = w->used && x->kind == X_ST && goes_to_memory(x);
	w->used = w->used && !begins;
	return begins;
}

static void note_results(struct walk *w, const struct xop *x)
{
	const bool loads = (x->kind == X_LD || x->kind == X_ATOM) && goes_to_memory(x);
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] >= 0)
			w->loaded[x->d[i]] = loads ? w->row : 0;
}

int32_t *loads_together(const struct ir *ir, const struct segment *segments, unsigned n)
{
	int32_t *begun = mem_calloc(ir->n_mem + 1, sizeof *begun);
	struct walk w = { .ir = ir, .loaded = mem_calloc(ir->n_regs + 1, sizeof *w.loaded) };
	for (unsigned k = 0; k < n; k++) {
		const struct segment *s = &segments[k];
		int32_t at = -(int32_t)s->length, row_at = at;
		w.row++;
		w.used = false;
		for (uint32_t o = s->first; o < s->end; o++) {
			const struct xop *x = &ir->ops[o];
			at += x->first;
			if (begins_row(&w, x)) {
				w.row++;
				row_at = at;
			}
			if (x->mem >= 0)
				begun[x->mem] = row_at;
			if (x->kind == X_ASYNC)
				begun[x->mem + 1] = row_at;
			note_results(&w, x);
		}
	}
	free(w.loaded);
	return begun;
}
