/* See arrangement.h. */
#include "ui/arrangement.h"

#include "base/text.h"

#include <string.h>

static const char *const names[] = { VIEW_LAYOUTS(LIST_NAME) };
static const char *const abouts[] = { VIEW_LAYOUTS(LIST_ABOUT) };

size_t arrangement_count(void)
{
	return ARRAY_LEN(names);
}

const char *arrangement_name(size_t i)
{
	return names[i < ARRAY_LEN(names) ? i : 0];
}

const char *arrangement_about(size_t i)
{
	return abouts[i < ARRAY_LEN(abouts) ? i : 0];
}

size_t arrangement_find(const char *name)
{
	size_t i = 0;
	while (i < ARRAY_LEN(names) && strcmp(names[i], name) != 0)
		i++;
	return i;
}

unsigned arrangement_views(size_t i, const struct screen_host *host, enum view_place place,
                           size_t *out, unsigned max)
{
	const bool own = i == LAYOUT_STUDY || place == VIEW_LESSON || place == VIEW_ALONE;
	unsigned n = 0;
	for (size_t v = 0; own && v < host->n_views && n < max; v++)
		if (host->view_at(v)->place == place)
			out[n++] = v;
	for (int rank = 1; !own && rank <= LAYOUT_MAX_PANELS; rank++)
		for (size_t v = 0; v < host->n_views && n < max; v++)
			if (host->view_at(v)->rank[i] == (place == VIEW_SIDE ? -rank : rank))
				out[n++] = v;
	return n;
}
