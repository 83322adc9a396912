/*
 * Output: what the program wrote on standard output and standard error, and before it runs what
 * the compiler said.
 */
#include "model/program_session.h"
#include "ui/view.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* The lines to show, wherever they come from. */
struct shown {
	const struct program *run; /* a run that has ended */
	const char *text;          /* else: its output so far, or the compiler's messages */
	enum style style;
};

static struct shown shown_of(const struct session *s)
{
	struct shown x = { .style = STYLE_NORMAL };
	if (!s->program)
		return x;
	if (s->state == RUN_FAILED) {
		x.text = s->run_err.msg;
		x.style = STYLE_ERROR;
	} else if (s->state == RUN_RUNNING && s->program->output) {
		x.text = s->program->output;
	} else {
		x.run = s->program->now;
	}
	return x;
}

static unsigned rows(const struct session *s)
{
	const struct shown x = shown_of(s);
	unsigned n = 0;
	if (x.run)
		return (unsigned)program_output_lines(x.run);
	for (const char *p = x.text; p && *p; p++)
		n += *p == '\n' || !p[1];
	return n;
}

static unsigned start(const struct session *s)
{
	const unsigned n = rows(s);
	return n && s->state != RUN_FAILED ? n - 1 : 0;
}

static bool line_at(const struct shown *x, unsigned i, const char **origin, char *out, size_t n)
{
	const char *p = x->text;
	*origin = "";
	if (x->run)
		return program_output_line(x->run, i, origin, out, n);
	for (; p && i; i--) {
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	if (!p || !*p)
		return false;
	snprintf(out, n, "%.*s", (int)strcspn(p, "\n"), p);
	return true;
}

static void draw(const struct session *s, struct canvas *c)
{
	const struct shown x = shown_of(s);
	const unsigned total = rows(s);
	if (!total) {
		canvas_wrap(c, 0, 1, c->rows, c->cols - 2, STYLE_DIM,
		            !s->program ? "n/a: one kernel is explored, no program"
		            : x.run     ? "The program wrote nothing."
		                        : "Here the program's output, as it comes.");
		return;
	}
	const bool pick = panel_focused(s, "output");
	const unsigned at = !pick ? start(s) : s->cursor.row < total ? s->cursor.row : total - 1;
	const unsigned top = panel_scroll(total, at, c->rows);
	for (int r = 0; r < c->rows && top + (unsigned)r < total; r++) {
		const char *origin;
		char line[1024];
		if (!line_at(&x, top + (unsigned)r, &origin, line, sizeof line))
			break;
		const bool error = !strcmp(origin, "stderr");
		canvas_hit(c, r, 0, 1, c->cols, HIT_ROW, top + (unsigned)r);
		canvas_text(c, r, 0, STYLE_KNOB, pick && top + (unsigned)r == at ? "▸" : " ");
		canvas_text(c, r, 1, error ? STYLE_WATCH : STYLE_DIM, error ? "!" : " ");
		canvas_verbatim(c, r, 3, c->cols - 4, x.style, line);
	}
	panel_scroll_marks(c, 0, c->rows, top, total);
}

const struct view_desc view_output = {
	.name = "output",
	.title = "Output",
	.brief = "Out",
	.order = 10,
	.about = "what the program wrote, and what the compiler said of it",
	.draw = draw,
	.rows = rows,
	.start = start,
	.place = VIEW_ALONE,
	.scope = VIEW_OF_PROGRAM,
};
