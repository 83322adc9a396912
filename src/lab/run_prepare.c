/* Before a launch: the plan, the module, and the buffers, where the workbench has not kept them.
 * See run_steps.h. */
#include "run_steps.h"

#include "head_start.h"

bool run_prepare(struct prepared *p, struct workbench *w, const struct selection *sel,
                 const atomic_bool *cancel, struct err *err)
{
	*p = (struct prepared){ .sel = *sel, .bench = w };
	head_start_end(w);
	if (!selection_plan(sel, &p->plan, err))
		return false;
	if (!run_buffers_fit(&w->kept, sel, &p->plan))
		run_buffers_free(&w->kept); /* before it is asked how much memory is left */
	if ((!w->kept.kernel && !run_buffers_fit_memory(&p->plan, err)) ||
	    !workbench_compile(w, sel, cancel, err) || !workbench_open(w, sel, err))
		return false;
	const struct entry_usage *e = module_entry(&w->module, p->plan.entry);
	if (!e)
		return err_set(err, ERR_INTERNAL, "%s.cu: no entry '%s' in the compiled module",
		               sel->kernel->name, p->plan.entry);
	p->usage = usage_of(e);
	const bool shared = w->ops->wants_shared_memory;
	if (shared != (w->kept.memory.data != NULL))
		run_buffers_free(&w->kept);
	p->buffers = w->kept;
	w->kept = (struct run_buffers){ 0 };
	return p->buffers.kernel || run_buffers_make(&p->buffers, sel, &p->plan, shared, cancel, err);
}

void run_release(struct prepared *p)
{
	run_buffers_free(&p->bench->kept);
	p->bench->kept = p->buffers;
	*p = (struct prepared){ 0 };
}
