/* Records the observed warp; see check.h. */
#include "emu/check/check.h"

#include "base/mem.h"

#include <stdlib.h>

struct trace *trace_new(unsigned n_mem)
{
	struct trace *t = mem_zalloc(sizeof *t);
	t->seen = mem_calloc(n_mem + 1, 1);
	return t;
}

void trace_free(struct trace *t)
{
	if (t)
		free(t->seen);
	free(t);
}

void trace_step(struct trace *t, uint32_t line, uint32_t mask)
{
	if (t->cut)
		return;
	t->cut = t->instructions++ == TRACE_MAX_INSTRUCTIONS;
	struct mask_step *last = t->n_steps ? &t->steps[t->n_steps - 1] : NULL;
	const bool goes_on = last && last->line == line && last->mask == mask;
	t->cut |= !goes_on && t->n_steps == TRACE_MAX_STEPS;
	if (t->cut)
		return;
	if (goes_on) {
		last->instructions++;
		return;
	}
	t->steps[t->n_steps++] = (struct mask_step){ .line = line, .mask = mask, .instructions = 1 };
}

struct access_sample *trace_access(struct trace *t, uint32_t mem, bool shared)
{
	const uint8_t bit = shared ? 2 : 1;
	if ((t->seen[mem] & bit) || t->n_accesses == TRACE_MAX_ACCESSES)
		return NULL;
	t->seen[mem] |= bit;
	t->access_mem[t->n_accesses] = mem;
	return &t->accesses[t->n_accesses++];
}
