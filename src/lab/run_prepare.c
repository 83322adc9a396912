/*
 * Before a launch: the plan, whether its buffers fit into this machine's memory, their first
 * contents. See run_steps.h.
 */
#include "run_steps.h"

#include "base/mem.h"
#include "base/memory_left.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USABLE 0.9 /* of the memory that is left */

static bool changed_in_place(const struct buffer_plan *b)
{
	return b->role == BUF_INOUT || (b->role == BUF_OUT && b->partial);
}

static bool fits_memory(const struct launch_plan *plan, struct err *err)
{
	double want = 0;
	for (unsigned b = 0; b < plan->n_buffers; b++) {
		const double bytes =
			(double)plan->buffers[b].count * (double)elem_size(plan->buffers[b].type);
		want += (changed_in_place(&plan->buffers[b]) ? 2 : 1) * bytes;
		want += 2 * bytes; /* the back end's own, and what it notes about every byte */
	}
	const struct memory_left have = memory_left();
	if (want <= USABLE * have.bytes)
		return true;
	char w[32], h[32];
	err_set(
		err, ERR_UNAVAILABLE,
		"the buffers of this launch, with the copies for running and checking, need %s; %s are %s",
		fmt_bytes(w, sizeof w, want), fmt_bytes(h, sizeof h, have.bytes), have.whose);
	return err_remedy(err, "choose a smaller problem size");
}

static void make_buffer(struct prepared *p, unsigned b)
{
	const struct buffer_plan *bp = &p->plan.buffers[b];
	p->bytes[b] = bp->count * elem_size(bp->type);
	p->data[b] = mem_alloc(p->bytes[b]);
	if (bp->role == BUF_OUT && !bp->partial) {
		poison_fill(bp->type, p->data[b], bp->count);
		return;
	}
	p->sel.kernel->fill(&p->plan, p->sel.params, b, p->sel.seed, p->data[b]);
	if (changed_in_place(bp)) {
		p->before[b] = mem_alloc(p->bytes[b]);
		memcpy(p->before[b], p->data[b], p->bytes[b]);
	} else {
		p->before[b] = p->data[b];
		p->fingerprint[b] = buffer_fingerprint(p->data[b], p->bytes[b]);
	}
}

/* As before the first run. A written input is not restored: verification reports it. */
static void restore_buffer(struct prepared *p, unsigned b)
{
	const struct buffer_plan *bp = &p->plan.buffers[b];
	if (changed_in_place(bp))
		memcpy(p->data[b], p->before[b], p->bytes[b]);
	else if (bp->role == BUF_OUT)
		poison_fill(bp->type, p->data[b], bp->count);
}

void run_restore(struct prepared *p)
{
	for (unsigned b = 0; b < p->plan.n_buffers && p->used; b++)
		restore_buffer(p, b);
	p->used = true;
}

bool run_prepare(struct prepared *p, struct workbench *w, const struct selection *sel,
                 const atomic_bool *cancel, struct err *err)
{
	*p = (struct prepared){ .sel = *sel, .bench = w };
	if (!selection_plan(sel, &p->plan, err) || !fits_memory(&p->plan, err) ||
	    !workbench_compile(w, sel, cancel, err) || !workbench_open(w, sel, err))
		return false;
	const struct entry_usage *e = module_entry(&w->module, p->plan.entry);
	if (!e)
		return err_set(err, ERR_INTERNAL, "%s.cu: no entry '%s' in the compiled module",
		               sel->kernel->name, p->plan.entry);
	p->usage = usage_of(e);
	for (unsigned b = 0; b < p->plan.n_buffers; b++) {
		if (cancel && atomic_load(cancel)) {
			run_release(p);
			return err_set(err, ERR_CANCELLED, "cancelled before the launch");
		}
		make_buffer(p, b);
	}
	return true;
}

void run_release(struct prepared *p)
{
	for (unsigned b = 0; b < p->plan.n_buffers; b++) {
		if (p->before[b] != p->data[b])
			free(p->before[b]);
		free(p->data[b]);
	}
	*p = (struct prepared){ 0 };
}
