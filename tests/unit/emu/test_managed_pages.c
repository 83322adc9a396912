#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
/* Managed memory: what the host reads or writes comes back page by page. */
#include "../unit.h"
#include "emu/launch/host_reads.h"
#include "emu/launch/managed_pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES ((uint64_t)1 << 20)

struct memory {
	struct arena arena;
	struct arena_region region;
	struct managed_pages *pages;
};

static void open_memory(struct memory *m)
{
	memset(m, 0, sizeof *m);
	m->arena.host = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(m->arena.host != MAP_FAILED);
	m->arena.base = 4096;
	m->region = (struct arena_region){ .base = 4096, .size = BYTES, .serial = 1 };
	m->pages = managed_pages_new();
}

static void close_memory(struct memory *m)
{
	managed_pages_free(m->pages);
	munmap(m->arena.host, BYTES);
}

static struct page_moves away(struct memory *m)
{
	managed_pages_look(m->pages, &m->arena, &m->region);
	return managed_pages_away(m->pages, &m->region);
}

TEST(pages_come_and_go)
{
	struct memory m;
	open_memory(&m);
	assert_true(away(&m).fresh == BYTES && away(&m).host == 0);
	m.arena.host[5] = 1;
	assert_true(away(&m).host == BYTES);
	assert_true(managed_pages_first(m.pages) && !managed_pages_first(m.pages));
	assert_false(managed_pages_used(m.pages, &m.region));
	managed_pages_here(m.pages, &m.arena, &m.region, true);
	assert_true(managed_pages_used(m.pages, &m.region));
	assert_true(away(&m).host + away(&m).fresh == 0);
	/* what the host touched goes to it, in pieces */
	managed_pages_touched(m.pages, &m.region, 0);
	assert_true(away(&m).host == 0);
	managed_pages_touched(m.pages, &m.region, 4096);
	assert_true(away(&m).host == 65536);
	managed_pages_touched(m.pages, &m.region, BYTES / 2);
	assert_true(away(&m).host == BYTES / 2.0);
	managed_pages_here(m.pages, &m.arena, &m.region, true);
	assert_true(away(&m).host == 0);
	close_memory(&m);
}

/* Small allocations lie together: those that nobody wrote come along with the first. */
TEST(small_ones_come_together)
{
	struct memory m;
	open_memory(&m);
	struct arena_region small = { .base = 8192, .size = 512, .serial = 2 }, next = small;
	next.serial = 3;
	managed_pages_look(m.pages, &m.arena, &small);
	managed_pages_look(m.pages, &m.arena, &next);
	managed_pages_here(m.pages, &m.arena, &m.region, true); /* a large one brings nothing */
	assert_true(managed_pages_away(m.pages, &next).fresh == 512);
	managed_pages_here(m.pages, &m.arena, &small, true);
	assert_true(managed_pages_away(m.pages, &next).fresh == 0);
	m.arena.host[4096] = 1; /* what the host writes there goes to it */
	managed_pages_look(m.pages, &m.arena, &next);
	assert_true(managed_pages_away(m.pages, &next).host == 512);
	close_memory(&m);
}

/* Marks are asked for once each, and not for ever. */
TEST(marks_are_taken_once)
{
	struct managed_pages *p = managed_pages_new();
	unsigned times = 0;
	assert_false(managed_pages_take_marks(p));
	for (; managed_pages_wants_marks(p); times++) {
		managed_pages_set_marks(p, true);
		assert_true(managed_pages_take_marks(p));
		assert_false(managed_pages_take_marks(p));
		assert_true(times < 1000);
	}
	assert_true(times > 10);
	managed_pages_free(p);
	p = managed_pages_new();
	managed_pages_set_marks(p, false); /* the system has none */
	assert_false(managed_pages_wants_marks(p));
	managed_pages_free(p);
}

/* Only what is touched afterwards counts, each range for itself, though it is but read. */
TEST(reading_is_seen)
{
	uint8_t *const all =
		mmap(NULL, 3 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!all || all == MAP_FAILED)
		abort();
	memset(all, 1, 3 * BYTES);
	struct host_range r[2] = { { .at = all, .bytes = 64 << 10 },
		                       { .at = all + 2 * BYTES, .bytes = 64 << 10 } };
	if (!host_reads_begin(r, 2))
		skip(); /* no marks on this system */
	assert_true(host_reads_since(r, 2));
	assert_true(r[0].touched == 0 && r[1].touched == 0);
	assert_true(((volatile uint8_t *)all)[2 * BYTES + 5000] == 1);
	assert_true(host_reads_since(r, 2));
	assert_true(r[0].touched == 0);
	assert_true(r[1].touched > 0 && r[1].touched <= 64 << 10);
	assert_true(host_reads_begin(r, 2));
	assert_true(host_reads_since(r, 2) && r[1].touched == 0);
	munmap(all, 3 * BYTES);
}
