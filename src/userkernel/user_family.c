/* What a family of a person's file is given: its parameters, and words by name. */
#include "userkernel/user_family.h"

#include <stdio.h>
#include <string.h>

bool user_add_param(struct user_family *o, const char *name, const char *title,
                    enum param_kind kind, int64_t def, int64_t min, int64_t max, int *index,
                    struct err *err)
{
	struct kernel_desc *d = &o->desc;
	for (unsigned i = 0; i < d->n_params; i++)
		if (!strcmp(d->params[i].name, name))
			return err_set(err, ERR_USAGE, "%s: '%s' names two things: rename one of them", o->file,
			               name);
	if (d->n_params == KERNEL_MAX_PARAMS)
		return err_set(err, ERR_USAGE, "%s: more than %d numbers to choose", o->file,
		               KERNEL_MAX_PARAMS);
	const unsigned i = d->n_params++;
	snprintf(o->text[i], sizeof o->text[i], "%s", name);
	o->params[i] = (struct param_desc){
		.name = o->text[i],
		.title = title,
		.unit = "",
		.kind = kind,
		.def = def,
		.min = min,
		.max = max,
	};
	if (!strcmp(name, "block") || !strcmp(name, "launch_block"))
		o->params[i].role = PARAM_BLOCK;
	else if (!strcmp(name, "block_x") || !strcmp(name, "launch_block_x"))
		o->params[i].role = PARAM_KNOB;
	const size_t at = strlen(o->names);
	snprintf(o->names + at, sizeof o->names - at, "%s%s", at ? ", " : "", name);
	*index = (int)i;
	return true;
}

const char *user_words_for(const struct user_spec *spec, const char *name)
{
	const size_t n = strlen(name);
	for (unsigned i = 0; i < spec->n_args; i++)
		if (!strncmp(spec->args[i], name, n) && spec->args[i][n] == '=')
			return spec->args[i] + n + 1;
	return NULL;
}
