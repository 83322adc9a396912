/* The table of uses that cells name; see race_marks.h. */
#include "emu/check/race_marks.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_LIMIT (1u << 20)

void race_marks_free(struct race_marks *m)
{
	free(m->who);
	*m = (struct race_marks){ .n = 0 };
}

static unsigned slot_of(const struct race_who *who)
{
	const uint64_t all = (uint64_t)who->warp << 32 ^ (uint64_t)who->op << 20 ^
	                     (uint64_t)who->lanes << 8 ^ who->epoch ^ (uint64_t)who->scale << 60;
	return (unsigned)(all * 0x9e3779b97f4a7c15u >> 56);
}

static bool same(const struct race_who *a, const struct race_who *b)
{
	return a->warp == b->warp && a->epoch == b->epoch && a->op == b->op && a->lanes == b->lanes &&
	       a->row == b->row && a->scale == b->scale;
}

uint32_t race_marks_number(struct race_marks *m, const struct race_who *who)
{
	uint32_t *recent = &m->recent[slot_of(who)];
	if (*recent && same(&m->who[*recent], who))
		return *recent;
	if (!m->n) {
		m->n = 1;
		m->limit = FIRST_LIMIT;
	}
	if (m->n >= m->room) {
		m->room = m->room ? 2 * m->room : 256;
		m->who = mem_realloc(m->who, m->room, sizeof *m->who);
		m->who[0] = (struct race_who){ .warp = 0 };
	}
	m->who[m->n] = *who;
	*recent = m->n;
	return m->n++;
}

void race_marks_sweep(struct race_marks *m, uint32_t *seen)
{
	uint32_t n = 1;
	for (uint32_t i = 1; i < m->n; i++) {
		if (!seen[i])
			continue;
		m->who[n] = m->who[i];
		seen[i] = n++;
	}
	m->n = n;
	m->limit = 4 * n > FIRST_LIMIT ? 4 * n : FIRST_LIMIT;
	m->limit = m->limit < RACE_MOST_MARKS ? m->limit : RACE_MOST_MARKS;
	memset(m->recent, 0, sizeof m->recent);
}
