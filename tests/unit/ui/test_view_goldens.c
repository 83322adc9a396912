/*
 * Every view drawn alone, against tests/ui/views/<view>.screen.
 *
 * The file says itself what is drawn (fixture_drawing.h). A view without a file gets one with the
 * usual drawings from BLESS=1. No other golden changes when a view is added.
 */
#include "fixture_drawing.h"
#include "../unit.h"
#include "view_list.h"

static const char usual[] = "== done 18x80 styles\n"
							"== done 18x80 ascii\n"
							"== done 34x140\n"
							"== reduced 18x80\n"
							"== none 18x80\n"
							"== failed 8x60\n";

static void view_alone(void **state)
{
	const struct view_desc *view = *state;
	char path[200];
	snprintf(path, sizeof path, "tests/ui/views/%s.screen", view->name);
	drawings_compare(path, usual, view, false);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(all_views); i++)
		unit_add(all_views[i]->name, view_alone, all_views[i]);
	return unit_run(NULL, NULL);
}
