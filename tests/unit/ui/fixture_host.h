/*
 * A host that only keeps what it is told, so that keys can be pressed without a terminal or an
 * engine. Its tab row is fixed: whole screens do not change when a view is added.
 */
#ifndef TESTS_UI_FIXTURE_HOST_H
#define TESTS_UI_FIXTURE_HOST_H

#include "fixture.h"
#include "ui/keys.h"
#include "ui/screen.h"

#define FIXTURE_TABS 10

struct fixture_host {
	struct session *s;
	unsigned runs, cancels, chosen;
	enum command chosen_list;
};

struct screen_host fixture_host(struct fixture_host *h);
/* Tab @i, from 0. */
const struct view_desc *fixture_tab(size_t i);
/* Presses keys separated by blanks: "RIGHT + # 9 9 ENTER". */
void fixture_press(const struct screen_host *host, struct screen_state *st, const char *keys);

#endif
