/*
 * The run before as a session of its own, so that every panel can be drawn of it beside the present
 * one. Pure; see screen_parts.h.
 */
#include "ui/screen_parts.h"

bool run_before_session(const struct session *s, struct session *out)
{
	const struct run_record *was = s->before;
	if (!was || !s->now || !s->sel.kernel || was->sel.kernel != s->sel.kernel)
		return false;
	*out = *s;
	out->sel = was->sel;
	out->now = s->before;
	out->before = NULL;
	out->pinned = NULL;
	out->reference_run = NULL;
	out->state = RUN_DONE;
	out->stale = false;
	out->spill_bytes = was->spill_bytes;
	out->plan_ok = out->usage_known = true;
	out->plan = was->plan;
	out->occ_in = was->occ_in;
	out->occ = was->occ;
	out->occ_ok = was->occ.launchable;
	if (out->sel.kernel->plan || out->sel.kernel->plan_user) /* and its other block sizes */
		session_instant(out, &was->occ_in);
	return true;
}
