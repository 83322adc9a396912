/* Races that were seen in a launch, and memory that differs each time; see left_memory.h. */
#include "emu/launch/left_memory.h"

#include "emu/launch/variation_of.h"

#include "base/mem.h"

#include <stdlib.h>

static uint64_t *new_row(const struct ir *ir)
{
	return mem_calloc(bits_words(ir->n_ops), sizeof(uint64_t));
}

static void add_races(const struct worker *wk, const struct ir *ir, struct variation_facts *f)
{
	for (unsigned i = 0; i < wk->n_noted; i++) {
		const struct emu_fault *n = &wk->noted[i];
		if (n->kind != FAULT_RACE || n->xop >= ir->n_ops || n->other_op >= ir->n_ops)
			continue;
		bits_set(f->raced, n->xop);
		bits_set(f->raced, n->other_op);
		if (ir->ops[n->xop].kind != X_ST || ir->ops[n->other_op].kind != X_ST)
			continue;
		bits_set(f->stored, n->xop);
		bits_set(f->stored, n->other_op);
	}
}

/* The allocation that a worker's operation was in last; NULL = none that outlives the launch. */
static struct arena_region *region_of(const struct emu_launch *l, const struct worker *wk,
                                      uint32_t o)
{
	const int32_t mem = l->image.ir.ops[o].mem;
	const uint64_t at = l->program && mem >= 0 ? wk->region_at[mem] : 0;
	struct arena *a = &l->device->arena;
	const struct arena_region *r = at ? arena_find(a, at) : NULL;
	return r && !emu_device_sets_anew(l->device, r) ? &a->region[r - a->region] : NULL;
}

static void find_facts(const struct emu_launch *l, struct variation_facts *out)
{
	const struct ir *ir = &l->image.ir;
	*out = (struct variation_facts){ new_row(ir), new_row(ir), new_row(ir), 0 };
	for (unsigned k = 0; k < l->n_workers; k++) {
		const struct worker *wk = &l->workers[k];
		add_races(wk, ir, out);
		if (wk->parted_at && (!out->parted_at || wk->parted_at < out->parted_at))
			out->parted_at = wk->parted_at;
		for (uint32_t o = 0; o < ir->n_ops; o++) {
			const bool reads = ir->ops[o].kind == X_LD || ir->ops[o].kind == X_ATOM;
			const struct arena_region *r = reads ? region_of(l, wk, o) : NULL;
			if (r && r->varies)
				bits_set(out->left, o);
		}
	}
}

/* Behind operations @leaves memory differs each time. */
static void note_memory(const struct emu_launch *l, const uint64_t *leaves)
{
	const struct ir *ir = &l->image.ir;
	for (unsigned k = 0; k < l->n_workers; k++)
		for (uint32_t o = 0; o < ir->n_ops; o++) {
			struct arena_region *r = bits_get(leaves, o) ? region_of(l, &l->workers[k], o) : NULL;
			if (r)
				r->varies = true;
		}
}

void launch_variation(const struct emu_launch *l, const struct counts *of_op,
                      struct run_variation *v)
{
	struct variation_facts facts;
	uint64_t *leaves = new_row(&l->image.ir);
	find_facts(l, &facts);
	variation_of(&l->image.ir, of_op, &facts, leaves, v);
	note_memory(l, leaves);
	free(facts.raced);
	free(facts.stored);
	free(facts.left);
	free(leaves);
}
