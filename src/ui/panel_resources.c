/*
 * The time that every resource needs for the launch, the one that decides in another colour: what
 * the model's time is made of. See view.h.
 */
#include "ui/view.h"

#include "base/text.h"

#include <math.h>

int panel_resources_rows(const struct session *s)
{
	int rows = 1;
	for (int i = 0; i < PERF_RESOURCE_COUNT; i++)
		rows += s->now->perf.resource_ns[i] > 0;
	return rows;
}

void panel_resources(const struct session *s, struct canvas *c, int row)
{
	const struct perf_result *p = &s->now->perf;
	double most = 0;
	for (int i = 0; i < PERF_RESOURCE_COUNT; i++)
		if (isfinite(p->resource_ns[i]))
			most = fmax(most, p->resource_ns[i]);
	if (!(most > 0) || row >= c->rows)
		return;
	int col = canvas_text(c, row, 2, STYLE_DIM, "time each resource needs ");
	canvas_text(c, row++, col, STYLE_DIM, origin_mark(ORIGIN_MODELLED, c->ascii));
	const int left = 24, width = c->cols - left - 3;
	for (int i = 0; i < PERF_RESOURCE_COUNT && row < c->rows; i++) {
		if (!(p->resource_ns[i] > 0))
			continue;
		char text[32];
		const bool worst = p->bottleneck == (enum perf_resource)i;
		fmt_ns(text, sizeof text, p->resource_ns[i]);
		canvas_text(c, row, 2, worst ? STYLE_BOLD : STYLE_NORMAL,
		            perf_resource_name((enum perf_resource)i));
		canvas_right(c, row, left - 2, worst ? STYLE_BOLD : STYLE_NORMAL, "%s", text);
		canvas_bar(c, row, left, width, p->resource_ns[i] / most, worst ? STYLE_WATCH : STYLE_BAR);
		row++;
	}
}
