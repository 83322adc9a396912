/* A record's machine code, for panels; see run_steps.h. */
#include "run_steps.h"

#include "base/mem.h"
#include "sass/code_of.h"

#include <stdio.h>

struct code_listing *run_code(struct prepared *p, const atomic_bool *cancel)
{
	struct workbench *w = p->bench;
	char file[64];
	struct err err = { 0 };
	const struct sass_module *m = workbench_code(w, cancel, &err);
	const struct sass_func *f = m ? sass_func(m, p->plan.entry) : NULL;
	if (err.code == ERR_CANCELLED)
		return NULL;
	if (f)
		return sass_code_of(m, f, w->module.ptx, kernel_file(p->sel.kernel, file, sizeof file));
	if (m)
		err_set(&err, ERR_UNAVAILABLE, "the machine code has no function %s", p->plan.entry);
	struct code_listing *c = mem_zalloc(sizeof *c);
	snprintf(c->why, sizeof c->why, "%.399s", err.msg);
	snprintf(c->remedy, sizeof c->remedy, "%.399s", err.remedy);
	return c;
}
