/*
 * What the person changes: every change does the instant part (plan, occupancy, sweep) on the spot
 * and orders a run. See lab.h.
 */
#include "lab_state.h"
#include "registry.h"

#include <stdio.h>
#include <string.h>

void lab_changed(struct lab *lab, bool at_once)
{
	struct session *s = &lab->s;
	if (lab->program) {
		lab_program_changed(lab);
		return;
	}
	lab_instant(lab);
	s->stale = s->now && !selection_equal(&s->now->sel, &s->sel);
	s->tour.off_path = lab->preset && !tour_on_step(lab->preset, s->tour.step, &s->sel);
	s->written = (struct session_written){ 0 };
	s->opened = NULL; /* from here on it is this person's session */
	s->progress = 0;
	s->stuck_compile = false;
	err_clear(&s->run_err);
	lab_ladder_follow(s);
	lab_sweep_follow(s);
	lab->cancelled = false;
	if (!lab->started)
		return;
	if (s->plan_ok) {
		lab_order_run(lab, at_once);
	} else {
		lab_order_nothing(lab);
		s->state = RUN_NONE;
	}
}

void lab_wish_backend(struct lab *lab, const char *name)
{
	const char *until_then = strcmp(name, "auto") ? name : "emu";
	const char *wish = strcmp(name, "emu") ? name : "";
	snprintf(lab->wish.backend, sizeof lab->wish.backend, "%s", wish);
	snprintf(lab->s.sel.backend, sizeof lab->s.sel.backend, "%s", until_then);
}

void lab_put_kernel(struct session *s, const struct kernel_desc *k, unsigned variant)
{
	const unsigned v = variant < k->n_variants ? variant : 0;
	if (s->sel.kernel != k) {
		s->param = kernel_main_knob(k, v);
		memset(s->sel.params, 0, sizeof s->sel.params);
		kernel_defaults(k, s->sel.params);
		s->source = kernel_source(k);
	} else if (s->sel.variant != v && s->param < k->n_params &&
	           k->params[s->param].role == PARAM_PLAIN &&
	           s->param == kernel_main_knob(k, s->sel.variant)) {
		/* the variant before has no knob: a size had the focus, by nobody's choice */
		s->param = kernel_main_knob(k, v);
	}
	s->sel.kernel = k;
	s->sel.variant = v;
	/* The focused parameter must be one that this variant has. */
	if (s->param >= k->n_params)
		s->param = 0;
	for (unsigned i = 0; i < k->n_params && !kernel_param_used(k, v, s->param); i++)
		s->param = (s->param + 1) % k->n_params;
	s->cursor.row = 0;
	s->cursor.placed = false;
	s->cursor.detail = false;
}

void lab_select(struct lab *lab, const struct kernel_desc *k, unsigned variant)
{
	lab_put_kernel(&lab->s, k, variant);
	lab_changed(lab, true);
}

void lab_param(struct lab *lab, unsigned param, int64_t value)
{
	if (param >= lab->s.sel.kernel->n_params)
		return;
	lab->s.sel.params[param] = value;
	lab_changed(lab, false);
}

void lab_gpu(struct lab *lab, const struct gpu_spec *g)
{
	lab->s.sel.gpu = g;
	lab->wish.gpu_given = true;
	/* A sheet that is not the device's can only be emulated. */
	if (strcmp(lab->s.sel.backend, "emu"))
		lab_wish_backend(lab, "auto");
	lab_changed(lab, false);
}

void lab_backend(struct lab *lab, const char *name)
{
	if (lab->program) /* the emulator only */
		return;
	/* A device brings its own sheet. */
	if (strcmp(name, "emu") && strcmp(name, "auto"))
		lab->wish.gpu_given = false;
	lab_wish_backend(lab, name);
	lab_changed(lab, false);
}

void lab_selection(struct lab *lab, const struct selection *sel)
{
	lab_put_kernel(&lab->s, sel->kernel, sel->variant);
	if (lab->s.sel.gpu != sel->gpu)
		lab->wish.gpu_given = true;
	if (strcmp(lab->s.sel.backend, sel->backend) != 0)
		lab_wish_backend(lab, sel->backend);
	lab->s.sel = *sel;
	lab_changed(lab, true);
}

void lab_seed(struct lab *lab, uint64_t seed)
{
	lab->s.sel.seed = seed;
	lab_changed(lab, false);
}
