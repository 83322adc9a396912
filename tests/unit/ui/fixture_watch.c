/* See fixture_watch.h. */
#include "fixture_watch.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* By the heights of blank columns over every row. */
struct watch_window most_empty(const struct canvas *c)
{
	int *high = mem_calloc((size_t)c->cols, sizeof *high), best = 0;
	struct watch_window out = { 0 };
	for (int r = 0; r < c->rows; r++) {
		for (int k = 0; k < c->cols; k++)
			high[k] = c->cells[r * c->stride + k].ch == ' ' ? high[k] + 1 : 0;
		for (int from = 0; from < c->cols; from++) {
			int low = high[from];
			for (int k = from; k < c->cols && low * (c->cols - from) > best; k++) {
				low = high[k] < low ? high[k] : low;
				if (low * (k - from + 1) <= best)
					continue;
				best = low * (k - from + 1);
				out = (struct watch_window){ r + 1 - low, from, low, k + 1 - from };
			}
		}
	}
	free(high);
	return out;
}

bool wastes_room(const struct canvas *c, const struct canvas_watch *watch)
{
	const struct watch_window e = most_empty(c);
	if (e.rows * e.cols * 3 <= c->rows * c->cols)
		return false;
	for (unsigned i = 0; i < watch->scrolls; i++) {
		const struct watch_window *w = &watch->window[i];
		if (e.row >= w->row + w->rows || w->row >= e.row + e.rows || e.col >= w->col + w->cols ||
		    w->col >= e.col + e.cols)
			return true;
	}
	return false;
}

/* Is a bar's cell turned round in some theme? */
static bool hidden_bar(const struct canvas *c)
{
	for (int i = 0; i < c->rows * c->cols; i++) {
		const struct cell *cell = &c->cells[i];
		const bool bar = cell->ch >= 0x2580 && cell->ch <= 0x2593;
		if (bar && (cell->style == STYLE_KNOB_ON || cell->style == STYLE_SELECTED))
			return true;
	}
	return false;
}

const char *frame_fault(const struct world *w, const struct canvas *c,
                        const struct canvas_watch *watch)
{
	const struct session *s = w->fh.s;
	const bool waits = !panel_metrics(s) || s->state == RUN_FAILED;
	if (watch->overlaps || watch->cuts)
		return watch->first;
	if (hidden_bar(c))
		return "a bar in a style that some themes turn round";
	return w->st.open == CMD_NONE && !waits && wastes_room(c, watch)
	           ? "a third is empty while a panel scrolls"
	           : NULL;
}
