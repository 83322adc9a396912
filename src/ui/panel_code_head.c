/*
 * What stands above a kernel's machine code: whose it is, how much of it ran, its hottest loop, and
 * what its registers cost. See view.h.
 *
 * Nothing is cut off: what has no room is left out, the least of it first.
 */
#include "ui/view.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { REGISTER_ROWS = 16 };

/* Why no instruction has a count. */
static const char *why_no_counts(const struct session *s)
{
	const struct run_result *run = &s->now->run;
	static const char refused[] = "not of machine code: ";
	const char *why = strstr(run->note, refused);
	if (why)
		return why + sizeof refused - 1;
	if (!run->level[0])
		return "a GPU was asked for counts by source line";
	return s->tour.preset && !s->tour.off_path ? "a lesson counts PTX" : "this run counted PTX";
}

/* The line that most of the spills come from. */
static int draw_spills(const struct code_listing *code, struct canvas *c, int row, int col)
{
	unsigned spills = 0, most = 0, line = 0;
	for (unsigned i = 0; i < code->n; i++) {
		unsigned of_line = 0;
		spills += code->insts[i].spill;
		for (unsigned k = i; code->insts[i].spill && k < code->n; k++)
			of_line += code->insts[k].spill && code->insts[k].line == code->insts[i].line;
		if (of_line <= most)
			continue;
		most = of_line;
		line = code->insts[i].line;
	}
	if (!spills)
		return col;
	col = canvas_item(c, row, col, STYLE_BAD, spills == 1 ? "   ✗ %u spill" : "   ✗ %u spills",
	                  spills);
	if (line && most == spills)
		return canvas_item(c, row, col, STYLE_BAD, " of line %u", line);
	return line ? canvas_item(c, row, col, STYLE_BAD, ", %u of line %u", most, line) : col;
}

/* Where most registers hold a value: what stands there decides how many a thread needs. */
static void draw_most_live(const struct code_listing *code, struct canvas *c, int row, int col)
{
	unsigned most = 0;
	for (unsigned i = 0; i < code->n; i++)
		if (code->insts[i].live_regs > code->insts[most].live_regs)
			most = i;
	if (code->live)
		canvas_item(c, row, col, STYLE_DIM, "   most live %u at %04x", code->insts[most].live_regs,
		            (unsigned)code->insts[most].offset);
}

static void draw_code(const struct code_listing *code, struct canvas *c, int row)
{
	unsigned spills = 0;
	for (unsigned i = 0; i < code->n; i++)
		spills += code->insts[i].spill;
	int col = canvas_text(c, row, 2, STYLE_BOLD, code->title);
	if (!spills)
		col = canvas_item(c, row, col, STYLE_NORMAL, "   %u instructions", code->n);
	col = canvas_item(c, row, col, STYLE_NORMAL, "   %u registers", code->registers);
	col = draw_spills(code, c, row, col);
	if (spills)
		col = canvas_item(c, row, col, STYLE_NORMAL, "   %u instructions", code->n);
	draw_most_live(code, c, row, col);
}

/* Why a card may count other warp instructions each time; in short, where that has no room. */
static int draw_varies(const struct run_variation *v, struct canvas *c, int row, int col)
{
	unsigned why = variation_next(v, 0);
	if (!variation_has(v, "inst.warp_executed"))
		return col;
	while (why < VARIATION_WHYS && !(v->counts[why] & 1u << VARY_FLOW))
		why = variation_next(v, why + 1);
	const int from = col;
	if (why < VARIATION_WHYS && v->line[why])
		col =
			canvas_item(c, row, col, STYLE_WATCH, "   may vary on a card (line %u)", v->line[why]);
	return col > from ? col : canvas_item(c, row, col, STYLE_WATCH, "   may vary on a card");
}

static bool draw_hot_loop(const struct session *s, struct canvas *c, int row, int *col)
{
	const struct code_listing *code = s->now->code;
	const struct run_counts *counts = &s->now->run.counts;
	struct code_loop hot;
	if (!code_listing_hot_loop(code, counts, &hot))
		return true;
	const int end =
		canvas_item(c, row, *col, STYLE_NORMAL,
	                *col > 2 ? "   loop %04x-%04x %.1f %%" : "loop %04x-%04x %.1f %%",
	                (unsigned)code->insts[hot.first].offset, (unsigned)code->insts[hot.last].offset,
	                100 * (double)hot.warps / (double)counts->total.warp_executed);
	const bool drawn = end > *col;
	*col = end;
	return drawn;
}

/* What the uniform datapath did, and what registers cost: figures of machine code alone. */
static void draw_registers(const struct session *s, struct canvas *c, int row, int col)
{
	static const enum metric_id shown[] = { M_INST_UNIFORM, M_REG_REUSE, M_REG_CONFLICTS };
	static const char *const words[] = { "uniform datapath", "registers reused", "bank cycles" };
	char value[32];
	for (int i = 0; i < 3; i++) {
		if (!metric_known(&s->now->metrics, shown[i]))
			continue;
		metric_format(&s->now->metrics, shown[i], value, sizeof value);
		const int gap = col > 2 ? 3 : 0, cols = utf8_columns(value) + 1 + utf8_columns(words[i]);
		if (col + gap + cols >= c->cols)
			return;
		col = canvas_text(c, row, col + gap, STYLE_BOLD, value) + 1;
		col = canvas_text(c, row, col, STYLE_DIM, words[i]);
	}
}

int panel_code_head(const struct session *s, struct canvas *c, int row)
{
	const struct run_counts *counts = &s->now->run.counts;
	char total[32], ptx[32];
	int col = 2;
	draw_code(s->now->code, c, row++);
	if (!counts->n_code) {
		col = canvas_text(c, row, 2, STYLE_DIM, "not counted: ");
		canvas_text_n(c, row, col, c->cols - col - 2, STYLE_DIM, why_no_counts(s));
		return row + 1;
	}
	fmt_count(total, sizeof total, (double)counts->total.warp_executed);
	fmt_count(ptx, sizeof ptx, (double)counts->ptx.warp_executed);
	const char *mark = origin_mark(counts->origin, c->ascii);
	col = canvas_printf(c, row, col, STYLE_BOLD, "%s %s", total, mark);
	col = canvas_text(c, row, col, STYLE_DIM, " warp instructions");
	col = draw_varies(&counts->variation, c, row, col);
	if (counts->ptx_known)
		col = canvas_item(c, row, col, STYLE_DIM, "   the PTX has %s", ptx);
	const bool looped = draw_hot_loop(s, c, row++, &col);
	if (c->rows < REGISTER_ROWS)
		return row;
	col = 2;
	if (!looped)
		draw_hot_loop(s, c, row, &col);
	draw_registers(s, c, row, col);
	return row + 1;
}
