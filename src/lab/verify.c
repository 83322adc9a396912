/*
 * Is the answer right? Poisoned outputs, untouched inputs, the kernel's own CPU reference, and the
 * verdict in words. Knows no back end.
 */
#include "run_steps.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/buffer_look.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "C[3,5]" for a matrix, "C[17]" for a vector. */
static void element_name(const struct buffer_plan *b, size_t i, char *out, size_t n)
{
	if (b->rows && b->cols)
		snprintf(out, n, "%s[%zu,%zu]", b->name, i / b->cols, i % b->cols);
	else
		snprintf(out, n, "%s[%zu]", b->name, i);
}

/* An input that changed is wrong whatever the outputs say. Where, is found by filling it anew. */
static bool inputs_kept(const struct prepared *p, struct run_record *r)
{
	const struct run_buffers *buffers = &p->buffers;
	for (unsigned b = 0; b < p->plan.n_buffers; b++) {
		const struct buffer_plan *bp = &p->plan.buffers[b];
		if (bp->role != BUF_IN ||
		    buffer_fingerprint(buffers->data[b], buffers->bytes[b]) == buffers->fingerprint[b])
			continue;
		const size_t size = elem_size(bp->type);
		char *was = mem_alloc(buffers->bytes[b]);
		p->sel.kernel->fill(&p->plan, p->sel.params, b, p->sel.seed, was);
		size_t i = 0;
		while (i + 1 < bp->count &&
		       !memcmp(was + i * size, (char *)buffers->data[b] + i * size, size))
			i++;
		free(was);
		char name[80];
		element_name(bp, i, name, sizeof name);
		r->check = (struct check_result){ .errors = 1, .first = i, .buffer = b };
		snprintf(r->verify_text, sizeof r->verify_text, "%s: an input of the kernel was written",
		         name);
		return false;
	}
	return true;
}

/* A plain output must be written everywhere. */
static bool outputs_written(const struct prepared *p, struct run_record *r)
{
	for (unsigned b = 0; b < p->plan.n_buffers; b++) {
		const struct buffer_plan *bp = &p->plan.buffers[b];
		if (bp->role != BUF_OUT || bp->partial)
			continue;
		size_t i = poison_first(bp->type, p->buffers.data[b], bp->count);
		if (i == bp->count)
			continue;
		char name[80];
		element_name(bp, i, name, sizeof name);
		const size_t left = poison_left(bp->type, p->buffers.data[b], bp->count);
		r->check.ok = false;
		if (!r->check.errors)
			r->check.errors = left;
		snprintf(r->verify_text, sizeof r->verify_text,
		         "%s was never written (%zu of %zu elements)", name, left, bp->count);
		return false;
	}
	return true;
}

/* The kernel's own wording (check.note) stands beside this, not in it. */
static void word_check(const struct prepared *p, struct run_record *r)
{
	const struct check_result *c = &r->check;
	char *out = r->verify_text;
	const size_t n = sizeof r->verify_text;
	if (c->ok && !(c->max_rel_error > 0)) {
		snprintf(out, n, "exact");
	} else if (c->ok && c->rel_limit > 0) {
		snprintf(out, n, "max rel. error %.2g (limit %.2g)", c->max_rel_error, c->rel_limit);
	} else if (c->ok) {
		snprintf(out, n, "max rel. error %.2g", c->max_rel_error);
	} else {
		const unsigned b = c->buffer < p->plan.n_buffers ? c->buffer : 0;
		char name[80], got[32], want[32];
		element_name(&p->plan.buffers[b], c->first, name, sizeof name);
		snprintf(out, n, "%s: got %s, want %s (%zu of %zu elements wrong)", name,
		         fmt_num(got, sizeof got, c->got, 9), fmt_num(want, sizeof want, c->want, 9),
		         c->errors, p->plan.buffers[b].count);
	}
}

void run_verify(struct prepared *p, struct run_record *r)
{
	if (r->verify == VERIFY_SAMPLED)
		return;
	r->check = (struct check_result){ 0 };
	p->buffers.intact = inputs_kept(p, r);
	if (!p->buffers.intact) {
		r->verify = VERIFY_WRONG;
		return;
	}
	const struct kernel_desc *k = p->sel.kernel;
	if (k->check)
		k->check(p->sel.variant, &p->plan, p->sel.params, p->buffers.before, p->buffers.data,
		         &r->check);
	else
		r->check.ok = true;
	if (outputs_written(p, r) && k->check)
		word_check(p, r);
	r->verify = !r->check.ok ? VERIFY_WRONG : k->check ? VERIFY_OK : VERIFY_NO_REFERENCE;
	if (r->verify == VERIFY_NO_REFERENCE)
		snprintf(r->verify_text, sizeof r->verify_text, "no reference: the result is not verified");
}

struct buffer_looks *run_look(const struct prepared *p, const atomic_bool *cancel)
{
	struct buffer_contents c[KERNEL_MAX_BUFFERS];
	for (unsigned b = 0; b < p->buffers.n; b++)
		c[b] = (struct buffer_contents){
			.plan = &p->plan.buffers[b],
			.seen = p->plan.buffers[b].count,
			.before = p->buffers.before[b],
			.now = p->buffers.data[b],
		};
	return buffer_looks_make(p->buffers.n, c, cancel);
}
