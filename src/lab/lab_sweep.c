/* The map of a session: its next point, and what came of one. See lab_state.h. */
#include "lab_state.h"

#include "base/monotonic.h"
#include "model/sweep_map.h"

#include <stdio.h>
#include <stdlib.h>

static bool fits(const struct session *s)
{
	const struct sweep_map *m = s->map;
	return m && sweep_map_fits(m, &s->sel) && (!m->pairs || m->pair == s->map_pair % m->pairs);
}

void lab_sweep_follow(struct session *s)
{
	if (s->map && !fits(s)) {
		free(s->map);
		s->map = NULL;
	}
	if (s->map) {
		s->map->running = -1;
		pace_end(&s->map->pace);
	}
}

static unsigned due(const struct sweep_map *m)
{
	unsigned n = 0;
	for (unsigned i = 0; i < sweep_map_points(m); i++)
		n += m->point[i].state == SWEEP_DUE;
	return n;
}

bool lab_point_due(struct session *s, struct selection *sel)
{
	if (!fits(s)) {
		free(s->map);
		s->map = sweep_map_new(&s->sel, s->map_pair);
		if (s->before)
			sweep_map_put(s->map, s->before);
		if (s->now)
			sweep_map_put(s->map, s->now);
	}
	struct sweep_map *m = s->map;
	m->running = sweep_map_due(m, s->cursor.row); /* what the person looks at comes first */
	pace_note(&m->pace, sweep_map_ran(m), due(m), clock_now_s());
	if (m->running >= 0)
		*sel = sweep_map_selection(m, (unsigned)m->running);
	return m->running >= 0;
}

void lab_point_news(struct session *s, struct news *n, bool awaited)
{
	struct sweep_map *m = s->map;
	/* one that comes too late for its order may still belong to the map */
	if (n->record && m)
		sweep_map_put(m, n->record);
	record_free(n->record);
	if (!awaited || !n->final || !m)
		return;
	if (n->kind == NEWS_FAILED && m->running >= 0) {
		struct sweep_point *p = &m->point[m->running];
		p->state = SWEEP_FAILED;
		snprintf(p->why, sizeof p->why, "%.159s", n->err.msg);
	}
	m->running = -1;
}
