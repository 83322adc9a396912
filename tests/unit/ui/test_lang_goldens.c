/*
 * Every view in every language but English, at 80x24 and 120x40, against
 * tests/ui/<language>/<view>.screen; and what lies over the panels,
 * tests/ui/<language>/screens.screen.
 *
 * The files say themselves what is drawn (fixture_drawing.h). Where one is missing, BLESS=1 writes
 * it with the usual drawings: a new view or a new language gets its goldens by make bless.
 */
#include "fixture_drawing.h"
#include "../unit.h"
#include "view_list.h"

#include "base/lang.h"

static const char of_kernel[] = "== done 24x80\n"
								"== done 40x120\n"
								"== none 24x80\n";
static const char of_program[] = "== program 24x80\n"
								 "== program 40x120\n"
								 "== program_idle 24x80\n";
static const char of_screen[] = "== done 24x80 : ?\n"
								"== done 24x80 : o\n"
								"== done 24x80 : K\n"
								"== done 24x80 : i\n"
								"== done 24x80 : # 9 9 ENTER\n"
								"== refused 24x80 : 1\n"
								"== failed 24x80 : 2\n"
								"== running 24x80 : 4\n"
								"== wrong 24x80 : 1\n"
								"== mystery 24x80 : 1\n"
								"== tour_judged 24x80 : 4\n"
								"== tour_judged 40x120 : 3\n"
								"== reduced 24x80 : 4 ENTER\n"
								"== reduced 24x80 : 3 ENTER DOWN DOWN\n"
								"== reduced 60x200 : 8\n"
								"== measured 60x200 : 4\n"
								"== done 16x50 : 1\n"
								"== done 6x20\n";

static void in_language(void **state)
{
	const struct view_desc *view = *state;
	char path[200];
	for (size_t i = 1; i < lang_count(); i++) {
		snprintf(path, sizeof path, "tests/ui/%s/%s.screen", lang_code(i),
		         view ? view->name : "screens");
		lang_use(i);
		drawings_compare(path,
		                 !view                            ? of_screen
		                 : view->scope == VIEW_OF_PROGRAM ? of_program
		                                                  : of_kernel,
		                 view, true);
		lang_use(0);
	}
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(all_views); i++)
		unit_add(all_views[i]->name, in_language, all_views[i]);
	unit_add("screens", in_language, NULL);
	return unit_run(NULL, NULL);
}
