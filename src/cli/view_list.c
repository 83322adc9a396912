/* Views in the order of their keys; see view_list.h. The list is made by make from views/. */
#include "cli/view_list.h"

#include "base/text.h"

#define VIEW(name) extern const struct view_desc view_##name;
#include "views.def"
#undef VIEW

static const struct view_desc *const views[] = {
#define VIEW(name) &view_##name,
#include "views.def"
#undef VIEW
};

size_t view_count(void)
{
	return ARRAY_LEN(views);
}

const struct view_desc *view_at(size_t i)
{
	/* few views: find the i-th smallest order, folder order breaking ties */
	for (size_t v = 0; v < ARRAY_LEN(views); v++) {
		size_t before = 0;
		for (size_t w = 0; w < ARRAY_LEN(views); w++)
			before +=
				views[w]->order < views[v]->order || (views[w]->order == views[v]->order && w < v);
		if (before == i)
			return views[v];
	}
	return NULL;
}

const struct view_desc *view_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(views); i++)
		if (str_ieq(views[i]->name, name))
			return views[i];
	return NULL;
}

bool view_panel(const char *name, struct lab_panel *out)
{
	const struct view_desc *v = name && *name ? view_find(name) : view_at(0);
	if (v)
		*out = (struct lab_panel){ .name = v->name, .needs = v->needs };
	return v != NULL;
}
