/*
 * Under a panel's figures, the same figures as recorded on a real GPU: the reference run.
 *
 * Which figures follows from what the panel drew (canvas.shown); knows no panel. See
 * screen_parts.h.
 */
#include "ui/screen_parts.h"

#include "model/brief.h"

#include <string.h>

#define GAP 3

int recorded_rows(const struct session *s, int rows)
{
	return !session_reference_run(s) || rows < 8 ? 0 : rows < 20 ? 1 : 2;
}

/* "SIMD efficiency 97.1 %†" at row, col if it fits; returns the column after it, or col. */
static int item(struct canvas *c, int row, int col, const struct metric_set *ours,
                const struct metric_set *theirs, enum metric_id id, bool one_code, bool *hardware)
{
	char is[96], was[96];
	metric_format(theirs, id, was, sizeof was);
	metric_format(ours, id, is, sizeof is);
	const bool same = !strcmp(is, was);
	const bool ptx = !same && !one_code && metric_catalogue[id].depends == METRIC_OF_CODE;
	const char *title = metric_catalogue[id].title;
	if (col + utf8_columns(title) + 1 + utf8_columns(was) + 2 > c->cols)
		return col;
	col = canvas_text(c, row, col, STYLE_DIM, title);
	col = canvas_text(c, row, col + 1, STYLE_FAINT, was);
	if (same)
		col = canvas_text(c, row, col, STYLE_GOOD, " =");
	else if (ptx)
		col = canvas_text(c, row, col, STYLE_DIM, "*");
	*hardware = *hardware || ptx;
	return col + GAP;
}

void recorded_draw(const struct session *s, const struct metric_list *shown, struct canvas *c)
{
	const struct run_brief *g = session_reference_run(s);
	const bool machine_code = g && run_result_of_machine_code(&s->now->run);
	const char *legend =
		machine_code ? "* machine code of another GPU" : "* hardware instructions; above: PTX";
	/* machine code of the same GPU is what hardware counts */
	const bool one_code = machine_code && !strcmp(g->sel.gpu->id, s->now->sel.gpu->id);
	bool hardware = false, any = false;
	for (unsigned i = 0; g && i < shown->n; i++)
		any = any || g->metrics.v[shown->id[i]].origin == ORIGIN_MEASURED;
	if (!any || c->rows < 1)
		return;
	int row = 0, col = canvas_printf(c, 0, 2, STYLE_FAINT, "%s %s", g->sel.gpu->name,
	                                 origin_mark(ORIGIN_MEASURED, c->ascii));
	col = canvas_text(c, 0, col, STYLE_DIM,
	                  s->reference_run_earlier ? " (earlier source) " : " recorded ");
	for (unsigned i = 0; i < shown->n; i++) {
		if (g->metrics.v[shown->id[i]].origin != ORIGIN_MEASURED)
			continue;
		int next =
			item(c, row, col, &s->now->metrics, &g->metrics, shown->id[i], one_code, &hardware);
		if (next == col && row + 1 < c->rows) {
			col = 4;
			next = item(c, ++row, col, &s->now->metrics, &g->metrics, shown->id[i], one_code,
			            &hardware);
		}
		col = next;
	}
	if (hardware && col + utf8_columns(legend) < c->cols)
		canvas_text(c, row, col, STYLE_DIM, legend);
}
