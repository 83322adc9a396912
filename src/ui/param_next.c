/* Values of parameters whose launch is possible: the next one, which + and - go to; the one for a
 * wanted block. See screen_parts.h. */
#include "ui/screen_parts.h"

#define STEPS_MOST 64 /* values tried in each direction */

bool param_next(const struct session *s, unsigned param, int direction, int64_t *next,
                struct err *refused)
{
	struct selection sel = s->sel;
	const struct kernel_desc *k = sel.kernel;
	*refused = (struct err){ 0 };
	for (;;) {
		const int64_t was = sel.params[param];
		sel.params[param] = kernel_param_step(k, param, was, direction);
		if (sel.params[param] == was)
			return false;
		struct launch_plan plan;
		struct err err = { 0 };
		/* from a refused launch every step leads somewhere */
		if (!s->plan_ok || !k->plan || selection_plan(&sel, &plan, &err)) {
			*next = sel.params[param];
			return true;
		}
		if (refused->code == ERR_NONE)
			*refused = err;
	}
}

/* --- a block of so many threads --- */

struct wanted {
	uint64_t threads, got;
	unsigned param;
	int64_t value;
	bool found;
};

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Takes the value of @param if its launch is nearer to what is wanted. Returns the threads of its
 * block; 0 = it is impossible. */
static uint64_t try_value(const struct selection *sel, unsigned param, struct wanted *w)
{
	struct launch_plan plan;
	struct err err = { 0 };
	if (!selection_plan(sel, &plan, &err))
		return 0;
	const uint64_t threads = (uint64_t)plan.block.x * plan.block.y * plan.block.z;
	if (!w->found || apart(threads, w->threads) < apart(w->got, w->threads)) {
		w->found = true;
		w->got = threads;
		w->param = param;
		w->value = sel->params[param];
	}
	return threads;
}

/* Does another value of @param make another block? Tries them all. */
static void try_param(const struct session *s, unsigned param, uint64_t now, struct wanted *out)
{
	struct wanted w = { .threads = out->threads };
	struct selection sel = s->sel;
	bool changes = false;
	try_value(&s->sel, param, &w);
	sel.params[param] = (int64_t)out->threads;
	if (kernel_param_legal(sel.kernel, param, sel.params[param], NULL))
		changes = try_value(&sel, param, &w) == out->threads && out->threads != now;
	for (int direction = -1; direction <= 1; direction += 2) {
		sel.params[param] = s->sel.params[param];
		for (int i = 0; i < STEPS_MOST && w.got != out->threads; i++) {
			const int64_t was = sel.params[param];
			sel.params[param] = kernel_param_step(sel.kernel, param, was, direction);
			if (sel.params[param] == was)
				break;
			const uint64_t threads = try_value(&sel, param, &w);
			changes = changes || (threads && threads != now);
		}
	}
	if (changes && (!out->found || apart(w.got, out->threads) < apart(out->got, out->threads))) {
		w.threads = out->threads;
		*out = w;
	}
}

bool param_for_block(const struct session *s, uint64_t threads, unsigned *param, int64_t *value,
                     uint64_t *got)
{
	const struct kernel_desc *k = s->sel.kernel;
	struct wanted w = { .threads = threads }, here = w;
	if (!k || (!k->plan && !k->plan_user))
		return false;
	const uint64_t now = try_value(&s->sel, 0, &here);
	for (unsigned i = 0; i < k->n_params; i++)
		if (kernel_param_used(k, s->sel.variant, i) && k->params[i].role != PARAM_PLAIN)
			try_param(s, i, now, &w);
	*param = w.param;
	*value = w.value;
	*got = w.got;
	return w.found;
}
