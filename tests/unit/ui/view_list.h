/* Every view of views/, from the list that the build makes of its files. */
#ifndef TESTS_UI_VIEW_LIST_H
#define TESTS_UI_VIEW_LIST_H

#include "ui/view.h"

#define VIEW(name) extern const struct view_desc view_##name;
#include "views.def"
#undef VIEW

static const struct view_desc *const all_views[] = {
#define VIEW(name) &view_##name,
#include "views.def"
#undef VIEW
};

#endif
