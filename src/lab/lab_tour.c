/* Walking a preset in a session: steps forth and back, a mystery's answer. See lab.h. */
#include "lab_state.h"

#include "tour.h"

#include <string.h>

static bool take_step(struct lab *lab, unsigned step, struct err *err)
{
	struct session *s = &lab->s;
	struct selection sel = s->sel;
	if (!tour_select(lab->preset, step, &sel, err))
		return false;
	lab_put_kernel(s, sel.kernel, sel.variant);
	memcpy(s->sel.params, sel.params, sizeof sel.params);
	if (strcmp(s->sel.backend, "emu") == 0) /* a device keeps its own sheet */
		s->sel.gpu = sel.gpu;
	lab->wish.gpu_given = true;
	if (lab->preset->steps[step].stops) /* a GPU would hang or answer anything */
		lab_wish_backend(lab, "emu");
	s->tour = (struct session_tour){ .preset = lab->preset, .step = step };
	memcpy(s->tour.name, lab->preset->name, sizeof s->tour.name);
	struct lab_panel panel;
	if (lab->panels && lab->panels(lab->preset->steps[step].view, &panel))
		s->view = panel.name;
	lab_changed(lab, true);
	return true;
}

bool lab_tour(struct lab *lab, const char *name, struct err *err)
{
	struct preset *p;
	if (!preset_load(name, &p, err))
		return false;
	struct preset *old = lab->preset;
	lab->preset = p;
	if (!take_step(lab, 0, err)) {
		lab->preset = old;
		preset_free(p);
		return false;
	}
	preset_free(old);
	return true;
}

bool lab_tour_step(struct lab *lab, int direction, struct err *err)
{
	struct session_tour *t = &lab->s.tour;
	if (!lab->preset)
		return err_set(err, ERR_USAGE, "no preset is being walked: p chooses one");
	/* off the path, either key first comes back to the step itself */
	if (direction < 0 && t->off_path)
		return take_step(lab, t->step, err);
	if (direction < 0 && t->step == 0)
		return err_set(err, ERR_USAGE, "this is the first step of %s", lab->preset->name);
	if (direction > 0 && t->step + 1 >= lab->preset->n_steps)
		return err_set(err, ERR_USAGE, "this was the last step of %s", lab->preset->name);
	return take_step(lab, direction > 0 ? t->step + 1 : t->step - 1, err);
}

bool lab_tour_reveal(struct lab *lab, struct err *err)
{
	struct session_tour *t = &lab->s.tour;
	if (!lab->preset || !lab->preset->steps[t->step].reveal)
		return err_set(err, ERR_USAGE, "this step hides nothing");
	t->revealed = true;
	return true;
}

struct preset *tour_preset(const struct session_tour *t)
{
	struct preset *p = NULL;
	if (!t->name[0] || !preset_load(t->name, &p, NULL) || t->step < p->n_steps)
		return p;
	preset_free(p);
	return NULL;
}

void lab_tour_resume(struct lab *lab, struct preset *p)
{
	preset_free(lab->preset);
	lab->preset = p;
	lab->s.tour.preset = p;
	if (!p)
		lab->s.tour = (struct session_tour){ 0 };
}
