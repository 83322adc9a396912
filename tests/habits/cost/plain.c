/*
 * Plain: the kernel's description, the view that make cost adds to see what that touches.
 */
#include "ui/view.h"

static void draw(const struct session *s, struct canvas *c)
{
	const char *words = s->sel.kernel ? s->sel.kernel->about : NULL;
	canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_NORMAL, words ? words : "nothing is said");
}

const struct view_desc view_plain = {
	.name = "plain",
	.title = "Plain",
	.order = 90,
	.about = "what the kernel does, in words",
	.draw = draw,
	.place = VIEW_ALONE,
};
