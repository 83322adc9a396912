/*
 * A view: one panel, one file views/<name>.c, drawn from the session alone.
 *
 * draw() is pure: same session and size, same cells. It must cope with any size from 1x1 up,
 * with no run yet, with a failed plan and with metrics that are n/a.
 */
#ifndef PMPP_UI_VIEW_H
#define PMPP_UI_VIEW_H

#include "model/session.h"
#include "ui/canvas.h"

struct view_desc {
	const char *name;    /* = file name; "occupancy" */
	const char *title;   /* "Occupancy" */
	int order;           /* position in the tab row and key 1..9 */
	const char *about;   /* one line for help */
	void (*draw)(const struct session *s, struct canvas *c);
	/* Rows that can be selected (line tables); NULL = none. */
	unsigned (*rows)(const struct session *s);
};

#endif
