/*
 * What follows from a selection without running anything, and the life time of run records; see
 * session.h. Pure: no thread, file or back end.
 */
#include "model/session.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/buffer_look.h"

#include <stdlib.h>
#include <string.h>

bool selection_equal(const struct selection *a, const struct selection *b)
{
	if (a->kernel != b->kernel || a->variant != b->variant || a->seed != b->seed ||
	    strcmp(a->gpu->id, b->gpu->id) || strcmp(a->backend, b->backend))
		return false;
	for (unsigned i = 0; i < a->kernel->n_params; i++)
		if (kernel_param_used(a->kernel, a->variant, i) && a->params[i] != b->params[i])
			return false;
	return true;
}

bool variant_runs_on(const struct variant_desc *v, const struct gpu_spec *g)
{
	const int cc = 10 * g->cc_major + g->cc_minor;
	return v->that_cc_only ? cc == v->least_cc : cc >= v->least_cc;
}

/* Refuses a GPU that has not what the variant needs; the remedy names those that have. None chosen
 * yet: nothing is refused. */
static bool gpu_legal(const struct selection *sel, struct err *err)
{
	const struct variant_desc *v = &sel->kernel->variants[sel->variant];
	const struct gpu_spec *g = sel->gpu;
	if (!g || variant_runs_on(v, g))
		return true;
	err_set(err, ERR_USAGE,
	        v->that_cc_only ? "%s/%s needs compute capability %d.%d and no other; %s has %d.%d"
	                        : "%s/%s needs compute capability %d.%d or above; %s has %d.%d",
	        sel->kernel->name, v->name, v->least_cc / 10, v->least_cc % 10, g->name, g->cc_major,
	        g->cc_minor);
	struct text ids = { 0 };
	for (size_t i = 0; i < gpu_count(); i++)
		if (variant_runs_on(v, gpu_at(i)))
			text_add(&ids, "%s%s", ids.len ? ", " : "", gpu_at(i)->id);
	err_remedy(err, "choose a GPU that has it (%s), or another variant", ids.s ? ids.s : "none");
	text_free(&ids);
	return false;
}

bool selection_plan(const struct selection *sel, struct launch_plan *plan, struct err *err)
{
	const struct kernel_desc *k = sel->kernel;
	if (!kernel_values_legal(k->params, k->n_params, sel->variant, sel->params, err) ||
	    !gpu_legal(sel, err))
		return false;
	*plan = (struct launch_plan){ 0 };
	return k->plan_user ? k->plan_user(k, sel->params, plan, err)
	                    : k->plan(sel->variant, sel->params, plan, err);
}

void session_occ_input(const struct launch_plan *plan, const struct occ_input *usage,
                       struct occ_input *in)
{
	*in = *usage;
	in->block_threads = plan->block.x * plan->block.y * plan->block.z;
	in->dynamic_shared_bytes = plan->dynamic_shared_bytes;
}

/* Occupancy of each block size with the registers of this selection. Where the kernel has a
 * parameter that sets the block size, its plan says how much shared memory goes with it. */
static void sweep(struct session *s, const struct occ_input *usage)
{
	const struct selection *sel = &s->sel;
	const int block = kernel_param_index(sel->kernel, KERNEL_BLOCK);
	const bool knob = block >= 0 && kernel_param_used(sel->kernel, sel->variant, (unsigned)block);
	for (unsigned i = 0; i < 32; i++) {
		const unsigned threads = 32 * (i + 1);
		struct occ_input in = s->occ_in;
		struct selection at = *sel;
		struct launch_plan plan;
		struct occ_result r;
		in.block_threads = threads;
		if (knob) {
			at.params[block] = threads;
			if (selection_plan(&at, &plan, NULL) &&
			    plan.block.x * plan.block.y * plan.block.z == threads)
				session_occ_input(&plan, usage, &in);
		}
		const bool ok = occ_compute(sel->gpu, &in, &r, NULL) && r.launchable;
		s->sweep[i].block = threads;
		s->sweep[i].blocks_per_sm = ok ? r.blocks_per_sm : 0;
		s->sweep[i].pct = ok ? r.pct : 0;
	}
}

void session_instant(struct session *s, const struct occ_input *usage)
{
	err_clear(&s->plan_err);
	s->occ_ok = s->usage_known = false;
	memset(s->sweep, 0, sizeof s->sweep);
	s->plan_ok = selection_plan(&s->sel, &s->plan, &s->plan_err);
	if (!s->plan_ok || !usage)
		return;
	s->usage_known = true;
	session_occ_input(&s->plan, usage, &s->occ_in);
	s->occ_ok = occ_compute(s->sel.gpu, &s->occ_in, &s->occ, &s->plan_err);
	if (s->occ_ok)
		sweep(s, usage);
}

void record_free(struct run_record *r)
{
	if (!r)
		return;
	run_result_free(&r->run);
	code_listing_free(r->code);
	buffer_looks_free(r->data);
	free(r->program);
	free(r->timeline);
	free(r);
}
