/*
 * Plain: the kernel's description, the view that make cost adds to see what that touches.
 */
#include "ui/view.h"

static void draw(const struct session *s, struct canvas *c)
{
	const char *words = s->sel.kernel ? s->sel.kernel->about : "no kernel is chosen";
	canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_NORMAL, words);
}

const struct view_desc view_plain = {
	.name = "plain",
	.title = "Plain",
	.order = 90,
	.about = "what the kernel does, in words",
	.draw = draw,
	.place = VIEW_ALONE,
};
