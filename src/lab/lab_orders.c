/*
 * What a lab asks of its worker, and what came of it; see lab_state.h. Which order takes the place
 * of which, and whose news mean what, is said by the table in order.c.
 */
#include "lab_state.h"
#include "registry.h"

#include "lab/reference_run.h"
#include "model/ladder.h"
#include "model/sweep_map.h"

#include <string.h>

/* --- the instant part --- */

void lab_instant(struct lab *lab)
{
	struct session *s = &lab->s;
	struct build_id id;
	struct usage u;
	struct launch_plan plan;

	build_id_of(&s->sel, &id);
	if (!selection_plan(&s->sel, &plan, NULL) || !usage_find(lab->usage, &id, plan.entry, &u)) {
		session_instant(s, NULL);
		return;
	}
	const struct occ_input in = usage_occ_input(&u);
	s->spill_bytes = u.spill_bytes;
	session_instant(s, &in);
}

/* --- orders --- */

unsigned lab_focused_needs(const struct lab *lab)
{
	struct lab_panel panel;
	return lab->panels && lab->s.view && lab->panels(lab->s.view, &panel) ? panel.needs : 0;
}

/* Lessons speak of the code that a person wrote: what they claim holds of PTX. */
static bool in_lesson(const struct session *s)
{
	return s->tour.preset && !s->tour.off_path;
}

static void post_order(struct lab *lab, struct work_order *order)
{
	struct session *s = &lab->s;
	order->serial = ++lab->last_serial;
	order->machine_code = !in_lesson(s);
	lab->awaited.kind = order->kind;
	lab->awaited.serial = order->serial;
	if (order_rules[order->kind].of_session) {
		lab->last_run = order->kind;
		s->state = RUN_RUNNING;
		s->stuck_compile = !s->usage_known;
		s->progress = 0;
	}
	lab_worker_post(lab->worker, order);
}

void lab_order_run(struct lab *lab, bool at_once)
{
	const unsigned needs = lab_focused_needs(lab);
	struct work_order order = {
		.kind = needs & NEEDS_STALLS ? ORDER_RUN_STALLED
		        : needs & NEEDS_DATA ? ORDER_RUN_LOOKED
		                             : ORDER_RUN,
		.sel = lab->s.sel,
		.wish = lab->wish,
		.at_once = at_once,
	};
	post_order(lab, &order);
}

void lab_order_nothing(struct lab *lab)
{
	lab_worker_cancel(lab->worker);
	lab->awaited.serial = 0;
}

/* The record at hand is a GPU's, of this selection, and nobody has asked it why warps waited. */
static bool stalls_due(struct session *s, enum order_kind last_run)
{
	return s->state == RUN_DONE && s->now && !s->stale && s->now->run.timing.n &&
	       !s->now->run.n_stalls && last_run != ORDER_RUN_STALLED;
}

/* Nobody has looked at what this selection's run left in its buffers. */
static bool look_due(struct session *s, enum order_kind last_run)
{
	return s->state == RUN_DONE && s->now && !s->stale && !s->now->data &&
	       last_run != ORDER_RUN_LOOKED;
}

/* Is there something for an order of @kind to do? Fills in what is to be run. */
static bool is_due(struct lab *lab, enum order_kind kind, struct selection *sel)
{
	*sel = lab->s.sel;
	switch (kind) {
	case ORDER_RUN_STALLED: return stalls_due(&lab->s, lab->last_run);
	case ORDER_RUN_LOOKED: return look_due(&lab->s, lab->last_run);
	case ORDER_RUNG: return lab_rung_due(&lab->s, sel);
	case ORDER_POINT: return lab_point_due(&lab->s, sel);
	case ORDER_LIBRARY: return lab_library_due(&lab->s, sel);
	case ORDER_RUN: /* the person asks */
	case ORDER_KINDS: break;
	}
	return false;
}

void lab_order_for_panel(struct lab *lab)
{
	if (!lab->started || lab->wish.backend[0] || lab->s.opened)
		return;
	const unsigned needs = lab_focused_needs(lab);
	for (enum order_kind kind = 0; kind < ORDER_KINDS; kind++) {
		const struct order_rule *rule = &order_rules[kind];
		struct work_order order = { .kind = kind, .at_once = true };
		const bool must_wait =
			lab->awaited.serial && !(rule->supersedes & ORDER_BIT(lab->awaited.kind));
		if (!(rule->needs & needs) || must_wait || (lab->cancelled && !rule->asked_again) ||
		    !is_due(lab, kind, &order.sel))
			continue;
		post_order(lab, &order);
		return;
	}
}

