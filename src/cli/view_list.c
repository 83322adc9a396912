/* Views in the order of their keys; see view_list.h. The list is made by make from views/. */
#include "cli/view_list.h"

#include "base/enum_list.h"
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

static int order_of(size_t i)
{
	return views[i]->order;
}

const struct view_desc *view_at(size_t i)
{
	const size_t at = list_nth(i, ARRAY_LEN(views), order_of);
	return at < ARRAY_LEN(views) ? views[at] : NULL;
}

/* View @i of those that are not of @other alone. */
static const struct view_desc *scoped_at(size_t i, enum view_scope other)
{
	for (size_t v = 0; v < view_count(); v++)
		if (view_at(v)->scope != other && !i--)
			return view_at(v);
	return NULL;
}

static size_t scoped_count(enum view_scope other)
{
	size_t n = 0;
	for (size_t v = 0; v < ARRAY_LEN(views); v++)
		n += views[v]->scope != other;
	return n;
}

size_t kernel_view_count(void)
{
	return scoped_count(VIEW_OF_PROGRAM);
}

const struct view_desc *kernel_view_at(size_t i)
{
	return scoped_at(i, VIEW_OF_PROGRAM);
}

size_t program_view_count(void)
{
	return scoped_count(VIEW_OF_KERNEL);
}

const struct view_desc *program_view_at(size_t i)
{
	return scoped_at(i, VIEW_OF_KERNEL);
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
	const struct view_desc *v = name && *name ? view_find(name) : kernel_view_at(0);
	if (v)
		*out = (struct lab_panel){ .name = v->name, .needs = v->needs };
	return v != NULL;
}
