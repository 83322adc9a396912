/*
 * What is made of what loads and atomics find, followed through registers and shared memory.
 * Machine code puts one value after another into a register, so each place is looked at for itself.
 *
 * Functions that lie within a kernel's machine code, as those of divisions and roots do, have its
 * registers. A way back from them leads to all places behind calls; but what a register holds there
 * comes from the function only where that writes it, else from in front of the own call.
 */
#include "emu/ir/ir.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void find_calls(struct made_of *m)
{
	m->calls = mem_calloc(m->ir->n_blocks + 1, sizeof *m->calls);
	for (uint32_t b = 0; b < m->ir->n_blocks; b++) {
		const struct xblock *x = &m->ir->blocks[b];
		for (uint32_t i = 0; x->returns && i < x->n_targets; i++)
			if (x->targets[i] > 0)
				m->calls[x->targets[i] - 1] = true;
	}
}

/* All that is written from block @b on, up to where a function returns. */
static void add_written(struct made_of *m, uint32_t b, bool *seen)
{
	const struct xblock *x = &m->ir->blocks[b];
	if (seen[b])
		return;
	seen[b] = true;
	for (uint32_t o = x->first; o < x->end; o++)
		for (unsigned i = 0; i < m->ir->ops[o].n_d; i++)
			if (m->ir->ops[o].d[i] >= 0)
				bits_set(m->written, (unsigned)m->ir->ops[o].d[i]);
	for (uint32_t i = 0; !x->returns && i < 2 + x->n_targets; i++)
		if (xblock_successor(x, i) >= 0)
			add_written(m, (uint32_t)xblock_successor(x, i), seen);
	if (m->calls[b])
		add_written(m, b + 1, seen);
}

static void find_written(struct made_of *m)
{
	bool *seen = mem_calloc(m->ir->n_blocks + 1, sizeof *seen);
	m->written = mem_calloc(m->words, sizeof *m->written);
	for (uint32_t b = 0; b < m->ir->n_blocks; b++) {
		const struct xblock *x = &m->ir->blocks[b];
		for (uint32_t i = 0; m->calls[b] && i < 2 + x->n_targets; i++)
			if (xblock_successor(x, i) >= 0)
				add_written(m, (uint32_t)xblock_successor(x, i), seen);
	}
	free(seen);
}

bool made_of_read(const struct xop *x, const uint64_t *found)
{
	bool any = x->guard >= 0 && bits_get(found, (unsigned)x->guard);
	for (unsigned i = 0; i < x->n_s; i++)
		any |= x->s[i].kind == S_REG && bits_get(found, (unsigned)x->s[i].reg);
	return any;
}

void made_of_step(struct made_of *m, uint32_t o, uint64_t *found)
{
	const struct xop *x = &m->ir->ops[o];
	const bool shared = x->space == SPACE_SHARED;
	if (!m->runs(m->context, o))
		return;
	const bool made = m->source(m->context, o) || made_of_read(x, found) ||
	                  (m->in_shared && shared && x->kind == X_LD);
	m->in_shared |= made && shared && x->kind == X_ST;
	for (unsigned i = 0; i < x->n_d; i++) {
		const int32_t d = x->d[i];
		if (d >= 0 && made)
			bits_set(m->ir->regs[d].passes ? m->everywhere : found, (unsigned)d);
		else if (d >= 0 && x->guard < 0)
			bits_clear(found, (unsigned)d);
	}
}

/* Says at the blocks behind @b what is @found at its end; true when that is more. */
static bool go_on(struct made_of *m, uint32_t b, uint64_t *found)
{
	const struct xblock *x = &m->ir->blocks[b];
	const struct xop *last = x->end > x->first ? &m->ir->ops[x->end - 1] : NULL;
	bool more = false;
	if (last && (last->kind == X_CALL || last->kind == X_RET))
		more |= bits_add(m->everywhere, found, m->words);
	if (m->calls[b])
		more |= bits_add(m->before + (b + 1) * m->words, found, m->words);
	for (size_t i = 0; x->returns && i < m->words; i++)
		found[i] &= m->written[i];
	for (uint32_t i = 0; i < 2 + x->n_targets; i++) {
		const int32_t to = xblock_successor(x, i);
		if (to >= 0)
			more |= bits_add(m->before + (size_t)to * m->words, found, m->words);
	}
	return more;
}

void made_of_before(const struct made_of *m, uint32_t b, uint64_t *found)
{
	memcpy(found, m->before + b * m->words, m->words * sizeof *found);
	bits_add(found, m->everywhere, m->words);
}

struct made_of made_of(const struct ir *ir, op_test *runs, op_test *source, const void *context)
{
	struct made_of m = { .ir = ir,
		                 .runs = runs,
		                 .source = source,
		                 .context = context,
		                 .words = bits_words(ir->n_regs) };
	m.before = mem_calloc((ir->n_blocks + 1) * m.words, sizeof *m.before);
	m.everywhere = mem_calloc(m.words, sizeof *m.everywhere);
	find_calls(&m);
	find_written(&m);
	uint64_t *found = mem_calloc(m.words, sizeof *found), *was = mem_calloc(m.words, sizeof *was);
	for (bool more = true; more;) {
		const bool in_shared = m.in_shared;
		memcpy(was, m.everywhere, m.words * sizeof *was);
		more = false;
		for (uint32_t b = 0; b < ir->n_blocks; b++) {
			made_of_before(&m, b, found);
			for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++)
				made_of_step(&m, o, found);
			more |= go_on(&m, b, found);
		}
		more |= m.in_shared != in_shared || memcmp(was, m.everywhere, m.words * sizeof *was) != 0;
	}
	free(was);
	free(found);
	return m;
}

void made_of_free(struct made_of *m)
{
	free(m->calls);
	free(m->written);
	free(m->before);
	free(m->everywhere);
}
