/*
 * Where the pages of managed memory lie, as far as it costs a launch time: with the host, which
 * wrote there or nobody did, or on the GPU, since a launch touched them or the program asked for
 * it.
 *
 * By allocations, of which a launch touches all or nothing. That the host wrote is seen by what
 * they hold; that it only read, which moves pages on many machines too, is not.
 */
#ifndef PMPP_EMU_MANAGED_PAGES_H
#define PMPP_EMU_MANAGED_PAGES_H

#include "emu/memory/memory.h"

struct managed_pages;
struct managed_pages *managed_pages_new(void);
void managed_pages_free(struct managed_pages *p);
/* What a launch begins with: has the host written to @r of managed memory in @a? */
void managed_pages_look(struct managed_pages *p, const struct arena *a,
                        const struct arena_region *r);
/* Bytes that come to the GPU, page by page, where a launch touches memory that is not there. */
struct page_moves {
	double host, fresh; /* what the host wrote; what nobody did */
};
/* Of @r, as it was looked at last. */
struct page_moves managed_pages_away(struct managed_pages *p, const struct arena_region *r);
/* It lies on the GPU from now on, with what it holds; or not. */
void managed_pages_here(struct managed_pages *p, const struct arena *a,
                        const struct arena_region *r, bool on_gpu);

#endif
