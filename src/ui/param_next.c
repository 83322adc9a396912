/* The value that + and - go to: the next one whose launch is possible. See screen_parts.h. */
#include "ui/screen_parts.h"

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
