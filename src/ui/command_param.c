/* Keys that change the selection: which parameter, its value, the variant. See command.h. */
#include "ui/command.h"

#include <string.h>

static bool used(const struct session *s, unsigned param)
{
	return kernel_param_used(s->sel.kernel, s->sel.variant, param);
}

const char *when_params(const struct session *s, const struct view_desc *view)
{
	const struct kernel_desc *k = s->sel.kernel;
	(void)view;
	for (unsigned i = 0; k && i < k->n_params; i++)
		if (used(s, i))
			return NULL;
	return s->program ? "a program has launches to change when it has ended"
	                  : "this variant has no parameters";
}

void param_move(const struct command_call *call)
{
	if (view_walks(call))
		return;
	struct session *s = call->host->edit(call->host->ctx);
	const unsigned n = s->sel.kernel->n_params;
	do
		s->param = (s->param + (call->arg > 0 ? 1 : n - 1)) % n;
	while (!used(s, s->param));
}

const struct session *param_focused(const struct command_call *call)
{
	struct session *s = call->host->edit(call->host->ctx);
	if (s->param >= s->sel.kernel->n_params)
		s->param = 0;
	while (!used(s, s->param))
		s->param = (s->param + 1) % s->sel.kernel->n_params;
	return s;
}

void param_step(const struct command_call *call)
{
	const struct session *s = param_focused(call);
	const char *name = s->sel.kernel->params[s->param].name;
	struct err refused;
	int64_t next;
	if (param_next(s, s->param, call->arg, &next, &refused))
		call->host->set_param(call->host->ctx, s->param, next);
	else if (refused.code != ERR_NONE)
		screen_say(call->st, false, "no %s %s can be launched: %.400s",
		           call->arg > 0 ? "larger" : "smaller", name, refused.msg);
	else
		screen_say(call->st, false, "%s is at its %s value", name,
		           call->arg > 0 ? "largest" : "smallest");
}

void param_default(const struct command_call *call)
{
	const struct session *s = param_focused(call);
	call->host->set_param(call->host->ctx, s->param, s->sel.kernel->params[s->param].def);
}

void param_typed(const struct screen_host *host, struct screen_state *st)
{
	const struct session *s = host->session(host->ctx);
	struct err err = { 0 };
	int64_t value;
	if (!st->typed[0]) {
		screen_close(st);
		return;
	}
	if (!kernel_param_parse(s->sel.kernel, s->param, st->typed, &value, &err)) {
		screen_say(st, true, "%.400s%s%.150s", err.msg, err.remedy[0] ? " → " : "", err.remedy);
		return; /* what was typed stays, to be corrected */
	}
	screen_close(st);
	host->set_param(host->ctx, s->param, value);
}

void variant_step(const struct command_call *call)
{
	const struct session *s = call->host->session(call->host->ctx);
	const struct kernel_desc *k = s->sel.kernel;
	if (k && k->n_variants)
		call->host->set_kernel(call->host->ctx, k,
		                       (s->sel.variant + (call->arg > 0 ? 1 : k->n_variants - 1)) %
		                           k->n_variants);
}

/* --- undo and redo --- */

void trail_follow(const struct screen_host *host, struct screen_state *st)
{
	if (st->trail_n)
		st->trail[st->trail_at] = host->session(host->ctx)->sel;
	else
		trail_note(host, st);
}

void trail_note(const struct screen_host *host, struct screen_state *st)
{
	const struct selection *sel = &host->session(host->ctx)->sel;
	if (st->trail_n && selection_equal(sel, &st->trail[st->trail_at]))
		return;
	st->trail_n = st->trail_n ? st->trail_at + 1 : 0; /* what was undone is given up */
	if (st->trail_n == TRAIL_MAX) {
		memmove(st->trail, st->trail + 1, (TRAIL_MAX - 1) * sizeof *st->trail);
		st->trail_n--;
	}
	st->trail_at = st->trail_n;
	st->trail[st->trail_n++] = *sel;
}

void trail_step(const struct command_call *call)
{
	struct screen_state *st = call->st;
	char what[160];
	if (call->arg < 0 ? !st->trail_at : st->trail_at + 1 >= st->trail_n) {
		screen_say(st, false, call->arg < 0 ? "nothing to undo" : "nothing to redo");
		return;
	}
	const struct selection was = st->trail[st->trail_at];
	st->trail_at = call->arg < 0 ? st->trail_at - 1 : st->trail_at + 1;
	call->host->set_selection(call->host->ctx, &st->trail[st->trail_at]);
	view_settle(call->host);
	panel_difference(&was, &st->trail[st->trail_at], what, sizeof what);
	screen_say(st, false, "%s: %s", call->arg < 0 ? "undone" : "redone", what);
}
