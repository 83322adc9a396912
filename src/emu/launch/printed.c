/* What the kernels of a launch printed, from all workers, in the order of their blocks. */
#include "emu/launch/launch.h"

#include "base/mem.h"

#include <stdlib.h>

struct piece {
	const struct printed_text *text;
	const struct printed_piece *piece;
};

static int by_block(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	if (x->piece->block != y->piece->block)
		return x->piece->block < y->piece->block ? -1 : 1;
	return x->piece->first < y->piece->first ? -1 : x->piece->first > y->piece->first;
}

size_t emu_launch_printed(const struct emu_launch *l,
                          void (*print)(void *ctx, const char *text, size_t n), void *ctx)
{
	size_t n = 0, lost = 0;
	for (unsigned i = 0; i < l->n_workers; i++)
		n += l->workers[i].printed.n_pieces;
	struct piece *all = mem_calloc(n + 1, sizeof *all);
	n = 0;
	for (unsigned i = 0; i < l->n_workers; i++) {
		const struct printed_text *t = &l->workers[i].printed;
		lost += t->lost;
		for (size_t k = 0; k < t->n_pieces; k++)
			all[n++] = (struct piece){ t, &t->piece[k] };
	}
	qsort(all, n, sizeof *all, by_block);
	for (size_t i = 0; i < n; i++)
		print(ctx, all[i].text->text + all[i].piece->first,
		      all[i].piece->end - all[i].piece->first);
	free(all);
	return lost;
}
