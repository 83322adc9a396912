/* The ladder of a session: its next rung, and what came of one. See lab_state.h. */
#include "lab_state.h"

#include "base/monotonic.h"
#include "lab/reference_run.h"
#include "ladder_book.h"
#include "model/ladder.h"

#include <stdio.h>
#include <string.h>

/* An empty ladder with what was recorded and printed for its rungs. */
static struct ladder *ladder_with_references(const struct selection *sel)
{
	struct ladder *l = ladder_new(sel);
	reference_runs_of_ladder(l);
	ladder_book(l);
	return l;
}

void lab_ladder_follow(struct session *s)
{
	if (!s->ladder)
		return;
	if (!ladder_fits(s->ladder, &s->sel)) {
		struct ladder *old = s->ladder;
		s->ladder = ladder_with_references(&s->sel);
		ladder_adopt(s->ladder, old);
		ladder_free(old);
	}
	s->ladder->running = -1;
	pace_end(&s->ladder->pace);
}

static void note_pace(struct ladder *l)
{
	unsigned done = 0;
	for (unsigned i = 0; i < l->n; i++)
		done += l->rungs[i].record || l->rungs[i].why[0];
	pace_note(&l->pace, done, l->n - done, clock_now_s());
}

bool lab_rung_due(struct session *s, struct selection *sel)
{
	if (!s->ladder) {
		s->ladder = ladder_with_references(&s->sel);
		if (s->before)
			ladder_put(s->ladder, s->before);
		if (s->now)
			ladder_put(s->ladder, s->now);
	}
	struct ladder *l = s->ladder;
	note_pace(l);
	while ((l->running = ladder_missing(l)) >= 0) {
		struct ladder_rung *r = &l->rungs[l->running];
		struct launch_plan plan;
		struct err err = { 0 };
		*sel = ladder_selection(l, (unsigned)l->running);
		if (selection_plan(sel, &plan, &err))
			return true;
		snprintf(r->why, sizeof r->why, "%.199s", err.msg);
	}
	return false;
}

bool lab_library_due(struct session *s, struct selection *sel)
{
	if (!s->ladder || s->ladder->library_asked)
		return false;
	*sel = s->ladder->sel;
	return true;
}

void lab_rung_news(struct session *s, struct news *n, bool awaited)
{
	struct ladder *l = s->ladder;
	/* one that comes too late for its order may still belong to the ladder */
	if (n->record && l)
		ladder_put(l, n->record);
	record_free(n->record);
	if (!awaited || !n->final || !l)
		return;
	if (n->kind == NEWS_LIBRARY) {
		l->library_asked = true;
		if (n->library.name[0] && n->library.comparable) {
			l->library_ns = n->library.timing.median_ns;
			memcpy(l->library_name, n->library.name, sizeof l->library_name);
			ladder_compare(l);
		}
	}
	if (n->kind == NEWS_FAILED && l->running >= 0)
		snprintf(l->rungs[l->running].why, sizeof l->rungs[0].why, "%.199s", n->err.msg);
	l->running = -1;
}
