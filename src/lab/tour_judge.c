/* The step of a preset that the session stands on: is it still that one, and does what it expects
 * hold? See lab_state.h. */
#include "lab_state.h"

#include "base/text.h"
#include "tour.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool tour_on_step(const struct preset *p, unsigned step, const struct selection *is)
{
	struct selection sel = *is;
	return tour_select(p, step, &sel, NULL) && selection_equal(&sel, is);
}

/* A step whose mistake is to be caught, of a run that went on to its end. */
static void judge_finding(struct session *s)
{
	struct session_tour *t = &s->tour;
	const char *words = t->preset->steps[t->step].stops;
	t->n = 1;
	t->outcomes[0].holds = run_findings_with(&s->now->run.found, words) != NULL;
	snprintf(t->outcomes[0].found, sizeof t->outcomes[0].found, "%s",
	         t->outcomes[0].holds ? "" : "nothing was found wrong");
	t->judged = true;
}

void tour_judge(struct session *s)
{
	struct session_tour *t = &s->tour;
	if (!t->preset || !s->now || s->stale || !tour_on_step(t->preset, t->step, &s->now->sel))
		return;
	const bool comparable =
		s->before && t->step && tour_on_step(t->preset, t->step - 1, &s->before->sel);
	if (t->preset->steps[t->step].stops) {
		judge_finding(s);
		return;
	}
	struct tour_result r;
	tour_check(t->preset, t->step, s->now, comparable ? s->before : NULL, &r);
	t->n = r.n;
	for (unsigned i = 0; i < r.n; i++) {
		const struct expect_value *left = &r.outcome[i].left;
		char num[32];
		t->outcomes[i].is = r.evaluated[i] && !left->is_text ? left->num : NAN;
		t->outcomes[i].holds = r.excused[i] || (r.evaluated[i] && r.outcome[i].holds);
		if (t->outcomes[i].holds && !r.excused[i])
			t->outcomes[i].found[0] = '\0';
		else if (r.excused[i] || !r.evaluated[i])
			snprintf(t->outcomes[i].found, sizeof t->outcomes[i].found, "%.95s", r.problem[i]);
		else
			snprintf(t->outcomes[i].found, sizeof t->outcomes[i].found, "it is %.80s",
			         left->is_text ? left->text : fmt_num(num, sizeof num, left->num, 7));
	}
	t->judged = true;
}

void tour_judge_stop(struct session *s, const struct err *why)
{
	struct session_tour *t = &s->tour;
	if (!t->preset || t->off_path || !t->preset->steps[t->step].stops)
		return;
	t->n = 1;
	t->outcomes[0].holds = strstr(why->msg, t->preset->steps[t->step].stops) != NULL;
	snprintf(t->outcomes[0].found, sizeof t->outcomes[0].found, "%.95s",
	         t->outcomes[0].holds ? "" : why->msg);
	t->judged = true;
}
