/* Questions about a kernel's machine code; see code_listing.h. */
#include "model/code_listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void code_listing_free(struct code_listing *c)
{
	if (!c)
		return;
	free(c->insts);
	free(c->ptx);
	free(c);
}

int code_listing_at(const struct code_listing *c, uint32_t offset)
{
	unsigned low = 0, high = c->n;
	while (low < high) {
		const unsigned mid = low + (high - low) / 2;
		if (c->insts[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->n && c->insts[low].offset == offset ? (int)low : -1;
}

const struct code_count *code_listing_count(const struct code_listing *c,
                                            const struct run_counts *counts, unsigned i)
{
	return run_counts_code_at(counts, c->insts[i].offset);
}

/* By first instruction; of two that begin together the longer one first. */
static int by_place(const void *a, const void *b)
{
	const struct code_loop *x = a, *y = b;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->last > y->last ? -1 : x->last < y->last;
}

/* Jumps back to one place are one loop, up to the last of them. */
static unsigned add_loop(struct code_loop *out, unsigned n, struct code_loop one)
{
	for (unsigned k = 0; k < n; k++)
		if (out[k].first == one.first) {
			out[k].last = out[k].last > one.last ? out[k].last : one.last;
			return n;
		}
	if (n < CODE_MAX_LOOPS)
		out[n++] = one;
	return n;
}

unsigned code_listing_loops(const struct code_listing *c, const struct run_counts *counts,
                            struct code_loop *out)
{
	unsigned n = 0;
	for (unsigned i = 0; i < c->n; i++) {
		const uint32_t target = c->insts[i].target;
		/* a jump to itself is the padding behind the kernel's end */
		if (target && target - 1 < i)
			n = add_loop(out, n, (struct code_loop){ .first = target - 1, .last = i });
	}
	for (unsigned k = 0; k < n; k++)
		for (unsigned i = out[k].first; i <= out[k].last; i++) {
			const struct code_count *count = code_listing_count(c, counts, i);
			out[k].warps += count ? count->warps : 0;
		}
	qsort(out, n, sizeof *out, by_place);
	return n;
}

bool code_listing_hot_loop(const struct code_listing *c, const struct run_counts *counts,
                           struct code_loop *out)
{
	struct code_loop loops[CODE_MAX_LOOPS];
	const unsigned n = code_listing_loops(c, counts, loops);
	*out = (struct code_loop){ .warps = 0 };
	for (unsigned k = 0; k < n; k++) {
		const bool outer = k + 1 < n && loops[k + 1].first <= loops[k].last;
		if (!outer && loops[k].warps > out->warps)
			*out = loops[k];
	}
	return out->warps > 0;
}

/* --- what depends on what --------------------------------------------------------------------- */

bool code_ptx_beside(const struct code_ptx *p, const struct code_inst *in)
{
	return in->line ? p->line == in->line : p->number == in->ptx_line;
}

bool code_inst_reads(const struct code_inst *reader, unsigned of)
{
	for (unsigned k = 0; k < reader->n_sources; k++)
		if (reader->sources[k].index == of)
			return true;
	return false;
}

void code_listing_span(const struct code_listing *c, unsigned at, bool into, unsigned *from,
                       unsigned *to)
{
	*from = *to = at;
	for (unsigned i = 0; i < c->n; i++)
		if (into ? code_inst_reads(&c->insts[i], at) : code_inst_reads(&c->insts[at], i)) {
			*from = i < *from ? i : *from;
			*to = i > *to ? i : *to;
		}
}

unsigned code_inst_waits(const struct code_inst *in, const struct code_inst *from)
{
	return from->write_bar != CODE_NO_BARRIER && (in->wait >> from->write_bar & 1)
	           ? from->write_bar
	           : CODE_NO_BARRIER;
}

void code_inst_opcode(const struct code_inst *in, char *out, size_t n)
{
	const char *s = in->text[0] == '@' ? strchr(in->text, ' ') : NULL;
	s = s ? s + 1 : in->text;
	snprintf(out, n, "%.*s", (int)strcspn(s, " "), s);
}