/* --- news --- */

/* Figures of PTX are not held against those of machine code. */
static void keep_comparable(struct metric_set *m, bool of_machine_code, const struct run_record *r)
{
	if (of_machine_code == run_result_of_machine_code(&r->run))
		return;
	for (int i = 0; i < METRIC_COUNT; i++)
		if (metric_catalogue[i].depends == METRIC_OF_CODE)
			metric_none(m, (enum metric_id)i,
			            of_machine_code ? "that run counted machine code, this one PTX"
			                            : "that run counted PTX, this one machine code");
}

/* `before` is the last record of another selection, so that deltas say what a change did. */
static void take_record(struct lab *lab, struct news *n, bool awaited)
{
	struct session *s = &lab->s;
	struct run_record *r = n->record;
	if (s->ladder)
		ladder_put(s->ladder, r);
	if (s->map)
		sweep_map_put(s->map, r);
	if (!awaited && !n->final) { /* a sample of something no longer wanted */
		record_free(r);
		return;
	}
	if (s->now && (n->serial == lab->now_serial || selection_equal(&s->now->sel, &r->sel))) {
		record_free(s->now);
	} else {
		record_free(s->before);
		s->before = s->now;
	}
	if (s->before)
		keep_comparable(&s->before->metrics, run_result_of_machine_code(&s->before->run), r);
	if (s->pinned)
		keep_comparable(&s->pinned->metrics, s->pinned->machine_code, r);
	s->now = r;
	lab->now_serial = n->serial;
	if (n->final)
		session_remember(s, r, kernel_source(r->sel.kernel));
	reference_run_of_session(s);
	s->stale = !selection_equal(&r->sel, &s->sel);
	if (awaited && n->final) {
		s->state = RUN_DONE;
		tour_judge(s);
	}
}

/* The worker has decided where to run. */
static void take_backend(struct lab *lab, const struct news *n)
{
	struct session *s = &lab->s;
	if (!lab->wish.backend[0])
		return;
	lab->wish.backend[0] = '\0';
	memcpy(s->sel.backend, n->sel.backend, sizeof s->sel.backend);
	if (!lab->wish.gpu_given)
		s->sel.gpu = n->sel.gpu;
	lab_instant(lab);
}

static void take_session_news(struct lab *lab, struct news *n, bool awaited)
{
	struct session *s = &lab->s;
	switch (n->kind) {
	case NEWS_BACKEND: take_backend(lab, n); break;
	case NEWS_USAGE:
		if (awaited)
			s->stuck_compile = false;
		break;
	case NEWS_RECORD: take_record(lab, n, awaited); break;
	case NEWS_FAILED:
		if (awaited) {
			s->state = RUN_FAILED;
			s->run_err = n->err;
			tour_judge_stop(s, &n->err);
		}
		break;
	case NEWS_LIBRARY: break; /* of another kind of order */
	case NEWS_CODE:
		if (s->now && n->serial == lab->now_serial && !s->now->code) {
			s->now->code = n->code;
			n->code = NULL;
		}
		break;
	case NEWS_CANCELLED:
		if (awaited)
			s->state = RUN_CANCELLED;
		break;
	}
	if (awaited && s->state != RUN_RUNNING)
		s->stuck_compile = false;
}

void lab_take_news(struct lab *lab, struct news *n)
{
	const bool awaited = lab->awaited.serial && n->serial == lab->awaited.serial;
	if (n->serial < lab->first_serial) {
		record_free(n->record);
		code_listing_free(n->code);
		return;
	}
	if (n->kind == NEWS_USAGE)
		lab_instant(lab);
	if (order_rules[n->order].of_session)
		take_session_news(lab, n, awaited);
	else if (n->order == ORDER_POINT)
		lab_point_news(&lab->s, n, awaited);
	else
		lab_rung_news(&lab->s, n, awaited);
	if (awaited && n->final)
		lab->awaited.serial = 0;
	code_listing_free(n->code);
}
