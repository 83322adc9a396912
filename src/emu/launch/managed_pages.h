/*
 * Where the pages of managed memory lie, as far as it costs a launch time: with the host, which
 * wrote there or nobody did, or on the GPU, since a launch touched them or the program asked for
 * it.
 *
 * By allocations, of which a launch touches all or nothing. That the host wrote is seen by what
 * they hold; that it only read, which moves pages as well, by host_reads.h, where the system shows
 * it.
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
/* Of @r, as it was looked at last. Small allocations lie in one piece, so that those which nobody
 * wrote are there as soon as one of them is (tests/gpu/micro/managed.cu: 2 to 8 buffers of 4 KiB).
 */
struct page_moves managed_pages_away(struct managed_pages *p, const struct arena_region *r);
/* The host touched so many bytes of @r since the last launch ended. */
void managed_pages_touched(struct managed_pages *p, const struct arena_region *r, uint64_t bytes);
/* Marks of what the host touches (host_reads.h): shall they be set, behind a launch? Then: they
 * are; and before the next one: were they, once. Setting them takes the longer the more memory the
 * program has, so that only its first launches have them. */
bool managed_pages_wants_marks(const struct managed_pages *p);
void managed_pages_set_marks(struct managed_pages *p, bool set);
bool managed_pages_take_marks(struct managed_pages *p);
/* A launch waits for pages: is it the first one that does? */
bool managed_pages_first(struct managed_pages *p);
/* Has @r been on the GPU? */
bool managed_pages_used(struct managed_pages *p, const struct arena_region *r);
/* It lies on the GPU from now on, with what it holds; or not. */
void managed_pages_here(struct managed_pages *p, const struct arena *a,
                        const struct arena_region *r, bool on_gpu);

#endif
